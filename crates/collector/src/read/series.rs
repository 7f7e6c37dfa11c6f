//! `GET /api/series`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use queryscope_history::{SeriesGroup, Window};
use queryscope_store::{SeriesBy, SeriesRequest};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use super::asked::{Asked, whole};
use super::params::{RunFilters, SourceFilters, WordsFilter};
use crate::app::App;
use crate::error::{ApiError, ErrorBody};

const GROUPS_DEFAULT: u64 = 8;
const GROUPS_MAX: u64 = 50;
const DAY_NS: i64 = 86_400_000_000_000;
const DAYS_DEFAULT: i64 = 14;

/// How the runs of a series are divided.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(crate) struct SeriesParams {
    /// What the runs are divided by: each value of it has a series of its own. Without it, there is one of all runs.
    #[param(value_type = SeriesBy, inline, required = false, example = "host")]
    by: Option<SeriesBy>,
    /// So many series at most, those of the most wall time; the last one then holds all others.
    #[param(minimum = 1, maximum = 50, default = 8, example = 8)]
    #[serde(deserialize_with = "most")]
    most: Option<u64>,
}

fn most<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    whole(from, 1..=GROUPS_MAX)
}

/// How the wall times of some runs developed.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "since_unix_ns": 1_795_120_283_609_778_763_i64,
    "until_unix_ns": 1_795_120_285_609_778_763_i64,
    "slice_ns": 1_000_000_000_i64,
    "groups": [{
        "value": "worker-1",
        "values": 1,
        "all": {"runs": 7, "failed": 1, "p50_ms": 408.1, "p95_ms": 611.5},
        "total_wall_ms": 2448.6,
        "slices": [
            {"runs": 7, "failed": 1, "p50_ms": 408.1, "p95_ms": 611.5},
            {"runs": 0, "failed": 0, "p50_ms": null, "p95_ms": null}
        ]
    }]
}))]
pub(crate) struct SeriesAnswer {
    /// The start of the range, in Unix nanoseconds.
    since_unix_ns: i64,
    /// The end of the range, in Unix nanoseconds.
    until_unix_ns: i64,
    /// Length of a slice, in nanoseconds: 1, 5 or 15 seconds, as many minutes, an hour, 6 hours or a day, so that
    /// there are 96 at most. The first one begins where the range does.
    slice_ns: i64,
    /// One for each value, that of the most wall time first.
    groups: Vec<SeriesGroup>,
}

/// Tells how the wall times of runs developed: for each slice of the range, runs, failures, the median and the 95th
/// percentile of those that finished.
///
/// `until` is now, unless an earlier time is given, and `since` 14 days before it; at most 90 days.
///
/// A `filter` in words cannot ask for `error`, `engine` or words to search for here. Its figures but `wall` are rounded
/// to 0.05 %.
#[utoipa::path(
    get,
    path = "/api/series",
    tag = "read",
    params(SourceFilters, RunFilters, SeriesParams, WordsFilter),
    responses(
        (status = 200, description = "The series", body = SeriesAnswer),
        (status = 400, description = "A parameter is invalid", body = ErrorBody),
        (status = 403, description = "The Host is a name that is not served", body = ErrorBody),
        (status = 503, description = "Reading failed, or too many others read", body = ErrorBody),
    )
)]
pub(crate) async fn series(
    State(app): State<Arc<App>>,
    Asked(source): Asked<SourceFilters>,
    Asked(runs): Asked<RunFilters>,
    Asked(params): Asked<SeriesParams>,
    Asked(words): Asked<WordsFilter>,
) -> Result<Json<SeriesAnswer>, ApiError> {
    let now_unix_ns = app.clock.unix_ns();
    let past = runs.until.filter(|until| *until < now_unix_ns);
    let until_unix_ns = past.unwrap_or(now_unix_ns);
    let since_unix_ns = runs.since.unwrap_or_else(|| until_unix_ns.saturating_sub(DAYS_DEFAULT * DAY_NS));
    let window = Window::between(since_unix_ns, until_unix_ns, 0);
    let window = window.map_err(|error| ApiError::invalid(error.to_string()))?;
    let window = if past.is_none() { window.ending_now() } else { window };
    // The range is the window's.
    let runs = RunFilters { since: None, until: None, ..runs };
    let mut filter = runs.filter(source);
    words.add_to_counts(&mut filter)?;
    let most = params.most.unwrap_or(GROUPS_DEFAULT) as usize;
    let request = SeriesRequest { filter, window, by: params.by, most };
    let store = Arc::clone(&app.store);
    let lane = app.answers.lane(true);
    let (groups, _turn) = lane.analyse(async move { store.series(request).await }).await?;
    Ok(Json(SeriesAnswer { since_unix_ns, until_unix_ns, slice_ns: window.slice_ns(), groups }))
}
