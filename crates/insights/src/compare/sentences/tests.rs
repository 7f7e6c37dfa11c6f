use serde_json::{Value, json};

use super::*;
use crate::compare::compare;
use crate::testing::{node, profile, profile_text};

fn told(base: &[Value], run: &[Value]) -> Vec<String> {
    let (base, run) = (profile_text(100.0, base, json!({})), profile_text(300.0, run, json!({})));
    compare(&profile(&base), &profile(&run)).differences.into_iter().map(|one| one.text).collect()
}

fn scan(id: u64, table: &str, more: &Value) -> Value {
    let mut scan = node(id, "Scan", "scan", &[], json!({"table": table}), json!({}));
    let Value::Object(more) = more else { panic!("{more}") };
    scan["properties"].as_object_mut().expect("an object").extend(more.clone());
    scan
}

fn join(id: u64, inputs: &[u64], key: &str) -> Value {
    node(id, "HashJoin", "join", inputs, json!({"keys": [key]}), json!({}))
}

fn filter(id: u64, input: u64, predicate: &str) -> Value {
    node(id, "Filter", "selection", &[input], json!({"predicate": predicate}), json!({}))
}

fn sort(id: u64, input: u64, by: &str) -> Value {
    node(id, "Sort", "sort", &[input], json!({"order": [by]}), json!({}))
}

fn group(id: u64, input: u64, by: &str) -> Value {
    node(id, "GroupBy", "aggregation", &[input], json!({"keys": [by]}), json!({}))
}

#[test]
fn the_same_plan_has_no_differences() {
    let plan = [scan(1, "orders", &json!({"predicate": "a > 1"})), sort(2, 1, "day")];
    assert_eq!(told(&plan, &plan), Vec::<String>::new());
    assert_eq!(told(&[], &[]), Vec::<String>::new());
}

#[test]
fn a_filter_that_moved_above_a_join_runs_after_it() {
    let (orders, prices) = (scan(1, "orders", &json!({})), scan(2, "price_history", &json!({})));
    let early =
        [orders.clone(), prices.clone(), filter(3, 2, "valid_until > 7"), join(4, &[1, 3], "product_id")];
    let late = [orders, prices, join(4, &[1, 2], "product_id"), filter(3, 4, "valid_until > 7")];
    assert_eq!(told(&early, &late), ["The filter on valid_until now runs after the join on product_id"]);
    assert_eq!(told(&late, &early), ["The filter on valid_until now runs before the join on product_id"]);
}

#[test]
fn a_filter_that_left_the_scan_is_one_sentence() {
    let plain = |table| scan(if table == "orders" { 1 } else { 2 }, table, &json!({}));
    let pushed = [
        plain("orders"),
        scan(2, "price_history", &json!({"predicate": "valid_until > 7"})),
        join(4, &[1, 2], "product_id"),
    ];
    let late = [
        plain("orders"),
        plain("price_history"),
        join(4, &[1, 2], "product_id"),
        filter(5, 4, "valid_until > 7"),
    ];
    assert_eq!(
        told(&pushed, &late),
        [
            "The filter on valid_until now runs after the join on product_id, no longer in the scan of price_history"
        ]
    );
    assert_eq!(
        told(&late, &pushed),
        ["The filter on valid_until now runs in the scan of price_history, before the join on product_id"]
    );
    let beside = [
        plain("orders"),
        plain("price_history"),
        filter(5, 2, "valid_until > 7"),
        join(4, &[1, 5], "product_id"),
    ];
    assert_eq!(
        told(&pushed, &beside),
        ["The filter on valid_until now runs after the scan of price_history, no longer in it"]
    );
    let without = [plain("orders"), plain("price_history"), join(4, &[1, 2], "product_id")];
    assert_eq!(told(&pushed, &without), ["The scan of price_history no longer filters on valid_until"]);
    assert_eq!(told(&without, &pushed), ["The scan of price_history now filters on valid_until"]);
}

#[test]
fn a_condition_on_an_aggregate_is_not_that_on_the_column() {
    let bare = scan(1, "orders", &json!({}));
    let pushed =
        [scan(1, "orders", &json!({"predicate": "amount@2 > 5"})), group(2, 1, "region"), sort(9, 2, "n")];
    let having = [bare.clone(), group(2, 1, "region"), filter(3, 2, "amount@1 > 100"), sort(9, 3, "n")];
    assert_eq!(
        told(&pushed, &having),
        [
            "The scan of orders no longer filters on amount",
            "A filter on amount was added before the sort by n"
        ]
    );
    assert_eq!(
        told(&having, &pushed),
        [
            "The scan of orders now filters on amount",
            "The filter on amount is gone, which ran before the sort by n"
        ]
    );
    let early = [bare.clone(), filter(3, 1, "amount > 5"), group(2, 3, "region"), sort(9, 2, "n")];
    assert_eq!(
        told(&early, &having),
        [
            "A filter on amount was added before the sort by n",
            "The filter on amount is gone, which ran before the aggregation by region"
        ]
    );
    let by_key = [bare, group(2, 1, "amount"), filter(3, 2, "amount@1 > 100"), sort(9, 3, "n")];
    let pushed = [pushed[0].clone(), group(2, 1, "amount"), pushed[2].clone()];
    assert_eq!(
        told(&pushed, &by_key),
        ["The filter on amount now runs after the scan of orders, no longer in it"],
        "a key is the column itself"
    );
}

#[test]
fn two_conditions_are_two_filters() {
    let scans = [scan(1, "orders", &json!({})), scan(2, "customers", &json!({}))];
    let base = [
        scans[0].clone(),
        scans[1].clone(),
        join(3, &[1, 2], "customer_id"),
        filter(4, 3, "amount > 5"),
        sort(9, 4, "day"),
    ];
    let run = [
        scans[0].clone(),
        filter(4, 1, "region = 'EU'"),
        scans[1].clone(),
        join(3, &[4, 2], "customer_id"),
        sort(9, 3, "day"),
    ];
    assert_eq!(
        told(&base, &run),
        [
            "A filter on region was added before the join on customer_id",
            "The filter on amount is gone, which ran before the sort by day"
        ]
    );
    let other = |predicate: &str| {
        let pushed = [scan(1, "orders", &json!({"predicate": predicate})), sort(9, 1, "day")];
        let beside = [scan(1, "orders", &json!({})), filter(4, 1, "amount > 5"), sort(9, 4, "day")];
        told(&pushed, &beside)
    };
    assert_eq!(
        other("(amount@2 > 7)"),
        ["The filter on amount now runs after the scan of orders, no longer in it"]
    );
    assert_eq!(
        other("amount < 7"),
        [
            "The scan of orders no longer filters on amount",
            "A filter on amount was added before the sort by day"
        ]
    );
}

#[test]
fn another_function_in_a_condition_is_told_as_such() {
    let plan = |predicate: &str| [scan(1, "orders", &json!({})), filter(2, 1, predicate), sort(9, 2, "day")];
    assert_eq!(
        told(&plan("f(amount) > 5"), &plan("g(amount) > 5")),
        ["The filter on amount: predicate g(amount) > 5 instead of f(amount) > 5"]
    );
}

#[test]
fn what_came_and_went_is_told_with_its_place() {
    let base = [scan(1, "orders", &json!({})), group(3, 1, "day")];
    let run = [scan(1, "orders", &json!({})), sort(2, 1, "customer"), group(3, 2, "day")];
    assert_eq!(told(&base, &run), ["A sort by customer was added before the aggregation by day"]);
    assert_eq!(told(&run, &base), ["The sort by customer is gone, which ran before the aggregation by day"]);
}

#[test]
fn names_that_the_engine_made_up_are_not_told() {
    let base = [scan(1, "orders", &json!({}))];
    let run = |key| [scan(1, "orders", &json!({})), group(3, 1, key)];
    assert_eq!(told(&base, &run("_POLARS_TMP_PHYS_0")), ["An aggregation GroupBy #3 was added"]);
    assert_eq!(told(&base, &run("_year")), ["An aggregation by _year was added"]);
}

#[test]
fn another_order_of_joins_is_told() {
    let scans = || [scan(1, "a", &json!({})), scan(2, "b", &json!({})), scan(3, "c", &json!({}))];
    let plan = |joins: [Value; 2]| scans().into_iter().chain(joins).collect::<Vec<_>>();
    let base = plan([join(4, &[1, 2], "x"), join(5, &[4, 3], "y")]);
    let run = plan([join(5, &[1, 3], "y"), join(4, &[5, 2], "x")]);
    assert_eq!(
        told(&base, &run).first().map(String::as_str),
        Some("The join on y now runs before the join on x")
    );
}

#[test]
fn work_that_is_done_in_another_way_is_told() {
    let columns = |count: usize| (0..count).map(|n| format!("c{n}")).collect::<Vec<_>>();
    let scans = || vec![scan(1, "a", &json!({"projection": columns(8)})), scan(2, "b", &json!({}))];
    let with = |more: Value| scans().into_iter().chain([more]).collect::<Vec<_>>();
    let base = with(join(3, &[1, 2], "k"));
    let mut merge = join(3, &[1, 2], "k");
    merge["kind"] = json!("SortMergeJoin");
    assert_eq!(told(&base, &with(merge)), ["The join on k is done by SortMergeJoin instead of HashJoin"]);
    assert_eq!(told(&base, &with(join(3, &[2, 1], "k"))), ["The sides of the join on k changed places"]);
    let mut wide = base.clone();
    wide[0] = scan(1, "a", &json!({"projection": columns(96)}));
    assert_eq!(told(&base, &wide), ["The scan of a now reads 96 columns instead of 8"]);
}

#[test]
fn what_only_the_engine_knows_is_counted() {
    let engine = |id: u64, kind: &str, input: u64| node(id, kind, "engine", &[input], json!({}), json!({}));
    let base = [scan(1, "a", &json!({})), sort(2, 1, "x")];
    let run = [
        scan(1, "a", &json!({})),
        engine(3, "RepartitionExec", 1),
        engine(4, "RepartitionExec", 3),
        engine(5, "CoalesceBatchesExec", 4),
        sort(2, 5, "x"),
    ];
    assert_eq!(told(&base, &run), ["3 more steps were added: 2 RepartitionExec, 1 CoalesceBatchesExec"]);
    assert_eq!(told(&run, &base), ["3 steps are gone: 2 RepartitionExec, 1 CoalesceBatchesExec"]);
}

#[test]
fn a_node_without_names_has_its_kind_and_number() {
    let base = [scan(1, "a", &json!({}))];
    let bare = node(4_294_967_301, "Filter", "selection", &[1], json!({}), json!({}));
    assert_eq!(told(&base, &[base[0].clone(), bare]), ["A filter Filter #5 was added"]);
}

#[test]
fn sentences_are_bounded() {
    let many: Vec<Value> = (0..200).map(|id| scan(id, &format!("t{id}x"), &json!({}))).collect();
    assert_eq!(told(&[sort(900, 901, "day")], &many).len(), SENTENCES_MAX);
}

#[test]
fn nothing_is_said_to_have_come_where_a_plan_is_not_known() {
    let plan = [scan(1, "a", &json!({})), join(2, &[1], "k")];
    assert_eq!(told(&[], &plan), ["The physical plan of the base is not known"]);
    assert_eq!(told(&plan, &[]), ["The physical plan of the run is not known"]);
}

#[test]
fn other_files_of_one_table_are_named() {
    let files = |path: &str, files: u64| [scan(1, path, &json!({"files": files}))];
    let (one, all) = (files("/data/sales/0.parquet", 1), files("/data/sales/*.parquet", 5));
    let to_all = "The scan of sales reads *.parquet instead of 0.parquet: 5 files instead of 1";
    assert_eq!(told(&one, &all), [to_all]);
    let (old, new) =
        (files("/lake/día/sales_2026-01.parquet", 1), files("/lake/día/sales_2026-02.parquet", 1));
    assert_eq!(
        told(&old, &new),
        ["The scan of sales_#.parquet reads sales_2026-02.parquet instead of sales_2026-01.parquet"]
    );
    assert_eq!(told(&old, &old), Vec::<String>::new());
}
