//! Where additional rows come from: from storage, or from another plan.

use queryscope_protocol::Role;

use super::account::{Accounts, MOVED, READS_AS_BEFORE};
use super::median_plan::NodeMedians;
use crate::plan::{Plan, PlanNode};

impl Accounts<'_> {
    /// For each node, the node its additional rows come from, which is a scan or gives more rows of as many, and
    /// whether a change of the plan below makes them.
    pub(super) fn row_origins(&self) -> (Vec<usize>, Vec<bool>) {
        let (then, now, matching) = (self.then, self.now, self.matching);
        let count = now.nodes.len();
        let (mut origins, mut fed) = ((0..count).collect::<Vec<_>>(), vec![false; count]);
        // Of what a node gives: where it comes from, and whether the plan makes it.
        let (mut sources, mut gives) = (origins.clone(), fed.clone());
        for here in 0..count {
            let planned = &now.plan.nodes[here];
            // What it takes comes from its inputs: the one whose rows changed the most says why.
            let replaced = self.replaced_input(here);
            let change = |input: usize, old: Option<usize>| {
                let old = old.and_then(|there| then.nodes[there].rows_out);
                now.nodes[input].rows_out.zip(old).map_or(0.0, |(now, then)| (now - then).abs())
            };
            let of_its_own = |input: usize| change(input, matching.of_new[self.below_added(input)]);
            let here_alone = |input: usize| {
                let is_other = self.is_rewired(here, self.below_added(input));
                if is_other { change(input, replaced) } else { 0.0 }
            };
            let moved = |input: usize| of_its_own(input).max(here_alone(input));
            let most = planned.inputs.iter().copied().max_by(|&a, &b| moved(a).total_cmp(&moved(b)));
            if let Some(input) = most {
                origins[here] = sources[input];
                fed[here] = gives[input] || of_its_own(input) < 0.5 * here_alone(input);
            }
            sources[here] = origins[here];
            let Some(there) = matching.of_new[here] else {
                gives[here] = fed[here] || self.below_added(here) == here;
                continue;
            };
            let (old, before, node) = (&then.plan.nodes[there], &then.nodes[there], &now.nodes[here]);
            let makes_rows = changes_rows(old, planned);
            if let Some(scan) = self.read_again(here) {
                (origins[here], sources[here]) = (scan, scan);
                continue;
            }
            if planned.inputs.is_empty() {
                // A scan that lost its predicate gives more rows of as many; one over more data reads more.
                let read_more =
                    before.rows_scanned.zip(node.rows_scanned).map(|(then, now)| now / then.max(1.0));
                let gave_more =
                    before.rows_out.zip(node.rows_out).map_or(1.0, |(then, now)| now / then.max(1.0));
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
            if let Some(taken) = self.multiplies(there, here).filter(|_| !self.replanned) {
                sources[here] = here;
                if (taken - 1.0).abs() < READS_AS_BEFORE {
                    origins[here] = here;
                }
            }
        }
        (origins, fed)
    }

    /// The scan whose rows a leaf gives again that reads no storage, such as one of a common table expression: that
    /// whose rows moved as its own did.
    fn read_again(&self, here: usize) -> Option<usize> {
        let grown = |here: usize| {
            let there = self.matching.of_new[here]?;
            let then = self.then.nodes[there].rows_out.filter(|&then| then > 0.0)?;
            Some(self.now.nodes[here].rows_out? / then)
        };
        let plan = &self.now.plan;
        if !plan.nodes[here].inputs.is_empty() || plan.nodes[here].reads() {
            return None;
        }
        let own = grown(here).filter(|own| (own - 1.0).abs() >= READS_AS_BEFORE)?;
        plan.reading_leaves()
            .filter(|&scan| plan.nodes[scan].reads())
            .find(|&scan| grown(scan).is_some_and(|grown| (grown / own - 1.0).abs() < READS_AS_BEFORE))
    }

    /// Where a node of both plans gives more rows of as many, or fewer: by how much what it takes grew. Of several
    /// inputs the one that grew the most says it: a join may give as many times the rows as that one.
    fn multiplies(&self, there: usize, here: usize) -> Option<f64> {
        let grown = |then: Option<f64>, now: Option<f64>| {
            then.zip(now).filter(|(then, now)| *then > 0.0 && *now > 0.0).map(|(then, now)| now / then)
        };
        let given = grown(self.then.nodes[there].rows_out, self.now.nodes[here].rows_out)?;
        let of_input = |&input: &usize| {
            let there = self.matching.of_new[input]?;
            grown(self.then.nodes[there].rows_out, self.now.nodes[input].rows_out)
        };
        let each = self.now.plan.nodes[here].inputs.iter().filter_map(of_input);
        let all = grown(self.then.taken(there), self.now.taken(here))?;
        let taken = if given > 1.0 { each.fold(all, f64::max) } else { each.fold(all, f64::min) };
        let more = given > 1.0 && given / taken > 1.18;
        let fewer = given < 1.0 && given / taken < 0.85;
        (more || fewer).then_some(taken)
    }

    /// The node whose rows a node passes on, below those that the plan before lacks and that give all they take.
    fn below_added(&self, node: usize) -> usize {
        let mut below = node;
        while let (None, [only]) = (self.matching.of_new[below], &*self.now.plan.nodes[below].inputs) {
            let rows = self.now.nodes[below].rows_out.zip(self.now.nodes[*only].rows_out);
            if !rows.is_some_and(|(given, taken)| (given - taken).abs() < READS_AS_BEFORE * taken) {
                break;
            }
            below = *only;
        }
        below
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

    /// Whether a scan feeds a join whose inputs changed places: it may wait until the other side is built, and engines
    /// count that as a wait for data.
    pub(super) fn waits_for_other_side(&self, scan: usize) -> bool {
        self.now.plan.readers(scan).any(|here| {
            self.matching.of_new[here].is_some_and(|there| {
                self.matching.inputs_swapped(&self.then.plan, there, &self.now.plan, here)
            })
        })
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

    /// Whether nodes came, went or changed that decide what waits for what: others work on each row alone, and another
    /// one of these costs what it works.
    pub(super) fn flows_otherwise(&self) -> bool {
        let decides = |node: &PlanNode| {
            !matches!(
                node.role,
                Role::Scan | Role::Selection | Role::Projection | Role::Map | Role::Rename | Role::Sink
            )
        };
        let (then, now) = (&self.then.plan.nodes, &self.now.plan.nodes);
        let moved = |(here, node): (usize, &PlanNode)| {
            decides(node) && self.matching.of_new[here].is_none_or(|there| self.is_changed(there, here))
        };
        let gone = |(there, node): (usize, &PlanNode)| decides(node) && self.matching.of_old[there].is_none();
        now.iter().enumerate().any(moved) || then.iter().enumerate().any(gone)
    }

    /// For each node, whether it or one that it takes rows from came or changed with another plan.
    pub(super) fn above_changed(&self) -> Vec<bool> {
        let mut above: Vec<bool> = Vec::new();
        for (here, node) in self.now.plan.nodes.iter().enumerate() {
            let is_changed = self.matching.of_new[here].is_none_or(|there| self.is_changed(there, here));
            above.push(is_changed || node.inputs.iter().any(|&input| above[input]));
        }
        above
    }

    /// Whether both plans filter rows in the same nodes. A filter that moved into a scan or out of it changes what the
    /// scan gives.
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
