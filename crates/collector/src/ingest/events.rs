//! The handler of `POST /v1/events`: here a batch is acknowledged.
//!
//! `answer` reads the request, `accept` decodes, checks and packs the batch, `commit` gives it to the store. Once the
//! store has returned, `events` answers 202. A sender that goes away does not undo a commit.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use queryscope_protocol::QueryId;
use queryscope_store::{Committed, Facts, StoreError, StreamBatch};
use serde::Serialize;
use utoipa::ToSchema;

use super::body::{Received, coding, receive, refuse, spent};
use super::budget::Share;
use super::conflicts::compare;
use super::decode::Coding;
use super::heard::Heard;
use crate::app::App;
use crate::detached::to_the_end;
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
/// nothing twice. Blank lines are passed over and count in `line`.
///
/// A batch is stored whole or not at all. Every member the format names is checked, those of nodes, counters and
/// findings included; null stands for none where a member of a profile, node or finding is optional, except `role` and
/// `evidence`. One member that is not as the format wants it refuses the batch with 400, and the error names the
/// member, what is allowed and what is there: `profile.plan.physical[2].id must be an integer >= 0, got "x"`. A batch
/// is refused with 400, too, when it holds an event of a query that another stream has reported; `line` is the first
/// event of that query. Durations are at most ten years (315,360,000,000 ms).
///
/// Labels, fingerprints, services, environments and hosts of more than 512 characters are shortened in what the
/// read API answers: their first 495 characters, `…`, and 16 hex digits of the SHA-256 of the whole. An error text ends
/// after 4,096 characters. The recording has them whole. An empty label, fingerprint, service or environment is none.
#[utoipa::path(
    post,
    path = "/v1/events",
    tag = "ingest",
    security(("token" = [])),
    params(
        ("queryscope-stream" = Option<String>, Header, description = "The stream of the batch: `/api/senders` then \
            knows its sender, too, where the body is refused unread",
            example = "210de94c-dce3-44f0-9cd3-2604c74dbeea"),
        ("queryscope-dropped" = Option<String>, Header, description = "How many events the process made for this \
            service and dropped since its start, up to 999999999999999, for `/api/senders`", example = "0"),
        ("queryscope-imported" = Option<String>, Header, description = "`1` for events of the past, as from a file: \
            a run among them without an end is `unfinished` at once, not `running`", example = "1"),
    ),
    request_body(
        content = String,
        content_type = "application/x-ndjson",
        description = "At most 8 MiB as sent, also without Content-Encoding, and 64 MiB decompressed, \
            of at most 65536 queries"
    ),
    responses(
        (status = 202, description = "Every event is stored", body = EventsAnswer),
        (
            status = 400,
            description = "Not valid gzip, not events@1, or a query of another stream: drop the batch",
            body = ErrorBody
        ),
        (status = 401, description = "The token is missing or wrong", body = ErrorBody),
        (status = 403, description = "The stream belongs to another project", body = ErrorBody),
        (status = 408, description = "The body did not arrive in time", body = ErrorBody),
        (status = 413, description = "Too large: split the batch", body = ErrorBody),
        (status = 415, description = "A Content-Encoding other than gzip or identity", body = ErrorBody),
        (
            status = 503,
            description = "Storing failed, or too much is in flight: send again after Retry-After",
            body = ErrorBody
        ),
    )
)]
pub(crate) async fn events(State(app): State<Arc<App>>, request: Request) -> Response {
    let (head, mut body) = request.into_parts();
    match answer(&app, &head.headers, &mut body).await {
        Ok(Committed { accepted, duplicates, .. }) => {
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

/// A batch with a wrong token is of no project, so it tells of no sender.
async fn answer(app: &Arc<App>, headers: &HeaderMap, body: &mut Body) -> Result<Committed, ApiError> {
    let project = app.tokens.project(headers)?;
    let mut heard = Heard::of_headers(project, app.clock.unix_ns(), headers);
    let outcome = taken(app, &mut heard, headers, body).await;
    let dropped = app.senders.note(heard, outcome.as_ref());
    app.metrics.dropped_by_senders.inc_by(dropped);
    outcome
}

async fn taken(
    app: &Arc<App>,
    heard: &mut Heard,
    headers: &HeaderMap,
    body: &mut Body,
) -> Result<Committed, ApiError> {
    let coding = coding(headers)?;
    let Received { bytes, share } = receive(headers, body, &app.budget, app.settings.body_deadline).await?;
    accept(app, heard, bytes, coding, share).await
}

/// Decodes, checks and commits one batch, which has a share of the budget until it is committed: for its bytes
/// as they came and as they are packed. What its body tells of its sender is noted in `heard`.
pub(crate) async fn accept(
    app: &Arc<App>,
    heard: &mut Heard,
    body: Bytes,
    coding: Coding,
    mut share: Share,
) -> Result<Committed, ApiError> {
    let slot = app.admission.admit().await?;
    let now_unix_ns = app.clock.unix_ns();
    let packed = app.decoders.decode(body.clone(), coding, now_unix_ns).await.map_err(|refused| {
        if let Some(process) = &refused.process {
            heard.learn_process(process);
        }
        refused.error
    })?;
    heard.learn_process(&packed.process);
    heard.learn_time(&packed.parts);
    if !share.grow(&app.budget, body.len() + packed.bytes()) {
        return Err(spent());
    }
    let repeated = packed.repeated;
    let has_ended = |facts: &Facts| facts.label.is_some();
    let ended =
        packed.parts.iter().filter(|part| part.report.finished.as_ref().is_some_and(has_ended)).count();
    let told = app.ended.is_followed().then(|| heard.project.clone());
    let mut committed = if packed.parts.is_empty() && packed.loose.is_empty() {
        Committed::default()
    } else {
        let batch = StreamBatch {
            project: heard.project.clone(),
            process: packed.process,
            received_unix_ms: if heard.is_imported {
                StreamBatch::NO_NEWS_UNIX_MS
            } else {
                now_unix_ns / 1_000_000
            },
            parts: packed.parts,
            loose: packed.loose,
        };
        let seen = app.versions.unseen(&batch, now_unix_ns);
        let committed =
            commit(app, batch, (share, slot)).await.map_err(|error| refused(error, &packed.lines))?;
        app.versions.note(seen);
        if heard.is_imported {
            // At once: as a running run it would be late by all the time since.
            app.store.end_silent(StreamBatch::NO_NEWS_UNIX_MS + 1).await?;
        }
        committed
    };
    app.committed.notify_one();
    if ended > 0 {
        app.evaluation.ended(ended as u64);
    }
    let duplicates = committed.duplicates + repeated;
    app.metrics.stored(committed.accepted, duplicates);
    let runs = std::mem::take(&mut committed.ended);
    if let Some(project) = told.filter(|_| !runs.is_empty()) {
        app.ended.tell(project, body.clone(), coding, runs);
    }
    if duplicates > 0 {
        compare(app, body, coding);
    }
    Ok(Committed { duplicates, ..committed })
}

/// Blames the line that first tells of a query of another stream.
fn refused(error: StoreError, lines: &[(QueryId, usize)]) -> ApiError {
    let line = match error {
        StoreError::ForeignQuery(query) => lines.iter().find(|(id, _)| *id == query).map(|(_, line)| *line),
        _ => None,
    };
    ApiError::from(error).at_line(line)
}

/// Commits a batch. What it takes is held until it is stored, also when its sender has gone meanwhile.
async fn commit<H: Send + 'static>(
    app: &Arc<App>,
    batch: StreamBatch,
    held: H,
) -> Result<Committed, StoreError> {
    let owned = Arc::clone(app);
    to_the_end(async move {
        let committed = owned.store.commit(batch).await.inspect_err(|error| owned.watch(error));
        if committed.is_ok() {
            owned.has_room();
        }
        drop(held);
        committed
    })
    .await
}
