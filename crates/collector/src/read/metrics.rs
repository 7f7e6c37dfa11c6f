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
    // The figures are wanted most when the store fails.
    let of_store = async {
        tokio::join!(app.store.stats(), app.store.issue_counts(), app.store.outbox().route_records())
    };
    let of_store = tokio::time::timeout(STORE_DEADLINE, of_store).await.ok();
    let (stats, issues, routes) =
        of_store.map_or((None, None, None), |(stats, issues, routes)| (stats.ok(), issues.ok(), routes.ok()));
    app.delivery.set_waiting(&routes.unwrap_or_default());
    let moment = Moment {
        stats,
        issues,
        body_bytes: app.budget.taken(),
        requests: app.admission.taken(),
        readers: app.readers.taken(),
        store_away: app.store_health.away(now).unwrap_or_default(),
        recordings_away: app.recordings_health.away(now).unwrap_or_default(),
        evaluation_lag: app.evaluation.lag(),
    };
    let text = app.metrics.text(&moment).map_err(|_| ApiError::unavailable("try again"))?;
    Ok(([(header::CONTENT_TYPE, CONTENT_TYPE)], text).into_response())
}
