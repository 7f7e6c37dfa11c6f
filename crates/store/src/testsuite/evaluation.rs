//! Runs that wait for their evaluation, and what evaluations found.

use std::time::Duration;

use super::batch::{BatchBuilder, batch, facts, query_id, seq};
use super::subject::{ALL, Subject, Subjects};
use crate::batch::Facts;
use crate::diagnosis::{
    EvaluatedRun, Evaluation, PendingRun, QueryEvaluation, QueryHistory, QueryKey, RunPlan,
};

pub(super) const HOLDER: &str = "a collector";
pub(super) const TTL: Duration = Duration::from_mins(1);

/// The query with a label, of the default project and no service.
pub(super) fn key(label: &str) -> QueryKey {
    QueryKey { project: "default".into(), service: None, label: label.into() }
}

fn plan(number: u8) -> RunPlan {
    RunPlan { fingerprint: [number; 6], packed: vec![number; 9].into() }
}

pub(super) fn started(label: &str, unix_ns: i64) -> Facts {
    Facts { started_unix_ns: Some(unix_ns), ..facts(label) }
}

/// Adds a run of a query that ends; it starts at its number.
fn run(batch: BatchBuilder, number: u8, label: &str) -> BatchBuilder {
    let query = u64::from(number);
    batch.finished(query, 100 + query, started(label, i64::from(number)))
}

fn evaluated(number: u8, of_plan: u8) -> EvaluatedRun {
    EvaluatedRun {
        query_id: query_id(number.into()),
        started_unix_ns: number.into(),
        plan: [of_plan; 6],
        features: vec![number; 3],
    }
}

/// An evaluation of a query that changes nothing else.
pub(super) fn found(label: &str, added: Vec<EvaluatedRun>) -> QueryEvaluation {
    QueryEvaluation {
        key: key(label),
        saved: label.into(),
        added,
        keep: ALL,
        plans: Vec::new(),
        changes: Vec::new(),
    }
}

/// The same, with the plans of the runs.
fn found_with_plans(label: &str, added: Vec<EvaluatedRun>) -> QueryEvaluation {
    let plans = added.iter().map(|run| plan(run.plan[0])).collect();
    QueryEvaluation { plans, ..found(label, added) }
}

async fn pending(s: &Subject) -> Vec<PendingRun> {
    s.store.pending_runs(None, ALL).await.expect("a store")
}

/// Numbers of the runs that wait, and their places.
async fn waiting(s: &Subject) -> (Vec<u8>, Vec<i64>) {
    pending(s).await.iter().map(|run| (run.query_id.uuid().as_bytes()[15], run.place)).unzip()
}

pub(super) async fn record(s: &Subject, consumed: Vec<i64>, queries: Vec<QueryEvaluation>) {
    assert!(s.store.evaluation_lease(HOLDER, TTL).await.expect("a store"));
    let evaluation = Evaluation { holder: HOLDER.into(), consumed, queries, ..Evaluation::default() };
    assert!(s.store.record_evaluation(evaluation).await.expect("a store"));
}

async fn history(s: &Subject, label: &str) -> Option<QueryHistory> {
    let history = s.store.query_history(&key(label)).await.expect("a store");
    let revision = s.store.history_revision(&key(label)).await.expect("a store");
    assert_eq!(revision, history.as_ref().map(QueryHistory::revision));
    history
}

/// Features of the evaluated runs of a query.
async fn evaluated_runs(s: &Subject, label: &str) -> Vec<u8> {
    let history = history(s, label).await;
    history.into_iter().flat_map(|history| history.runs).map(|run| run.features[0]).collect()
}

/// Which of the first plans are stored: runs of others are refused.
async fn stored_plans(s: &Subject) -> Vec<u8> {
    let mut stored = Vec::new();
    for number in 0..9 {
        let probe = QueryEvaluation { keep: 0, ..found("probe", vec![evaluated(number, number)]) };
        assert!(s.store.evaluation_lease(HOLDER, TTL).await.expect("a store"));
        let probe = Evaluation { holder: HOLDER.into(), queries: vec![probe], ..Evaluation::default() };
        stored.extend(s.store.record_evaluation(probe).await.is_ok().then_some(number));
    }
    stored
}

pub(super) fn a_run_that_ends_waits_once(subjects: &Subjects) {
    subjects.one(async |s| {
        let sent = run(batch(1).process(Some("etl"), None, "h").progress(1, [2]), 1, "a");
        assert_eq!(s.commit(sent.clone()).await, (2, 0));
        let waits = PendingRun {
            place: pending(s).await[0].place,
            key: QueryKey { service: Some("etl".into()), ..key("a") },
            query_id: query_id(1),
            started_unix_ns: 1,
            seq: seq(101),
        };
        assert_eq!(pending(s).await, std::slice::from_ref(&waits));
        // Sent again, whole and in part; and ended again by another event.
        assert_eq!(s.commit(sent.clone()).await, (0, 2));
        assert_eq!(s.commit(sent.clone().progress(1, [3])).await, (1, 2));
        s.commit(batch(1).finished(1, 40, started("a", 9))).await;
        assert_eq!(pending(s).await, std::slice::from_ref(&waits));
        record(s, vec![waits.place], vec![]).await;
        assert_eq!(pending(s).await, []);
        s.commit(sent).await;
        assert_eq!(pending(s).await, [], "it was evaluated");
    });
}

pub(super) fn only_ended_runs_of_a_query_wait(subjects: &Subjects) {
    subjects.one(async |s| {
        s.commit(batch(1).finished(1, 2, Facts { label: None, ..facts("") })).await;
        s.commit(batch(1).started(3, 4, facts("a"))).await;
        assert_eq!(waiting(s).await.0, [0; 0]);
        s.end_silent(i64::MAX).await;
        assert_eq!(waiting(s).await.0, [0; 0], "nobody knows whether it ended");
        s.commit(batch(1).finished(3, 5, Facts { failed: Some("boom".into()), ..facts("a") })).await;
        s.commit(batch(1).started(4, 6, facts("a")).finished(4, 7, facts("a"))).await;
        // Of two that end it the first of the batch does.
        s.commit(batch(1).finished(5, 9, facts("a")).finished(5, 8, facts("b"))).await;
        assert_eq!(waiting(s).await.0, [3, 4, 5]);
        let last = pending(s).await.remove(2);
        assert_eq!((last.key, last.seq), (key("b"), seq(8)));
    });
}

pub(super) fn a_refused_batch_leaves_nothing_to_evaluate(subjects: &Subjects) {
    subjects.one(async |s| {
        s.commit(run(batch(1), 1, "a")).await;
        s.try_commit(run(run(batch(2), 2, "a"), 1, "a")).await.expect_err("the query is another stream's");
        assert_eq!(waiting(s).await.0, [1]);
        s.commit(run(batch(2), 2, "a")).await;
        assert_eq!(waiting(s).await.0, [1, 2]);
    });
}

pub(super) fn runs_wait_in_the_order_they_were_first_reported(subjects: &Subjects) {
    subjects.one(async |s| {
        s.commit(batch(1).started(9, 2, facts("a"))).await;
        for number in [3, 1, 5, 2] {
            s.commit(run(batch(1), number, "a")).await;
        }
        s.commit(run(batch(1), 9, "b")).await;
        let (mut joined, mut after) = (Vec::new(), None);
        loop {
            let page = s.store.pending_runs(after, 2).await.expect("a store");
            assert!(page.len() <= 2);
            let Some(last) = page.last() else { break };
            after = Some(last.place);
            joined.extend(page);
            assert!(joined.len() <= 5, "it does not end");
        }
        assert_eq!(joined.iter().map(|run| run.seq.get()).collect::<Vec<_>>(), [109, 103, 101, 105, 102]);
        assert_eq!(joined, pending(s).await);
    });
}

pub(super) fn the_runs_that_were_consumed_wait_no_longer(subjects: &Subjects) {
    subjects.one(async |s| {
        for number in 1..=6 {
            s.commit(run(batch(1), number, "a")).await;
        }
        let (_, places) = waiting(s).await;
        record(s, [5, 1, 0, 3, 3].map(|at: usize| places[at]).to_vec(), vec![]).await;
        assert_eq!(waiting(s).await.0, [3, 5]);
    });
}

pub(super) fn runs_of_many_at_once_wait_once_each(subjects: &Subjects) {
    subjects.one(async |s| {
        let mut tasks = Vec::new();
        for stream in 1..=20 {
            for _ in 0..2 {
                let sent = run(batch(stream), stream as u8, "a").build();
                let store = std::sync::Arc::clone(&s.store);
                tasks.push(tokio::spawn(async move { store.commit(sent).await.expect("stored").accepted }));
            }
        }
        let mut accepted = 0;
        for task in tasks {
            accepted += task.await.expect("no panic");
        }
        assert_eq!(accepted, 20);
        let mut numbers = waiting(s).await.0;
        numbers.sort_unstable();
        assert_eq!(numbers, (1..=20).collect::<Vec<u8>>());
    });
}

pub(super) fn an_evaluation_is_stored_whole(subjects: &Subjects) {
    subjects.one(async |s| {
        for number in [2, 1, 3] {
            s.commit(run(batch(1), number, if number == 3 { "b" } else { "a" })).await;
        }
        let (_, places) = waiting(s).await;
        assert_eq!(history(s, "a").await, None);
        let of_a = found_with_plans("a", vec![evaluated(2, 2), evaluated(1, 1)]);
        record(s, places[..2].to_vec(), vec![of_a]).await;
        let stored = QueryHistory {
            saved: "a".into(),
            runs: vec![evaluated(1, 1), evaluated(2, 2)],
            plans: vec![plan(1), plan(2)],
        };
        let mut history_of_a = history(s, "a").await.expect("evaluated");
        history_of_a.plans.sort_by_key(|plan| plan.fingerprint);
        assert_eq!(history_of_a, stored);
        assert_eq!((waiting(s).await.0, history(s, "b").await), (vec![3], None));
        // One query alone: not the same as that of another service or project.
        let other = QueryKey { service: Some("etl".into()), ..key("a") };
        assert_eq!(s.store.query_history(&other).await.expect("a store"), None);

        // A run of a plan that nobody stored: nothing of it all is kept.
        let damaged = Evaluation {
            holder: HOLDER.into(),
            consumed: places.clone(),
            queries: vec![found_with_plans("b", vec![evaluated(3, 3)]), found("a", vec![evaluated(4, 77)])],
            ..Evaluation::default()
        };
        s.store.record_evaluation(damaged).await.expect_err("a plan is missing");
        assert_eq!((waiting(s).await.0, history(s, "b").await), (vec![3], None));
        s.reopen().await;
        let again = s.store.query_history(&key("a")).await.expect("a store").expect("evaluated");
        assert_eq!((again.saved, again.runs), (stored.saved, stored.runs));
    });
}

pub(super) fn the_last_runs_are_kept(subjects: &Subjects) {
    subjects.one(async |s| {
        let added = [3, 8, 5, 7].map(|number| evaluated(number, number)).to_vec();
        let keep = |keep, added| QueryEvaluation { keep, ..found_with_plans("a", added) };
        record(s, vec![], vec![keep(3, added), found("b", vec![evaluated(7, 7)])]).await;
        assert_eq!(evaluated_runs(s, "a").await, [5, 7, 8]);
        // A late one that is older than all; one that is there already.
        record(s, vec![], vec![keep(3, vec![evaluated(4, 3)])]).await;
        record(s, vec![], vec![keep(3, vec![evaluated(7, 7)])]).await;
        assert_eq!(evaluated_runs(s, "a").await, [5, 7, 8]);
        record(s, vec![], vec![keep(2, vec![evaluated(9, 3)])]).await;
        assert_eq!(evaluated_runs(s, "a").await, [8, 9]);
        assert_eq!(evaluated_runs(s, "b").await, [7]);
        assert_eq!(s.store.verify().await.expect("judged"), [""; 0]);
        assert_eq!(stored_plans(s).await, [3, 5, 7, 8], "until they are deleted");
        s.store.delete_before(0, ALL).await.expect("a store");
        assert_eq!(stored_plans(s).await, [3, 7, 8]);
    });
}

pub(super) fn evaluated_queries_are_listed_each_once(subjects: &Subjects) {
    subjects.one(async |s| {
        let mut keys = Vec::new();
        for (project, service) in [("default", None), ("default", Some("etl")), ("p", None), ("p", Some("x"))]
        {
            for label in ["täglich", "b", "a"] {
                keys.push(QueryKey {
                    project: project.into(),
                    service: service.map(Into::into),
                    label: label.into(),
                });
            }
        }
        let all = keys.iter().map(|key| QueryEvaluation { key: key.clone(), ..found("x", vec![]) });
        record(s, vec![], all.collect()).await;
        let (mut listed, mut after) = (Vec::new(), None);
        loop {
            let page = s.store.evaluated_queries(after, 5).await.expect("a store");
            assert!(page.len() <= 5);
            after = page.last().cloned();
            if after.is_none() {
                break;
            }
            listed.extend(page);
            assert!(listed.len() <= keys.len(), "it does not end");
        }
        listed.sort();
        keys.sort();
        assert_eq!(listed, keys);
    });
}

pub(super) fn one_holder_evaluates_at_a_time(subjects: &Subjects) {
    subjects.one(async |s| {
        s.commit(run(batch(1), 1, "a")).await;
        let (_, places) = waiting(s).await;
        let by = |holder: &str| Evaluation {
            holder: holder.into(),
            consumed: places.clone(),
            queries: vec![found_with_plans("a", vec![evaluated(1, 1)])],
            ..Evaluation::default()
        };
        let lease = async |holder: &str, ttl| s.store.evaluation_lease(holder, ttl).await.expect("a store");
        let recorded = async |by| s.store.record_evaluation(by).await.expect("a store");
        if !s.is_shared() {
            // The one process that has it need not ask.
            assert!(lease("one", TTL).await && lease("other", TTL).await);
            assert!(recorded(by("third")).await);
            return;
        }
        assert!(!recorded(by("one")).await, "nobody has it");
        assert!(lease("one", TTL).await && lease("one", TTL).await);
        assert!(!lease("other", TTL).await);
        assert!(!recorded(by("other")).await);
        assert_eq!((waiting(s).await.0, history(s, "a").await), (vec![1], None));
        assert!(lease("one", Duration::from_millis(1)).await, "it may be given up");
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert!(!recorded(by("one")).await, "it is over");
        assert!(lease("other", TTL).await);
        assert!(!lease("one", TTL).await);
        assert!(recorded(by("other")).await);
        assert_eq!(evaluated_runs(s, "a").await, [1]);
    });
}

pub(super) fn what_is_known_of_a_query_goes_with_its_last_run(subjects: &Subjects) {
    subjects.one(async |s| {
        for number in 1..=4 {
            s.commit(run(batch(1), number, if number == 3 { "b" } else { "a" })).await;
        }
        let (_, places) = waiting(s).await;
        let of_a = found_with_plans("a", vec![evaluated(1, 1), evaluated(2, 2)]);
        let of_b = found_with_plans("b", vec![evaluated(3, 3)]);
        record(s, places[..3].to_vec(), vec![of_a, of_b]).await;
        let delete = async |before| s.store.delete_before(before, ALL).await.expect("a store").queries.len();
        assert_eq!(delete(4).await, 3);
        assert_eq!(evaluated_runs(s, "a").await, [1, 2], "a run of it is left");
        assert_eq!((history(s, "b").await, waiting(s).await.0), (None, vec![4]));
        assert_eq!(stored_plans(s).await, [1, 2]);
        assert_eq!(delete(5).await, 1);
        assert_eq!((history(s, "a").await, waiting(s).await.0), (None, vec![]));
        assert_eq!(s.store.evaluated_queries(None, ALL).await.expect("a store"), [key("probe")]);
        assert_eq!(stored_plans(s).await, [0; 0]);
        assert_eq!(s.store.verify().await.expect("judged"), [""; 0]);
        // It comes again, and so does its plan.
        s.commit(run(batch(1), 7, "a")).await;
        record(s, waiting(s).await.1, vec![found_with_plans("a", vec![evaluated(7, 1)])]).await;
        assert_eq!((evaluated_runs(s, "a").await, stored_plans(s).await), (vec![7], vec![1]));
    });
}

pub(super) fn what_is_known_of_a_query_can_be_forgotten(subjects: &Subjects) {
    subjects.one(async |s| {
        for (number, label) in [(1, "a"), (2, "b"), (3, "a")] {
            s.commit(run(batch(1), number, label)).await;
        }
        let (_, places) = waiting(s).await;
        let of_a = found_with_plans("a", vec![evaluated(1, 1)]);
        record(s, places[..2].to_vec(), vec![of_a, found_with_plans("b", vec![evaluated(2, 2)])]).await;
        assert!(!s.store.forget_evaluation("nobody", &key("a")).await.expect("a store") || !s.is_shared());
        for label in ["a", "never"] {
            assert!(s.store.forget_evaluation(HOLDER, &key(label)).await.expect("a store"));
        }
        assert_eq!((history(s, "a").await, evaluated_runs(s, "b").await), (None, vec![2]));
        assert_eq!(waiting(s).await.0, [3], "what waits goes on waiting");
        assert!(!s.store.is_brought_forward().await.expect("a store"));
        assert_eq!(s.store.verify().await.expect("judged"), [""; 0]);
        s.store.mark_brought_forward().await.expect("a store");
        assert!(s.store.is_brought_forward().await.expect("a store"));
    });
}

pub(super) fn a_new_store_has_nothing_to_bring_forward(subjects: &Subjects) {
    subjects.one(async |s| {
        for _ in 0..2 {
            assert!(s.store.is_brought_forward().await.expect("a store"));
            s.store.mark_brought_forward().await.expect("a store");
            s.commit(batch(1).progress(1, [2])).await;
            s.reopen().await;
        }
    });
}
