//! `GET /metrics`.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::error::ApiError;
use crate::metrics::CONTENT_TYPE;

/// Gives the operator's figures in Prometheus text.
pub(crate) async fn metrics(State(app): State<Arc<App>>) -> Result<Response, ApiError> {
    let stats = app.store.stats().await?;
    let text = app.metrics.text(stats, app.budget.taken()).map_err(|_| ApiError::unavailable("try again"))?;
    Ok(([(header::CONTENT_TYPE, CONTENT_TYPE)], text).into_response())
}
