//! Which logical node a physical node carries out.
//!
//! DataFusion does not say. Both plans are walked from the top: a physical node is linked to the next logical
//! node below that it can carry out, and what only one of the plans has is stepped over. Where the inputs of a
//! join cannot be told apart, nothing below it is linked.

use crate::described::DescribedNode;
use crate::logical::LogicalNode;

/// For each physical node the logical one, where it is known.
pub(crate) fn link(physical: &[DescribedNode], logical: &[LogicalNode]) -> Vec<Option<usize>> {
    let subqueries = logical.iter().flat_map(|node| &node.inputs[node.inputs.len() - node.subqueries..]);
    let subqueries = subqueries.copied().collect();
    let mut links = Links { physical, logical, subqueries, found: vec![None; physical.len()], merged: None };
    if !physical.is_empty() && !logical.is_empty() {
        links.walk(0, 0);
    }
    links.found
}

struct Links<'p> {
    physical: &'p [DescribedNode],
    logical: &'p [LogicalNode],
    /// Subqueries that expressions ask for a value, in the order of the plan.
    subqueries: Vec<usize>,
    found: Vec<Option<usize>>,
    /// The logical sort of a merge whose sorts are below other nodes.
    merged: Option<usize>,
}

impl<'p> Links<'p> {
    /// Inputs whose rows a logical node takes.
    fn below(&self, logical: usize) -> &'p [usize] {
        let node = &self.logical[logical];
        &node.inputs[..node.inputs.len() - node.subqueries]
    }

    fn walk(&mut self, physical: usize, logical: usize) {
        let node = &self.physical[physical];
        if node.kind == "ScalarSubqueryExec" {
            return self.walk_subqueries(node, logical);
        }
        if let Some(logical) = self.next_carried_out(physical, logical) {
            self.found[physical] = Some(logical);
            self.merged = (node.kind == "SortPreservingMergeExec").then_some(logical).or(self.merged);
            self.walk_inputs(physical, logical);
            return;
        }
        if carries_out(&node.kind, "Sort") {
            self.found[physical] = self.merged.take();
        }
        if let [input] = node.inputs[..] {
            self.walk(input, logical);
        }
    }

    fn walk_subqueries(&mut self, node: &DescribedNode, logical: usize) {
        let Some((main, subqueries)) = node.inputs.split_first() else { return };
        self.walk(*main, logical);
        let all = self.physical.iter().filter(|node| node.kind == "ScalarSubqueryExec").count();
        if all == 1 && subqueries.len() == self.subqueries.len() {
            for (physical, logical) in subqueries.iter().zip(self.subqueries.clone()) {
                self.walk(*physical, logical);
            }
        }
    }

    /// The logical node itself or the next below it that the physical one carries out, stepping over those that
    /// planning may leave out.
    fn next_carried_out(&self, physical: usize, logical: usize) -> Option<usize> {
        let mut logical = logical;
        loop {
            let kind = self.logical[logical].kind;
            if carries_out(&self.physical[physical].kind, kind) {
                return Some(logical);
            }
            match self.below(logical) {
                [input] if may_vanish(kind) => logical = *input,
                _ => return None,
            }
        }
    }

    fn walk_inputs(&mut self, physical: usize, logical: usize) {
        let node = &self.physical[physical];
        match (&node.inputs[..], self.below(logical)) {
            ([input], _) if self.goes_on(physical, *input, logical) => self.walk(*input, logical),
            ([input], [below]) => self.walk(*input, *below),
            ([left, right], [a, b]) => {
                for (input, below) in self.pairs([*left, *right], [*a, *b]) {
                    self.walk(input, below);
                }
            }
            (inputs, below) if inputs.len() == below.len() => {
                for (input, below) in inputs.iter().zip(below) {
                    self.walk(*input, *below);
                }
            }
            _ => {}
        }
    }

    /// Whether the node below works on the same logical node: in two steps, or in each partition and then over
    /// all.
    fn goes_on(&self, physical: usize, mut input: usize, logical: usize) -> bool {
        if !self.physical[physical].details.goes_on {
            return false;
        }
        loop {
            let node = &self.physical[input];
            if carries_out(&node.kind, self.logical[logical].kind) {
                return true;
            }
            match node.inputs[..] {
                [below] if is_exchange(&node.kind) => input = below,
                _ => return false,
            }
        }
    }

    /// Which input of a join is which: the optimiser may have swapped them.
    fn pairs(&self, physical: [usize; 2], logical: [usize; 2]) -> Vec<(usize, usize)> {
        let [left, right] = physical;
        let [a, b] = logical;
        let straight = self.shared(left, a) + self.shared(right, b);
        let swapped = self.shared(left, b) + self.shared(right, a);
        match straight.cmp(&swapped) {
            std::cmp::Ordering::Greater => vec![(left, a), (right, b)],
            std::cmp::Ordering::Less => vec![(left, b), (right, a)],
            std::cmp::Ordering::Equal => Vec::new(),
        }
    }

    /// How many columns both have; as a share, so that a wide input does not win by its width.
    fn shared(&self, physical: usize, logical: usize) -> usize {
        let (physical, logical) = (&self.physical[physical].fields, &self.logical[logical].fields);
        let both = physical.iter().filter(|field| logical.contains(field)).count();
        1000 * both / physical.len().max(logical.len()).max(1)
    }
}

fn carries_out(physical: &str, logical: &str) -> bool {
    let name = physical.split('(').next().unwrap_or(physical);
    let kinds: &[&str] = match name {
        "AggregateExec" => &["Aggregate", "Distinct"],
        "AnalyzeExec" => &["Analyze"],
        "BoundedWindowAggExec" | "PartitionedTopKExec" | "WindowAggExec" => &["Window"],
        "CrossJoinExec"
        | "HashJoinExec"
        | "NestedLoopJoinExec"
        | "PiecewiseMergeJoinExec"
        | "SortMergeJoinExec"
        | "SymmetricHashJoinExec" => &["Join"],
        "DataSinkExec" | "DmlResultExec" => &["Dml", "Copy"],
        "DataSourceExec" => &["TableScan", "Values"],
        "EmptyExec" | "PlaceholderRowExec" => &["EmptyRelation"],
        "FilterExec" => &["Filter"],
        "GlobalLimitExec" | "LocalLimitExec" => &["Limit"],
        "InterleaveExec" | "UnionExec" => &["Union"],
        "LazyMemoryExec" | "StreamingTableExec" | "WorkTableExec" => &["TableScan"],
        "PartialSortExec" | "SortExec" | "SortPreservingMergeExec" => &["Sort"],
        "ProjectionExec" => &["Projection"],
        "RecursiveQueryExec" => &["RecursiveQuery"],
        "UnnestExec" => &["Unnest"],
        _ => &[],
    };
    kinds.contains(&logical)
}

/// Nodes that planning may leave out, or carry out within another.
fn may_vanish(logical: &str) -> bool {
    matches!(
        logical,
        "Filter" | "Limit" | "Projection" | "Repartition" | "Sort" | "Subquery" | "SubqueryAlias"
    )
}

/// Nodes that move rows between partitions.
fn is_exchange(physical: &str) -> bool {
    matches!(
        physical,
        "CoalesceBatchesExec" | "CoalescePartitionsExec" | "CooperativeExec" | "RepartitionExec"
    )
}

#[cfg(test)]
mod tests;
