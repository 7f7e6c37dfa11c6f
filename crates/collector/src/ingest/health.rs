//! `GET /v1/health`.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use queryscope_protocol::{EVENTS_FORMAT, events_format};
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::jobs::reach;

/// How long the store may take to say which engines it has seen.
const STORE_DEADLINE: Duration = Duration::from_secs(1);

/// That the service lives, and what it understands.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "status": "ok", "protocol": ["engine-telemetry/events@1"], "state": "ready", "reasons": []
}))]
pub(crate) struct Health {
    /// Always `ok`: the process lives.
    status: &'static str,
    /// Names of the batch format: the neutral one first, then those of engines configured or seen.
    protocol: Vec<String>,
    /// Whether all that it needs can be reached, and all that comes can be taken.
    state: Readiness,
    /// Why it is degraded: a sentence for each thing that cannot be reached or is too much, with what that means.
    reasons: Vec<String>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum Readiness {
    Ready,
    Degraded,
}

/// Says that the service lives, and whether all that it needs can be reached.
#[utoipa::path(
    get,
    path = "/v1/health",
    tag = "ingest",
    responses((status = 200, description = "It lives", body = Health))
)]
pub(crate) async fn health(State(app): State<Arc<App>>) -> Json<Health> {
    // Liveness does not depend on the store; without it the seen names are left out.
    let asked = tokio::time::timeout(STORE_DEADLINE, app.store.engines()).await;
    let answered = asked.map_err(|_| ()).and_then(|engines| engines.map_err(|_| ()));
    let reasons = reasons(&app, answered.is_ok());
    let state = if reasons.is_empty() { Readiness::Ready } else { Readiness::Degraded };
    let mut engines = answered.unwrap_or_default();
    engines.extend_from_slice(&app.settings.engines);
    engines.sort_unstable();
    engines.dedup();
    let mut protocol = vec![EVENTS_FORMAT.to_owned()];
    protocol.extend(engines.iter().map(|engine| events_format(Some(engine))));
    Json(Health { status: "ok", protocol, state, reasons })
}

/// What cannot be reached or is too much, and what that means; nothing of why, which is in the log.
fn reasons(app: &App, store_answers: bool) -> Vec<String> {
    let now = app.clock.steady_ms();
    let store = app.store_health.away(now).or((!store_answers).then_some(Duration::ZERO));
    let store = store.map(|away| {
        format!(
            "the store cannot be reached for {} s: events are answered 503 and sent again",
            away.as_secs()
        )
    });
    let overload = app.admission.is_overloaded(now).then(|| {
        "more events arrive than can be stored: some batches are answered 503 and sent again".to_owned()
    });
    let displaced = app.displaced.load(Ordering::Relaxed).then(|| {
        "the data folder was deleted, moved or replaced: batches are refused, and the service ends".to_owned()
    });
    let full = app.store_room.is_full().then(|| "the disk is full, batches are refused".to_owned());
    // Where nothing can be stored, nothing is kept meanwhile.
    let stores = store.is_none() && displaced.is_none() && full.is_none();
    let kept = if stores { "events are kept in the store meanwhile, " } else { "" };
    let recordings = app.recordings_health.away(now).map(|away| {
        format!(
            "the recordings cannot be reached for {} s: {kept}recordings that lie there cannot be read",
            away.as_secs()
        )
    });
    let kept = if stores { "events are kept in the store meanwhile" } else { "no recording is written" };
    let no_room = app.recordings_room.is_within(reach::FULL_FOR, now);
    let no_room = no_room.then(|| format!("there is no room for recordings: {kept}"));
    displaced.into_iter().chain(full).chain(store).chain(overload).chain(recordings).chain(no_room).collect()
}
