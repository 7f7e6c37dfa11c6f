//! `GET /metrics`.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::error::ApiError;
use crate::metrics::{CONTENT_TYPE, Moment};

/// How long the store may take for its figures.
const STORE_DEADLINE: Duration = Duration::from_secs(5);

/// Gives the operator's figures in Prometheus text.
pub(crate) async fn metrics(State(app): State<Arc<App>>) -> Result<Response, ApiError> {
    let now = app.clock.steady_ms();
    let moment = Moment {
        // The figures are wanted most when the store fails.
        stats: tokio::time::timeout(STORE_DEADLINE, app.store.stats()).await.ok().and_then(Result::ok),
        body_bytes: app.budget.taken(),
        requests: app.admission.taken(),
        readers: app.readers.taken(),
        store_away: app.store_needed.away(now).unwrap_or_default(),
        recordings_away: app.recordings_needed.away(now).unwrap_or_default(),
    };
    let text = app.metrics.text(&moment).map_err(|_| ApiError::unavailable("try again"))?;
    Ok(([(header::CONTENT_TYPE, CONTENT_TYPE)], text).into_response())
}
