//! Which queries did not run when they usually do, and which of those run again.
//!
//! The problem: a query that does not run sends nothing, and nothing is also what comes while the service is down or
//! cannot be reached. The mechanism: the holder of the lease keeps the last starts of each query in memory, and looks
//! every few seconds whose rhythm has passed. What was not watched does not count: after a start, a pause of the
//! service, or while most queries of a service are overdue at once, the time begins anew. An overdue query is missing
//! where the store knows that it ran in the same hours of days before.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use queryscope_issues::limits::MISSING_RUNS;
use queryscope_issues::{
    Issue, Kind, Observed, Rhythm, SeenSignal, Signal, State, duration, is_missing, rhythm,
};
use queryscope_store::{
    Is, IssuesRequest, ListRequest, ObservedQuery, Order, Query, QueryFilter, QueryKey, StoreError,
};

use super::told;
use crate::app::App;

const MINUTE_NS: i64 = 60_000_000_000;
const DAY_NS: i64 = 24 * 60 * MINUTE_NS;
/// Queries whose starts are held; further ones are not watched.
const WATCHED_MAX: usize = 50_000;
/// Queries that are taken up from the store at one look.
const TAKEN_UP: usize = 128;
/// Overdue queries that the store is asked about at one look.
const ASKED: usize = 32;
/// Issues that are looked at.
const ISSUES_MAX: usize = 10_000;
/// Between two looks that are further apart, nothing was watched.
const UNWATCHED_AFTER_NS: i64 = 5 * MINUTE_NS;
/// A query that was away for so long is not watched any more until it runs.
const GIVEN_UP_AFTER_NS: i64 = 14 * DAY_NS;
/// From so many watched queries of a service on, most of them overdue at once mean that it is not heard of.
const CONTACT_QUERIES_MIN: usize = 4;

/// The last starts of queries.
#[derive(Debug, Default)]
pub(super) struct Book {
    entries: HashMap<QueryKey, Entry>,
    /// The last query that was taken up from the store.
    taken_up: Option<QueryKey>,
    is_whole: bool,
    looked_unix_ns: Option<i64>,
    /// Since when it is watched without a pause.
    since_unix_ns: i64,
    /// The last time most queries of a service were overdue at once.
    silent_unix_ns: HashMap<(String, Option<String>), i64>,
}

#[derive(Debug, Default)]
struct Entry {
    /// Ascending.
    starts: VecDeque<i64>,
    rhythm: Option<Rhythm>,
    /// When the store is asked again whether it is missing.
    ask_unix_ns: i64,
    /// The last start, where it is known that nothing ran since when it usually does.
    told: Option<i64>,
}

impl Entry {
    fn add(&mut self, start: i64) {
        let at = self.starts.partition_point(|known| *known < start);
        if self.starts.get(at) == Some(&start) {
            return;
        }
        self.starts.insert(at, start);
        if self.starts.len() > MISSING_RUNS {
            self.starts.pop_front();
        }
        self.rhythm = rhythm(self.starts.make_contiguous());
    }

    fn last(&self) -> Option<i64> {
        self.starts.back().copied()
    }

    /// Its rhythm and last start, where it has one and was not away for too long.
    fn watched(&self, now_unix_ns: i64) -> Option<(Rhythm, i64)> {
        let (rhythm, last) = self.rhythm.zip(self.last())?;
        let is_watched = now_unix_ns - last < GIVEN_UP_AFTER_NS && self.told != Some(last);
        is_watched.then_some((rhythm, last))
    }
}

impl Book {
    /// Forgets all: another collector evaluated meanwhile.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Notes runs that ended.
    pub(super) fn note(&mut self, observed: &[ObservedQuery]) {
        for query in observed {
            if !self.entries.contains_key(&query.key) {
                // With few of its runs it would have no history: it is taken up from the store.
                if self.is_whole && self.entries.len() < WATCHED_MAX {
                    self.entries.insert(query.key.clone(), Entry::default());
                } else {
                    continue;
                }
            }
            let Some(entry) = self.entries.get_mut(&query.key) else { continue };
            for run in query.seen.iter().flat_map(|seen| &seen.runs) {
                entry.add(run.started_unix_ns);
            }
        }
    }

    /// What missing queries make of issues.
    ///
    /// # Errors
    /// When the store fails.
    pub(super) async fn observe(&mut self, app: &Arc<App>) -> Result<Vec<ObservedQuery>, StoreError> {
        let now_unix_ns = app.clock.unix_ns();
        let is_watched =
            self.looked_unix_ns.is_some_and(|at| (0..UNWATCHED_AFTER_NS).contains(&(now_unix_ns - at)));
        if !is_watched {
            self.since_unix_ns = now_unix_ns;
        }
        self.looked_unix_ns = Some(now_unix_ns);
        self.take_up(app).await?;
        let mut observed = self.follow_up(app, now_unix_ns).await?;
        for key in self.overdue(now_unix_ns) {
            let signal = self.judge(app, &key, now_unix_ns).await?;
            observed.extend(signal.map(|signal| observed_query(key, now_unix_ns, signal)));
        }
        Ok(observed)
    }

    /// Takes up some queries that were evaluated before this collector did.
    async fn take_up(&mut self, app: &Arc<App>) -> Result<(), StoreError> {
        if self.is_whole {
            return Ok(());
        }
        let keys = app.store.evaluated_queries(self.taken_up.clone(), TAKEN_UP).await?;
        self.is_whole = keys.len() < TAKEN_UP || self.entries.len() >= WATCHED_MAX;
        for key in keys {
            let runs = runs(app, &key, None, None, MISSING_RUNS).await?;
            let entry = self.entries.entry(key.clone()).or_default();
            for run in &runs {
                entry.add(run.started_unix_ns);
            }
            self.taken_up = Some(key);
        }
        Ok(())
    }

    /// Queries that are overdue and may be told so now.
    fn overdue(&mut self, now_unix_ns: i64) -> Vec<QueryKey> {
        let mut services: HashMap<(String, Option<String>), (usize, Vec<QueryKey>)> = HashMap::new();
        for (key, entry) in &self.entries {
            let Some((rhythm, last)) = entry.watched(now_unix_ns) else { continue };
            let service = (key.project.clone(), key.service.clone());
            let (watched, overdue) = services.entry(service).or_default();
            *watched += 1;
            if now_unix_ns - last.max(self.since_unix_ns) > rhythm.limit_ns {
                overdue.push(key.clone());
            }
        }
        let mut all = Vec::new();
        for (service, (watched, overdue)) in services {
            if watched >= CONTACT_QUERIES_MIN && overdue.len() * 2 > watched {
                self.silent_unix_ns.insert(service, now_unix_ns);
                continue;
            }
            all.extend(overdue.into_iter().filter(|key| {
                let Some(entry) = self.entries.get(key) else { return false };
                entry.ask_unix_ns <= now_unix_ns
                    && entry.rhythm.is_some_and(|rhythm| self.is_heard_of(key, rhythm, now_unix_ns))
            }));
        }
        all.sort();
        all.truncate(ASKED);
        all
    }

    /// Whether its service was heard of for as long as the query may be away.
    fn is_heard_of(&self, key: &QueryKey, rhythm: Rhythm, now_unix_ns: i64) -> bool {
        let service = (key.project.clone(), key.service.clone());
        self.silent_unix_ns.get(&service).is_none_or(|silent| now_unix_ns - silent > rhythm.limit_ns)
    }

    /// Asks the store whether an overdue query is missing.
    async fn judge(
        &mut self,
        app: &Arc<App>,
        key: &QueryKey,
        now_unix_ns: i64,
    ) -> Result<Option<SeenSignal>, StoreError> {
        let newest = runs(app, key, None, None, 1).await?.into_iter().next();
        let first = first(app, key).await?;
        let Some((newest, first)) = newest.zip(first) else {
            // Retention took its last run.
            self.entries.remove(key);
            return Ok(None);
        };
        let Some(entry) = self.entries.get_mut(key) else { return Ok(None) };
        let Some((rhythm, last)) = entry.rhythm.zip(entry.last()) else { return Ok(None) };
        // Also one that runs has run.
        if newest.started_unix_ns > last {
            entry.add(newest.started_unix_ns);
            return Ok(None);
        }
        entry.ask_unix_ns = now_unix_ns + (rhythm.limit_ns / 8).clamp(MINUTE_NS, 60 * MINUTE_NS);
        let mut ran = HashMap::new();
        for (days, (after, until)) in rhythm.windows_before(last, now_unix_ns) {
            if first.started_unix_ns > until {
                break;
            }
            let found = runs(app, key, Some(after + 1), Some(until), 1).await?;
            ran.insert(days, !found.is_empty());
        }
        let ran = |days: i64| ran.get(&days).copied().unwrap_or_default();
        if !is_missing(first.started_unix_ns, last, now_unix_ns, ran) {
            return Ok(None);
        }
        if let Some(entry) = self.entries.get_mut(key) {
            entry.told = Some(last);
        }
        Ok(Some(lasts(app, &newest, rhythm, now_unix_ns).await))
    }

    /// What became of issues: their queries run again, or are missing for much longer.
    async fn follow_up(
        &mut self,
        app: &Arc<App>,
        now_unix_ns: i64,
    ) -> Result<Vec<ObservedQuery>, StoreError> {
        let request = IssuesRequest {
            kind: Some(Kind::Missing),
            states: vec![State::Open, State::Acknowledged, State::Muted, State::Regressed],
            limit: ISSUES_MAX,
            ..IssuesRequest::default()
        };
        let mut observed = Vec::new();
        for issue in app.store.issues(request).await? {
            let key = key_of(&issue);
            let Some(newest) = runs(app, &key, None, None, 1).await?.into_iter().next() else { continue };
            if let Some(entry) = self.entries.get_mut(&key) {
                entry.add(newest.started_unix_ns);
            }
            let run = issue.run.clone().unwrap_or_default();
            if issue.good_unix_ns.is_some_and(|good| newest.started_unix_ns > good) {
                let now = Signal::Over("it runs again".into());
                let signal = SeenSignal { kind: Kind::Missing, run, now };
                observed.push(observed_query(key, now_unix_ns, signal));
            } else if let Some(rhythm) = self.entries.get(&key).and_then(|entry| entry.rhythm)
                && run == newest.query_id.to_string()
                && now_unix_ns - self.since_unix_ns > rhythm.limit_ns
                && self.is_heard_of(&key, rhythm, now_unix_ns)
                && issue.is_news(severity(newest.started_unix_ns, rhythm, now_unix_ns))
            {
                let signal = lasts(app, &newest, rhythm, now_unix_ns).await;
                observed.push(observed_query(key, now_unix_ns, signal));
            }
        }
        Ok(observed)
    }
}

/// The newest runs of a query in a time, the newest first.
async fn runs(
    app: &Arc<App>,
    key: &QueryKey,
    since_unix_ns: Option<i64>,
    until_unix_ns: Option<i64>,
    limit: usize,
) -> Result<Vec<Query>, StoreError> {
    let filter = QueryFilter { since_unix_ns, until_unix_ns, ..filter(key) };
    let request = ListRequest { filter, order: Order::Newest, sort: None, after: None, offset: 0, limit };
    Ok(app.store.queries(request).await?.into_iter().map(|listed| listed.query).collect())
}

/// The first run of a query.
async fn first(app: &Arc<App>, key: &QueryKey) -> Result<Option<Query>, StoreError> {
    let request = ListRequest {
        filter: filter(key),
        order: Order::Oldest,
        sort: None,
        after: None,
        offset: 0,
        limit: 1,
    };
    Ok(app.store.queries(request).await?.into_iter().next().map(|listed| listed.query))
}

/// The runs of a query.
pub(super) fn filter(key: &QueryKey) -> QueryFilter {
    QueryFilter {
        project: Some(key.project.clone()),
        label: Some(Is::Value(key.label.clone())),
        service: Some(key.service.clone().map_or(Is::Absent, Is::Value)),
        ..QueryFilter::default()
    }
}

/// Gaps of its rhythm since its last start.
fn severity(last: i64, rhythm: Rhythm, now_unix_ns: i64) -> f64 {
    (now_unix_ns - last) as f64 / rhythm.every_ns as f64
}

async fn lasts(app: &Arc<App>, newest: &Query, rhythm: Rhythm, now_unix_ns: i64) -> SeenSignal {
    let last = newest.started_unix_ns;
    let detail = format!(
        "no run has started for {}; runs usually start every {}, and on earlier days one did in these hours",
        duration((now_unix_ns - last) as f64 / 1e6),
        duration(rhythm.every_ns as f64 / 1e6)
    );
    let now = Signal::Lasts {
        environment: newest.environment.clone(),
        host: None,
        engine_version: told::engine_version(newest),
        program_version: newest.program_version.clone(),
        call_site: told::call_site(app, newest).await,
        since_unix_ns: Some(last.saturating_add(rhythm.every_ns)),
        good_unix_ns: Some(last),
        severity: severity(last, rhythm, now_unix_ns),
        wall_ms: 0.0,
        detail,
        findings: Vec::new(),
    };
    SeenSignal { kind: Kind::Missing, run: newest.query_id.to_string(), now }
}

fn observed_query(key: QueryKey, unix_ns: i64, signal: SeenSignal) -> ObservedQuery {
    ObservedQuery { key, seen: vec![Observed { unix_ns, signals: vec![signal], ..Observed::default() }] }
}

fn key_of(issue: &Issue) -> QueryKey {
    QueryKey { project: issue.project.clone(), service: issue.service.clone(), label: issue.label.clone() }
}
