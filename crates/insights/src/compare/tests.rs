use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::testing::{node, profile, profile_text};

fn compared(base: &[Value], run: &[Value]) -> Comparison {
    let (base, run) = (profile_text(100.0, base, json!({})), profile_text(300.0, run, json!({})));
    compare(&profile(&base), &profile(&run))
}

/// `fate kind` of every node, and the words of its changes.
fn told(base: &[Value], run: &[Value]) -> Vec<String> {
    let line = |pair: &NodePair| {
        let kind = &pair.run.as_ref().or(pair.base.as_ref()).expect("one of them").kind;
        let changes: Vec<&str> = pair.changes.iter().map(|change| &*change.text).collect();
        format!("{:?} {kind} {}", pair.fate, changes.join("; ")).trim().to_owned()
    };
    compared(base, run).nodes.iter().map(line).collect()
}

fn scan(id: u64, table: &str, more: Value) -> Value {
    let mut scan = node(id, "Scan", "scan", &[], json!({"table": table}), json!({}));
    let Value::Object(more) = more else { panic!("{more}") };
    scan["properties"].as_object_mut().expect("an object").extend(more);
    scan
}

fn join(id: u64, inputs: &[u64], key: &str) -> Value {
    node(id, "HashJoin", "join", inputs, json!({"keys": [key]}), json!({}))
}

#[test]
fn a_filter_that_left_the_scan_is_a_node_of_its_own() {
    let base = [scan(1, "t", json!({"predicate": "a > 1"})), join(2, &[1], "k")];
    let filter = node(5, "Filter", "selection", &[1], json!({"predicate": "f(a) > 1"}), json!({}));
    let run = [scan(1, "t", json!({})), filter, join(2, &[5], "k")];
    assert_eq!(
        told(&base, &run),
        ["Changed Scan predicate no longer reaches the scan", "Added Filter", "Same HashJoin"]
    );
    assert_eq!(
        told(&run, &base),
        ["Changed Scan predicate reaches the scan now", "Same HashJoin", "Removed Filter"]
    );
}

#[test]
fn properties_are_compared_in_words() {
    let of = |base: Value, run: Value| told(&[scan(1, "t", base)], &[scan(1, "t", run)]).remove(0);
    let names = |n: usize| (0..n).map(|n| format!("c{n}")).collect::<Vec<_>>();
    for (base, run, words) in [
        (
            json!({"projection": names(8)}),
            json!({"projection": names(96)}),
            "Changed Scan projection of 96 columns instead of 8",
        ),
        (json!({"projection": names(8)}), json!({}), "Changed Scan projection of all columns instead of 8"),
        (
            json!({"projection": ["a", "b"]}),
            json!({"projection": ["b", "c"]}),
            "Changed Scan reads c instead of a",
        ),
        (
            json!({"predicate": "a > 1"}),
            json!({"predicate": "a > 2"}),
            "Same Scan predicate a > 2 instead of a > 1",
        ),
        (
            json!({"predicate": "a > 1"}),
            json!({"predicate": "b > 1"}),
            "Changed Scan predicate on b instead of a",
        ),
        (json!({"files": 6}), json!({"files": 600}), "Same Scan 600 files instead of 6"),
        (json!({"limit": 6}), json!({"limit": 7}), "Same Scan limit 7 instead of 6"),
        (json!({"limit": 6}), json!({}), "Changed Scan limit none instead of 6"),
        (json!({"table": "x/t1"}), json!({"table": "x/t2"}), "Same Scan reads x/t2 instead of x/t1"),
        (
            json!({"format": "CSV"}),
            json!({"format": "parquet"}),
            "Changed Scan format parquet instead of csv",
        ),
    ] {
        assert_eq!(of(base, run), words);
    }
}

#[test]
fn another_kind_for_the_same_role_is_a_change() {
    let base = [scan(1, "a", json!({})), scan(2, "b", json!({})), join(3, &[1, 2], "k")];
    let mut run = base.clone();
    run[2]["kind"] = json!("SortMergeJoin");
    assert_eq!(told(&base, &run)[2], "Changed SortMergeJoin SortMergeJoin instead of HashJoin");
    run[2]["kind"] = json!("HashJoin");
    run[2]["inputs"] = json!([2, 1]);
    assert_eq!(told(&base, &run)[2], "Changed HashJoin its inputs changed places");
}

#[test]
fn sides_that_changed_places_below_projections_are_told() {
    let base = [scan(1, "a", json!({})), scan(2, "b", json!({})), join(3, &[1, 2], "k")];
    let projection = |id, input| node(id, "PROJECTION", "projection", &[input], json!({}), json!({}));
    let [a, b, _] = base.clone();
    let run = [a, b, projection(4, 2), projection(5, 1), join(3, &[4, 5], "k")];
    let differences = compared(&base, &run).differences;
    assert_eq!(differences[0].text, "The sides of the join on k changed places");
    assert!(differences.iter().all(|one| !one.text.contains("reads from")), "{differences:?}");
}

#[test]
fn sides_that_changed_places_below_exchanges_are_told() {
    let base = [scan(1, "a", json!({})), scan(2, "b", json!({})), join(3, &[1, 2], "k")];
    let exchange = |id, input| node(id, "Repartition", "engine", &[input], json!({}), json!({}));
    let [a, b, _] = base.clone();
    let run = [a, b, exchange(4, 2), exchange(5, 1), join(3, &[4, 5], "k")];
    assert_eq!(told(&base, &run)[4], "Changed HashJoin its inputs changed places");
    let differences = compared(&base, &run).differences;
    assert_eq!(differences[0].text, "The sides of the join on k changed places");
}

#[test]
fn another_table_at_the_same_place_is_a_change() {
    let base = [scan(1, "a", json!({})), join(3, &[1], "k")];
    let run = [scan(1, "b", json!({})), join(3, &[1], "k")];
    assert_eq!(told(&base, &run), ["Changed Scan reads b instead of a", "Same HashJoin"]);
    // A plan that names no table may read the same.
    let run = [node(1, "Scan", "scan", &[], json!({}), json!({})), join(3, &[1], "k")];
    assert_eq!(told(&base, &run), ["Same Scan", "Same HashJoin"]);
}

#[test]
fn nothing_in_common_is_all_added_and_removed() {
    let base = [scan(1, "a", json!({}))];
    let run = [node(1, "Values", "dataframe", &[], json!({}), json!({}))];
    assert_eq!(told(&base, &run), ["Added Values", "Removed Scan"]);
    assert_eq!(told(&[], &[]), Vec::<String>::new());
}

/// Plans of few kinds, so that much looks alike.
fn any_plan() -> impl Strategy<Value = Vec<Value>> {
    let counter = prop_oneof![Just(Value::Null), (0..5_000_000_000_u64).prop_map(|n| json!(n))];
    let one = (
        0..4_usize,
        prop::collection::vec(0..8_u64, 0..3),
        0..3_u8,
        [counter.clone(), counter.clone(), counter],
    );
    prop::collection::vec(one, 0..8).prop_map(|nodes| {
        let role = ["scan", "join", "selection", "sort"];
        let each = nodes.into_iter().enumerate().map(|(id, (what, inputs, table, counters))| {
            let names = ["busy_ns", "rows_in", "rows_out"];
            let counters = names.into_iter().zip(counters).filter(|(_, value)| !value.is_null());
            let counters: serde_json::Map<String, Value> =
                counters.map(|(name, value)| (name.to_owned(), value)).collect();
            node(
                id as u64,
                role[what],
                role[what],
                &inputs,
                json!({"table": table.to_string()}),
                json!(counters),
            )
        });
        each.collect()
    })
}

proptest! {
    #[test]
    fn each_node_is_told_once(base in any_plan(), run in any_plan()) {
        let nodes = compared(&base, &run).nodes;
        let ids = |of: fn(&NodePair) -> Option<u64>| {
            let mut ids: Vec<u64> = nodes.iter().filter_map(of).collect();
            ids.sort_unstable();
            ids
        };
        prop_assert_eq!(ids(|pair| Some(pair.base.as_ref()?.id)), (0..base.len() as u64).collect::<Vec<_>>());
        prop_assert_eq!(ids(|pair| Some(pair.run.as_ref()?.id)), (0..run.len() as u64).collect::<Vec<_>>());
        let roles = |pair: &NodePair| pair.base.as_ref().zip(pair.run.as_ref()).is_none_or(|(a, b)| a.role == b.role);
        prop_assert!(nodes.iter().all(roles));
    }

    #[test]
    fn a_plan_is_itself_under_other_ids(plan in any_plan(), turn in 0..8_usize) {
        let mut moved = plan.clone();
        for node in &mut moved {
            node["id"] = json!(node["id"].as_u64().expect("an id") + 100);
            let inputs = node["inputs"].as_array().expect("inputs").iter();
            node["inputs"] = inputs.map(|id| json!(id.as_u64().expect("an id") + 100)).collect();
        }
        let turn = turn % moved.len().max(1);
        // A circle is cut where the list begins, so only plans without one are turned.
        let straight = plan.iter().all(|node| {
            let id = node["id"].as_u64();
            node["inputs"].as_array().expect("inputs").iter().all(|input| input.as_u64() < id)
        });
        if straight {
            moved.rotate_left(turn);
        }
        prop_assert!(compared(&plan, &moved).same_plan);
    }
}
