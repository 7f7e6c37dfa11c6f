use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::testing::{node, plan};

fn of(logical: &[Value]) -> String {
    let text = json!({"physical": [], "logical": logical}).to_string();
    fingerprint(&plan(&text)).to_string()
}

/// A scan with a predicate, grouped, into a sink.
fn query(path: &str, predicate: &str, key: &str, sink: &str) -> Vec<Value> {
    vec![
        node(1, "Scan", "scan", &[], json!({"first_source": path, "predicate": [predicate]}), Value::Null),
        node(2, "GroupBy", "aggregation", &[1], json!({"keys": [key], "aggs": ["len()"]}), Value::Null),
        node(3, "Sink", "sink", &[2], json!({"dest": sink}), Value::Null),
    ]
}

fn usual() -> Vec<Value> {
    query("/srv/orders.parquet", "col(\"amount\") > 5.0", "col(\"region\")", "Memory")
}

#[test]
fn it_stays_what_it_is() {
    // Stored by users: when this changes, so must `VERSION`.
    assert_eq!(of(&usual()), "5ea326112ec9");
    assert_eq!(of(&[]), "e3b0c44298fc");
}

#[test]
fn other_literals_and_places_are_the_same_query() {
    for same in [
        query("/srv/orders.parquet", "col(\"amount\") > 7.5", "col(\"region\")", "Memory"),
        query("s3://copy/orders.parquet", "col(\"amount\") > <num>", "col(\"region\")", "Memory"),
    ] {
        assert_eq!(of(&same), of(&usual()));
    }
}

#[test]
fn another_column_table_key_or_sink_is_another_query() {
    for other in [
        query("/srv/orders.parquet", "col(\"price\") > 5.0", "col(\"region\")", "Memory"),
        query("/srv/returns.parquet", "col(\"amount\") > 5.0", "col(\"region\")", "Memory"),
        query("/srv/orders.parquet", "col(\"amount\") > 5.0", "col(\"country\")", "Memory"),
        query("/srv/orders.parquet", "col(\"amount\") > 5.0", "col(\"region\")", "out.parquet"),
    ] {
        assert_ne!(of(&other), of(&usual()));
    }
}

#[test]
fn the_order_of_inputs_matters() {
    let join = |inputs: &[u64]| {
        let scan = |id, path| node(id, "Scan", "scan", &[], json!({"table": path}), Value::Null);
        of(&[scan(1, "a"), scan(2, "b"), node(3, "Join", "join", inputs, json!({}), Value::Null)])
    };
    assert_ne!(join(&[1, 2]), join(&[2, 1]));
}

#[test]
fn the_physical_plan_counts_where_there_is_no_other() {
    let physical = json!({"physical": usual(), "logical": []}).to_string();
    assert_eq!(fingerprint(&plan(&physical)).to_string(), of(&usual()));
}

proptest! {
    #[test]
    fn literals_do_not_matter(amount in any::<i64>(), name in "[a-zA-Z0-9 ().,@-]{0,12}", year in 1000..9999_u16) {
        let predicate = format!("(col(\"amount\") > {amount}) & (col(\"region\") == \"{name}\")");
        let path = format!("/data/{amount}/orders_{year}-01.parquet");
        let one = query(&path, &predicate, "col(\"region\")", "Memory");
        let other = query(
            "/data/orders_2026-02.parquet",
            "(col(\"amount\") > 1) & (col(\"region\") == \"EU\")",
            "col(\"region\")",
            "Memory",
        );
        prop_assert_eq!(of(&one), of(&other));
    }

    #[test]
    fn columns_of_a_predicate_matter(one in "[a-z]{3,8}x", other in "[a-z]{3,8}x") {
        let of_column = |name: &str| {
            of(&query("o", &format!("{name}@3 > Int64(5)"), "col(\"k\")", "Memory"))
        };
        prop_assert_eq!(of_column(&one) == of_column(&other), one == other);
    }

    #[test]
    fn ids_and_the_order_of_the_list_do_not_matter(offset in 0..u64::from(u32::MAX), turn in 0..3_usize) {
        let mut moved = usual();
        for node in &mut moved {
            node["id"] = json!(node["id"].as_u64().expect("an id") * 7 + offset);
            let inputs = node["inputs"].as_array().expect("inputs").iter();
            let inputs: Vec<u64> = inputs.map(|id| id.as_u64().expect("an id") * 7 + offset).collect();
            node["inputs"] = json!(inputs);
        }
        moved.rotate_left(turn);
        prop_assert_eq!(of(&moved), of(&usual()));
    }
}
