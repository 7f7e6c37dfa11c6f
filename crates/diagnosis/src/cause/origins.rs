//! Where additional rows come from: from storage, or from another plan.

use queryscope_protocol::Role;

use super::account::{Accounts, MOVED};
use super::median_plan::NodeMedians;
use crate::plan::{Plan, PlanNode};

/// Rows that changed by less than this part are as before.
const READS_AS_BEFORE: f64 = 0.05;

impl Accounts<'_> {
    /// For each node, the scan its additional rows come from, and whether a change of the plan below makes
    /// them.
    pub(super) fn row_origins(&self) -> (Vec<usize>, Vec<bool>) {
        let (then, now, matching) = (self.then, self.now, self.matching);
        let count = now.nodes.len();
        let (mut origins, mut fed) = ((0..count).collect::<Vec<_>>(), vec![false; count]);
        let mut gives: Vec<bool> = vec![false; count];
        for here in 0..count {
            let planned = &now.plan.nodes[here];
            // What it takes comes from its inputs: the one whose rows changed the most says why.
            let replaced = self.replaced_input(here);
            let change = |input: usize, old: Option<usize>| {
                let old = old.and_then(|there| then.nodes[there].rows_out);
                now.nodes[input].rows_out.zip(old).map_or(0.0, |(now, then)| (now - then).abs())
            };
            let of_its_own = |input: usize| change(input, matching.of_new[input]);
            let here_alone =
                |input: usize| if self.is_rewired(here, input) { change(input, replaced) } else { 0.0 };
            let moved = |input: usize| of_its_own(input).max(here_alone(input));
            let most = planned.inputs.iter().copied().max_by(|&a, &b| moved(a).total_cmp(&moved(b)));
            if let Some(input) = most {
                origins[here] = origins[input];
                fed[here] = gives[input] || of_its_own(input) < 0.5 * here_alone(input);
            }
            let Some(there) = matching.of_new[here] else {
                gives[here] = true;
                continue;
            };
            let (old, before, node) = (&then.plan.nodes[there], &then.nodes[there], &now.nodes[here]);
            let makes_rows = changes_rows(old, planned);
            if planned.inputs.is_empty() {
                // A scan that lost its predicate gives more rows of as many; one over more data reads more.
                let read_more =
                    before.rows_scanned.zip(node.rows_scanned).map(|(then, now)| now / then.max(1.0));
                let gave_more = before.read().zip(node.read()).map_or(1.0, |(then, now)| now / then.max(1.0));
                let scanned_more = read_more.unwrap_or(if makes_rows { 1.0 } else { gave_more });
                fed[here] = makes_rows && scanned_more < 1.0 + (gave_more - 1.0) * 0.5;
                gives[here] = makes_rows && read_more.is_none_or(|more| more < MOVED);
                continue;
            }
            let grown = |of: fn(&NodeMedians) -> Option<f64>| {
                of(node).zip(of(before)).filter(|(_, then)| *then > 0.0).map_or(1.0, |(now, then)| now / then)
            };
            let lets_through = grown(|node| node.rows_out) / grown(|node| node.rows_in).max(1e-9);
            gives[here] = fed[here] || makes_rows && !(0.85..=1.18).contains(&lets_through);
        }
        (origins, fed)
    }

    /// Whether a node of both plans does something else.
    pub(super) fn is_changed(&self, there: usize, here: usize) -> bool {
        let (old, new) = (&self.then.plan.nodes[there], &self.now.plan.nodes[here]);
        let moved = self.matching.inputs_swapped(&self.then.plan, there, &self.now.plan, here);
        moved || self.joins_others(here) || old.own_shape != new.own_shape && !is_other_source(old, new)
    }

    /// Whether a join of both plans joins other rows than before: those of another input.
    fn joins_others(&self, here: usize) -> bool {
        let node = &self.now.plan.nodes[here];
        let is_join =
            matches!(node.role, Role::Join | Role::ThetaJoin | Role::CrossJoin | Role::SemiAntiJoin);
        is_join && node.inputs.iter().any(|&input| self.is_rewired(here, input))
    }

    /// Whether the plans differ in more than the files they read.
    pub(super) fn is_replanned(&self) -> bool {
        let partner =
            |(here, there): (usize, &Option<usize>)| there.is_none_or(|there| self.is_changed(there, here));
        self.then.plan.fingerprint != self.now.plan.fingerprint
            && (self.matching.of_new.iter().enumerate().any(partner)
                || self.matching.of_old.iter().any(Option::is_none)
                || self.first_rewired().is_some())
    }

    /// Whether both plans filter rows in the same nodes. A filter that moved into a scan or out of it changes what the scan
    /// gives.
    pub(super) fn filters_alike(&self) -> bool {
        let count = |plan: &Plan| plan.nodes.iter().filter(|node| node.role == Role::Selection).count();
        let kept = |(here, node): (usize, &PlanNode)| {
            node.role != Role::Selection
                || self.matching.of_new[here].is_some_and(|there| !self.is_changed(there, here))
        };
        count(&self.then.plan) == count(&self.now.plan) && self.now.plan.nodes.iter().enumerate().all(kept)
    }

    /// Whether a node of both plans takes rows from an input that did not feed it before, such as a scan whose filter
    /// now runs later.
    fn is_rewired(&self, here: usize, input: usize) -> bool {
        let (plan, of_new) = (&self.then.plan, &self.matching.of_new);
        of_new[here].is_some_and(|there| {
            of_new[input].is_none_or(|counterpart| !plan.nodes[there].inputs.contains(&counterpart))
        })
    }

    /// The input that a node of both plans had before and has no more.
    pub(super) fn replaced_input(&self, here: usize) -> Option<usize> {
        let there = self.matching.of_new[here]?;
        let kept = |old: usize| {
            self.now.plan.nodes[here].inputs.iter().any(|&input| self.matching.of_new[input] == Some(old))
        };
        self.then.plan.nodes[there].inputs.iter().copied().find(|&old| !kept(old))
    }

    /// The first node that takes rows from another input than before: the node, the input, and that of before.
    pub(super) fn first_rewired(&self) -> Option<(usize, usize, usize)> {
        (0..self.now.nodes.len()).find_map(|here| {
            let inputs = &self.now.plan.nodes[here].inputs;
            let input = inputs.iter().copied().find(|&input| self.is_rewired(here, input))?;
            Some((here, input, self.replaced_input(here)?))
        })
    }

    /// Whether a scan reads about as many rows as before, or has moved the other way than the work it is to explain.
    pub(super) fn reads_as_before(&self, scan: usize, busy: f64) -> bool {
        let before = self.matching.of_new[scan].and_then(|there| self.then.nodes[there].read());
        before.zip(self.now.nodes[scan].read()).is_some_and(|(then, now)| {
            let grown = now / then.max(1.0) - 1.0;
            grown.abs() < READS_AS_BEFORE || grown * busy < 0.0
        })
    }
}

/// Whether a node's own difference can change how many rows there are.
fn changes_rows(old: &PlanNode, new: &PlanNode) -> bool {
    let only_columns = old.kind == new.kind
        && old.predicate == new.predicate
        && old.how == new.how
        && old.table == new.table
        && (old.columns != new.columns || matches!(new.role, Role::Projection | Role::Map | Role::Sort));
    old.own_shape != new.own_shape && !only_columns && !is_other_source(old, new)
}

/// Whether a scan only reads another file: under the same condition that has other rows, and they are of the data,
/// not of the plan.
fn is_other_source(old: &PlanNode, new: &PlanNode) -> bool {
    new.role == Role::Scan
        && old.kind == new.kind
        && old.predicate == new.predicate
        && old.how == new.how
        && old.columns == new.columns
        && old.table != new.table
}
