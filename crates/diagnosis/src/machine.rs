//! Whether runs got slower as a whole, as a machine makes them that is busy with something else.
//!
//! A change of the query, its plan, its data or its engine moves some nodes more than others. What all nodes
//! share alike, without a counter that says why, is mostly a burst that ends by itself: such a slowdown needs
//! more runs. FBDetect tells a cost that moved between functions from one of all of them in the same way.

use crate::features::RunFeatures;
use crate::stats::median;

/// Runs before a change whose nodes are compared.
const NEAR: usize = 20;
/// A node counts from this part of all busy time on.
const LEAST_PART: f64 = 0.05;
/// How far the part of a node may move, in logarithms.
const ALIKE: f64 = 0.2;

/// Whether the nodes' parts of the busy time are the same after a cut as before; `false` where no nodes are
/// known, or where the plan is another.
pub(crate) fn slows_all(runs: &[&RunFeatures], cut: usize) -> bool {
    let plan = runs[runs.len() - 1].plan.fingerprint;
    let same = |part: &[&RunFeatures]| -> Vec<Vec<f64>> {
        let of_plan = part.iter().rev().filter(|run| run.plan.fingerprint == plan && run.busy_ns() > 0);
        of_plan
            .take(NEAR)
            .map(|run| {
                let all = run.busy_ns() as f64;
                run.nodes.iter().map(|node| node.busy_ns.get().unwrap_or(0) as f64 / all).collect()
            })
            .collect()
    };
    let (before, after) = (same(&runs[..cut]), same(&runs[cut..]));
    let nodes = after.first().map_or(0, Vec::len);
    if before.is_empty() || nodes < 2 || before.iter().chain(&after).any(|run| run.len() != nodes) {
        return false;
    }
    let middle =
        |side: &[Vec<f64>], node: usize| median(&mut side.iter().map(|run| run[node]).collect::<Vec<_>>());
    (0..nodes).all(|node| {
        let (then, now) = (middle(&before, node), middle(&after, node));
        then.max(now) < LEAST_PART || (now / then).ln().abs() <= ALIKE
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use queryscope_history::Quantity;
    use queryscope_insights::Fingerprint;
    use queryscope_protocol::QueryId;
    use uuid::Uuid;

    use super::slows_all;
    use crate::features::{NodeFeatures, RunFeatures};
    use crate::plan::Plan;

    fn run(plan: u8, busy: &[u64]) -> RunFeatures {
        let mut run = RunFeatures::new(QueryId::new(Uuid::from_u128(1)), 0, 1_000_000);
        run.plan = Arc::new(Plan { fingerprint: Fingerprint::from_bytes([plan; 6]), nodes: Box::default() });
        let node = |&busy: &u64| NodeFeatures { busy_ns: Quantity::new(busy), ..NodeFeatures::default() };
        run.nodes = busy.iter().map(node).collect();
        run
    }

    fn slows(before: &RunFeatures, after: &RunFeatures) -> bool {
        let runs: Vec<&RunFeatures> = [before; 9].into_iter().chain([after; 4]).collect();
        slows_all(&runs, 9)
    }

    #[test]
    fn nodes_that_keep_their_parts_are_slowed_by_the_machine() {
        let usual = run(1, &[600_000, 300_000, 1_000]);
        assert!(slows(&usual, &run(1, &[1_260_000, 580_000, 9_000])), "the least node does not count");
        assert!(!slows(&usual, &run(1, &[600_000, 900_000, 1_000])));
        assert!(!slows(&usual, &run(2, &[1_200_000, 600_000, 2_000])), "the plan is another");
        assert!(!slows(&run(1, &[]), &run(1, &[])), "no nodes are known");
        assert!(!slows(&run(1, &[500_000]), &run(1, &[900_000])), "one node has all in any case");
    }
}
