//! `GET /v1/health`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use queryscope_protocol::{EVENTS_FORMAT, events_format};
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;

/// That the service lives, and what it understands.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"status": "ok", "protocol": ["engine-telemetry/events@1"]}))]
pub(crate) struct Health {
    /// Always `ok`.
    status: &'static str,
    /// Names of the batch format: the neutral one first, then those of engines configured or seen.
    protocol: Vec<String>,
}

/// Says that the service lives.
#[utoipa::path(
    get,
    path = "/v1/health",
    tag = "ingest",
    responses((status = 200, description = "It lives", body = Health))
)]
pub(crate) async fn health(State(app): State<Arc<App>>) -> Json<Health> {
    // Liveness does not depend on the store; without it the seen names are left out.
    let mut engines = app.store.engines().await.unwrap_or_default();
    engines.extend_from_slice(&app.settings.engines);
    engines.sort_unstable();
    engines.dedup();
    let mut protocol = vec![EVENTS_FORMAT.to_owned()];
    protocol.extend(engines.iter().map(|engine| events_format(Some(engine))));
    Json(Health { status: "ok", protocol })
}
