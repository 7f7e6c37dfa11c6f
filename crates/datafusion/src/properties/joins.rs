//! Joins.

use std::sync::Arc;

use datafusion::common::JoinType;
use datafusion::physical_plan::joins::utils::JoinFilter;
use datafusion::physical_plan::joins::{
    HashJoinExec, NestedLoopJoinExec, PiecewiseMergeJoinExec, SortMergeJoinExec, SymmetricHashJoinExec,
};
use datafusion::physical_plan::{ExecutionPlan, PhysicalExpr};
use queryscope_client::protocol::Role;

use super::Details;
use crate::expressions::{Shown, how};

type Keys = [(Arc<dyn PhysicalExpr>, Arc<dyn PhysicalExpr>)];

pub(super) fn describe(node: &dyn ExecutionPlan) -> Option<Details> {
    if let Some(join) = node.downcast_ref::<HashJoinExec>() {
        let mode = format!("{:?}", join.partition_mode());
        Some(equal(*join.join_type(), join.on(), join.filter(), Some(mode), join.fetch()))
    } else if let Some(join) = node.downcast_ref::<SortMergeJoinExec>() {
        Some(equal(join.join_type(), join.on(), join.filter().as_ref(), None, None))
    } else if let Some(join) = node.downcast_ref::<SymmetricHashJoinExec>() {
        let mode = format!("{:?}", join.partition_mode());
        Some(equal(*join.join_type(), join.on(), join.filter(), Some(mode), None))
    } else if let Some(join) = node.downcast_ref::<NestedLoopJoinExec>() {
        Some(by_condition(*join.join_type(), join.filter()))
    } else {
        let join = node.downcast_ref::<PiecewiseMergeJoinExec>()?;
        Some(by_condition(join.join_type(), None).role(role(join.join_type(), Role::ThetaJoin)))
    }
}

fn role(join: JoinType, otherwise: Role) -> Role {
    match join {
        JoinType::LeftSemi | JoinType::RightSemi | JoinType::LeftAnti | JoinType::RightAnti => {
            Role::SemiAntiJoin
        }
        JoinType::LeftMark | JoinType::RightMark => Role::SemiAntiJoin,
        JoinType::Inner | JoinType::Left | JoinType::Right | JoinType::Full => otherwise,
    }
}

fn equal(
    join: JoinType,
    on: &Keys,
    filter: Option<&JoinFilter>,
    mode: Option<String>,
    fetch: Option<usize>,
) -> Details {
    let (left, right): (Vec<_>, Vec<_>) =
        on.iter().map(|(left, right)| (Shown::of(left), Shown::of(right))).unzip();
    let predicate = filter.map(|filter| Shown::of(filter.expression()));
    Details::new(move |properties| {
        properties
            .add("how", how(join))
            .list("left_keys", left.iter().map(Shown::text))
            .list("right_keys", right.iter().map(Shown::text))
            .add("predicate", predicate.as_ref().map(Shown::text))
            .add("mode", mode.clone())
            .add("limit", fetch);
    })
    .role(role(join, Role::Join))
}

fn by_condition(join: JoinType, filter: Option<&JoinFilter>) -> Details {
    let predicate = filter.map(|filter| Shown::of(filter.expression()));
    let otherwise = match predicate {
        None if join == JoinType::Inner => Role::CrossJoin,
        _ => Role::ThetaJoin,
    };
    Details::new(move |properties| {
        properties.add("how", how(join)).add("predicate", predicate.as_ref().map(Shown::text));
    })
    .role(role(join, otherwise))
}
