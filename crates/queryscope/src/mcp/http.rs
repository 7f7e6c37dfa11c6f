//! `/mcp` of the service: streamable HTTP without sessions.
//!
//! Each request is whole in itself and answered with JSON, so nothing is kept between two, and any collector of a
//! shared store can answer. The routes of the collector check who asks before anything comes here.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::post_service;
use axum::{Json, Router};
use queryscope_collector::Routes;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::json;

use super::server::{Actions, Server};

/// Bytes of a request: calls are short.
const BODY_BYTES_MAX: usize = 256 << 10;
/// How long a body may take to arrive.
const BODY_DEADLINE: Duration = Duration::from_secs(10);
/// Bytes of a refusal of the SDK.
const REFUSAL_BYTES_MAX: usize = 4 << 10;

/// The path `/mcp`; its tools ask the routes within the process.
pub(crate) fn router(routes: Routes, allow_actions: bool) -> Router {
    let actions = Actions::when(allow_actions);
    // Which names are answered to, and which pages may ask, the routes before this say.
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(BODY_BYTES_MAX)
        .disable_allowed_hosts()
        .disable_allowed_origins();
    let service = StreamableHttpService::new(
        move || Ok(Server::inside(routes.clone(), actions)),
        Arc::new(NeverSessionManager::default()),
        config,
    );
    Router::new().route("/mcp", post_service(service).layer(from_fn(bounded)))
}

/// Takes the body within bounds, and says refusals as the API does.
async fn bounded(request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    let body = match tokio::time::timeout(BODY_DEADLINE, to_bytes(body, BODY_BYTES_MAX)).await {
        Ok(Ok(body)) => body,
        Ok(Err(_)) => {
            let reason = format!("the body ended early, or is larger than {BODY_BYTES_MAX} bytes");
            return refusal(StatusCode::PAYLOAD_TOO_LARGE, &reason);
        }
        Err(_) => return refusal(StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time"),
    };
    let mut response = next.run(Request::from_parts(head, Body::from(body))).await;
    let is_json = response
        .headers()
        .get(header::CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .is_some_and(|kind| kind.starts_with("application/json"));
    let status = response.status();
    if is_json || status.is_success() {
        // An answer is of its moment.
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        return response;
    }
    let told = to_bytes(response.into_body(), REFUSAL_BYTES_MAX).await.unwrap_or_default();
    refusal(status, String::from_utf8_lossy(&told).trim())
}

fn refusal(status: StatusCode, reason: &str) -> Response {
    (status, Json(json!({"error": reason}))).into_response()
}
