//! The plans of a label.

use queryscope_history::Version;

use super::analysis::{at, is};
use super::batch::{batch, query_id};
use super::subject::{Subject, Subjects};
use crate::batch::Facts;
use crate::filter::QueryFilter;
use crate::query::Status;

fn plan(plan: &str, start: i64) -> Facts {
    Facts { fingerprint: Some(plan.into()), ..at("x", start) }
}

fn failed(facts: Facts) -> Facts {
    Facts { failed: Some("boom".into()), ..facts }
}

fn of_x() -> QueryFilter {
    QueryFilter { label: Some(is("x")), ..QueryFilter::default() }
}

/// Checks plans, their runs, and the number of the latest query of each.
async fn check(s: &Subject, filter: QueryFilter, expected: &[(&str, u64, u64)]) {
    let found = s.versions(filter.clone()).await;
    let found: Vec<_> = found.iter().map(|v| (v.fingerprint.as_str(), v.runs, v.latest_query_id)).collect();
    let expected: Vec<_> =
        expected.iter().map(|(plan, runs, query)| (*plan, *runs, query_id(*query))).collect();
    assert_eq!(found, expected, "{filter:?}");
}

pub(super) fn a_version_is_all_runs_of_its_plan(subjects: &Subjects) {
    subjects.one(async |s| {
        let with = |wall_ms, rule: &str, facts| Facts { wall_ms, rules: vec![rule.into()], ..facts };
        let sent = batch(1)
            .finished(1, 1, with(4.0, "spill", plan("p", 20)))
            .finished(2, 2, with(8.5, "skew", plan("p", 10)))
            .finished(3, 3, failed(with(99.0, "scan", plan("p", 40))))
            .started(4, 4, plan("p", 30));
        s.commit(sent).await;
        let expected = Version {
            fingerprint: "p".into(),
            runs: 4,
            failed: 1,
            cancelled: 0,
            unfinished: 0,
            first_started_unix_ns: 10,
            last_started_unix_ns: 40,
            usual_wall_ms: 6.25,
            rules: vec!["scan".into(), "skew".into(), "spill".into()],
            latest_query_id: query_id(3),
        };
        for _ in 0..2 {
            assert_eq!(s.versions(of_x()).await, std::slice::from_ref(&expected));
            s.reopen().await;
        }
    });
}

pub(super) fn only_a_plan_that_finished_is_a_version(subjects: &Subjects) {
    subjects.one(async |s| {
        let sent = batch(1)
            .finished(1, 1, failed(plan("failed", 1)))
            .started(2, 2, plan("runs", 2))
            .finished(3, 3, at("x", 3))
            .progress(4, [4])
            .finished(5, 5, plan("finished", 4));
        s.commit(sent).await;
        check(s, of_x(), &[("finished", 1, 5)]).await;
        s.commit(batch(1).finished(2, 6, plan("runs", 2)).finished(6, 7, plan("failed", 0))).await;
        check(s, of_x(), &[("finished", 1, 5), ("runs", 1, 2), ("failed", 2, 1)]).await;
    });
}

pub(super) fn the_plan_that_ran_last_comes_first(subjects: &Subjects) {
    subjects.one(async |s| {
        for (query, facts) in (1..).zip([plan("p", 30), plan("q", 20), plan("r", 25), plan("q", 10)]) {
            s.commit(batch(1).finished(query, query, facts)).await;
        }
        check(s, of_x(), &[("p", 1, 1), ("r", 1, 3), ("q", 2, 2)]).await;
        s.commit(batch(1).started(9, 9, plan("q", 31))).await;
        check(s, of_x(), &[("q", 3, 9), ("p", 1, 1), ("r", 1, 3)]).await;
    });
}

pub(super) fn versions_are_of_what_the_filters_keep(subjects: &Subjects) {
    subjects.one(async |s| {
        let etl = batch(1).project("p1").process(Some("etl"), None, "h1");
        s.commit(etl.finished(1, 1, plan("p", 10)).finished(2, 2, plan("p", 20))).await;
        let web = batch(2).project("p2").process(Some("web"), None, "h1");
        let other = Facts { label: Some("y".into()), ..plan("p", 40) };
        s.commit(web.finished(3, 1, plan("p", 30)).finished(4, 2, other).finished(
            5,
            3,
            failed(plan("q", 50)),
        ))
        .await;
        for (filter, expected) in [
            (of_x(), &[("p", 3, 3)][..]),
            (QueryFilter { label: Some(is("y")), ..of_x() }, &[("p", 1, 4)]),
            (QueryFilter { label: Some(is("z")), ..of_x() }, &[]),
            (QueryFilter { project: Some("p1".into()), ..of_x() }, &[("p", 2, 2)]),
            (QueryFilter { service: Some(is("web")), ..of_x() }, &[("p", 1, 3)]),
            (QueryFilter { since_unix_ns: Some(20), until_unix_ns: Some(20), ..of_x() }, &[("p", 1, 2)]),
            (QueryFilter { until_unix_ns: Some(9), ..of_x() }, &[]),
            (QueryFilter { fingerprint: Some(is("q")), ..of_x() }, &[]),
            (QueryFilter { status: Some(Status::Failed), ..of_x() }, &[]),
            (QueryFilter { search: Some("nowhere".into()), ..of_x() }, &[("p", 3, 3)]),
        ] {
            check(s, filter, expected).await;
        }
    });
}

pub(super) fn the_latest_of_one_start_was_stored_last(subjects: &Subjects) {
    subjects.one(async |s| {
        for (seq, query) in (1..).zip([3, 9, 1]) {
            s.commit(batch(1).finished(query, seq, plan("p", 7))).await;
        }
        check(s, of_x(), &[("p", 3, 1)]).await;
        assert_eq!(s.list(of_x()).await[0], 1, "as in the list");
    });
}
