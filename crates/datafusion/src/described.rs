//! What a plan looks like: taken when it is planned, rendered in the background.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use queryscope_client::protocol::Role;

use crate::physical::{self, Details};

/// A plan without the engine's nodes: nothing here keeps what they hold.
#[derive(Debug)]
pub(crate) struct DescribedPlan {
    /// In the order of their ids: the root first.
    pub(crate) nodes: Vec<DescribedNode>,
    pub(crate) logical: LogicalPlan,
    /// How many threads the query may use.
    pub(crate) threads: usize,
}

/// A physical node.
#[derive(Debug)]
pub(crate) struct DescribedNode {
    pub(crate) kind: String,
    pub(crate) role: Role,
    pub(crate) inputs: Vec<usize>,
    pub(crate) partitions: usize,
    pub(crate) fields: Vec<String>,
    pub(crate) details: Details,
}

/// The ids of a plan's nodes. A node that several others read has one.
#[derive(Debug, Default)]
pub(crate) struct NodeIds {
    ids: HashMap<*const (), usize>,
}

impl NodeIds {
    pub(crate) fn of(&self, node: &Arc<dyn ExecutionPlan>) -> Option<usize> {
        self.ids.get(&Self::key(node)).copied()
    }

    fn key(node: &Arc<dyn ExecutionPlan>) -> *const () {
        Arc::as_ptr(node).cast()
    }
}

/// Describes a plan, and numbers its nodes: each before its inputs.
pub(crate) fn describe(
    plan: &Arc<dyn ExecutionPlan>,
    logical: LogicalPlan,
    threads: usize,
) -> (DescribedPlan, NodeIds) {
    let mut ids = NodeIds::default();
    let mut nodes = Vec::new();
    add(plan, &mut nodes, &mut ids);
    (DescribedPlan { nodes, logical, threads }, ids)
}

fn add(plan: &Arc<dyn ExecutionPlan>, nodes: &mut Vec<DescribedNode>, ids: &mut NodeIds) -> usize {
    if let Some(id) = ids.of(plan) {
        return id;
    }
    let id = nodes.len();
    ids.ids.insert(NodeIds::key(plan), id);
    let (role, details) = physical::describe(plan);
    nodes.push(DescribedNode {
        kind: plan.name().to_owned(),
        role,
        inputs: Vec::new(),
        partitions: plan.output_partitioning().partition_count(),
        fields: plan.schema().fields().iter().map(|field| field.name().clone()).collect(),
        details,
    });
    nodes[id].inputs = plan.children().into_iter().map(|child| add(child, nodes, ids)).collect();
    id
}
