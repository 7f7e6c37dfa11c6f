//! What is said of a predicate that left a scan.

use queryscope_diagnosis::{Matching, Plan, PlanNode};
use queryscope_insights::Fingerprint;
use queryscope_protocol::Role;

/// A scan, a filter where the plan has one, and an aggregation.
fn plan(scan: Option<&str>, filter: Option<&str>) -> Plan {
    let shape = |text: Option<&str>| text.map_or(0, |text| text.bytes().map(u64::from).sum());
    let mut nodes: Vec<PlanNode> = Vec::new();
    let mut node = |kind: &str, role: Role, predicate: Option<&str>| {
        let place = nodes.len();
        nodes.push(PlanNode {
            id: place as u64,
            kind: kind.into(),
            role,
            inputs: place.checked_sub(1).into_iter().collect(),
            own_shape: role as u64 * 10_000 + shape(predicate),
            shape: nodes.iter().map(|below| below.own_shape).sum::<u64>() + shape(predicate),
            table: (role == Role::Scan).then(|| "orders".into()),
            predicate: predicate.map(Into::into),
            columns: None,
            how: None,
            user_code: None,
        });
    };
    node("Scan", Role::Scan, scan);
    if filter.is_some() {
        node("Filter", Role::Selection, filter);
    }
    node("GroupBy", Role::Aggregation, None);
    Plan { fingerprint: Fingerprint::from_bytes([1; 6]), nodes: nodes.into() }
}

fn told(old: &Plan, new: &Plan) -> Vec<String> {
    Matching::new(old, new).differences(old, new).into_iter().map(|difference| difference.text).collect()
}

#[test]
fn one_of_several_that_is_gone_is_not_told_as_all() {
    let filter = "day > 5";
    let (one, two) = (plan(None, Some(filter)), {
        let mut two = plan(None, Some(filter));
        let mut nodes = two.nodes.to_vec();
        let again =
            PlanNode { id: 9, own_shape: 77, predicate: Some("price < 9".into()), ..nodes[1].clone() };
        nodes.insert(2, PlanNode { inputs: [1].into(), shape: nodes[1].shape + 77, ..again });
        nodes[3].inputs = [2].into();
        nodes[3].shape += 77;
        two.nodes = nodes.into();
        two
    });
    assert_eq!(told(&two, &one), ["one Filter on price of 2 is gone"]);
    assert_eq!(told(&one, &two), ["one more Filter on price was added"]);
}

#[test]
fn a_predicate_that_left_a_scan_is_elsewhere_where_another_node_asks_for_its_columns() {
    let asked = r#"[(col("day")) > (dyn int: 5)]"#;
    let behind = |filter: &str| told(&plan(Some(asked), None), &plan(None, Some(filter)));
    let beside = |filter: &str| told(&plan(Some(asked), Some("price@2 < 9")), &plan(None, Some(filter)));
    let no_longer = "the predicate on day no longer reaches Scan of orders".to_owned();
    let lost = "Scan of orders lost its predicate on day".to_owned();
    assert!(behind("day@1 > Int64(5)").contains(&no_longer));
    assert!(behind("price@2 < 9").contains(&lost));
    assert!(beside("price@2 < 9 AND day@1 > 5").contains(&no_longer));
    assert!(beside("price@2 < 9").contains(&lost));
    assert!(beside("price@2 < 7 AND price@2 > 1").contains(&lost));
}
