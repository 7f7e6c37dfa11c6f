//! Spans of the log, at level `debug`: one for each request, one for each background job.
//!
//! `QUERYSCOPE_LOG=debug` shows them. Below that level a span costs a look at a flag.

use axum::http::Method;
use axum::response::Response;
use tracing::{Instrument, Span};

use crate::app::App;

/// Waits for the answer to a request of a route; counts it, and logs its status and its latency.
pub(crate) async fn answered(
    app: &App,
    method: Method,
    route: &str,
    answer: impl Future<Output = Response>,
) -> Response {
    let began = queryscope_store::now();
    let span = tracing::debug_span!("request", %method, route);
    async {
        let response = answer.await;
        app.metrics.answered(route, response.status(), began);
        let latency_ms = began.elapsed().as_secs_f64() * 1e3;
        tracing::debug!(status = response.status().as_u16(), latency_ms, "answered");
        response
    }
    .instrument(span)
    .await
}

/// The span of a background job.
pub(crate) fn job(name: &'static str) -> Span {
    tracing::debug_span!("job", name)
}
