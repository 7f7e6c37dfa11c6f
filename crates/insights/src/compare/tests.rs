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

/// The largest part of what became slower, of a run whose reads take as long as it does.
fn most_of(properties: &Value, process_cpu_ms: Option<u64>) -> Cause {
    let of = |wall_ms: u64| {
        let io = json!({"io_ns": wall_ms * 900_000, "busy_ns": 100_000_000, "rows_in": 7, "rows_out": 7});
        let plan = [
            node(1, "Scan", "scan", &[], json!({"table": "t"}), io),
            node(2, "Select", "map", &[1], properties.clone(), json!({"rows_in": 7, "rows_out": 7})),
        ];
        let cpu = process_cpu_ms.map(|ms| json!({"process_cpu_ns": ms * wall_ms * 1_000}));
        profile_text(wall_ms as f64, &plan, json!({"query_metrics": cpu}))
    };
    let (base, run) = (of(1_000), of(10_000));
    let account = compare(&profile(&base), &profile(&run)).account;
    account.parts.iter().max_by_key(|part| part.ns).expect("parts").cause
}

#[test]
fn code_of_the_program_may_have_worked_while_reads_were_under_way() {
    assert_eq!(most_of(&json!({}), None), Cause::Waiting);
    let calls = json!({"user_code": "score"});
    assert_eq!(most_of(&calls, None), Cause::Unexplained);
    // The process worked all the time, or for a tenth of it.
    assert_eq!(most_of(&calls, Some(1_000)), Cause::Unexplained);
    assert_eq!(most_of(&calls, Some(100)), Cause::Waiting);
}

#[test]
fn measured_calls_of_user_code_are_no_unexplained_time() {
    let of = |wall_ms: f64, called_ms: u64| {
        let plan =
            [node(1, "Select", "map", &[], json!({"user_code": "score"}), json!({"busy_ns": 1_000_000}))];
        let counters = json!({"query_metrics": {"user_code_ns": called_ms * 1_000_000}});
        profile_text(wall_ms, &plan, counters)
    };
    let parts = |base: &str, run: &str| {
        let account = compare(&profile(base), &profile(run)).account;
        let ms = |cause| {
            account.parts.iter().find(|part| part.cause == cause).expect("every cause").ns / 1_000_000
        };
        [Cause::UserCode, Cause::Unexplained].map(ms)
    };
    let (fast, slow) = (of(1_000.0, 900), of(3_000.0, 2_800));
    assert_eq!(parts(&fast, &slow), [1_900, 100]);
    assert_eq!(parts(&slow, &fast), [-1_900, -100]);
    // The calls took no longer, or more longer than the run did.
    assert_eq!(parts(&fast, &of(3_000.0, 900)), [0, 2_000]);
    assert_eq!(parts(&of(1_000.0, 0), &of(1_500.0, 1_500)), [500, 0]);
}

/// Of what more work takes, the percentages of a change of plan, of more rows and of slower work for each row.
fn work_of(base: &[Value], run: &[Value]) -> [i64; 3] {
    let parts = compared(base, run).account.parts;
    let ns = |cause| parts.iter().find(|part| part.cause == cause).expect("every cause").ns as f64;
    let each = [Cause::PlanChange, Cause::MoreRows, Cause::SlowerPerRow].map(ns);
    each.map(|ns| (100.0 * ns / each.iter().sum::<f64>()).round() as i64)
}

#[test]
fn rows_of_storage_are_more_rows_under_another_plan_too() {
    let plan = |columns: &[&str], scanned: u64, given: u64, busy_ms: [u64; 2]| {
        let of = |rows: u64, busy_ms: u64| json!({"rows_out": rows, "busy_ns": busy_ms * 1_000_000});
        let mut scan = scan(1, "t", json!({"projection": columns}));
        scan["metrics"] = of(given, busy_ms[0]);
        scan["metrics"]["rows_scanned"] = json!(scanned);
        let mut join = join(2, &[1], "k");
        join["metrics"] = of(given, busy_ms[1]);
        [scan, join]
    };
    let base = plan(&["a"], 1_000, 1_000, [60, 40]);
    let more = |scanned, given, busy_ms| work_of(&base, &plan(&["a", "b"], scanned, given, busy_ms));
    // Storage has three times the rows, and the scan reads one more column, at no cost or for a third more a row.
    assert_eq!(more(3_000, 3_000, [180, 120]), [0, 100, 0]);
    assert_eq!(more(3_000, 3_000, [240, 120]), [15, 85, 0]);
    // As many are read, and more let through.
    assert_eq!(more(1_000, 3_000, [60, 120]), [100, 0, 0]);
    // Twice as many are read, and four times as many given on: storage has a factor of two, the plan the other.
    assert_eq!(more(2_000, 4_000, [120, 160]), [33, 67, 0]);
    // Another file is no other plan: its rows are of the data, and so is what a row takes longer.
    let mut other = plan(&["a"], 3_000, 3_000, [270, 120]);
    other[0]["properties"]["table"] = json!("u");
    assert_eq!(work_of(&base, &other), [0, 79, 21]);
    // Where the plan is the same, how many rows a condition lets through is of the data.
    assert_eq!(work_of(&base, &plan(&["a"], 1_000, 3_000, [60, 120])), [0, 100, 0]);
}

#[test]
fn more_rows_are_more_calls() {
    let of = |wall_ms: u64, rows: u64, file: &str| {
        let calls = json!({"rows_in": rows, "rows_out": rows, "busy_ns": 1});
        let plan = [
            node(1, "Scan", "scan", &[], json!({"table": file}), json!({"rows_out": rows, "busy_ns": 1})),
            node(2, "Select", "map", &[1], json!({"user_code": "score"}), calls),
        ];
        profile_text(wall_ms as f64, &plan, json!({"query_metrics": {"user_code_ns": wall_ms * 1_000_000}}))
    };
    let parts = |run: String| {
        let account = compare(&profile(&of(1_000, 10, "t")), &profile(&run)).account;
        let ms = |cause| {
            account.parts.iter().find(|part| part.cause == cause).expect("every cause").ns / 1_000_000
        };
        [Cause::PlanChange, Cause::MoreRows, Cause::UserCode].map(ms)
    };
    for file in ["t", "u"] {
        assert_eq!(parts(of(3_000, 30, file)), [0, 2_000, 0]);
        assert_eq!(parts(of(3_000, 10, file)), [0, 0, 2_000]);
        assert_eq!(parts(of(4_000, 20, file)), [0, 1_500, 1_500]);
        assert_eq!(parts(of(500, 5, file)), [0, -500, 0]);
    }
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
fn another_table_at_the_same_place_is_a_change() {
    let base = [scan(1, "a", json!({})), join(3, &[1], "k")];
    let run = [scan(1, "b", json!({})), join(3, &[1], "k")];
    assert_eq!(told(&base, &run), ["Changed Scan reads b instead of a", "Same HashJoin"]);
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

prop_compose! {
    fn any_profile()(
        plan in any_plan(),
        wall_ms in prop_oneof![0.0..1e7_f64, Just(0.0), Just(1e300)],
        planning_ms in prop::option::of(0.0..1e4_f64),
        threads in prop::option::of(0..64_u64),
        io_ns in prop::option::of(0..u64::MAX),
    ) -> String {
        let mut counters = serde_json::Map::new();
        threads.map(|threads| counters.insert("threads".into(), json!(threads)));
        io_ns.map(|io_ns| counters.insert("io_ns".into(), json!(io_ns)));
        profile_text(wall_ms, &plan, json!({"planning_ms": planning_ms, "query_metrics": counters}))
    }
}

proptest! {
    #[test]
    fn the_parts_sum_to_the_difference(base in any_profile(), run in any_profile()) {
        let account = compare(&profile(&base), &profile(&run)).account;
        prop_assert_eq!(account.difference_ns, account.run_wall_ns - account.base_wall_ns);
        prop_assert_eq!(account.parts.iter().map(|part| part.ns).sum::<i64>(), account.difference_ns);
        prop_assert_eq!(account.parts.len(), 8);
    }

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
