//! Queries by label or plan.

use queryscope_history::Group;

use super::analysis::{at, is};
use super::batch::batch;
use super::subject::{Subject, Subjects};
use crate::analysis::GroupBy;
use crate::batch::Facts;
use crate::filter::{Is, QueryFilter};
use crate::query::Status;

/// Wall times a group lists.
const RECENT: u64 = 30;

fn took(wall_ms: f64, facts: Facts) -> Facts {
    Facts { wall_ms, ..facts }
}

fn failed(facts: Facts) -> Facts {
    Facts { failed: Some("boom".into()), ..facts }
}

/// The keys and runs of groups by label, in the order given.
async fn runs(s: &Subject, filter: QueryFilter) -> Vec<(String, u64)> {
    let groups = s.groups(filter, GroupBy::Label).await;
    groups.into_iter().map(|group| (group.key.into_owned(), group.runs)).collect()
}

async fn check(s: &Subject, filter: QueryFilter, expected: &[(&str, u64)]) {
    let found = runs(s, filter.clone()).await;
    let found: Vec<_> = found.iter().map(|(key, runs)| (key.as_str(), *runs)).collect();
    assert_eq!(found, expected, "{filter:?}");
}

pub(super) fn a_group_counts_every_state_and_times_what_finished(subjects: &Subjects) {
    subjects.one(async |s| {
        let rules = |rules: &[&str], facts: Facts| Facts {
            rules: rules.iter().map(|rule| (*rule).into()).collect(),
            ..facts
        };
        let sent = batch(1)
            .received(1)
            .finished(1, 1, rules(&["spill"], took(30.25, at("x", 30))))
            .finished(2, 2, rules(&["skew", "spill"], took(10.5, at("x", 10))))
            .finished(3, 3, rules(&["scan"], failed(took(500.0, at("x", 20)))))
            .finished(6, 9, Facts { failed: Some("KeyboardInterrupt: ".into()), ..took(700.0, at("x", 25)) })
            .started(4, 4, at("x", 50));
        s.commit(sent).await;
        s.end_silent(2).await;
        s.commit(batch(1).received(9).started(5, 5, at("x", 40))).await;
        let expected = Group {
            key: "x".into(),
            runs: 6,
            failed: 2,
            cancelled: 1,
            unfinished: 1,
            last_started_unix_ns: 50,
            total_wall_ms: 40.75,
            usual_wall_ms: Some(20.375),
            rules: vec!["scan".into(), "skew".into(), "spill".into()],
            recent_wall_ms: vec![10.5, 30.25],
        };
        assert_eq!(s.groups(QueryFilter::default(), GroupBy::Label).await, [expected]);
    });
}

pub(super) fn the_group_run_last_comes_first(subjects: &Subjects) {
    subjects.one(async |s| {
        let labels = [("old", 5), ("b", 20), ("a", 20), ("new", 30), ("old", 1), ("old", -7)];
        for (query, (label, start)) in (1..).zip(labels) {
            s.commit(batch(1).finished(query, query, at(label, start))).await;
        }
        let order = [("new", 1), ("a", 1), ("b", 1), ("old", 3)];
        check(s, QueryFilter::default(), &order).await;
        // A run that fails, or has but begun, is a run.
        s.commit(batch(1).finished(10, 10, failed(at("old", 40))).started(11, 11, at("b", 50))).await;
        check(s, QueryFilter::default(), &[("b", 2), ("old", 4), ("new", 1), ("a", 1)]).await;
    });
}

pub(super) fn the_last_30_that_finished_are_listed_oldest_first(subjects: &Subjects) {
    subjects.one(async |s| {
        // Stored in another order than they started in.
        for query in (1..=RECENT + 6).map(|n| n * 8 % 37) {
            s.commit(batch(1).finished(query, query, took(query as f64, at("x", query as i64)))).await;
        }
        s.commit(batch(1).finished(90, 90, failed(at("x", 90))).started(91, 91, at("x", 91))).await;
        let groups = s.groups(QueryFilter::default(), GroupBy::Label).await;
        let last: Vec<f64> = (7..=RECENT + 6).map(|n| n as f64).collect();
        assert_eq!((groups[0].runs, &groups[0].recent_wall_ms), (RECENT + 8, &last));
    });
}

pub(super) fn what_lacks_the_key_is_in_no_group(subjects: &Subjects) {
    subjects.one(async |s| {
        let bare = Facts { label: None, ..at("", 1) };
        let planned = Facts { fingerprint: Some("p".into()), label: None, ..at("", 2) };
        let empty = Facts { fingerprint: Some(String::new()), ..at("", 3) };
        s.commit(batch(1).progress(1, [1]).finished(2, 2, bare).finished(3, 3, planned)).await;
        check(s, QueryFilter::default(), &[]).await;
        s.commit(batch(1).finished(4, 4, empty)).await;
        check(s, QueryFilter::default(), &[("", 1)]).await;
        check(s, QueryFilter { label: Some(Is::Absent), ..QueryFilter::default() }, &[]).await;
        let plans = s.groups(QueryFilter::default(), GroupBy::Fingerprint).await;
        let plans: Vec<_> = plans.iter().map(|group| (&*group.key, group.runs)).collect();
        assert_eq!(plans, [("", 1), ("p", 1)]);
    });
}

pub(super) fn a_plan_of_several_labels_is_one_group(subjects: &Subjects) {
    subjects.one(async |s| {
        let plan =
            |label: &str, start, plan: &str| Facts { fingerprint: Some(plan.into()), ..at(label, start) };
        let sent = batch(1).finished(1, 1, plan("x", 1, "p")).finished(2, 2, plan("y", 2, "p")).finished(
            3,
            3,
            plan("x", 3, "q"),
        );
        s.commit(sent).await;
        let groups = s.groups(QueryFilter::default(), GroupBy::Fingerprint).await;
        let groups: Vec<_> = groups.iter().map(|group| (&*group.key, group.runs)).collect();
        assert_eq!(groups, [("q", 1), ("p", 2)]);
        check(s, QueryFilter { fingerprint: Some(is("p")), ..QueryFilter::default() }, &[("y", 1), ("x", 1)])
            .await;
    });
}

pub(super) fn groups_are_of_what_the_filters_keep(subjects: &Subjects) {
    subjects.one(async |s| {
        let etl = batch(1).project("p1").process(Some("etl"), Some("prod"), "h1");
        s.commit(etl.finished(1, 1, at("x", 10)).finished(2, 2, failed(at("x", 20)))).await;
        let web = batch(2).project("p1").process(Some("web"), None, "h2");
        s.commit(web.finished(3, 1, at("x", 30)).finished(4, 2, at("y", 40))).await;
        s.commit(batch(3).project("p2").finished(5, 1, at("x", 50))).await;
        let all = QueryFilter::default;
        for (filter, expected) in [
            (all(), &[("x", 4), ("y", 1)][..]),
            (QueryFilter { project: Some("p1".into()), ..all() }, &[("y", 1), ("x", 3)]),
            (QueryFilter { project: Some("p2".into()), ..all() }, &[("x", 1)]),
            (QueryFilter { label: Some(is("y")), ..all() }, &[("y", 1)]),
            (QueryFilter { service: Some(is("etl")), ..all() }, &[("x", 2)]),
            (QueryFilter { service: Some(Is::Absent), ..all() }, &[("x", 1)]),
            (QueryFilter { service: Some(is("etl")), status: Some(Status::Failed), ..all() }, &[("x", 1)]),
            (QueryFilter { service: Some(is("web")), status: Some(Status::Failed), ..all() }, &[]),
            (
                QueryFilter { environment: Some(Is::Absent), host: Some("h2".into()), ..all() },
                &[("y", 1), ("x", 1)],
            ),
            (QueryFilter { since_unix_ns: Some(20), until_unix_ns: Some(30), ..all() }, &[("x", 2)]),
            (QueryFilter { since_unix_ns: Some(31), until_unix_ns: Some(30), ..all() }, &[]),
            (QueryFilter { host: Some("etl".into()), ..all() }, &[]),
            (QueryFilter { search: Some("nowhere".into()), ..all() }, &[("x", 4), ("y", 1)]),
        ] {
            check(s, filter, expected).await;
        }
    });
}

pub(super) fn a_query_moves_with_what_it_says(subjects: &Subjects) {
    subjects.one(async |s| {
        s.commit(batch(1).guessed_start(5).progress(1, [3])).await;
        check(s, QueryFilter::default(), &[]).await;
        s.commit(batch(1).started(1, 2, at("begun", 7))).await;
        check(s, QueryFilter::default(), &[("begun", 1)]).await;
        s.commit(batch(1).finished(1, 9, took(2.0, at("done", 9)))).await;
        check(s, QueryFilter::default(), &[("done", 1)]).await;
        check(s, QueryFilter { until_unix_ns: Some(8), ..QueryFilter::default() }, &[]).await;
        check(s, QueryFilter { since_unix_ns: Some(9), ..QueryFilter::default() }, &[("done", 1)]).await;
        s.commit(batch(1).finished(1, 10, took(8.0, at("late", 11)))).await;
        assert_eq!(s.groups(QueryFilter::default(), GroupBy::Label).await[0].recent_wall_ms, [2.0]);
    });
}
