//! `GET /api/overview`.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{RawQuery, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use queryscope_history::{Median, Verdict, Window};
use queryscope_protocol::limits::{OVERVIEW_DAYS_DEFAULT, OVERVIEW_DAYS_MAX};
use queryscope_store::{OverviewEntry, OverviewOrder, OverviewPlace, OverviewRequest, OverviewSplit};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::answers::Reader;
use super::cursor;
use super::params::{Params, SourceFilters, source_filter};
use super::part::{Part, PartParams};
use super::stream::{self, Shape, write_json};
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
    /// `time` lists what took the most time first, which is the default; `news` lists first what has something to
    /// tell: a verdict, a failure lately, a new warning or a new plan.
    #[param(inline, required = false, example = "news")]
    order: OverviewOrderName,
    /// `service` makes an entry of each label in each service; without it an entry is a label.
    #[param(inline, required = false, example = "service")]
    split: OverviewSplitName,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = OverviewOrder)]
#[expect(dead_code, reason = "names what `order` takes in the document")]
pub(crate) enum OverviewOrderName {
    /// What took the most time first.
    Time,
    /// What has something to tell first, then by time.
    News,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = OverviewSplit)]
#[expect(dead_code, reason = "names what `split` takes in the document")]
pub(crate) enum OverviewSplitName {
    /// An entry is a label in one service.
    Service,
}

/// All entries together, whatever the limit.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Totals {
    /// Entries there are: labels, or with `split=service` labels in one service.
    labels: u64,
    /// Runs in the range, of every state.
    runs: u64,
    /// Those of them that failed.
    failed: u64,
    /// Wall time of those of them that finished, together, in milliseconds.
    total_wall_ms: f64,
    /// Entries whose verdict is `slower`.
    slower: u64,
    /// Entries whose verdict is `faster`.
    faster: u64,
}

/// How the labels are doing.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "now_unix_ns": 1_795_206_683_609_778_763_i64,
    "since_unix_ns": 1_795_120_283_609_778_763_i64,
    "days": [1_795_046_400_000_000_000_i64, 1_795_132_800_000_000_000_i64],
    "totals": {"labels": 1, "runs": 4, "failed": 1, "total_wall_ms": 1836.45, "slower": 1, "faster": 0},
    "queries": [{
        "label": "orders/daily",
        "service": "orders-etl",
        "services": 1,
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
    /// All entries together, whatever the limit.
    totals: Totals,
    /// The labels that ran in the range, in the order asked for. It stands last, as entries are written one by one.
    queries: Vec<LabelOverview>,
}

/// How one label is doing.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LabelOverview {
    /// The label.
    label: String,
    /// The service of its last run that has one; with `split=service`, the service.
    service: Option<String>,
    /// Distinct services of its runs in the range; runs without a service count as one.
    services: u64,
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
            services: entry.services,
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

/// Where a page of an overview ended.
#[derive(Debug, Serialize, Deserialize)]
struct PageEnd {
    /// All pages are of one range.
    now_unix_ns: i64,
    place: OverviewPlace,
}

/// Form of a cursor, by order and by what an entry is of.
const fn form(order: OverviewOrder, split: OverviewSplit) -> u8 {
    match (order, split) {
        (OverviewOrder::Time, OverviewSplit::Label) => 5,
        (OverviewOrder::Time, OverviewSplit::Service) => 6,
        (OverviewOrder::News, OverviewSplit::Label) => 7,
        (OverviewOrder::News, OverviewSplit::Service) => 8,
    }
}

/// Compares what each label did lately with what it usually does.
///
/// Lately are the runs of the last 24 hours, or the last three; usual are the runs that finished in the 14 days
/// before them. The label that took the most time comes first, unless `order` says otherwise.
///
/// With `limit`, every page that is not the last carries a `Link` header with `rel="next"`. All pages are of the
/// range of the first one; a label whose time changes between two pages may be on both or on neither.
#[utoipa::path(
    get,
    path = "/api/overview",
    tag = "read",
    params(SourceFilters, OverviewParams, PartParams),
    responses(
        (
            status = 200,
            description = "The labels that ran in the range",
            body = Overview,
            headers(("Link" = String, description = "Address of the next page, where there is one"))
        ),
        (status = 400, description = "A parameter is invalid", body = ErrorBody),
        (status = 403, description = "The Host is a name that is not served", body = ErrorBody),
        (status = 503, description = "Reading failed, or too many others read", body = ErrorBody),
    )
)]
pub(crate) async fn overview(
    State(app): State<Arc<App>>,
    Extension(reader): Extension<Reader>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let params = Params::of(query.as_deref());
    let (request, form) = read(&params, app.clock.unix_ns())?;
    let window = request.window;
    let store = Arc::clone(&app.store);
    let lane = app.answers.lane(request.limit.is_some() || request.filter.label.is_some());
    let (answer, turn) = lane.analyse(async move { store.overview(request).await }).await?;
    let next = answer.next.map(|place| PageEnd { now_unix_ns: window.now_unix_ns(), place });
    let next = next.map(|end| cursor::write_page(form, &end));
    let link = next.map(|next| [cursor::link("/api/overview", query.as_deref(), &next)]);
    let totals = answer.totals;
    let mut head = Vec::new();
    let overview = Overview {
        now_unix_ns: window.now_unix_ns(),
        since_unix_ns: window.since_unix_ns(),
        days: window.days(),
        totals: Totals {
            labels: totals.labels,
            runs: totals.runs,
            failed: totals.failed,
            total_wall_ms: totals.total_wall_ms(),
            slower: totals.slower,
            faster: totals.faster,
        },
        queries: Vec::new(),
    };
    write_json(&overview, &mut head);
    let tail: &[u8] = b"]}";
    head.truncate(head.len().saturating_sub(tail.len()));
    let shape = Shape { head, tail, write: |entry, to| write_json(&LabelOverview::from(entry), to) };
    let answer = stream::answer(&app.answers, &reader, answer.entries, shape).await?;
    drop(turn);
    // It is of one moment: there is nothing to validate later.
    Ok(([(header::CACHE_CONTROL, "no-store")], link, answer).into_response())
}

/// Reads what is asked for, and the form of its cursors.
fn read(params: &Params<'_>, now_unix_ns: i64) -> Result<(OverviewRequest, u8), ApiError> {
    let takes = format!("a whole number from 1 to {OVERVIEW_DAYS_MAX}");
    let days = params.value("days", takes, |text| {
        text.parse().ok().filter(|days| (1..=OVERVIEW_DAYS_MAX).contains(days))
    })?;
    let takes =
        format!("a whole number of minutes from -{UTC_OFFSET_MAX_MINUTES} to {UTC_OFFSET_MAX_MINUTES}");
    let utc_offset = params.value("utc_offset", takes, |text| {
        text.parse().ok().filter(|offset| (-UTC_OFFSET_MAX_MINUTES..=UTC_OFFSET_MAX_MINUTES).contains(offset))
    })?;
    let order = params.value("order", "time or news", |text| match text {
        "time" => Some(OverviewOrder::Time),
        "news" => Some(OverviewOrder::News),
        _ => None,
    })?;
    let split =
        params.value("split", "service", |text| (text == "service").then_some(OverviewSplit::Service))?;
    let (order, split) = (order.unwrap_or_default(), split.unwrap_or_default());
    let form = form(order, split);
    let Part { limit, after } = Part::<PageEnd>::of(params, form)?;
    let now_unix_ns = after.as_ref().map_or(now_unix_ns, |end| end.now_unix_ns);
    let window = Window::new(now_unix_ns, days.unwrap_or(OVERVIEW_DAYS_DEFAULT), utc_offset.unwrap_or(0))
        .map_err(|error| ApiError::invalid(error.to_string()))?;
    let after = after.map(|end| end.place);
    Ok((OverviewRequest { filter: source_filter(params)?, window, order, split, after, limit }, form))
}
