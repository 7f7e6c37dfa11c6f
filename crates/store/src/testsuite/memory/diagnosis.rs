//! What the model keeps for the diagnosis.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::disk::{Disk, Row};
use crate::batch::Report;
use crate::diagnosis::{
    ChangePlace, ChangesRequest, EvaluatedRun, Evaluation, PendingRun, PlanFingerprint, QueryEvaluation,
    QueryHistory, QueryKey, RunPlan, StoredChange,
};
use crate::error::StoreError;
use crate::filter::Is;
use crate::query::{Known, Query};

#[derive(Debug, Default)]
pub(super) struct Diagnosis {
    pub(super) pending: BTreeMap<i64, PendingRun>,
    plans: BTreeMap<PlanFingerprint, Arc<[u8]>>,
    evaluated: BTreeMap<QueryKey, Evaluated>,
    pub(super) changes: BTreeMap<String, StoredChange>,
    lease: Option<(String, Instant)>,
    /// Whether the evaluation of a query was forgotten since all were brought forward.
    pub(super) forgot: bool,
}

#[derive(Debug, Default)]
struct Evaluated {
    saved: Vec<u8>,
    runs: Vec<EvaluatedRun>,
}

fn key_of(query: &Query) -> Option<QueryKey> {
    let (project, service) = (query.project.clone(), query.service.clone());
    query.label.clone().map(|label| QueryKey { project, service, label })
}

impl Diagnosis {
    /// Takes a run up that some events have just ended.
    pub(super) fn append(&mut self, row: &Row, before: Option<Known>, report: &Report) {
        let query = &row.query;
        let Some((seq, key)) = query.ended_by(before, report).zip(key_of(query)) else { return };
        let (place, query_id, started_unix_ns) = (row.place, query.query_id, query.started_unix_ns);
        self.pending.insert(place, PendingRun { place, key, query_id, started_unix_ns, seq });
    }

    pub(super) fn plans(&self, fingerprints: impl IntoIterator<Item = PlanFingerprint>) -> Vec<RunPlan> {
        let each_once: BTreeSet<_> = fingerprints.into_iter().collect();
        let found = each_once.into_iter().filter_map(|fingerprint| self.plans.get_key_value(&fingerprint));
        found
            .map(|(fingerprint, packed)| RunPlan { fingerprint: *fingerprint, packed: packed.clone() })
            .collect()
    }

    pub(super) fn lease(&mut self, holder: &str, ttl: Duration) -> bool {
        let now = crate::now();
        let free = self.lease.as_ref().is_none_or(|(held, until)| held == holder || *until <= now);
        if free {
            self.lease = Some((holder.to_owned(), now + ttl));
        }
        free
    }

    fn holds(&self, holder: &str) -> bool {
        self.lease.as_ref().is_some_and(|(held, until)| held == holder && *until > crate::now())
    }

    pub(super) fn forget(&mut self, holder: &str, key: &QueryKey) -> bool {
        if !self.holds(holder) {
            return false;
        }
        self.evaluated.remove(key);
        self.changes.retain(|_, change| change.key != *key);
        self.forgot = true;
        true
    }

    pub(super) fn record(&mut self, evaluation: Evaluation) -> Result<bool, StoreError> {
        if !self.holds(&evaluation.holder) {
            return Ok(false);
        }
        let added = evaluation.queries.iter().flat_map(|found| &found.added);
        let brought: BTreeSet<_> =
            evaluation.queries.iter().flat_map(|found| &found.plans).map(|plan| plan.fingerprint).collect();
        let has = |plan| self.plans.contains_key(plan) || brought.contains(plan);
        if !added.map(|run| &run.plan).all(has) {
            return Err(StoreError::unavailable("no plan of an evaluated run"));
        }
        for place in evaluation.consumed {
            self.pending.remove(&place);
        }
        for found in evaluation.queries {
            self.record_query(found);
        }
        Ok(true)
    }

    fn record_query(&mut self, found: QueryEvaluation) {
        for plan in found.plans {
            self.plans.entry(plan.fingerprint).or_insert(plan.packed);
        }
        let evaluated = self.evaluated.entry(found.key).or_default();
        evaluated.saved = found.saved;
        for run in found.added {
            let place = |run: &EvaluatedRun| (run.started_unix_ns, run.query_id);
            if !evaluated.runs.iter().any(|kept| place(kept) == place(&run)) {
                evaluated.runs.push(run);
            }
        }
        evaluated.runs.sort_by_key(|run| (run.started_unix_ns, run.query_id));
        let dropped = evaluated.runs.len().saturating_sub(found.keep);
        evaluated.runs.drain(..dropped);
        self.changes.extend(found.changes.into_iter().map(|change| (change.id.clone(), change)));
    }

    pub(super) fn history(&self, key: &QueryKey) -> Option<QueryHistory> {
        let Evaluated { saved, runs } = self.evaluated.get(key)?;
        let plans = self.plans(runs.iter().map(|run| run.plan));
        Some(QueryHistory { saved: saved.clone(), runs: runs.clone(), plans })
    }

    pub(super) fn evaluated(&self, after: Option<&QueryKey>, limit: usize) -> Vec<QueryKey> {
        let ahead = self.evaluated.keys().filter(|key| after.is_none_or(|after| *key > after));
        ahead.take(limit).cloned().collect()
    }

    pub(super) fn page(&self, request: &ChangesRequest) -> Vec<StoredChange> {
        let mut kept: Vec<_> =
            self.changes.values().filter(|change| keeps(request, change)).cloned().collect();
        kept.sort_by(|one, other| order(&one.place(), &other.place()));
        kept.retain(|change| {
            request.after.as_ref().is_none_or(|after| order(&change.place(), after) == Ordering::Greater)
        });
        kept.truncate(request.limit);
        if request.without_body {
            for change in &mut kept {
                change.body.clear();
            }
        }
        kept
    }
}

impl Disk {
    /// Forgets what belongs to runs that are gone, all that is known of queries which lost their last run, changes
    /// that ended, issues that were resolved and deploys that were seen last before.
    pub(super) fn forget_diagnosis(&mut self, deleted: &[Query], before_unix_ns: i64) {
        let Self { rows, diagnosis, issues, deploys, outbox, .. } = self;
        let places: BTreeSet<i64> = rows.iter().map(|row| row.place).collect();
        let left: BTreeSet<QueryKey> = rows.iter().filter_map(|row| key_of(&row.query)).collect();
        let lost: BTreeSet<QueryKey> =
            deleted.iter().filter_map(key_of).filter(|key| !left.contains(key)).collect();
        diagnosis.pending.retain(|place, _| places.contains(place));
        diagnosis.evaluated.retain(|key, _| !lost.contains(key));
        diagnosis.changes.retain(|_, change| {
            let end = change.recovered_unix_ns.unwrap_or(change.confirmed_unix_ns);
            !lost.contains(&change.key) && (change.state == StoredChange::OPEN || end >= before_unix_ns)
        });
        issues.delete(&lost, before_unix_ns);
        deploys.retain(|_, deploy| deploy.last_unix_ns >= before_unix_ns);
        outbox.delete_before(before_unix_ns);
        let evaluated =
            diagnosis.evaluated.values().flat_map(|evaluated| &evaluated.runs).map(|run| run.plan);
        let used: BTreeSet<_> = evaluated.collect();
        diagnosis.plans.retain(|fingerprint, _| used.contains(fingerprint));
    }
}

pub(super) fn is(asked: Option<&Is>, value: Option<&String>) -> bool {
    match asked {
        None => true,
        Some(Is::Absent) => value.is_none(),
        Some(Is::Value(asked)) => value == Some(asked),
    }
}

fn keeps(request: &ChangesRequest, change: &StoredChange) -> bool {
    let same = |asked: &Option<String>, value: &String| asked.as_ref().is_none_or(|asked| asked == value);
    same(&request.project, &change.key.project)
        && is(request.service.as_ref(), change.key.service.as_ref())
        && same(&request.label, &change.key.label)
        && is(request.environment.as_ref(), change.environment.as_ref())
        && (request.host.is_none() || request.host == change.host)
        && same(&request.kind, &change.kind)
        && same(&request.state, &change.state)
        && request.since_unix_ns.is_none_or(|since| change.since_unix_ns >= since)
        && request.until_unix_ns.is_none_or(|until| change.since_unix_ns <= until)
}

fn order(one: &ChangePlace, other: &ChangePlace) -> Ordering {
    other.wall_ms_a_day.total_cmp(&one.wall_ms_a_day).then_with(|| one.id.cmp(&other.id))
}
