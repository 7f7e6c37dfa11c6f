//! `GET /api/overview`.

use std::cell::RefCell;
use std::sync::Arc;

use axum::extract::{RawQuery, State};
use axum::http::header;
use axum::response::IntoResponse;
use queryscope_history::{Median, Verdict, Window};
use queryscope_protocol::limits::{OVERVIEW_DAYS_DEFAULT, OVERVIEW_DAYS_MAX};
use queryscope_store::OverviewEntry;
use serde::{Serialize, Serializer};
use utoipa::ToSchema;

use super::params::{Params, SourceFilters, source_filter};
use super::pieces::LongJson;
use crate::app::App;
use crate::error::{ApiError, ErrorBody};

const UTC_OFFSET_MAX_MINUTES: i32 = 1440;

/// What an overview covers.
#[derive(Debug, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "says what `overview` reads")]
pub(crate) struct OverviewParams {
    /// How many times 24 hours it covers.
    #[param(minimum = 1, maximum = 90, default = 14, example = 14)]
    days: Option<u32>,
    /// Minutes that local time is ahead of UTC: where local days start.
    #[param(minimum = -1440, maximum = 1440, default = 0, example = 60)]
    utc_offset: Option<i32>,
}

/// How the labels are doing.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "now_unix_ns": 1_795_206_683_609_778_763_i64,
    "since_unix_ns": 1_795_120_283_609_778_763_i64,
    "days": [1_795_046_400_000_000_000_i64, 1_795_132_800_000_000_000_i64],
    "queries": [{
        "label": "orders/daily",
        "service": "orders-etl",
        "runs": 4,
        "failed": 1,
        "total_wall_ms": 1836.45,
        "usual_wall_ms": 408.1,
        "usual_band_ms": [401.2, 415.7],
        "recent_wall_ms": 612.15,
        "ratio": 1.5,
        "verdict": "slower",
        "recent_runs": 4,
        "recent_failed": 1,
        "failed_before": 0,
        "rules": ["exploding_join"],
        "new_rules": ["exploding_join"],
        "plan_changed_unix_ns": 1_795_130_000_000_000_000_i64,
        "bins": [null, 612.15, 611.5, 612.8],
        "days": [
            {"runs": 1, "failed": 0, "median_wall_ms": 612.15},
            {"runs": 3, "failed": 1, "median_wall_ms": 612.15}
        ]
    }]
}))]
pub(crate) struct Overview {
    /// The end of the range, in Unix nanoseconds.
    now_unix_ns: i64,
    /// The start of the range, in Unix nanoseconds.
    since_unix_ns: i64,
    /// Start of each local day the range touches, in Unix nanoseconds; the first may lie before the range.
    days: Vec<i64>,
    /// The labels that ran in the range, the one that took the most time first.
    #[schema(value_type = Vec<LabelOverview>)]
    queries: Labels,
}

/// The labels, each of which is let go of once it is written: all of them take as much memory as what is written.
#[derive(Debug)]
struct Labels(RefCell<Vec<OverviewEntry>>);

impl Serialize for Labels {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.take().into_iter().map(LabelOverview::from))
    }
}

/// How one label is doing.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LabelOverview {
    /// The label.
    label: String,
    /// The service of its last run that has one.
    service: Option<String>,
    /// Runs in the range, of every state.
    runs: u64,
    /// Those of them that failed.
    failed: u64,
    /// Wall time of those of them that finished, together, in milliseconds.
    total_wall_ms: f64,
    /// Median wall time of the usual runs, in milliseconds; null where there are fewer than 5.
    usual_wall_ms: Option<f64>,
    /// Quartiles of the wall time of the usual runs, in milliseconds.
    usual_band_ms: Option<[f64; 2]>,
    /// Median wall time of the lately runs, in milliseconds.
    recent_wall_ms: Option<f64>,
    /// The recent over the usual wall time.
    ratio: Option<f64>,
    /// `slower` or `faster` where the median moved by a factor of 1.5 or more, hardly by luck.
    #[schema(inline)]
    verdict: Option<VerdictName>,
    /// Runs of the last 24 hours, or the last three when there were fewer.
    recent_runs: u64,
    /// Those of them that failed.
    recent_failed: u64,
    /// Runs that failed in the 14 days before the lately runs.
    failed_before: u64,
    /// Rules that warned in the range, by name.
    rules: Vec<String>,
    /// Rules that first warned in the last 7 days, by name.
    new_rules: Vec<String>,
    /// When the plan the query runs now first ran, in Unix nanoseconds, if it is not the plan it usually ran.
    plan_changed_unix_ns: Option<i64>,
    /// Median wall time of each quarter of 24 hours of the range, in milliseconds; null where nothing finished.
    bins: Vec<Option<f64>>,
    /// Each local day.
    days: Vec<Day>,
}

/// Whether a label is slower or faster than usual.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = Verdict)]
pub(crate) enum VerdictName {
    /// Slower than usual.
    Slower,
    /// Faster than usual.
    Faster,
}

/// The runs of a local day that lie in the range.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Day {
    /// Runs, of every state.
    runs: u64,
    /// Those of them that failed.
    failed: u64,
    /// Median wall time of those that finished, in milliseconds; null where none did.
    median_wall_ms: Option<f64>,
}

impl From<OverviewEntry> for LabelOverview {
    fn from(entry: OverviewEntry) -> Self {
        Self {
            label: entry.label,
            service: entry.service,
            runs: entry.runs,
            failed: entry.failed,
            total_wall_ms: entry.total_wall_ms,
            usual_wall_ms: entry.usual_wall_ms,
            usual_band_ms: entry.usual_band_ms,
            recent_wall_ms: entry.recent_wall_ms,
            ratio: entry.ratio,
            verdict: entry.verdict.map(|verdict| match verdict {
                Verdict::Slower => VerdictName::Slower,
                Verdict::Faster => VerdictName::Faster,
            }),
            recent_runs: entry.recent_runs,
            recent_failed: entry.recent_failed,
            failed_before: entry.failed_before,
            rules: entry.rules,
            new_rules: entry.new_rules,
            plan_changed_unix_ns: entry.plan_changed_unix_ns,
            bins: entry.bins.into_iter().map(Median::get).collect(),
            days: entry
                .days
                .into_iter()
                .map(|day| Day {
                    runs: day.runs.into(),
                    failed: day.failed.into(),
                    median_wall_ms: day.median_wall_ms.get(),
                })
                .collect(),
        }
    }
}

/// Compares what each label did lately with what it usually does.
///
/// Lately are the runs of the last 24 hours, or the last three; usual are the runs that finished in the 14 days
/// before them. The label that took the most time comes first.
#[utoipa::path(
    get,
    path = "/api/overview",
    tag = "read",
    params(SourceFilters, OverviewParams),
    responses(
        (status = 200, description = "The labels that ran in the range", body = Overview),
        (status = 400, description = "A parameter is invalid", body = ErrorBody),
        (status = 403, description = "The Host is a name that is not served", body = ErrorBody),
        (status = 503, description = "Reading failed", body = ErrorBody),
    )
)]
pub(crate) async fn overview(
    State(app): State<Arc<App>>,
    RawQuery(query): RawQuery,
) -> Result<impl IntoResponse, ApiError> {
    let params = Params::of(query.as_deref());
    let takes = format!("a whole number from 1 to {OVERVIEW_DAYS_MAX}");
    let days = params.value("days", takes, |text| {
        text.parse().ok().filter(|days| (1..=OVERVIEW_DAYS_MAX).contains(days))
    })?;
    let takes =
        format!("a whole number of minutes from -{UTC_OFFSET_MAX_MINUTES} to {UTC_OFFSET_MAX_MINUTES}");
    let utc_offset = params.value("utc_offset", takes, |text| {
        text.parse().ok().filter(|offset| (-UTC_OFFSET_MAX_MINUTES..=UTC_OFFSET_MAX_MINUTES).contains(offset))
    })?;
    let window =
        Window::new(app.clock.unix_ns(), days.unwrap_or(OVERVIEW_DAYS_DEFAULT), utc_offset.unwrap_or(0))
            .map_err(|error| ApiError::invalid(error.to_string()))?;
    let entries = app.store.overview(source_filter(&params)?, window).await?;
    let overview = Overview {
        now_unix_ns: window.now_unix_ns(),
        since_unix_ns: window.since_unix_ns(),
        days: window.days(),
        queries: Labels(RefCell::new(entries)),
    };
    // It is of one moment: there is nothing to validate later.
    Ok(([(header::CACHE_CONTROL, "no-store")], LongJson(overview)))
}
