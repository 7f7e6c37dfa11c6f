//! Which running runs are late, and which issues of late runs are over.
//!
//! The problem: a run that hangs ends never, so nothing that waits for ended runs tells of it. The mechanism: whoever
//! has the lease looks at the running runs every few seconds, those that run longest first, and holds each against the
//! wall times of its earlier runs. An issue is about one run, and is over when that run does not run any more.

use std::collections::BTreeMap;
use std::sync::Arc;

use queryscope_issues::limits::{LATE_MS_MIN, LATE_RUNS_MIN};
use queryscope_issues::{Issue, Kind, Late, Observed, SeenSignal, Signal, State, duration, late};
use queryscope_protocol::QueryId;
use queryscope_store::{
    IssuesRequest, ListRequest, ObservedQuery, Order, Query, QueryFilter, QueryKey, Status, StoreError,
};

use super::told;
use crate::app::App;
use crate::read::{Alike, earlier, rows_factor};

/// Running runs that are looked at, those that started first.
const RUNNING_MAX: usize = 500;
/// Issues that are looked at.
const ISSUES_MAX: usize = 10_000;

/// A running run that is late.
struct LateRun {
    query: Query,
    late: Late,
    /// The earlier runs it was held against, in words.
    runs: String,
    /// Start of the last of them.
    good_unix_ns: Option<i64>,
}

/// What the running runs make of issues.
///
/// # Errors
/// When the store fails.
pub(super) async fn observe(app: &Arc<App>) -> Result<Vec<ObservedQuery>, StoreError> {
    let unix_ns = app.clock.unix_ns();
    let request = IssuesRequest {
        kind: Some(Kind::Late),
        states: vec![State::Open, State::Acknowledged, State::Muted, State::Regressed],
        limit: ISSUES_MAX,
        ..IssuesRequest::default()
    };
    let known = app.store.issues(request).await?;
    let mut known: BTreeMap<QueryKey, Issue> =
        known.into_iter().map(|issue| (key_of(&issue), issue)).collect();
    let mut observed = Vec::new();
    for (key, late) in late_runs(app, unix_ns).await? {
        let signal = match known.remove(&key) {
            None => lasts_first(app, &late).await,
            Some(issue) => heard(app, &issue, &late).await?,
        };
        observed.extend(signal.map(|signal| observed_query(key, unix_ns, signal)));
    }
    for (key, issue) in known {
        let signal = heard(app, &issue, &[]).await?;
        observed.extend(signal.map(|signal| observed_query(key, unix_ns, signal)));
    }
    Ok(observed)
}

/// Late runs by query, those that run longest first.
async fn late_runs(app: &Arc<App>, unix_ns: i64) -> Result<BTreeMap<QueryKey, Vec<LateRun>>, StoreError> {
    let filter = QueryFilter { status: Some(Status::Running), ..QueryFilter::default() };
    let request =
        ListRequest { filter, sort: None, order: Order::Oldest, after: None, offset: 0, limit: RUNNING_MAX };
    let mut found: BTreeMap<QueryKey, Vec<LateRun>> = BTreeMap::new();
    for query in app.store.queries(request).await?.into_iter().map(|listed| listed.query) {
        let elapsed_ms = unix_ns.saturating_sub(query.started_unix_ns) as f64 / 1e6;
        let Some(label) = query.label.clone().filter(|_| elapsed_ms >= LATE_MS_MIN) else { continue };
        // What cannot be read now is held against its earlier runs at the next look.
        let Some((late, runs, good_unix_ns)) = judge(app, &query, elapsed_ms).await else { continue };
        let key = QueryKey { project: query.project.clone(), service: query.service.clone(), label };
        found.entry(key).or_default().push(LateRun { query, late, runs, good_unix_ns });
    }
    Ok(found)
}

/// By how much a run is late, and by which earlier runs; those of its plan, where they are enough.
async fn judge(app: &Arc<App>, query: &Query, elapsed_ms: f64) -> Option<(Late, String, Option<i64>)> {
    let (mut runs, mut of) = (earlier(app, query, Alike::Plan).await.ok()?, "plan");
    if runs.len() < LATE_RUNS_MIN {
        (runs, of) = (earlier(app, query, Alike::Label).await.ok()?, "query");
    }
    let good_unix_ns = runs.first().map(|(run, _)| run.started_unix_ns);
    let walls: Vec<f64> = runs.iter().map(|(_, wall_ms)| *wall_ms).collect();
    let judged = late(elapsed_ms, &walls)?;
    // With more rows to read, it is not late but larger.
    let factor = rows_factor(app, query, elapsed_ms).await.ok()?;
    late(elapsed_ms / factor.unwrap_or(1.0).max(1.0), &walls)?;
    Some((judged, format!("the last {} runs of its {of}", walls.len()), good_unix_ns))
}

/// What an issue that is not resolved is told of its run; `None` where nothing is new.
async fn heard(app: &Arc<App>, issue: &Issue, late: &[LateRun]) -> Result<Option<SeenSignal>, StoreError> {
    let run = issue.run.clone().unwrap_or_default();
    if let Some(same) = late.iter().find(|late| late.query.query_id.to_string() == run) {
        if !issue.is_news(same.late.factor) {
            return Ok(None);
        }
        return Ok(Some(lasts(app, same).await));
    }
    let query = match run.parse::<QueryId>() {
        Ok(id) => app.store.query(id).await?,
        Err(_) => None,
    };
    let took = |query: &Query| query.wall_ms.map(|ms| format!(" after {}", duration(ms))).unwrap_or_default();
    let reason = match &query {
        Some(query) if query.status == Status::Running => return Ok(None),
        Some(query) if query.status == Status::Finished => format!("the late run finished{}", took(query)),
        Some(query) if query.status == Status::Failed => format!("the late run failed{}", took(query)),
        Some(_) => "the late run is not heard of any more: nobody knows whether it ended".to_owned(),
        None => "the late run was deleted".to_owned(),
    };
    // Another run that is late takes its place.
    let next = lasts_first(app, late).await;
    Ok(Some(next.unwrap_or(SeenSignal { kind: Kind::Late, run, now: Signal::Over(reason) })))
}

/// What the run that runs longest does.
async fn lasts_first(app: &Arc<App>, late: &[LateRun]) -> Option<SeenSignal> {
    Some(lasts(app, late.first()?).await)
}

async fn lasts(app: &Arc<App>, LateRun { query, late, runs, good_unix_ns }: &LateRun) -> SeenSignal {
    let (so_far, most) = (duration(late.p90_ms * late.factor), duration(late.p90_ms));
    // Whether it still runs, nobody knows where its process was killed.
    let detail = format!(
        "the run started {so_far} ago and has not ended; nine tenths of {runs} took at most {most}, and none so long"
    );
    let now = Signal::Lasts {
        environment: query.environment.clone(),
        host: Some(query.host.clone()),
        engine_version: told::engine_version(query),
        program_version: query.program_version.clone(),
        call_site: told::call_site(app, query).await,
        since_unix_ns: Some(query.started_unix_ns),
        good_unix_ns: *good_unix_ns,
        severity: late.factor,
        wall_ms: late.over_ms,
        findings: Vec::new(),
        detail,
    };
    SeenSignal { kind: Kind::Late, run: query.query_id.to_string(), now }
}

fn observed_query(key: QueryKey, unix_ns: i64, signal: SeenSignal) -> ObservedQuery {
    ObservedQuery { key, seen: vec![Observed { unix_ns, signals: vec![signal], ..Observed::default() }] }
}

fn key_of(issue: &Issue) -> QueryKey {
    QueryKey { project: issue.project.clone(), service: issue.service.clone(), label: issue.label.clone() }
}
