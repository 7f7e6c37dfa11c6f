//! `GET /api/queries/{id}/progress`.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, State};
use queryscope_insights::progress as judge;
use queryscope_store::Status;
use serde::Serialize;
use utoipa::ToSchema;

use super::params::{Params, ProjectFilter};
use super::stored::query_of;
use super::summary::StatusName;
use super::usual::{Alike, earlier};
use crate::app::App;
use crate::error::{ApiError, ErrorBody};

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
    /// How long it has run, or ran, in milliseconds, by this service's clock while it runs; null where unknown.
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
    let elapsed_ms = if running {
        Some(app.clock.unix_ns().saturating_sub(query.started_unix_ns).max(0) as f64 / 1e6)
    } else {
        query.wall_ms
    };
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
