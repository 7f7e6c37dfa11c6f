//! Roles of physical nodes.

use std::sync::Arc;

use datafusion::physical_plan::ExecutionPlan;
use queryscope_client::protocol::Role;

pub(crate) use crate::properties::Details;

/// The role of every node DataFusion has, by its kind. Some depend on more: see [`Details`].
const ROLES: &[(&str, Role)] = &[
    ("AggregateExec", Role::Aggregation),
    ("AnalyzeExec", Role::Engine),
    ("AsyncFuncExec", Role::Function),
    ("BoundedWindowAggExec", Role::Function),
    ("BufferExec", Role::Engine),
    ("CoalesceBatchesExec", Role::Engine),
    ("CoalescePartitionsExec", Role::Engine),
    ("CooperativeExec", Role::Engine),
    ("CrossJoinExec", Role::CrossJoin),
    ("DataSinkExec", Role::Sink),
    ("DataSourceExec", Role::Scan),
    ("DmlResultExec", Role::Sink),
    ("EmptyExec", Role::Dataframe),
    ("ExplainExec", Role::Engine),
    ("FilterExec", Role::Selection),
    ("GlobalLimitExec", Role::Engine),
    ("HashJoinExec", Role::Join),
    ("InterleaveExec", Role::Union),
    ("LazyMemoryExec", Role::Dataframe),
    ("LocalLimitExec", Role::Engine),
    ("NestedLoopJoinExec", Role::ThetaJoin),
    ("OutputRequirementExec", Role::Engine),
    ("PartialSortExec", Role::Sort),
    ("PartitionedTopKExec", Role::TopK),
    ("PiecewiseMergeJoinExec", Role::ThetaJoin),
    ("PlaceholderRowExec", Role::Dataframe),
    ("ProjectionExec", Role::Projection),
    ("RecursiveQueryExec", Role::Union),
    ("RepartitionExec", Role::Engine),
    ("ScalarSubqueryExec", Role::Engine),
    ("SortExec", Role::Sort),
    ("SortMergeJoinExec", Role::Join),
    ("SortPreservingMergeExec", Role::Engine),
    ("StreamingTableExec", Role::Scan),
    ("SymmetricHashJoinExec", Role::Join),
    ("UnionExec", Role::Union),
    ("UnnestExec", Role::Function),
    ("WindowAggExec", Role::Function),
    ("WorkTableExec", Role::Engine),
];

/// The role of a kind; nodes of plugins are unknown. A kind may name a variant in brackets.
fn role(kind: &str) -> Role {
    let name = kind.split('(').next().unwrap_or(kind);
    ROLES.iter().find(|(each, _)| *each == name).map_or(Role::Unknown, |(_, role)| *role)
}

/// What a node does, and what to say about it.
pub(crate) fn describe(node: &Arc<dyn ExecutionPlan>) -> (Role, Details) {
    let details = Details::of(node);
    (details.role.unwrap_or_else(|| role(node.name())), details)
}

#[cfg(test)]
mod tests;
