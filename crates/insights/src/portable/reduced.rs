//! A plan without what engines add for the number of cores.

use std::collections::HashMap;

use queryscope_protocol::Node;

use crate::properties::Properties;
use crate::vocabulary::properties::MODE;

/// Nodes of DataFusion that move rows between partitions or cut batches. Limits are among them: which of these nodes
/// has one depends on the number of partitions, and the logical plan tells it as well.
const EXCHANGES: &[&str] = &[
    "BufferExec",
    "CoalesceBatchesExec",
    "CoalescePartitionsExec",
    "CooperativeExec",
    "GlobalLimitExec",
    "LocalLimitExec",
    "OutputRequirementExec",
    "RepartitionExec",
    "Repartition",
    "SortPreservingMergeExec",
];

/// The nodes of a plan that do something with rows. The first step of an aggregation in two is left out: how many rows
/// it gives on depends on the number of partitions.
pub(super) fn reduced<'p>(nodes: &[Node<'p>]) -> Vec<Node<'p>> {
    let gone: HashMap<u64, u64> =
        nodes.iter().filter(|node| is_left_out(node)).map(|node| (node.id, node.inputs[0])).collect();
    let kept = nodes.iter().filter(|node| !gone.contains_key(&node.id));
    kept.map(|node| {
        let mut node = node.clone();
        for input in &mut node.inputs {
            // At most as many steps as there are nodes: the plan comes from outside and may hold a circle.
            for _ in 0..gone.len() {
                let Some(&below) = gone.get(input) else { break };
                *input = below;
            }
        }
        if &*node.kind == "InterleaveExec" {
            node.kind = "UnionExec".into();
        }
        node
    })
    .collect()
}

fn is_left_out(node: &Node<'_>) -> bool {
    let kind = node.kind.split('(').next().unwrap_or_default();
    let is_partial = || {
        let properties = Properties::of(node);
        kind == "AggregateExec" && properties.text(&MODE).is_some_and(|mode| mode.starts_with("partial"))
    };
    node.inputs.len() == 1 && (EXCHANGES.contains(&kind) || is_partial())
}
