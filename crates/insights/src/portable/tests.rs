use serde_json::{Value, json};

use super::*;
use crate::testing::{node, profile, profile_text};

fn of(engine: &str, physical: &[Value], logical: &[Value], more: Value) -> String {
    let mut text: Value = serde_json::from_str(&profile_text(10.0, physical, more)).expect("JSON");
    text["schema"] = json!(format!("{engine}-telemetry/profile@1"));
    text["plan"]["logical"] = json!(logical);
    text.to_string()
}

fn told(base: &str, head: &str) -> Vec<String> {
    let (base, head) = (profile(base), profile(head));
    let (base, head) = (Portable::of(&base), Portable::of(&head));
    let found = differences(&base, &head, 0.1);
    assert!(base != head || found.is_empty(), "{found:?}");
    found.iter().map(|each| format!("{:?} {}: {}", each.direction, each.kind.as_str(), each.text)).collect()
}

fn scan(properties: Value, metrics: Value) -> Value {
    let mut all = json!({"table": "/data/orders.parquet", "projection": ["a", "b"]});
    let (Value::Object(all_of), Value::Object(properties)) = (&mut all, properties) else { unreachable!() };
    all_of.extend(properties);
    node(1, "MultiScan", "scan", &[], all, metrics)
}

/// A scan below a sum.
fn polars(properties: Value, metrics: Value) -> String {
    let sum =
        node(2, "GroupBy", "aggregation", &[1], json!({"keys": ["a"]}), json!({"rows_out": 5, "busy_ns": 7}));
    of("polars", &[scan(properties, metrics), sum], &[], json!({}))
}

#[test]
fn a_run_is_equal_to_itself_whatever_its_times() {
    let base = polars(json!({}), json!({"rows_out": 50, "busy_ns": 1000, "io_ns": 5}));
    let head = polars(json!({}), json!({"rows_out": 50, "busy_ns": 9_999_000, "io_ns": 1}));
    assert_eq!(told(&base, &head.replace("\"wall_ms\":10.0", "\"wall_ms\":99999.0")), [""; 0]);
}

#[test]
fn what_reaches_a_scan_is_told() {
    let filtered = polars(json!({"predicate": "col(\"amount\") > 5"}), json!({"rows_out": 50}));
    let plain = polars(json!({}), json!({"rows_out": 50}));
    assert_eq!(
        told(&filtered, &plain),
        ["Worse predicate: the predicate on amount no longer reaches the scan of orders.parquet"]
    );
    assert_eq!(
        told(&plain, &filtered)[0],
        "Better predicate: a predicate on amount reaches the scan of orders.parquet now"
    );
    let other = filtered.replace("> 5", "> 900");
    assert_eq!(told(&filtered, &other), [""; 0], "literals may differ");
    let two =
        polars(json!({"predicate": ["col(\"amount\") > 5", "col(\"day\") == 1"]}), json!({"rows_out": 50}));
    assert_eq!(
        told(&two, &filtered)[0],
        "Worse predicate: the scan of orders.parquet is no longer filtered on day"
    );
    let all = polars(json!({"projection": null}), json!({"rows_out": 50}));
    assert_eq!(
        told(&plain, &all)[0],
        "Worse projection: the scan of orders.parquet reads all columns instead of 2"
    );
    let three = polars(json!({"projection": ["a", "b", "c"]}), json!({"rows_out": 50}));
    assert_eq!(
        told(&plain, &three)[0],
        "Worse projection: the scan of orders.parquet reads 3 columns instead of 2 (new: c)"
    );
}

#[test]
fn figures_have_a_tolerance() {
    let rows = |rows: u64, bytes: u64| polars(json!({}), json!({"rows_out": rows, "bytes_read": bytes}));
    assert_eq!(told(&rows(1000, 1000), &rows(1000, 60_000)), [""; 0], "a footer");
    assert_eq!(
        told(&rows(1000, 1 << 20), &rows(4000, 3 << 20)),
        [
            "Worse rows: the scan of orders.parquet reads 4.0 k rows instead of 1.0 k (4.0x)",
            "Worse bytes: the scan of orders.parquet reads 3.0 MiB instead of 1.0 MiB (3.0x)"
        ]
    );
    let (base, head) = (rows(1000, 0), rows(1050, 0));
    let (base, head) = (profile(&base), profile(&head));
    assert_eq!(differences(&Portable::of(&base), &Portable::of(&head), 0.1), []);
}

#[test]
fn rows_below_a_limit_are_left_out_and_those_below_a_sum_are_not() {
    let limited = |rows: u64, top: Value| {
        let plan = [scan(json!({}), json!({"rows_out": rows, "bytes_read": rows << 20})), top];
        of("polars", &plan, &[], json!({}))
    };
    let slice = node(2, "Slice", "function", &[1], json!({"length": 10}), json!({"rows_out": 10}));
    assert_eq!(told(&limited(100, slice.clone()), &limited(9000, slice)), [""; 0]);
    let top_k = node(2, "TopK", "top_k", &[1], json!({"limit": 10}), json!({"rows_out": 10}));
    assert_eq!(told(&limited(100, top_k.clone()), &limited(9000, top_k)), [""; 0]);
    let below = |rows: u64| {
        let sum = node(2, "GroupBy", "aggregation", &[1], json!({"keys": ["a"]}), json!({"rows_out": 5}));
        let slice = node(3, "Slice", "function", &[2], json!({"length": 2}), json!({"rows_out": 2}));
        of("polars", &[scan(json!({}), json!({"rows_out": rows})), sum, slice], &[], json!({}))
    };
    assert_eq!(told(&below(100), &below(900)).len(), 1);
}

/// A sum of DataFusion on one partition, and on many.
fn datafusion(partitions: u64) -> String {
    let file = node(
        9,
        "DataSourceExec",
        "scan",
        &[],
        json!({"table": "/data/orders.parquet", "columns_read": ["a", "b"]}),
        json!({"rows_out": 50, "bytes_read": 900 + partitions, "files": partitions}),
    );
    let keys = || json!({"keys": ["a"], "mode": "single"});
    let mut plan = vec![file];
    if partitions == 1 {
        plan.push(node(1, "AggregateExec", "aggregation", &[9], keys(), json!({"rows_out": 5})));
        plan.push(node(2, "SortExec", "sort", &[1], json!({"order": ["a"]}), json!({"rows_out": 5})));
    } else {
        let partial = json!({"keys": ["a"], "mode": "partial"});
        let full = json!({"keys": ["a"], "mode": "final partitioned"});
        plan.push(node(
            1,
            "AggregateExec",
            "aggregation",
            &[9],
            partial,
            json!({"rows_out": 5 * partitions}),
        ));
        plan.push(node(2, "RepartitionExec", "engine", &[1], json!({}), json!({"partitions": partitions})));
        plan.push(node(
            3,
            "AggregateExec",
            "aggregation",
            &[2],
            full,
            json!({"rows_out": 5, "partitions": 4}),
        ));
        plan.push(node(4, "SortExec", "sort", &[3], json!({"order": ["a"]}), json!({"rows_out": 5})));
        plan.push(node(5, "SortPreservingMergeExec", "engine", &[4], json!({}), json!({"rows_out": 5})));
    }
    of("datafusion", &plan, &[], json!({}))
}

#[test]
fn the_number_of_partitions_makes_no_difference() {
    assert_eq!(told(&datafusion(1), &datafusion(16)), [""; 0]);
    assert_eq!(told(&datafusion(8), &datafusion(2)), [""; 0]);
}

fn joined(engine: &str, kind: &str, role: &str, rows: (u64, u64, u64)) -> String {
    let table = |id: u64, name: &str, rows: u64| {
        node(id, "SCAN", "scan", &[], json!({"table": name, "format": "parquet"}), json!({"rows_out": rows}))
    };
    let join = node(3, kind, role, &[1, 2], json!({"keys": ["k"]}), json!({"rows_out": rows.2}));
    of(engine, &[table(1, "big", rows.0), table(2, "small", rows.1), join], &[], json!({}))
}

#[test]
fn joins_are_told_by_their_rows_and_their_kind() {
    let base = joined("duckdb", "HASH_JOIN", "join", (1000, 10, 1000));
    let exploded = joined("duckdb", "HASH_JOIN", "join", (1000, 10, 50_000));
    assert_eq!(told(&base, &exploded), ["Worse rows: HASH_JOIN gives 50.0 k rows instead of 1.0 k (50x)"]);
    let probed = joined("duckdb", "HASH_JOIN", "join", (400, 10, 1000));
    assert_eq!(told(&base, &probed), [""; 0], "a join may filter the side that looks partners up");
    let built = joined("duckdb", "HASH_JOIN", "join", (1000, 30, 1000));
    assert_eq!(told(&base, &built), ["Worse rows: the scan of small reads 30 rows instead of 10 (3.0x)"]);
    let nested = joined("duckdb", "NESTED_LOOP_JOIN", "theta_join", (1000, 10, 1000));
    let found = told(&base, &nested);
    assert_eq!(found[0], "Worse join: a join compares no keys any more: it tries every pair of rows");
    assert!(found.iter().any(|each| each.contains("HASH_JOIN is gone")), "{found:?}");
}

#[test]
fn growth_is_told_where_it_begins() {
    let plan = |rows: u64| {
        let filter = node(2, "Filter", "selection", &[1], json!({}), json!({"rows_out": rows / 2}));
        let sum =
            node(3, "GroupBy", "aggregation", &[2], json!({"keys": ["a"]}), json!({"rows_out": rows / 10}));
        of("polars", &[scan(json!({}), json!({"rows_out": rows})), filter, sum], &[], json!({}))
    };
    assert_eq!(
        told(&plan(1000), &plan(5000)),
        ["Worse rows: the scan of orders.parquet reads 5.0 k rows instead of 1.0 k (5.0x)"]
    );
}

#[test]
fn spills_and_findings_are_told_and_those_of_time_are_not() {
    let sort = |metrics: Value| {
        let plan =
            [scan(json!({}), json!({"rows_out": 5})), node(2, "Sort", "sort", &[1], json!({}), metrics)];
        of("polars", &plan, &[], json!({}))
    };
    let calm = sort(json!({"rows_out": 5}));
    assert_eq!(
        told(&calm, &sort(json!({"rows_out": 5, "spilled_bytes": 9}))),
        ["Worse spill: it spills to disk now"]
    );
    let skewed = sort(json!({"rows_out": 5, "busy_ns": 1_000_000, "partitions": 8,
        "partition_busy_max_ns": 900_000}));
    assert_eq!(told(&calm, &skewed), [""; 0]);
    let called = |name: Value| {
        let map = node(
            2,
            "Map",
            "function",
            &[1],
            json!({"user_code": name}),
            json!({"rows_in": 50, "rows_out": 50, "busy_ns": 5}),
        );
        of(
            "polars",
            &[scan(json!({}), json!({"rows_out": 50})), map],
            &[],
            json!({"query_metrics": {"user_code_ns": 4_000_000}}),
        )
    };
    let found = told(&called(Value::Null), &called(json!("slow")));
    assert_eq!(found[0], "Worse finding: new finding, user_code: Map calls user code (slow)");
}

#[test]
fn the_logical_plan_counts_where_there_is_one() {
    let with = |columns: Value| {
        let asked =
            node(0, "TableScan", "scan", &[], json!({"table": "t", "projection": columns}), json!({}));
        let ran = node(0, "DataSourceExec", "scan", &[], json!({"table": "x"}), json!({"rows_out": 7}));
        of("datafusion", &[ran], &[asked], json!({}))
    };
    let found = told(&with(json!(["a"])), &with(json!(["a", "b", "c", "d", "e", "f"])));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        found[0],
        "Worse projection: the scan of t reads 6 columns instead of 1 (new: b, c, d, e, 1 more)"
    );
}
