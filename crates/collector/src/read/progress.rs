//! `GET /api/queries/{id}/progress`.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, State};
use queryscope_insights::progress as judge;
use queryscope_protocol::{Event, EventKind};
use queryscope_store::{ChunkInfo, Query, Status, lines_of, unpack};
use serde::Serialize;
use utoipa::ToSchema;

use super::params::{Params, ProjectFilter};
use super::stored::query_of;
use super::summary::StatusName;
use super::usual::{Alike, earlier};
use crate::app::App;
use crate::error::{ApiError, ErrorBody};

/// Chunks that are looked through for the last sample: one may hold none.
const CHUNKS_MAX: usize = 4;
/// Packed bytes of a chunk that is looked through.
const CHUNK_BYTES_MAX: u64 = 256 << 10;

/// How far a query is by the earlier runs of its plan.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "query_id": "01a1faa8-1bd9-77b2-97ab-860dd7026506",
    "status": "running",
    "elapsed_ms": 61_200.0,
    "runs": 40,
    "longer_than": 21,
    "usual_wall_ms": 60_400.5,
    "remaining_ms": {"p50": 8_300.0, "p90": 31_000.0},
    "done": {"low": 0.66, "high": 0.88}
}))]
pub(crate) struct Progress {
    /// Id of the query.
    query_id: String,
    /// State of the query.
    status: StatusName,
    /// How long it has run, or ran, in milliseconds; null where unknown. While it runs: by this service's clock, or,
    /// where its start is ahead of that, by its last sample.
    elapsed_ms: Option<f64>,
    /// Earlier finished runs of its plan, at most 100; nothing is said by fewer than 5.
    runs: usize,
    /// How many of them took no longer than this one has by now; null where too few are known.
    longer_than: Option<usize>,
    /// Median of their wall times in milliseconds; null where too few are known.
    usual_wall_ms: Option<f64>,
    /// How long a running query may still take; null where fewer than 3 of them took longer than it has.
    remaining_ms: Option<Remaining>,
    /// How much of a running query is done; null where the remaining time is.
    done: Option<Done>,
}

/// A remaining time in milliseconds.
#[derive(Debug, Serialize, ToSchema)]
struct Remaining {
    /// Half of the runs that took longer ended by then.
    p50: f64,
    /// Nine tenths of the runs that took longer ended by then.
    p90: f64,
}

/// A share of a query's time, 0 to 1.
#[derive(Debug, Serialize, ToSchema)]
struct Done {
    /// If it takes as long as the longer of the remaining times.
    low: f64,
    /// If it takes as long as the shorter.
    high: f64,
}

/// Says how long a running query may still take, by the earlier runs of its plan and label.
#[utoipa::path(
    get,
    path = "/api/queries/{id}/progress",
    tag = "read",
    params(("id" = String, Path, description = "Id of the query", example = "01a1faa8-1bd9-77b2-97ab-860dd7026506"), ProjectFilter),
    responses(
        (status = 200, description = "How far it is", body = Progress),
        (status = 400, description = "A parameter is invalid", body = ErrorBody),
        (status = 403, description = "The Host is a name that is not served", body = ErrorBody),
        (status = 404, description = "There is no such query", body = ErrorBody),
        (status = 503, description = "Reading failed", body = ErrorBody),
    )
)]
pub(crate) async fn progress(
    State(app): State<Arc<App>>,
    id: Result<Path<String>, PathRejection>,
    RawQuery(query): RawQuery,
) -> Result<Json<Progress>, ApiError> {
    let query = query_of(&app, id, &Params::of(query.as_deref())).await?;
    let runs = earlier(&app, &query, Alike::Plan).await?;
    let walls: Vec<f64> = runs.iter().map(|(_, wall_ms)| *wall_ms).collect();
    let running = query.status == Status::Running;
    let elapsed_ms = if running { running_ms(&app, &query).await? } else { query.wall_ms };
    let judged = elapsed_ms.and_then(|elapsed_ms| judge(elapsed_ms, &walls));
    let ahead = judged.filter(|_| running);
    Ok(Json(Progress {
        query_id: query.query_id.to_string(),
        status: query.status.into(),
        elapsed_ms,
        runs: walls.len(),
        longer_than: judged.map(|judged| judged.longer_than),
        usual_wall_ms: judged.map(|judged| judged.usual_wall_ms),
        remaining_ms: ahead.and_then(|judged| judged.remaining_ms).map(|[p50, p90]| Remaining { p50, p90 }),
        done: ahead.and_then(|judged| judged.done).map(|[low, high]| Done { low, high }),
    }))
}

/// How long a running query has run.
async fn running_ms(app: &App, query: &Query) -> Result<Option<f64>, ApiError> {
    let since_ns = app.clock.unix_ns().saturating_sub(query.started_unix_ns);
    if since_ns >= 0 {
        return Ok(Some(since_ns as f64 / 1e6));
    }
    // The clock of its sender is ahead, and how far nobody knows.
    let Some(parts) = app.store.recording(query.query_id).await? else { return Ok(None) };
    let last = parts.chunks.iter().rev().take(CHUNKS_MAX).filter(|chunk| chunk.bytes <= CHUNK_BYTES_MAX);
    for ChunkInfo { id, .. } in last {
        let chunk = app.store.chunks(vec![*id]).await?.into_iter().flatten().next();
        let text = chunk.and_then(|gzip| unpack(&gzip).ok()).unwrap_or_default();
        if let Some(told_ms) = lines_of(&text).filter_map(told_ms).last() {
            return Ok(Some(told_ms));
        }
    }
    Ok(None)
}

/// What an event says of how long its query has run.
fn told_ms(line: &[u8]) -> Option<f64> {
    match Event::read_stored(str::from_utf8(line).ok()?).ok()?.kind {
        EventKind::Started(_, profile) => Some(profile.wall_ms),
        EventKind::Progress(_, elapsed_ms) => Some(elapsed_ms),
        _ => None,
    }
}
