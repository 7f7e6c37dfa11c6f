//! Which findings are new in queries whose runs were evaluated.
//!
//! The problem: a query that warns may do so in each of its runs, and whether that is new is known from its last runs
//! alone. Reading them for each evaluated run would cost more than the evaluation. The mechanism: of each query it is
//! held in memory which of its findings are no news, and the store is asked where a run has another.

use std::collections::HashMap;

use queryscope_issues::limits::{FINDING_BEFORE_RUNS_MIN, FINDING_RUNS};
use queryscope_issues::{Kind, SeenSignal, Signal, WarnedRun, is_settled, new_findings};
use queryscope_store::{
    Is, ListRequest, ObservedQuery, Order, Query, QueryFilter, QueryKey, Status, StoreError,
};

use super::missing::filter;
use super::told;
use crate::app::App;

/// Queries of an environment whose findings are held; beyond them, all are forgotten.
const HELD_MAX: usize = 20_000;
/// A finding is no news while it is seen again within so many runs.
const HOLDS_RUNS: u64 = (FINDING_RUNS - FINDING_BEFORE_RUNS_MIN) as u64;

/// What is known of the findings of queries.
#[derive(Debug, Default)]
pub(super) struct Findings {
    queries: HashMap<(QueryKey, Option<String>), Known>,
}

/// The findings of a query in an environment.
#[derive(Debug, Default)]
struct Known {
    /// Runs that were evaluated.
    runs: u64,
    /// Of each finding that is no news, the last run that had it.
    settled: HashMap<String, u64>,
}

impl Known {
    /// Takes a run; whether it has a finding that may be news.
    fn take(&mut self, findings: &[String]) -> bool {
        self.runs += 1;
        let runs = self.runs;
        findings.iter().fold(false, |is_news, rule| {
            is_news
                | match self.settled.get_mut(rule) {
                    Some(last) if runs - *last <= HOLDS_RUNS => {
                        *last = runs;
                        false
                    }
                    _ => true,
                }
        })
    }

    fn settle(&mut self, runs: &[WarnedRun]) {
        let newest = runs.first().map(|run| &run.findings[..]).unwrap_or_default();
        let settled = newest.iter().filter(|rule| is_settled(runs, rule));
        self.settled.extend(settled.map(|rule| (rule.clone(), self.runs)));
    }
}

impl Findings {
    /// Forgets all: another collector evaluated meanwhile.
    pub(super) fn forget(&mut self) {
        self.queries.clear();
    }

    /// Adds what the findings of the last runs make of issues, for each query that warned in an evaluated run.
    ///
    /// # Errors
    /// When the store fails.
    pub(super) async fn observe(
        &mut self,
        app: &App,
        observed: &mut [ObservedQuery],
    ) -> Result<(), StoreError> {
        if self.queries.len() > HELD_MAX {
            self.forget();
        }
        for ObservedQuery { key, seen } in observed {
            let mut asked: Option<Option<String>> = None;
            for run in seen.iter().flat_map(|seen| &seen.runs) {
                let place = (key.clone(), run.environment.clone());
                // Of a query that never warned, nothing is held.
                let known = match self.queries.get_mut(&place) {
                    Some(known) => known,
                    None if run.findings.is_empty() => continue,
                    None => self.queries.entry(place).or_default(),
                };
                if known.take(&run.findings) {
                    asked = Some(run.environment.clone());
                }
            }
            let Some(environment) = asked else { continue };
            let runs = last_runs(app, key, environment.clone()).await?;
            let warned: Vec<WarnedRun> = runs.iter().map(warned_run).collect();
            if let Some(known) = self.queries.get_mut(&(key.clone(), environment)) {
                known.settle(&warned);
            }
            let signal = signal(&runs, &warned);
            if let Some(seen) = seen.last_mut() {
                seen.signals.extend(signal);
            }
        }
        Ok(())
    }
}

/// The last runs of a query in an environment that finished, the newest first.
async fn last_runs(app: &App, key: &QueryKey, environment: Option<String>) -> Result<Vec<Query>, StoreError> {
    let filter = QueryFilter {
        environment: Some(environment.map_or(Is::Absent, Is::Value)),
        status: Some(Status::Finished),
        ..filter(key)
    };
    let (order, limit) = (Order::Newest, FINDING_RUNS);
    let request = ListRequest { filter, order, sort: None, after: None, offset: 0, limit };
    Ok(app.store.queries(request).await?.into_iter().map(|listed| listed.query).collect())
}

fn signal(runs: &[Query], warned: &[WarnedRun]) -> Option<SeenSignal> {
    let new = new_findings(warned)?;
    let first = runs.get(new.runs - 1)?;
    let now = Signal::Lasts {
        environment: first.environment.clone(),
        host: None,
        engine_version: told::engine_version(runs.first()?),
        program_version: runs.first()?.program_version.clone(),
        // The evaluated run told it.
        call_site: None,
        since_unix_ns: Some(first.started_unix_ns),
        good_unix_ns: runs.get(new.runs).map(|last| last.started_unix_ns),
        severity: new.findings.len() as f64,
        // What a finding costs is not known.
        wall_ms: 0.0,
        detail: new.detail,
        findings: new.findings,
    };
    Some(SeenSignal { kind: Kind::NewFinding, run: first.query_id.to_string(), now })
}

fn warned_run(query: &Query) -> WarnedRun {
    WarnedRun {
        started_unix_ns: query.started_unix_ns,
        wall_ms: query.wall_ms.unwrap_or_default(),
        findings: query.rules.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_that_is_no_news_is_none_while_it_is_seen() {
        let (mut known, skew) = (Known::default(), ["skew".to_owned()]);
        let warned = WarnedRun { started_unix_ns: 1, wall_ms: 1.0, findings: skew.to_vec() };
        assert!(!known.take(&[]), "nothing");
        assert!(known.take(&skew));
        known.settle(&[warned.clone(), warned]);
        for _ in 0..3 {
            assert!(!known.take(&skew));
            (1..HOLDS_RUNS).for_each(|_| assert!(!known.take(&[])));
        }
        assert!(!known.take(&skew), "seen within so many runs");
        (0..HOLDS_RUNS).for_each(|_| assert!(!known.take(&[])));
        assert!(known.take(&skew), "it was away");
        assert!(known.take(&["skew".to_owned(), "other".to_owned()]));
    }
}
