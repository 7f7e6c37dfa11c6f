//! How many queries each value of a field has.

use super::analysis::{at, is};
use super::batch::batch;
use super::subject::{Subject, Subjects};
use crate::analysis::{FacetValue, Facets};
use crate::batch::Facts;
use crate::filter::{Is, QueryFilter};
use crate::query::Status;

/// Values and counts in the order given: `a 2, - 1`, where `-` is no value.
fn told(values: &[FacetValue]) -> String {
    let told = values.iter().map(|facet| format!("{} {}", facet.value.as_deref().unwrap_or("-"), facet.runs));
    told.collect::<Vec<_>>().join(", ")
}

/// Checks services, environments, hosts and states.
async fn check(s: &Subject, filter: QueryFilter, expected: [&str; 4]) {
    let Facets { service, environment, host, status, .. } = s.facets(filter.clone()).await;
    assert_eq!([service, environment, host, status].map(|values| told(&values)), expected, "{filter:?}");
}

/// | query | project | service | environment | host | label | plan | start | status   |
/// |-------|---------|---------|-------------|------|-------|------|-------|----------|
/// | 1     | default | etl     | prod        | h1   | x     | p    | 10    | finished |
/// | 2     | default | etl     | prod        | h1   | x     | q    | 20    | failed   |
/// | 3     | default | etl     | -           | h2   | y     | p    | 30    | finished |
/// | 4     | default | -       | prod        | h2   | x     | -    | 40    | running  |
/// | 5     | other   | web     | test        | h3   | x     | p    | 20    | finished |
async fn five(s: &Subject) {
    let plan = |plan: &str, facts: Facts| Facts { fingerprint: Some(plan.into()), ..facts };
    let failed = Facts { failed: Some("boom".into()), ..at("x", 20) };
    let first = batch(1).process(Some("etl"), Some("prod"), "h1");
    s.commit(first.finished(1, 1, plan("p", at("x", 10))).finished(2, 2, plan("q", failed))).await;
    s.commit(batch(2).process(Some("etl"), None, "h2").finished(3, 1, plan("p", at("y", 30)))).await;
    s.commit(batch(3).process(None, Some("prod"), "h2").started(4, 1, at("x", 40))).await;
    let other = batch(4).project("other").process(Some("web"), Some("test"), "h3");
    s.commit(other.finished(5, 1, plan("p", at("x", 20)))).await;
}

fn mine() -> QueryFilter {
    QueryFilter { project: Some("default".into()), ..QueryFilter::default() }
}

pub(super) fn each_field_is_counted_under_the_others(subjects: &Subjects) {
    subjects.one(async |s| {
        five(s).await;
        let all = ["etl 3, - 1", "prod 3, - 1", "h1 2, h2 2", "finished 2, failed 1, running 1"];
        check(s, mine(), all).await;
        let filter = QueryFilter { service: Some(is("etl")), ..mine() };
        check(s, filter, [all[0], "prod 2, - 1", "h1 2, h2 1", "finished 2, failed 1, running 0"]).await;
        let filter = QueryFilter { environment: Some(is("prod")), ..mine() };
        check(s, filter, ["etl 2, - 1", all[1], "h1 2, h2 1", "failed 1, finished 1, running 1"]).await;
        let filter = QueryFilter { host: Some("h2".into()), ..mine() };
        check(s, filter, ["- 1, etl 1", "- 1, prod 1", all[2], "finished 1, running 1, failed 0"]).await;
        let filter = QueryFilter { status: Some(Status::Finished), ..mine() };
        check(s, filter, ["etl 2, - 0", "- 1, prod 1", "h1 1, h2 1", all[3]]).await;
    });
}

pub(super) fn two_filters_leave_their_own_field_open(subjects: &Subjects) {
    subjects.one(async |s| {
        five(s).await;
        let filter = QueryFilter { service: Some(is("etl")), status: Some(Status::Failed), ..mine() };
        let states = "finished 2, failed 1, running 0";
        check(s, filter, ["etl 1, - 0", "prod 1, - 0", "h1 1, h2 0", states]).await;
        let filter = QueryFilter { service: Some(Is::Absent), environment: Some(is("prod")), ..mine() };
        let states = "running 1, failed 0, finished 0";
        check(s, filter, ["etl 2, - 1", "prod 1, - 0", "h2 1, h1 0", states]).await;
    });
}

pub(super) fn values_of_the_label_and_time_stay_listed(subjects: &Subjects) {
    subjects.one(async |s| {
        five(s).await;
        // Those of the other label, of other times, of the other project are not.
        let filter = QueryFilter { label: Some(is("y")), ..mine() };
        check(s, filter, ["etl 1", "- 1", "h2 1", "finished 1"]).await;
        let filter = QueryFilter { since_unix_ns: Some(20), until_unix_ns: Some(30), ..mine() };
        check(s, filter, ["etl 2", "- 1, prod 1", "h1 1, h2 1", "failed 1, finished 1"]).await;
        let filter = QueryFilter { project: Some("other".into()), ..mine() };
        check(s, filter, ["web 1", "test 1", "h3 1", "finished 1"]).await;
        // A plan, as a state or a service, is no reason to leave them out.
        let filter = QueryFilter { fingerprint: Some(is("p")), ..mine() };
        check(s, filter, ["etl 2, - 0", "- 1, prod 1", "h1 1, h2 1", "finished 2, failed 0, running 0"])
            .await;
        let filter = QueryFilter { host: Some("nowhere".into()), ..mine() };
        check(s, filter, ["- 0, etl 0", "- 0, prod 0", "h1 2, h2 2", "failed 0, finished 0, running 0"])
            .await;
    });
}

pub(super) fn no_value_is_a_value(subjects: &Subjects) {
    subjects.one(async |s| {
        s.commit(batch(1).process(Some(""), None, "").finished(1, 1, at("x", 1))).await;
        s.commit(batch(2).process(None, Some(""), "").finished(2, 1, at("x", 1)).progress(3, [2])).await;
        let all = ["- 2,  1", " 2, - 1", " 3", "finished 2, running 1"];
        check(s, QueryFilter::default(), all).await;
        let absent = QueryFilter { service: Some(Is::Absent), ..QueryFilter::default() };
        check(s, absent, [all[0], " 2, - 0", " 2", "finished 1, running 1"]).await;
        let empty = QueryFilter { service: Some(is("")), ..QueryFilter::default() };
        check(s, empty, [all[0], "- 1,  0", " 1", "finished 1, running 0"]).await;
        let unlabelled = QueryFilter { label: Some(Is::Absent), ..QueryFilter::default() };
        check(s, unlabelled, ["- 1", " 1", " 1", "running 1"]).await;
        let unplanned = QueryFilter { fingerprint: Some(Is::Absent), ..QueryFilter::default() };
        check(s, unplanned, all).await;
    });
}

pub(super) fn versions_of_the_program_are_counted_under_the_others(subjects: &Subjects) {
    subjects.one(async |s| {
        let sent = |stream, service, host, version| {
            batch(stream).process(service, None, host).program_version(version)
        };
        s.commit(sent(1, Some("etl"), "h1", Some("1.4")).finished(1, 1, at("x", 10)).finished(
            2,
            2,
            at("y", 20),
        ))
        .await;
        s.commit(sent(2, Some("etl"), "h2", Some("1.5")).finished(3, 1, at("x", 30))).await;
        s.commit(sent(3, None, "h2", None).started(4, 1, at("x", 40))).await;
        let check = async |filter: QueryFilter, expected: &str| {
            assert_eq!(told(&s.facets(filter.clone()).await.program_version), expected, "{filter:?}");
        };
        check(QueryFilter::default(), "1.4 2, - 1, 1.5 1").await;
        check(QueryFilter { label: Some(is("x")), ..mine() }, "- 1, 1.4 1, 1.5 1").await;
        check(QueryFilter { service: Some(is("etl")), ..mine() }, "1.4 2, 1.5 1, - 0").await;
        check(QueryFilter { host: Some("h2".into()), ..mine() }, "- 1, 1.5 1, 1.4 0").await;
        check(QueryFilter { status: Some(Status::Running), ..mine() }, "- 1, 1.4 0, 1.5 0").await;
        let filter = QueryFilter { program_version: Some(is("1.4")), ..mine() };
        check(filter.clone(), "1.4 2, - 1, 1.5 1").await;
        self::check(s, filter, ["etl 2, - 0", "- 2", "h1 2, h2 0", "finished 2, running 0"]).await;
        let filter = QueryFilter { program_version: Some(Is::Absent), ..mine() };
        self::check(s, filter, ["- 1, etl 0", "- 1", "h2 1, h1 0", "running 1, finished 0"]).await;
    });
}

pub(super) fn versions_of_the_engine_are_counted_under_the_others(subjects: &Subjects) {
    subjects.one(async |s| {
        let version = |version: &str, facts: Facts| Facts { engine_version: Some(version.into()), ..facts };
        let first = batch(1).process(Some("etl"), None, "h1");
        s.commit(first.finished(1, 1, version("1.35", at("x", 10))).finished(2, 2, at("x", 20))).await;
        let failed = Facts { failed: Some("boom".into()), ..version("1.36", at("y", 30)) };
        let second = batch(2).process(None, Some("prod"), "h2").finished(3, 1, failed);
        s.commit(second.started(4, 2, version("1.35", at("x", 40)))).await;
        let other = batch(3).project("other").process(None, None, "h1");
        s.commit(other.finished(5, 1, version("1.36", at("x", 20)))).await;
        let check = async |filter: QueryFilter, expected: &str| {
            assert_eq!(told(&s.facets(filter.clone()).await.engine_version), expected, "{filter:?}");
        };
        check(QueryFilter::default(), "1.35 2, 1.36 2, - 1").await;
        check(mine(), "1.35 2, - 1, 1.36 1").await;
        check(QueryFilter { label: Some(is("x")), ..mine() }, "1.35 2, - 1").await;
        check(QueryFilter { since_unix_ns: Some(20), ..mine() }, "- 1, 1.35 1, 1.36 1").await;
        check(QueryFilter { service: Some(is("etl")), ..mine() }, "- 1, 1.35 1, 1.36 0").await;
        check(QueryFilter { environment: Some(is("prod")), ..mine() }, "1.35 1, 1.36 1, - 0").await;
        check(QueryFilter { host: Some("h1".into()), ..mine() }, "- 1, 1.35 1, 1.36 0").await;
        check(QueryFilter { status: Some(Status::Failed), ..mine() }, "1.36 1, - 0, 1.35 0").await;
        check(QueryFilter { fingerprint: Some(is("p")), ..mine() }, "- 0, 1.35 0, 1.36 0").await;
        let filter = QueryFilter { engine_version: Some(is("1.35")), ..mine() };
        check(filter.clone(), "1.35 2, - 1, 1.36 1").await;
        self::check(
            s,
            filter,
            ["- 1, etl 1", "- 1, prod 1", "h1 1, h2 1", "finished 1, running 1, failed 0"],
        )
        .await;
        let filter = QueryFilter { engine_version: Some(Is::Absent), ..mine() };
        self::check(
            s,
            filter,
            ["etl 1, - 0", "- 1, prod 0", "h1 1, h2 0", "finished 1, failed 0, running 0"],
        )
        .await;
    });
}

pub(super) fn a_search_is_left_out_of_facets(subjects: &Subjects) {
    subjects.one(async |s| {
        five(s).await;
        let filter = QueryFilter { search: Some("nowhere".into()), ..QueryFilter::default() };
        assert_eq!(s.facets(filter).await, s.facets(QueryFilter::default()).await);
    });
}
