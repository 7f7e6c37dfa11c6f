//! `GET /api/overview`.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Extension;
use axum::extract::{RawQuery, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use queryscope_diagnosis::limits::{AFTER_RUNS_MIN, BEFORE_RUNS_MIN};
use queryscope_history::{LabelOverview, Totals, Window, WindowError};
use queryscope_protocol::limits::{OVERVIEW_DAYS_DEFAULT, OVERVIEW_DAYS_MAX};
use queryscope_store::{
    ChangesRequest, Is, OverviewOrder, OverviewPlace, OverviewRequest, OverviewSplit, QueryFilter,
    StoredChange,
};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use super::answers::Reader;
use super::asked::{Asked, parsed, whole};
use super::cursor;
use super::params::{SourceFilters, is, unix_ns};
use super::part::{Part, PartParams};
use super::stream::{self, Shape, write_json};
use crate::app::App;
use crate::error::{ApiError, ErrorBody};

const UTC_OFFSET_MAX_MINUTES: i32 = 1440;
const DAY_NS: i64 = 86_400_000_000_000;
/// Open changes that entries are told of: those that cost most.
const OPEN_CHANGES_MAX: usize = 10_000;

/// What an overview covers.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(crate) struct OverviewParams {
    /// Keeps queries of this version of the engine; empty keeps those of which it is not known.
    #[param(example = "1.35.2")]
    engine_version: Option<String>,
    /// Keeps queries of this version of the program; empty keeps those whose process does not say it.
    #[param(example = "2026.11.3")]
    program_version: Option<String>,
    /// How many times 24 hours it covers; not together with `since`.
    #[param(minimum = 1, maximum = 90, default = 14, example = 14)]
    #[serde(deserialize_with = "days")]
    days: Option<u32>,
    /// The start of what it covers, in Unix nanoseconds, instead of `days`; at most 90 days before its end.
    #[param(example = 1_794_000_000_000_000_000_i64)]
    #[serde(deserialize_with = "unix_ns")]
    since: Option<i64>,
    /// The end of what it covers, in Unix nanoseconds: now, unless an earlier time is given. What started later
    /// has no part in the answer, and lately and usual are as of then.
    #[param(example = 1_796_000_000_000_000_000_i64)]
    #[serde(deserialize_with = "unix_ns")]
    until: Option<i64>,
    /// Minutes that local time is ahead of UTC: where local days start.
    #[param(minimum = -1440, maximum = 1440, default = 0, example = 60)]
    #[serde(deserialize_with = "utc_offset")]
    utc_offset: Option<i32>,
    /// `time` lists what took the most time first, which is the default; `news` lists first what has something to
    /// tell: a verdict, a failure lately, a new warning or a new plan.
    #[param(value_type = OverviewOrder, inline, required = false, example = "news")]
    order: Option<OverviewOrder>,
    /// `service` makes an entry of each label in each service; without it an entry is a label.
    #[param(value_type = OverviewSplit, inline, required = false, example = "service")]
    split: Option<OverviewSplit>,
}

fn days<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    whole(from, 1..=OVERVIEW_DAYS_MAX)
}

fn utc_offset<'de, D: Deserializer<'de>>(from: D) -> Result<Option<i32>, D::Error> {
    let range = -UTC_OFFSET_MAX_MINUTES..=UTC_OFFSET_MAX_MINUTES;
    let takes = format!("a whole number of minutes from {} to {}", range.start(), range.end());
    parsed(from, takes, |text| text.parse().ok().filter(|minutes| range.contains(minutes)))
}

/// How the labels are doing.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "now_unix_ns": 1_795_206_683_609_778_763_i64,
    "since_unix_ns": 1_795_120_283_609_778_763_i64,
    "slice_ns": 21_600_000_000_000_i64,
    "days": [1_795_046_400_000_000_000_i64, 1_795_132_800_000_000_000_i64],
    "totals": {
        "labels": 1, "runs": 4, "failed": 1, "cancelled": 0, "unfinished": 0,
        "total_wall_ms": 1836.45, "slower": 1, "faster": 0, "judged": 1
    },
    "change_runs_min": 8,
    "queries": [{
        "label": "orders/daily",
        "service": "orders-etl",
        "services": 1,
        "runs": 4,
        "failed": 1,
        "cancelled": 0,
        "unfinished": 0,
        "total_wall_ms": 1836.45,
        "usual_wall_ms": 408.1,
        "usual_band_ms": [401.2, 415.7],
        "recent_wall_ms": 612.15,
        "recent_spread_ms": null,
        "ratio": 1.5,
        "judged": true,
        "verdict": "slower",
        "recent_runs": 4,
        "recent_failed": 1,
        "failed_before": 0,
        "rules": ["exploding_join"],
        "new_rules": ["exploding_join"],
        "plan_changed_unix_ns": 1_795_130_000_000_000_000_i64,
        "bins": [null, 612.15, 611.5, 612.8],
        "days": [
            {"runs": 1, "failed": 0, "cancelled": 0, "median_wall_ms": 612.15},
            {"runs": 3, "failed": 1, "cancelled": 0, "median_wall_ms": 612.15}
        ],
        "change": "slower-01a1faa81bd977b297ab860dd7026506"
    }]
}))]
pub(crate) struct Overview {
    /// The end of the range, in Unix nanoseconds.
    now_unix_ns: i64,
    /// The start of the range, in Unix nanoseconds.
    since_unix_ns: i64,
    /// Length of the slices that `bins` are of, in nanoseconds: 6 hours where the range is so many days, else 1,
    /// 5 or 15 seconds, as many minutes, an hour, 6 hours or a day, so that they are 96 at most.
    slice_ns: i64,
    /// Start of each local day the range touches, in Unix nanoseconds; the first may lie before the range.
    days: Vec<i64>,
    /// All entries together, whatever the limit.
    totals: Totals,
    /// Runs of a query from which on a change of it can be found: little can be said of one with fewer.
    change_runs_min: usize,
    /// The labels that ran in the range, in the order asked for. It stands last, as entries are written one by one.
    queries: Vec<LabelOverview<'static>>,
}

/// The open change of each entry, by its names.
struct OpenChanges {
    split: OverviewSplit,
    ids: HashMap<(String, Option<String>), String>,
}

impl OpenChanges {
    async fn read(app: &App, request: &OverviewRequest) -> Result<Self, ApiError> {
        let QueryFilter { project, service, label, environment, host, .. } = request.filter.clone();
        let mut ids = HashMap::new();
        // A query without a label has no changes.
        if label != Some(Is::Absent) {
            let label = label.and_then(|label| if let Is::Value(label) = label { Some(label) } else { None });
            let asked = ChangesRequest {
                project,
                service,
                label,
                environment,
                host,
                state: Some(StoredChange::OPEN.to_owned()),
                limit: OPEN_CHANGES_MAX,
                // Of thousands of changes the ids alone are told.
                without_body: true,
                ..ChangesRequest::default()
            };
            let mut open = app.store.changes(asked).await?;
            // Of each sort, the one that costs most stays first.
            open.sort_by_key(|change| !change.is_for_worse());
            for change in open {
                let service = change.key.service.filter(|_| request.split == OverviewSplit::Service);
                ids.entry((change.key.label, service)).or_insert(change.id);
            }
        }
        Ok(Self { split: request.split, ids })
    }

    fn id_of(&self, label: &str, service: Option<&str>) -> Option<String> {
        let service = service.filter(|_| self.split == OverviewSplit::Service).map(str::to_owned);
        self.ids.get(&(label.to_owned(), service)).cloned()
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
/// Lately are the runs of the last 24 hours of the range, or the last three; usual are the runs that finished
/// in the 14 days before them. The label that took the most time comes first, unless `order` says otherwise.
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
    Asked(source): Asked<SourceFilters>,
    Asked(asked): Asked<OverviewParams>,
    Asked(part): Asked<PartParams>,
) -> Result<Response, ApiError> {
    let (request, form) = request(source, &asked, part, app.clock.unix_ns())?;
    let window = request.window;
    let open = OpenChanges::read(&app, &request).await?;
    let store = Arc::clone(&app.store);
    let lane = app.answers.lane(request.limit.is_some() || request.filter.label.is_some());
    let (answer, turn) = lane.analyse(async move { store.overview(request).await }).await?;
    let next = answer.next.map(|place| PageEnd { now_unix_ns: window.now_unix_ns(), place });
    let next = next.map(|end| cursor::write_page(form, &end));
    let link = next.map(|next| [cursor::link("/api/overview", query.as_deref(), &next)]);
    let mut head = Vec::new();
    let overview = Overview {
        now_unix_ns: window.now_unix_ns(),
        since_unix_ns: window.since_unix_ns(),
        slice_ns: window.slice_ns(),
        days: window.days(),
        totals: answer.totals,
        change_runs_min: BEFORE_RUNS_MIN + AFTER_RUNS_MIN,
        queries: Vec::new(),
    };
    write_json(&overview, &mut head);
    let tail: &[u8] = b"]}";
    head.truncate(head.len().saturating_sub(tail.len()));
    let write = Box::new(move |entry: LabelOverview<'static>, to: &mut Vec<u8>| {
        let change = open.id_of(&entry.label, entry.service.as_deref());
        write_json(&LabelOverview { change, ..entry }, to);
    });
    let shape = Shape { head, tail, write };
    let answer = stream::answer(&app.answers, &reader, answer.entries, shape).await?;
    drop(turn);
    // It is of one moment: there is nothing to validate later.
    Ok(([(header::CACHE_CONTROL, "no-store")], link, answer).into_response())
}

/// The range asked for.
fn window(asked: &OverviewParams, now_unix_ns: i64) -> Result<Window, ApiError> {
    let invalid = |error: WindowError| ApiError::invalid(error.to_string());
    let utc_offset = asked.utc_offset.unwrap_or(0);
    if asked.days.is_some() && asked.since.is_some() {
        return Err(ApiError::invalid("days: not allowed together with since"));
    }
    let past = asked.until.filter(|until| *until < now_unix_ns);
    let until_unix_ns = past.unwrap_or(now_unix_ns);
    let days = asked.days.unwrap_or(OVERVIEW_DAYS_DEFAULT);
    let since_unix_ns = match (asked.since, past) {
        (None, None) => return Window::new(now_unix_ns, days, utc_offset).map_err(invalid),
        (None, Some(until)) => until.saturating_sub(i64::from(days) * DAY_NS),
        (Some(since), _) => since,
    };
    let window = Window::between(since_unix_ns, until_unix_ns, utc_offset).map_err(invalid)?;
    Ok(if past.is_none() { window.ending_now() } else { window })
}

/// What a store is asked for, and the form of its cursors.
fn request(
    source: SourceFilters,
    asked: &OverviewParams,
    part: PartParams,
    now_unix_ns: i64,
) -> Result<(OverviewRequest, u8), ApiError> {
    let (order, split) = (asked.order.unwrap_or_default(), asked.split.unwrap_or_default());
    let form = form(order, split);
    let Part { limit, after } = part.part::<PageEnd>(form)?;
    let now_unix_ns = after.as_ref().map_or(now_unix_ns, |end| end.now_unix_ns);
    let window = window(asked, now_unix_ns)?;
    let after = after.map(|end| end.place);
    let engine_version = asked.engine_version.as_deref().map(is);
    let program_version = asked.program_version.as_deref().map(is);
    let filter = QueryFilter { engine_version, program_version, ..source.filter() };
    Ok((OverviewRequest { filter, window, order, split, after, limit }, form))
}
