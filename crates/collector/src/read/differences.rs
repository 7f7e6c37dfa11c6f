//! `GET /api/differences`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use queryscope_diagnosis::{CONTRAST_RUNS_MIN, Contrast, Groups, RunFeatures, Status, TimeJudgement};
use queryscope_history::median;
use queryscope_store::{Is, ListRequest, Order};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use super::asked::{Asked, parsed};
use super::diagnosed::detector;
use super::params::{SourceFilters, unix_ns};
use crate::app::App;
use crate::error::{ApiError, ErrorBody};

const UTC_OFFSET_MAX_MINUTES: i32 = 1440;

/// Which runs are held against the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FirstGroup {
    /// Those much slower than the others.
    Slow,
    /// Those that failed and were not cancelled, against those that finished.
    Failed,
}

/// Which runs are held against which.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(crate) struct DifferenceParams {
    /// Which runs are held against the others: `slow` (the default), or `failed` against those that finished. Not
    /// beside `base_since` or `base_program_version`.
    #[param(value_type = FirstGroup, inline, required = false, example = "failed")]
    first: Option<FirstGroup>,
    /// Keeps runs that started at or after this, in Unix nanoseconds.
    #[param(example = 1_794_000_000_000_000_000_i64)]
    #[serde(deserialize_with = "unix_ns")]
    since: Option<i64>,
    /// Keeps runs that started at or before this, in Unix nanoseconds.
    #[param(example = 1_796_000_000_000_000_000_i64)]
    #[serde(deserialize_with = "unix_ns")]
    until: Option<i64>,
    /// Holds the runs against those that started at or after this, in Unix nanoseconds, instead of the slow
    /// ones against the others.
    #[param(example = 1_793_000_000_000_000_000_i64)]
    #[serde(deserialize_with = "unix_ns")]
    base_since: Option<i64>,
    /// The end of the time given by `base_since`: before `since`, where it is not given.
    #[param(example = 1_793_900_000_000_000_000_i64)]
    #[serde(deserialize_with = "unix_ns")]
    base_until: Option<i64>,
    /// Keeps runs of this version of the program.
    #[param(example = "2026.11.3")]
    program_version: Option<String>,
    /// Holds the runs against those of this version of the program.
    #[param(example = "2026.11.2")]
    base_program_version: Option<String>,
    /// Minutes that local time is ahead of UTC: of the hours of the day.
    #[param(minimum = -1440, maximum = 1440, default = 0, example = 60)]
    #[serde(deserialize_with = "utc_offset")]
    utc_offset: Option<i32>,
}

fn utc_offset<'de, D: Deserializer<'de>>(from: D) -> Result<Option<i32>, D::Error> {
    let range = -UTC_OFFSET_MAX_MINUTES..=UTC_OFFSET_MAX_MINUTES;
    let takes = format!("a whole number of minutes from {} to {}", range.start(), range.end());
    parsed(from, takes, |text| text.parse().ok().filter(|minutes| range.contains(minutes)))
}

/// Some runs that ended.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct RunGroup {
    /// How many.
    runs: usize,
    /// Median of their wall times in milliseconds; null where there are none.
    median_ms: Option<f64>,
    /// The least of their wall times in milliseconds; null where there are none.
    least_ms: Option<f64>,
    /// The largest of their wall times in milliseconds; null where there are none.
    most_ms: Option<f64>,
}

impl RunGroup {
    fn new(runs: &[&RunFeatures]) -> Self {
        let mut walls: Vec<f64> = runs.iter().map(|run| run.wall_ns as f64 / 1e6).collect();
        Self {
            runs: runs.len(),
            least_ms: walls.iter().copied().min_by(f64::total_cmp),
            most_ms: walls.iter().copied().max_by(f64::total_cmp),
            median_ms: median(&mut walls),
        }
    }
}

/// What two groups of a query's runs differ in.
#[derive(Debug, Default, Serialize, ToSchema)]
#[schema(example = json!({
    "known_runs": 120,
    "runs_min": 5,
    "first": {"runs": 30, "median_ms": 93_512.4, "least_ms": 71_210.9, "most_ms": 118_034.0},
    "second": {"runs": 90, "median_ms": 39_702.8, "least_ms": 36_001.2, "most_ms": 52_119.3},
    "delta": 1.0,
    "probability": 1.2e-15,
    "judgement": null,
    "differences": [{
        "name": "host",
        "value": "worker-3",
        "delta": 0.92,
        "probability": 2.1e-21,
        "first_runs": 28,
        "second_runs": 1,
        "first_median": null,
        "second_median": null
    }]
}))]
#[expect(clippy::struct_field_names, reason = "fields are named as in the answer")]
pub(crate) struct Differences {
    /// Runs of the query that are looked at: of its last 500 that ended, those in the time asked for.
    known_runs: usize,
    /// Runs that each group needs: with fewer, nothing is said.
    runs_min: usize,
    /// The slow runs, those that failed, or those that were asked for. Empty where no runs are much slower than the
    /// others.
    first: RunGroup,
    /// The other runs, or those they are held against.
    second: RunGroup,
    /// Cliff's delta of the wall times: above 0 where the first ones are slower, from -1 to 1. Null where a
    /// group has too few runs, and of runs that failed.
    delta: Option<f64>,
    /// How probable so large a difference of the wall times is by luck; null where `delta` is. Of the slow runs
    /// it says nothing: they were chosen by their time.
    probability: Option<f64>,
    /// Whether the first ones are slower or faster, by an effect of at least 0.33 that luck explains in at most one
    /// of a hundred cases; null where `delta` is, and of the slow runs.
    judgement: Option<TimeJudgement>,
    /// What differs, the largest effect first: those that luck alone explains in less than one of a hundred
    /// cases, over all comparisons that were made.
    differences: Vec<Contrast>,
}

/// Tells what the slow runs of a query have in common that its other runs have not: hosts, versions, plans,
/// hours of the day, rows, bytes and waiting. Needs `label` and `service` (empty: none).
///
/// With `first=failed`, those that failed are held against those that finished, by what each run has (host, version,
/// plan, hour) and not by its numbers. With `base_since` or `base_program_version`, the runs asked for are held against
/// those instead. It looks at the last 500 ended runs of the query that were evaluated, and says nothing where a group
/// has fewer than 5. Each effect is Cliff's delta, with its probability by the Mann-Whitney test.
#[utoipa::path(
    get,
    path = "/api/differences",
    tag = "read",
    params(SourceFilters, DifferenceParams),
    responses(
        (status = 200, description = "The differences", body = Differences),
        (status = 400, description = "A parameter is invalid, or label or service is missing", body = ErrorBody),
        (status = 403, description = "The Host is a name that is not served", body = ErrorBody),
        (status = 503, description = "Reading failed, or too many others read", body = ErrorBody),
    )
)]
pub(crate) async fn differences(
    State(app): State<Arc<App>>,
    Asked(source): Asked<SourceFilters>,
    Asked(params): Asked<DifferenceParams>,
) -> Result<Json<Differences>, ApiError> {
    let filter = source.filter();
    if !matches!(filter.label, Some(Is::Value(_))) {
        return Err(ApiError::invalid("label: is needed, differences are those of one query"));
    }
    if filter.service.is_none() {
        return Err(ApiError::invalid(
            "service: is needed, and may be empty; a query is a label in a service",
        ));
    }
    if params.first.is_some() && params.is_two() {
        return Err(ApiError::invalid("first: is not taken beside base_since or base_program_version"));
    }
    let places = (filter.environment.clone(), filter.host.clone());
    let request = ListRequest { filter, order: Order::Newest, sort: None, after: None, offset: 0, limit: 1 };
    let newest = app.store.queries(request).await?.pop();
    let runs_min = CONTRAST_RUNS_MIN;
    let Some(newest) = newest else { return Ok(Json(Differences { runs_min, ..Differences::default() })) };
    let Some(detector) = detector(&app, &newest.query).await? else {
        return Ok(Json(Differences { runs_min, ..Differences::default() }));
    };
    let told = tokio::task::spawn_blocking(move || {
        let (environment, host) = places;
        let is_here = |run: &&RunFeatures| {
            let is = environment.as_ref().is_none_or(|is| match is {
                Is::Absent => run.environment.is_none(),
                Is::Value(text) => run.environment.as_deref() == Some(text),
            });
            is && host.as_deref().is_none_or(|host| run.host.as_deref() == Some(host))
        };
        params.differences(&detector.runs().filter(is_here).collect::<Vec<_>>())
    });
    let told = told.await.map_err(|_| ApiError::unavailable("reading was interrupted, try again"))?;
    Ok(Json(told))
}

fn is_of_version(run: &RunFeatures, version: Option<&str>) -> bool {
    version.is_none_or(|version| run.program_version.as_deref().unwrap_or("") == version)
}

fn finished(runs: Vec<&RunFeatures>) -> Vec<&RunFeatures> {
    runs.into_iter().filter(|run| run.status == Status::Finished).collect()
}

impl DifferenceParams {
    /// Whether two groups are asked for by name.
    fn is_two(&self) -> bool {
        self.base_since.is_some() || self.base_program_version.is_some()
    }

    fn differences(&self, runs: &[&RunFeatures]) -> Differences {
        let is_asked_for = |run: &RunFeatures| {
            self.since.is_none_or(|since| run.started_unix_ns >= since)
                && self.until.is_none_or(|until| run.started_unix_ns <= until)
                && is_of_version(run, self.program_version.as_deref())
        };
        let is_two = self.is_two();
        let is_of_failures = self.first == Some(FirstGroup::Failed);
        let asked: Vec<&RunFeatures> = runs.iter().copied().filter(|run| is_asked_for(run)).collect();
        let known_runs = asked.len();
        let groups = if is_two {
            let before = self.base_until.or(self.since.map(|since| since.saturating_sub(1)));
            let is_base = |run: &RunFeatures| {
                let in_time = match self.base_since {
                    Some(since) => {
                        run.started_unix_ns >= since
                            && before.is_none_or(|until| run.started_unix_ns <= until)
                    }
                    None => {
                        self.since.is_none_or(|since| run.started_unix_ns >= since)
                            && self.until.is_none_or(|until| run.started_unix_ns <= until)
                    }
                };
                in_time && is_of_version(run, self.base_program_version.as_deref())
            };
            let base: Vec<&RunFeatures> = runs.iter().copied().filter(|run| is_base(run)).collect();
            Groups { first: finished(asked), second: finished(base) }
        } else if is_of_failures {
            Groups::failed_and_finished(asked.iter().copied())
        } else {
            Groups::slow_and_others(asked.iter().copied()).unwrap_or_default()
        };
        let wall = groups.wall().filter(|_| !is_of_failures);
        Differences {
            known_runs,
            runs_min: CONTRAST_RUNS_MIN,
            first: RunGroup::new(&groups.first),
            second: RunGroup::new(&groups.second),
            delta: wall.map(|(delta, _)| delta),
            probability: wall.map(|(_, probability)| probability),
            judgement: wall
                .filter(|_| is_two)
                .map(|(delta, probability)| TimeJudgement::new(delta, probability)),
            differences: groups.differences(self.utc_offset.unwrap_or(0)),
        }
    }
}
