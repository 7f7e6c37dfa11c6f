//! The handler of `POST /v1/events`.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use queryscope_store::{Committed, StreamBatch};
use serde::Serialize;
use utoipa::ToSchema;

use super::body::{Received, coding, receive, refuse, spent};
use super::budget::Share;
use super::conflicts::compare;
use super::decode::Coding;
use crate::app::App;
use crate::error::{ApiError, ErrorBody};

/// Where batches go to.
pub(crate) const EVENTS: &str = "/v1/events";

/// What became of a batch.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"accepted": 3, "duplicates": 0}))]
pub(crate) struct EventsAnswer {
    /// Events stored by this request.
    accepted: u64,
    /// Events that had been stored before.
    duplicates: u64,
}

/// Receives a batch of events.
///
/// The body is JSON Lines in the format events@1, the process event first, plain or gzip. It is answered once
/// every event is stored durably; an event is identified by its stream and its seq, so sending again stores
/// nothing twice.
#[utoipa::path(
    post,
    path = "/v1/events",
    tag = "ingest",
    security(("token" = [])),
    request_body(
        content = String,
        content_type = "application/x-ndjson",
        description = "At most 8 MiB as sent and 64 MiB decompressed, of at most 65536 queries"
    ),
    responses(
        (status = 202, description = "Every event is stored", body = EventsAnswer),
        (status = 400, description = "Not valid gzip, or not events@1", body = ErrorBody),
        (status = 401, description = "The token is missing or wrong", body = ErrorBody),
        (status = 403, description = "The stream belongs to another project", body = ErrorBody),
        (status = 408, description = "The body did not arrive in time", body = ErrorBody),
        (status = 413, description = "Too large: split the batch", body = ErrorBody),
        (status = 415, description = "A Content-Encoding other than gzip or identity", body = ErrorBody),
        (status = 503, description = "Storing failed, or too much is in flight: send again after Retry-After", body = ErrorBody),
    )
)]
pub(crate) async fn events(State(app): State<Arc<App>>, request: Request) -> Response {
    let (head, mut body) = request.into_parts();
    match answer(&app, &head.headers, &mut body).await {
        Ok(Committed { accepted, duplicates }) => {
            (StatusCode::ACCEPTED, Json(EventsAnswer { accepted, duplicates })).into_response()
        }
        Err(error) => {
            app.metrics.refused(&error);
            if error.is_overload() {
                app.admission.turned_away(app.clock.steady_ms());
            }
            refuse(error, &head.headers, body)
        }
    }
}

async fn answer(app: &Arc<App>, headers: &HeaderMap, body: &mut Body) -> Result<Committed, ApiError> {
    let project = app.tokens.project(headers)?;
    let coding = coding(headers)?;
    let Received { bytes, share } = receive(headers, body, &app.budget, app.settings.body_deadline).await?;
    accept(app, project, bytes, coding, share).await
}

/// Decodes, checks and commits one batch, which has a share of the budget until it is committed: for its bytes
/// as they came and as they are packed.
pub(crate) async fn accept(
    app: &Arc<App>,
    project: String,
    body: Bytes,
    coding: Coding,
    mut share: Share,
) -> Result<Committed, ApiError> {
    let slot = app.admission.admit().await?;
    let now_unix_ns = app.clock.unix_ns();
    let packed = app.decoders.decode(body.clone(), coding, now_unix_ns).await?;
    if !share.grow(&app.budget, body.len() + packed.bytes()) {
        return Err(spent());
    }
    let repeated = packed.repeated;
    let committed = if packed.parts.is_empty() && packed.loose.is_empty() {
        Committed::default()
    } else {
        let batch = StreamBatch {
            project,
            process: packed.process,
            received_unix_ms: now_unix_ns / 1_000_000,
            parts: packed.parts,
            loose: packed.loose,
        };
        commit(app, batch, (share, slot)).await?
    };
    app.committed.notify_one();
    let duplicates = committed.duplicates + repeated;
    app.metrics.stored(committed.accepted, duplicates);
    if duplicates > 0 {
        compare(app, body, coding);
    }
    Ok(Committed { duplicates, ..committed })
}

/// Commits a batch. What it takes is held until it is stored, also when its sender has gone meanwhile.
async fn commit<H: Send + 'static>(
    app: &Arc<App>,
    batch: StreamBatch,
    held: H,
) -> Result<Committed, ApiError> {
    let owned = Arc::clone(app);
    let committing = tokio::spawn(async move {
        let committed = owned.store.commit(batch).await.inspect_err(|error| owned.watch(error));
        if committed.is_ok() {
            owned.has_room();
        }
        drop(held);
        committed
    });
    let committed =
        committing.await.map_err(|_| ApiError::unavailable("storing was interrupted, try again"))?;
    Ok(committed?)
}
