//! Which queries a list holds, and in which order.

use proptest::prelude::*;

use super::batch::{batch, facts, query_id};
use super::memory::MemoryStore;
use super::population::{any_filter, any_filter_in_words, any_population};
use super::subject::{Subject, Subjects, numbers, request};
use crate::batch::Facts;
use crate::expression::{Amount, NumberField, parse};
use crate::filter::{Is, ListRequest, Order, QueryFilter, SortBy};
use crate::query::{Query, Status};
use crate::store::Store;

fn is(text: &str) -> Is {
    Is::Value(text.into())
}

fn at(unix_ns: i64) -> Facts {
    Facts { started_unix_ns: Some(unix_ns), ..facts("x") }
}

pub(super) fn the_newest_come_first(subjects: &Subjects) {
    subjects.one(async |s| {
        for (query, start) in [(1, 50), (2, i64::MIN), (3, 70), (4, i64::MAX), (5, -1), (6, 60)] {
            s.commit(batch(1).finished(query, query, at(start))).await;
        }
        let newest = [4, 3, 6, 1, 5, 2];
        assert_eq!(s.list(QueryFilter::default()).await, newest);
        let oldest = ListRequest { order: Order::Oldest, ..request(QueryFilter::default()) };
        let listed = s.page(&oldest).await;
        assert!(numbers(&listed).iter().eq(newest.iter().rev()));
        for listed in &listed {
            assert_eq!(listed.position.started_unix_ns, listed.query.started_unix_ns);
            assert_eq!(
                s.store.query(listed.query.query_id).await.expect("a store").as_ref(),
                Some(&listed.query)
            );
        }
        let part = ListRequest { offset: 1, limit: 2, ..request(QueryFilter::default()) };
        assert_eq!(numbers(&s.page(&part).await), [3, 6]);
        assert_eq!(numbers(&s.page(&ListRequest { offset: 5, ..part.clone() }).await), [2]);
        assert!(s.page(&ListRequest { offset: 6, ..part.clone() }).await.is_empty());
        assert!(s.page(&ListRequest { limit: 0, ..part }).await.is_empty());
    });
}

pub(super) fn ties_have_one_order(subjects: &Subjects) {
    subjects.one(async |s| {
        for query in [4, 2, 5, 1, 3] {
            s.commit(batch(1).finished(query, query, at(7))).await;
        }
        let newest = s.page(&request(QueryFilter::default())).await;
        let oldest = ListRequest { order: Order::Oldest, ..request(QueryFilter::default()) };
        let oldest = s.page(&oldest).await;
        assert!(newest.iter().eq(oldest.iter().rev()));
        assert!(oldest.is_sorted_by(|a, b| a.position < b.position));
        assert_eq!(oldest.len(), 5);
    });
}

/// Two queries that differ in everything a filter asks.
async fn two(s: &Subject) {
    let told = Facts { fingerprint: Some("f1".into()), engine_version: Some("v1".into()), ..facts("l1") };
    let first = batch(1).project("p1").process(Some("s1"), Some("e1"), "h1").program_version(Some("w1"));
    s.commit(first.finished(1, 2, told)).await;
    let told = Facts {
        fingerprint: Some("f2".into()),
        engine_version: Some("v2".into()),
        failed: Some("boom".into()),
        ..facts("l2")
    };
    let second = batch(2).project("p2").process(Some("s2"), Some("e2"), "h2").program_version(Some("w2"));
    s.commit(second.finished(2, 2, told)).await;
}

pub(super) fn each_filter_alone(subjects: &Subjects) {
    subjects.one(async |s| {
        two(s).await;
        let all = QueryFilter::default;
        for (filter, expected) in [
            (QueryFilter { project: Some("p1".into()), ..all() }, &[1][..]),
            (QueryFilter { label: Some(is("l1")), ..all() }, &[1]),
            (QueryFilter { fingerprint: Some(is("f2")), ..all() }, &[2]),
            (QueryFilter { engine_version: Some(is("v2")), ..all() }, &[2]),
            (QueryFilter { engine_version: Some(is("f2")), ..all() }, &[]),
            (QueryFilter { program_version: Some(is("w1")), ..all() }, &[1]),
            (QueryFilter { program_version: Some(is("v1")), ..all() }, &[]),
            (QueryFilter { program_version: Some(Is::Absent), ..all() }, &[]),
            (QueryFilter { service: Some(is("s1")), ..all() }, &[1]),
            (QueryFilter { environment: Some(is("e2")), ..all() }, &[2]),
            (QueryFilter { host: Some("h1".into()), ..all() }, &[1]),
            (QueryFilter { status: Some(Status::Finished), ..all() }, &[1]),
            (QueryFilter { status: Some(Status::Failed), ..all() }, &[2]),
            (QueryFilter { status: Some(Status::Running), ..all() }, &[]),
            (QueryFilter { search: Some("BOO".into()), ..all() }, &[2]),
            // Values that exist, but not in that field; and one that never was.
            (QueryFilter { label: Some(is("s1")), ..all() }, &[]),
            (QueryFilter { host: Some("p1".into()), ..all() }, &[]),
            (QueryFilter { label: Some(is("L1")), ..all() }, &[]),
            (QueryFilter { service: Some(is("nobody")), ..all() }, &[]),
            (QueryFilter { project: Some("nobody".into()), ..all() }, &[]),
        ] {
            assert_eq!(s.list(filter.clone()).await, expected, "{filter:?}");
        }
        s.commit(batch(1).project("p1").progress(3, [9])).await;
        s.commit(batch(1).project("p1").received(9_000).progress(4, [10])).await;
        s.end_silent(9_000).await;
        for (status, expected) in [(Status::Running, [4]), (Status::Unfinished, [3])] {
            assert_eq!(s.list(QueryFilter { status: Some(status), ..all() }).await, expected);
        }
    });
}

pub(super) fn filters_add_up(subjects: &Subjects) {
    subjects.one(async |s| {
        two(s).await;
        let whole = QueryFilter {
            project: Some("p2".into()),
            label: Some(is("l2")),
            fingerprint: Some(is("f2")),
            engine_version: Some(is("v2")),
            program_version: Some(is("w2")),
            service: Some(is("s2")),
            environment: Some(is("e2")),
            host: Some("h2".into()),
            status: Some(Status::Failed),
            since_unix_ns: Some(1_000_000_000),
            until_unix_ns: Some(1_000_000_000),
            search: Some("Oom".into()),
            expression: parse("wall>=0 label:l*").expect("a filter"),
        };
        assert_eq!(s.list(whole.clone()).await, [2]);
        for one_off in [
            QueryFilter { project: Some("p1".into()), ..whole.clone() },
            QueryFilter { label: Some(is("l1")), ..whole.clone() },
            QueryFilter { fingerprint: Some(is("f1")), ..whole.clone() },
            QueryFilter { engine_version: Some(is("v1")), ..whole.clone() },
            QueryFilter { program_version: Some(is("w1")), ..whole.clone() },
            QueryFilter { service: Some(Is::Absent), ..whole.clone() },
            QueryFilter { environment: Some(is("e1")), ..whole.clone() },
            QueryFilter { host: Some("h1".into()), ..whole.clone() },
            QueryFilter { status: Some(Status::Finished), ..whole.clone() },
            QueryFilter { since_unix_ns: Some(1_000_000_001), ..whole.clone() },
            QueryFilter { until_unix_ns: Some(999_999_999), ..whole.clone() },
            QueryFilter { search: Some("l1".into()), ..whole.clone() },
            QueryFilter { expression: parse("wall>9d").expect("a filter"), ..whole.clone() },
        ] {
            assert_eq!(s.list(one_off.clone()).await, [0; 0], "{one_off:?}");
        }
    });
}

pub(super) fn absent_is_a_value(subjects: &Subjects) {
    subjects.one(async |s| {
        s.commit(batch(1).progress(1, [2])).await;
        let told =
            Facts { fingerprint: Some(String::new()), engine_version: Some(String::new()), ..facts("") };
        s.commit(batch(2).process(Some(""), Some(""), "h").finished(2, 2, told)).await;
        let all = QueryFilter::default;
        let absent = Some(Is::Absent);
        for (absent, empty) in [
            (QueryFilter { label: absent.clone(), ..all() }, QueryFilter { label: Some(is("")), ..all() }),
            (
                QueryFilter { fingerprint: absent.clone(), ..all() },
                QueryFilter { fingerprint: Some(is("")), ..all() },
            ),
            (
                QueryFilter { engine_version: absent.clone(), ..all() },
                QueryFilter { engine_version: Some(is("")), ..all() },
            ),
            (
                QueryFilter { service: absent.clone(), ..all() },
                QueryFilter { service: Some(is("")), ..all() },
            ),
            (
                QueryFilter { environment: absent, ..all() },
                QueryFilter { environment: Some(is("")), ..all() },
            ),
        ] {
            assert_eq!((s.list(absent.clone()).await, s.list(empty).await), (vec![1], vec![2]), "{absent:?}");
        }
    });
}

pub(super) fn the_bounds_of_time_are_included(subjects: &Subjects) {
    subjects.one(async |s| {
        for (query, start) in [(1, -5), (2, 0), (3, 10), (4, 20)] {
            s.commit(batch(1).finished(query, query, at(start))).await;
        }
        for (since, until, expected) in [
            (None, Some(10), &[3, 2, 1][..]),
            (Some(0), None, &[4, 3, 2]),
            (Some(0), Some(10), &[3, 2]),
            (Some(10), Some(10), &[3]),
            (Some(11), Some(19), &[]),
            (Some(20), Some(-5), &[]),
            (Some(i64::MIN), Some(i64::MAX), &[4, 3, 2, 1]),
        ] {
            let filter = QueryFilter { since_unix_ns: since, until_unix_ns: until, ..QueryFilter::default() };
            assert_eq!(s.list(filter).await, expected, "{since:?} to {until:?}");
        }
    });
}

async fn search(s: &Subject, text: &str) -> Vec<u64> {
    let mut found = s.list(QueryFilter { search: Some(text.into()), ..QueryFilter::default() }).await;
    found.sort_unstable();
    found
}

pub(super) fn a_search_takes_label_error_and_id(subjects: &Subjects) {
    subjects.one(async |s| {
        let failed = |text: &str| Facts { failed: Some(text.into()), label: None, ..facts("") };
        s.commit(batch(1).finished(1, 1, facts("Orders by day"))).await;
        s.commit(batch(1).finished(2, 2, failed("no such column: ORDERS.x"))).await;
        s.commit(batch(1).finished(3, 3, facts("Täglich")).progress(4, [4])).await;
        s.commit(batch(1).started(5, 5, facts("running orders"))).await;
        for (text, expected) in [
            ("orders", &[1, 2, 5][..]),
            ("ORDERS", &[1, 2, 5]),
            ("rs by d", &[1]),
            ("column:", &[2]),
            ("tÄGL", &[3]),
            ("", &[1, 2, 3, 4, 5]),
            ("nowhere", &[]),
        ] {
            assert_eq!(search(s, text).await, expected, "{text:?}");
        }
        let id = query_id(4).to_string();
        for part in [&id[..], &id[20..], &id[30..]] {
            assert_eq!(search(s, part).await, [4], "{part}");
        }
        assert_eq!(search(s, &id[..18]).await, [1, 2, 3, 4, 5]);
    });
}

pub(super) fn a_search_takes_signs_as_they_are(subjects: &Subjects) {
    subjects.one(async |s| {
        let labels = ["100%", "100 x", "a_b", "axb", r"a\b", "it's", "[a]*?", "\"q\"", "%_%"];
        for (query, label) in (1..).zip(labels) {
            s.commit(batch(1).finished(query, query, facts(label))).await;
        }
        for (text, expected) in [
            ("%", &[1, 9][..]),
            ("0%", &[1]),
            ("_", &[3, 9]),
            ("a_b", &[3]),
            ("\\", &[5]),
            ("'", &[6]),
            ("[a]", &[7]),
            ("*", &[7]),
            ("\"", &[8]),
        ] {
            assert_eq!(search(s, text).await, expected, "{text:?}");
        }
    });
}

pub(super) fn each_condition_in_words(subjects: &Subjects) {
    subjects.one(async |s| {
        two(s).await;
        let slow = Facts {
            wall_ms: 60_000.0,
            cpu_ms: Some(90_000.0),
            result_rows: Some(2_000_000),
            bytes_read: Some(11_000_000_000),
            spilled_bytes: Some(0),
            peak_memory_bytes: Some(1_050_000_000),
            warnings: 3,
            rules: vec!["skew".into(), "spilling".into()],
            ..facts("orders/\"daily\" %")
        };
        s.commit(batch(1).project("p1").finished(3, 3, slow)).await;
        s.commit(batch(1).project("p1").progress(4, [4])).await;
        for (text, expected) in [
            ("", &[1, 2, 3, 4][..]),
            ("wall>10s", &[3]),
            ("wall>=60s wall<=1m", &[3]),
            ("-wall>10s", &[1, 2, 4]),
            ("cpu>1m", &[3]),
            ("rows>1M rows<3M", &[3]),
            ("read>10GB read<10.3GiB", &[3]),
            ("-read>10GB", &[1, 2, 4]),
            ("spilled=0", &[3]),
            ("spilled>0", &[]),
            ("-spilled>0", &[1, 2, 3, 4]),
            ("memory>1GB -memory>1GiB", &[3]),
            ("warnings>0", &[3]),
            ("warnings=3 -warnings=2", &[3]),
            ("finding:spilling", &[3]),
            ("finding:spill*", &[3]),
            ("finding~KEW", &[3]),
            ("finding:\"\"", &[1, 2, 4]),
            ("-finding:skew", &[1, 2, 4]),
            ("error~OO", &[2]),
            ("-error~OO", &[1, 3, 4]),
            ("label:l*", &[1, 2]),
            ("label:*\"\\\"daily\\\"\"*", &[3]),
            ("label:L1", &[]),
            ("label~L1", &[1]),
            ("host:h1", &[1, 3, 4]),
            ("-host:h1", &[2]),
            ("status:failed", &[2]),
            ("-status:failed -status:running", &[1, 3]),
            ("version:w1 env:e1 service:s1 plan:f1 engine_version:v*", &[1]),
            ("boom", &[2]),
            ("oo BOOM", &[2]),
            ("-boom -l1", &[3, 4]),
            ("%", &[3]),
            ("00000004", &[4]),
            ("8000 -00000004", &[1, 2, 3]),
        ] {
            let mut filter = QueryFilter::default();
            let expression = parse(text).expect(text);
            for moves in [false, true] {
                if moves {
                    expression.clone().add_to(&mut filter);
                } else {
                    filter.expression = expression.clone();
                }
                if !moves && !filter.asks_for_texts() {
                    let states = s.facets(filter.clone()).await.status;
                    let counted: u64 = states.iter().map(|state| state.runs).sum();
                    assert_eq!(counted, expected.len() as u64, "{text}");
                }
                let mut found = s.list(std::mem::take(&mut filter)).await;
                found.sort_unstable();
                assert_eq!(found, expected, "{text}");
            }
        }
    });
}

/// Compares what a store lists with what the model does.
async fn compare(s: &Subject, model: &MemoryStore, asked: &ListRequest) {
    let place = |listed: &crate::store::Listed| {
        let value = asked.sort.and_then(|sort| sort.field.of(&listed.query));
        (value, listed.query.started_unix_ns, listed.query.clone())
    };
    let expected = model.queries(asked.clone()).await.expect("a model");
    let found = s.page(asked).await;
    // Among runs of one figure and one start each store has an order of its own.
    let group = |rows: &[crate::store::Listed]| {
        let mut groups: Vec<(Option<Amount>, i64, Vec<Query>)> = Vec::new();
        for (value, start, query) in rows.iter().map(place) {
            match groups.last_mut() {
                Some(last) if (last.0, last.1) == (value, start) => last.2.push(query),
                _ => groups.push((value, start, vec![query])),
            }
        }
        for group in &mut groups {
            group.2.sort_by_key(|query| query.query_id);
        }
        groups
    };
    assert_eq!(group(&found), group(&expected), "{asked:?}");
}

pub(super) fn any_filter_in_words_of_any_population(subjects: &Subjects) {
    let order = prop::option::weighted(0.7, prop::sample::select(&NumberField::ALL[..]));
    let asked = prop::collection::vec((any_filter_in_words(), order, any::<bool>()), 1..12);
    subjects.any((any_population(), asked), &async |s, (population, asked)| {
        let model = MemoryStore::default();
        population.settle(&model).await;
        population.settle(&*s.store).await;
        for (filter, field, newest) in asked {
            let order = if newest { Order::Newest } else { Order::Oldest };
            let sort = field.map(|field| SortBy { field, after: None });
            compare(s, &model, &ListRequest { sort, order, ..request(filter) }).await;
        }
    });
}

pub(super) fn any_filter_of_any_population(subjects: &Subjects) {
    let asked = prop::collection::vec((any_filter(), any::<bool>()), 1..20);
    subjects.any((any_population(), asked), &async |s, (population, asked)| {
        let model = MemoryStore::default();
        population.settle(&model).await;
        population.settle(&*s.store).await;
        for (filter, newest) in asked {
            let order = if newest { Order::Newest } else { Order::Oldest };
            let asked = ListRequest { order, ..request(filter) };
            let mut expected = model.queries(asked.clone()).await.expect("a model");
            let mut found = s.page(&asked).await;
            if newest {
                found.reverse();
            }
            assert!(found.is_sorted_by(|a, b| a.position < b.position), "{asked:?}");
            // Among queries of the same start each store has an order of its own.
            found.sort_by_key(|listed| (listed.query.started_unix_ns, listed.query.query_id));
            expected.sort_by_key(|listed| (listed.query.started_unix_ns, listed.query.query_id));
            let rows = |listed: &[crate::store::Listed]| -> Vec<_> {
                listed.iter().map(|listed| listed.query.clone()).collect()
            };
            assert_eq!(rows(&found), rows(&expected), "{asked:?}");
        }
    });
}
