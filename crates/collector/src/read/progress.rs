//! `GET /api/queries/{id}/progress`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use queryscope_diagnosis::{
    Change, Judged, Remaining as Forecast, RunFeatures, Running, counted, judged as judged_by,
};
use queryscope_insights::{MIN_RUNS, progress as judge};
use queryscope_protocol::{Event, EventKind};
use queryscope_store::{ChunkInfo, Query, Status, lines_of, unpack};
use serde::Serialize;
use utoipa::ToSchema;

use super::asked::Asked;
use super::diagnosed::{detector, open_change};
use super::params::ProjectFilter;
use super::query::{QueryPath, find};
use super::stored::Stored;
use super::usual::{Alike, RUNS, earlier, earlier_than};
use crate::app::App;
use crate::error::{ApiError, ErrorBody};

/// Chunks that are looked through for the last sample: one may hold none.
const CHUNKS_MAX: usize = 4;
/// Packed bytes of a chunk that is looked through.
const CHUNK_BYTES_MAX: u64 = 256 << 10;

/// The part of the earlier runs that a late run takes longer than.
const LATE: f64 = 0.9;
/// Runs that were evaluated which a forecast needs.
const EVALUATED_MIN: usize = 5;
/// Which runs a query is judged by while a change of it is open.
const SINCE: &str = " since its change";

/// How far a query is by its earlier runs.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "query_id": "01a1faa8-1bd9-77b2-97ab-860dd7026506",
    "status": "running",
    "elapsed_ms": 61_200.0,
    "runs": 40,
    "longer_than": 21,
    "is_late": false,
    "usual_wall_ms": 60_400.5,
    "remaining_ms": {"p10": 2_100.0, "p50": 8_300.0, "p90": 31_000.0},
    "basis": "the last 40 runs of its plan",
    "rows_read_factor": null,
    "done": {"low": 0.66, "high": 0.88},
    "change": null
}))]
pub(crate) struct Progress {
    /// Id of the query.
    query_id: String,
    /// State of the query.
    status: Status,
    /// How long it has run, or ran, in milliseconds; null where unknown. While it runs: by this service's clock, or,
    /// where its start is ahead of that, by its last sample.
    elapsed_ms: Option<f64>,
    /// The earlier finished runs that it is judged by, at most 100; nothing is said by fewer than 5. Of a running
    /// query: those since the open change of its query, of its plan where enough are. Of one that ended: those of its
    /// plan in its service, or, where these are fewer, of its label; while a change is open, those from before it, and
    /// before the changes that it followed.
    runs: usize,
    /// How many of them took no longer than this one has by now; null where too few are known.
    longer_than: Option<usize>,
    /// Whether it takes longer than nine tenths of them, also for the rows it reads beyond theirs.
    is_late: bool,
    /// Median of their wall times in milliseconds; null where too few are known.
    usual_wall_ms: Option<f64>,
    /// How long a running query may still take; null where fewer than 3 earlier runs took longer than it has, or where
    /// its scans read on beyond the rows of those.
    remaining_ms: Option<Remaining>,
    /// Which runs it is judged by, in words; null where too few are known.
    basis: Option<String>,
    /// Rows it has read by those that they had read at their end: where it has read more, or has read all and less;
    /// null where neither is known.
    rows_read_factor: Option<f64>,
    /// How much of a running query is done; null where the remaining time is.
    done: Option<Done>,
    /// Id of the open change of its query's time; null where there is none.
    change: Option<String>,
}

/// A remaining time in milliseconds.
#[derive(Debug, Serialize, ToSchema)]
struct Remaining {
    /// A tenth of the runs that took longer ended by then.
    p10: f64,
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

/// Judges a query by its earlier runs, and says how long a running one may still take.
///
/// A running query is judged by one set of runs in all that is said of it: the evaluated ones of its label and service
/// since the open change of the query, where there is one, of its plan where enough are; scaled by the rows it has read
/// beyond theirs. Where too few were evaluated, by the wall times of the earlier runs of its plan; where a change is
/// open, of those from before it.
#[utoipa::path(
    get,
    path = "/api/queries/{id}/progress",
    tag = "read",
    params(QueryPath, ProjectFilter),
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
    path: QueryPath,
    Asked(project): Asked<ProjectFilter>,
) -> Result<Json<Progress>, ApiError> {
    let query = find(&app, &path.id, &project).await?;
    let change =
        open_change(&app, &query).await?.filter(|change| change.since_unix_ns <= query.started_unix_ns);
    let running = query.status == Status::Running;
    let elapsed_ms = if running { running_ms(&app, &query).await? } else { query.wall_ms };
    let judged = match elapsed_ms.filter(|_| running) {
        Some(elapsed_ms) => judge_running(&app, &query, elapsed_ms, change.as_ref()).await?,
        None => judge_ended(&app, &query, change.as_ref()).await?,
    };
    let walls = &judged.walls_ms;
    let told = elapsed_ms.and_then(|elapsed_ms| judge(elapsed_ms, walls));
    let done = elapsed_ms.zip(judged.remaining.as_ref()).map(|(elapsed_ms, forecast)| {
        let part = |left: f64| if elapsed_ms > 0.0 { elapsed_ms / (elapsed_ms + left) } else { 0.0 };
        Done { low: part(forecast.p90_ms), high: part(forecast.p50_ms) }
    });
    // With more rows to read, it is not late but larger.
    let larger = judged.rows_read.unwrap_or(1.0).max(1.0);
    let by_rows = elapsed_ms.and_then(|elapsed_ms| judge(elapsed_ms / larger, walls));
    let is_late = by_rows.is_some_and(|judged| judged.longer_than as f64 >= LATE * judged.runs as f64);
    let remaining_ms = judged.remaining.as_ref().map(|forecast| Remaining {
        p10: forecast.p10_ms,
        p50: forecast.p50_ms,
        p90: forecast.p90_ms,
    });
    let basis = judged.remaining.map_or(judged.basis, |forecast| forecast.basis);
    Ok(Json(Progress {
        query_id: query.query_id.to_string(),
        status: query.status,
        elapsed_ms,
        runs: walls.len(),
        longer_than: told.map(|judged| judged.longer_than),
        is_late,
        usual_wall_ms: told.map(|judged| judged.usual_wall_ms),
        remaining_ms,
        basis: told.map(|_| basis),
        rows_read_factor: judged.rows_read,
        done,
        change: change.map(|change| change.id),
    }))
}

/// The runs that a query which ended is judged by.
async fn judge_ended(app: &App, query: &Query, change: Option<&Change>) -> Result<Judged, ApiError> {
    let (walls_ms, runs) = if let Some(change) = change {
        (walls_before(app, query, change).await?, "runs before its change")
    } else {
        let of_plan = walls_of(&earlier(app, query, Alike::Plan).await?);
        // How long a running query takes is not told by other plans.
        if query.status == Status::Running || of_plan.len() >= MIN_RUNS {
            (of_plan, "runs of its plan before it")
        } else {
            (walls_of(&earlier(app, query, Alike::Label).await?), "runs of its query before it")
        }
    };
    let basis = format!("the last {} {runs}", walls_ms.len());
    Ok(Judged { walls_ms, basis, rows_read: None, remaining: None })
}

/// A running query by the runs of it that were evaluated, else by the wall times of its plan.
async fn judge_running(
    app: &Arc<App>,
    query: &Query,
    elapsed_ms: f64,
    change: Option<&Change>,
) -> Result<Judged, ApiError> {
    if let Some(mut judged) = judge_evaluated(app, query, elapsed_ms).await? {
        if change.is_some() {
            judged.basis.push_str(SINCE);
            judged.remaining.iter_mut().for_each(|forecast| forecast.basis.push_str(SINCE));
        }
        return Ok(judged);
    }
    let mut judged = judge_ended(app, query, change).await?;
    // Those from before a change do not tell how long it takes.
    let forecast = judge(elapsed_ms, &judged.walls_ms).filter(|_| change.is_none());
    judged.remaining = forecast.and_then(|told| {
        let [p10_ms, p50_ms, p90_ms] = told.remaining_ms?;
        let basis = judged.basis.clone();
        Some(Forecast { p10_ms, p50_ms, p90_ms, runs: told.runs, rows_factor: None, basis })
    });
    Ok(judged)
}

/// Wall times of up to 100 runs from before a change, in milliseconds: of those it was found against, which are none of
/// an earlier change that it followed.
async fn walls_before(app: &App, query: &Query, change: &Change) -> Result<Vec<f64>, ApiError> {
    if let Some(detector) = detector(app, query).await? {
        let usual = detector.usual(query.environment.as_deref(), Some(&query.host)).into_iter().rev();
        let before = usual.filter(|run| run.started_unix_ns < change.since_unix_ns);
        let walls: Vec<f64> = before.take(RUNS).map(|run| run.wall_ns as f64 / 1e6).collect();
        if !walls.is_empty() {
            return Ok(walls);
        }
    }
    // The change may be a new plan.
    Ok(walls_of(&earlier_than(app, query, Alike::Label, change.since_unix_ns - 1).await?))
}

fn walls_of(runs: &[(Query, f64)]) -> Vec<f64> {
    runs.iter().map(|(_, wall_ms)| *wall_ms).collect()
}

/// The rows a running query has read by those that its earlier runs had at their end; `None` where that is not known.
///
/// # Errors
/// When the store fails.
pub(crate) async fn rows_factor(
    app: &Arc<App>,
    query: &Query,
    elapsed_ms: f64,
) -> Result<Option<f64>, ApiError> {
    Ok(judge_evaluated(app, query, elapsed_ms).await?.and_then(|judged| judged.rows_read))
}

/// A running query by the runs of it that were evaluated; `None` where they are too few.
async fn judge_evaluated(app: &Arc<App>, query: &Query, elapsed_ms: f64) -> Result<Option<Judged>, ApiError> {
    let Some(detector) = detector(app, query).await? else { return Ok(None) };
    let earlier: Vec<&RunFeatures> = detector.current(query.environment.as_deref(), Some(&*query.host));
    if earlier.len() < EVALUATED_MIN {
        return Ok(None);
    }
    // Without a plan, or one that can be read, the times alone say it.
    let stored = Stored::read(app, query.clone()).await?;
    let counted = stored.profile().ok().map(|profile| counted(&profile));
    let running = Running {
        elapsed_ns: (elapsed_ms * 1e6) as u64,
        plan: counted.as_ref().map(|(plan, _)| *plan),
        nodes: counted.as_ref().map_or(&[], |(_, nodes)| nodes),
    };
    Ok(judged_by(&running, &earlier))
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
