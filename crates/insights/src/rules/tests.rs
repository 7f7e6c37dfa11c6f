//! A finding looks like this wherever it comes from; each rule's own tests are beside it.

use serde_json::json;

use super::findings;
use crate::testing::{check, check_with, node, profile, profile_text};

#[test]
fn an_empty_plan_has_no_findings() {
    let text = profile_text(10.0, &[], json!({}));
    assert!(findings(&profile(&text)).findings.is_empty());
}

#[test]
fn findings_about_less_than_a_hundredth_of_the_time_are_notes() {
    let plan = |busy: u64| {
        vec![
            node(1, "Udf", "map", &[], json!({"user_code": "f"}), json!({"rows_in": 5, "busy_ns": busy})),
            node(2, "Scan", "scan", &[], json!({}), json!({"busy_ns": 10_000 - busy})),
        ]
    };
    let level = |busy| check_with(1.0, &plan(busy), json!({}))[0].split(' ').next().map(ToOwned::to_owned);
    assert_eq!(level(99).as_deref(), Some("note"));
    assert_eq!(level(100).as_deref(), Some("warn"));
}

#[test]
fn without_times_nothing_warns() {
    let plan = [node(1, "Udf", "map", &[], json!({"user_code": "f"}), json!({"rows_in": 5}))];
    assert_eq!(check(&plan), ["note user_code #1: User code (f) is called for 5 rows"]);
}

#[test]
fn huge_plans_are_left_alone() {
    let plan = |nodes: u64| -> Vec<_> {
        let udf = |id| node(id, "Udf", "map", &[], json!({"user_code": "f"}), json!({"rows_in": 5}));
        (0..nodes).map(udf).collect()
    };
    assert_eq!(check(&plan(10_000)).len(), 10_000);
    assert!(check(&plan(10_001)).is_empty());
}

#[test]
fn the_heaviest_comes_first() {
    let udf = |id, busy: u64| {
        node(id, "Udf", "map", &[], json!({"user_code": "f"}), json!({"rows_in": id, "busy_ns": busy}))
    };
    let found = check_with(1.0, &[udf(1, 10), udf(2, 80), udf(3, 10)], json!({}));
    assert!(found[0].contains("#2"), "{found:?}");
}
