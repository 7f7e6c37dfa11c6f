use queryscope_client::protocol::Role;

use super::*;
use crate::properties::{Details, Properties};

fn physical(kind: &str, inputs: &[usize], fields: &[&str]) -> DescribedNode {
    DescribedNode {
        kind: kind.to_owned(),
        role: Role::Unknown,
        inputs: inputs.to_vec(),
        partitions: 1,
        fields: fields.iter().map(|field| (*field).to_owned()).collect(),
        details: Details::default(),
    }
}

fn going_on(mut node: DescribedNode) -> DescribedNode {
    node.details.goes_on = true;
    node
}

fn logical(kind: &'static str, inputs: &[usize], fields: &[&str]) -> LogicalNode {
    LogicalNode {
        kind,
        role: Role::Unknown,
        inputs: inputs.to_vec(),
        subqueries: 0,
        fields: fields.iter().map(|field| (*field).to_owned()).collect(),
        properties: Properties::default(),
    }
}

#[test]
fn both_steps_of_an_aggregation_carry_out_one() {
    let steps = [
        going_on(physical("AggregateExec", &[1], &[])),
        physical("RepartitionExec", &[2], &[]),
        physical("AggregateExec", &[3], &[]),
        physical("DataSourceExec", &[], &[]),
    ];
    let asked = [logical("Aggregate", &[1], &[]), logical("TableScan", &[], &[])];
    assert_eq!(link(&steps, &asked), [Some(0), None, Some(0), Some(1)]);
}

#[test]
fn an_aggregation_of_an_aggregation_is_two() {
    let steps = [
        going_on(physical("AggregateExec", &[1], &[])),
        physical("AggregateExec", &[2], &[]),
        going_on(physical("AggregateExec", &[3], &[])),
        physical("AggregateExec", &[], &[]),
    ];
    let asked = [logical("Aggregate", &[1], &[]), logical("Aggregate", &[], &[])];
    assert_eq!(link(&steps, &asked), [Some(0), Some(0), Some(1), Some(1)]);
}

#[test]
fn inputs_of_a_join_are_told_apart_by_their_columns() {
    let asked = [
        logical("Join", &[1, 2], &["a", "b"]),
        logical("TableScan", &[], &["a"]),
        logical("TableScan", &[], &["b"]),
    ];
    let join = |left: &str, right: &str| {
        [
            physical("HashJoinExec", &[1, 2], &["a", "b"]),
            physical("DataSourceExec", &[], &[left]),
            physical("DataSourceExec", &[], &[right]),
        ]
    };
    assert_eq!(link(&join("a", "b"), &asked), [Some(0), Some(1), Some(2)]);
    assert_eq!(link(&join("b", "a"), &asked), [Some(0), Some(2), Some(1)], "the optimiser swapped them");
    assert_eq!(link(&join("a", "a"), &asked), [Some(0), None, None], "who knows?");
}

#[test]
fn what_planning_left_out_is_stepped_over() {
    let steps = [
        going_on(physical("SortPreservingMergeExec", &[1], &[])),
        physical("ProjectionExec", &[2], &[]),
        physical("SortExec(TopK)", &[3], &[]),
        physical("CooperativeExec", &[4], &[]),
        physical("DataSourceExec", &[], &[]),
    ];
    let asked = [
        logical("Sort", &[1], &[]),
        logical("Projection", &[2], &[]),
        logical("SubqueryAlias", &[3], &[]),
        logical("Filter", &[4], &[]),
        logical("TableScan", &[], &[]),
    ];
    assert_eq!(link(&steps, &asked), [Some(0), Some(1), Some(0), None, Some(4)]);
}

#[test]
fn a_plugin_between_is_stepped_over_and_nothing_is_no_panic() {
    let steps = [physical("MyExec", &[1], &[]), physical("FilterExec", &[], &[])];
    assert_eq!(link(&steps, &[logical("Filter", &[], &[])]), [None, Some(0)]);
    assert_eq!(link(&[], &[]), []);
}
