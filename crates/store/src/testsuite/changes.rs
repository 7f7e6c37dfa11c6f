//! Changes of queries.

use super::batch::{batch, facts};
use super::evaluation::{found, key, record};
use super::subject::{ALL, Subject, Subjects};
use crate::batch::Facts;
use crate::diagnosis::{ChangesRequest, QueryEvaluation, QueryKey, StoredChange};
use crate::filter::Is;

pub(super) fn change(id: &str, wall_ms_a_day: f64) -> StoredChange {
    StoredChange {
        id: id.into(),
        key: key("a"),
        environment: None,
        host: None,
        kind: "slower".into(),
        state: StoredChange::OPEN.into(),
        since_unix_ns: 100,
        confirmed_unix_ns: 200,
        recovered_unix_ns: None,
        wall_ms_a_day,
        body: format!(r#"{{"id":"{id}","x":"ä\u0000"}}"#),
    }
}

/// Stores changes, each with its query.
async fn put(s: &Subject, changes: &[StoredChange]) {
    let mut queries: Vec<QueryEvaluation> = Vec::new();
    for change in changes {
        match queries.iter_mut().find(|query| query.key == change.key) {
            Some(query) => query.changes.push(change.clone()),
            None => queries.push(QueryEvaluation {
                key: change.key.clone(),
                changes: vec![change.clone()],
                ..found("", vec![])
            }),
        }
    }
    record(s, vec![], queries).await;
}

async fn ids(s: &Subject, request: ChangesRequest) -> String {
    let request = ChangesRequest { limit: if request.limit == 0 { ALL } else { request.limit }, ..request };
    let page = s.store.changes(request).await.expect("a store");
    page.into_iter().map(|change| change.id).collect::<Vec<_>>().join(" ")
}

pub(super) fn the_one_that_costs_the_most_comes_first(subjects: &Subjects) {
    subjects.one(async |s| {
        assert_eq!(ids(s, ChangesRequest::default()).await, "");
        let costs = [("d", 5.0), ("c", 0.0), ("b", 5.0), ("A", 5.0), ("e", 7.5), ("f", -3.25), ("g", 0.1)];
        let changes = costs.map(|(id, cost)| change(id, cost));
        put(s, &changes).await;
        assert_eq!(ids(s, ChangesRequest::default()).await, "e A b d g c f");
        for change in &changes {
            assert_eq!(s.store.change(&change.id).await.expect("a store").as_ref(), Some(change));
        }
        let brief = ChangesRequest { without_body: true, limit: ALL, ..ChangesRequest::default() };
        let brief = s.store.changes(brief).await.expect("a store");
        assert_eq!(brief.iter().map(|change| &*change.id).collect::<Vec<_>>().join(" "), "e A b d g c f");
        for found in brief {
            let whole = changes.iter().find(|change| change.id == found.id).expect("one of them");
            assert_eq!(found, StoredChange { body: String::new(), ..whole.clone() });
        }
        for none in ["", "h", "a", "\0"] {
            assert_eq!(s.store.change(none).await.expect("a store"), None);
        }
        for limit in 1..=8 {
            let (mut joined, mut after) = (Vec::new(), None);
            loop {
                let request = ChangesRequest { after, limit, ..ChangesRequest::default() };
                let page = s.store.changes(request).await.expect("a store");
                assert!(page.len() <= limit);
                after = page.last().map(StoredChange::place);
                if after.is_none() {
                    break;
                }
                joined.extend(page.into_iter().map(|change| change.id));
                assert!(joined.len() <= costs.len(), "it does not end");
            }
            assert_eq!(joined.join(" "), "e A b d g c f");
        }
    });
}

pub(super) fn each_filter_of_changes(subjects: &Subjects) {
    subjects.one(async |s| {
        let text = |text: &str| Some(text.to_owned());
        let of = |project: &str, service: Option<&str>, label: &str| QueryKey {
            project: project.into(),
            service: service.map(Into::into),
            label: label.into(),
        };
        let plain = change("1", 9.0);
        let changes = [
            plain.clone(),
            StoredChange { key: of("p", None, "a"), ..change("2", 8.0) },
            StoredChange { key: of("default", Some("etl"), "a"), ..change("3", 7.0) },
            StoredChange { key: key("b"), ..change("4", 6.0) },
            StoredChange { environment: text("prod"), host: text("h"), ..change("5", 5.0) },
            StoredChange { kind: "failing".into(), since_unix_ns: 101, ..change("6", 4.0) },
            StoredChange { state: "recovered".into(), recovered_unix_ns: Some(300), ..change("7", 3.0) },
            StoredChange { since_unix_ns: -5, ..change("8", 2.0) },
        ];
        put(s, &changes).await;
        let all = ChangesRequest::default;
        let value = |text: &str| Some(Is::Value(text.into()));
        for (request, expected) in [
            (all(), "1 2 3 4 5 6 7 8"),
            (ChangesRequest { project: text("p"), ..all() }, "2"),
            (ChangesRequest { project: text("nobody"), ..all() }, ""),
            (ChangesRequest { service: value("etl"), ..all() }, "3"),
            (ChangesRequest { service: value("nobody"), ..all() }, ""),
            (ChangesRequest { service: Some(Is::Absent), ..all() }, "1 2 4 5 6 7 8"),
            (ChangesRequest { label: text("b"), ..all() }, "4"),
            (ChangesRequest { label: text("B\0"), ..all() }, ""),
            (ChangesRequest { environment: value("prod"), ..all() }, "5"),
            (ChangesRequest { environment: Some(Is::Absent), ..all() }, "1 2 3 4 6 7 8"),
            (ChangesRequest { host: text("h"), ..all() }, "5"),
            (ChangesRequest { host: text("nobody"), ..all() }, ""),
            (ChangesRequest { kind: text("failing"), ..all() }, "6"),
            (ChangesRequest { kind: text("fai\0ling"), ..all() }, ""),
            (ChangesRequest { state: text("open"), ..all() }, "1 2 3 4 5 6 8"),
            (ChangesRequest { state: text("recovered"), ..all() }, "7"),
            (ChangesRequest { since_unix_ns: Some(101), ..all() }, "6"),
            (ChangesRequest { until_unix_ns: Some(-5), ..all() }, "8"),
            (ChangesRequest { since_unix_ns: Some(-4), until_unix_ns: Some(100), ..all() }, "1 2 3 4 5 7"),
            (ChangesRequest { label: text("a"), state: text("open"), limit: 3, ..all() }, "1 2 3"),
            (
                ChangesRequest {
                    project: text("default"),
                    service: Some(Is::Absent),
                    label: text("a"),
                    kind: text("slower"),
                    state: text("open"),
                    after: Some(plain.place()),
                    ..all()
                },
                "5 8",
            ),
        ] {
            let asked = format!("{request:?}");
            assert_eq!(ids(s, request).await, expected, "{asked}");
        }
        s.reopen().await;
        assert_eq!(s.store.changes(ChangesRequest { limit: ALL, ..all() }).await.expect("a store"), changes);
    });
}

pub(super) fn a_change_is_replaced_by_its_id(subjects: &Subjects) {
    subjects.one(async |s| {
        put(s, &[change("1", 9.0), change("2", 8.0)]).await;
        let moved = StoredChange {
            environment: Some("prod".into()),
            host: Some("h".into()),
            kind: "faster".into(),
            state: "recovered".into(),
            since_unix_ns: 1,
            confirmed_unix_ns: 2,
            recovered_unix_ns: Some(3),
            wall_ms_a_day: 1.0,
            body: "{}".into(),
            ..change("1", 9.0)
        };
        put(s, std::slice::from_ref(&moved)).await;
        assert_eq!(s.store.change("1").await.expect("a store"), Some(moved));
        assert_eq!(ids(s, ChangesRequest::default()).await, "2 1");
    });
}

pub(super) fn changes_that_are_long_over_are_deleted(subjects: &Subjects) {
    subjects.one(async |s| {
        let started = |label: &str, unix_ns| Facts { started_unix_ns: Some(unix_ns), ..facts(label) };
        s.commit(batch(1).finished(1, 2, started("a", 1_000)).finished(2, 3, started("b", 90))).await;
        let over = |id: &str, recovered_unix_ns| StoredChange {
            state: "recovered".into(),
            recovered_unix_ns: Some(recovered_unix_ns),
            ..change(id, 1.0)
        };
        let superseded = StoredChange { state: "superseded".into(), ..change("4", 1.0) };
        let of_b = StoredChange { key: key("b"), ..change("5", 1.0) };
        put(s, &[change("1", 1.0), over("2", 499), over("3", 500), superseded, of_b]).await;
        s.store.delete_before(80, ALL).await.expect("a store");
        assert_eq!(ids(s, ChangesRequest::default()).await, "1 2 3 4 5");
        s.store.delete_before(500, ALL).await.expect("a store");
        assert_eq!(ids(s, ChangesRequest::default()).await, "1 3", "no run of b is left");
        assert_eq!(s.store.verify().await.expect("judged"), [""; 0]);
    });
}
