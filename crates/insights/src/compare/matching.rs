//! Which node of one plan is which of another.
//!
//! After GumTree (Falleri, Morandat, Blanc, Martinez, Monperrus: Fine-grained and accurate source code
//! differencing, ASE 2014), for plans: first the largest sub-plans of one shape are matched whole, then, from the
//! leaves up, each node left with the node of its role that shares most of what lies below, and last, from the
//! results down, nodes of one role at the same place under a matched node. A node whose role differs is another
//! node, and for the roles that say little (engine, function, unknown) one whose kind differs; a scan of another
//! table is matched only by its place.

use queryscope_protocol::Role;

use crate::fingerprint::{Hash, Shape};
use crate::graph::{Graph, Step};
use crate::table::table_name;
use crate::vocabulary::properties::TABLE;

/// Larger plans are matched by whole sub-plans and by place alone: comparing all nodes left with all others
/// takes time by the square of their number.
pub(super) const MAX_NODES: usize = 2000;
/// How a node is said to read from the same nodes in another order.
pub(super) const SWAPPED: &str = "its inputs changed places";

/// A matching: each node has at most one partner.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Pairs {
    of_base: Vec<Option<usize>>,
    of_run: Vec<Option<usize>>,
}

impl Pairs {
    pub(super) fn run_of(&self, base: usize) -> Option<usize> {
        self.of_base[base]
    }

    pub(super) fn base_of(&self, run: usize) -> Option<usize> {
        self.of_run[run]
    }

    fn add(&mut self, base: usize, run: usize) {
        self.of_base[base] = Some(run);
        self.of_run[run] = Some(base);
    }

    fn free(&self, base: usize, run: usize) -> bool {
        self.of_base[base].is_none() && self.of_run[run].is_none()
    }

    /// How a matched node reads from other places than its partner, in words; nodes between them that pass rows on are
    /// left out.
    ///
    /// Only what both plans have counts: a node that came between says itself that it was added.
    pub(super) fn inputs_moved(&self, base: &Graph<'_>, run: &Graph<'_>, here: usize) -> Option<String> {
        let there = self.base_of(here)?;
        let then: Vec<usize> = sources(base, there).filter_map(|input| self.run_of(input)).collect();
        let now: Vec<usize> = sources(run, here).filter(|&input| self.base_of(input).is_some()).collect();
        let come: Vec<String> =
            now.iter().filter(|input| !then.contains(input)).map(|&input| name(&run.steps[input])).collect();
        let gone: Vec<String> =
            then.iter().filter(|input| !now.contains(input)).map(|&input| name(&run.steps[input])).collect();
        if come == gone && !come.is_empty() {
            // Of one kind: their names tell nothing.
            None
        } else if !come.is_empty() && !gone.is_empty() {
            Some(format!("reads from {} instead of {}", come.join(", "), gone.join(", ")))
        } else if come.is_empty() && gone.is_empty() && now != then {
            Some(SWAPPED.into())
        } else {
            None
        }
    }
}

/// What a node reads from, below exchanges; of a node with several inputs, below all that pass rows on, such as
/// projections.
fn sources(graph: &Graph<'_>, place: usize) -> impl Iterator<Item = usize> {
    let inputs = &graph.steps[place].inputs;
    let is_passed = |role: Role| role == Role::Engine || inputs.len() > 1 && role.passes_rows_on();
    inputs.iter().map(move |&input| {
        let mut source = input;
        while let (true, [only]) = (is_passed(graph.steps[source].role()), &*graph.steps[source].inputs) {
            source = *only;
        }
        source
    })
}

/// A node as sentences name it: its kind, and the table it scans.
fn name(step: &Step<'_>) -> String {
    match step.properties.text(&TABLE) {
        Some(table) => format!("{} of {}", step.node.kind, table_name(table)),
        None => step.node.kind.to_string(),
    }
}

pub(super) fn pairs(base: &Graph<'_>, base_shapes: &[Shape], run: &Graph<'_>, run_shapes: &[Shape]) -> Pairs {
    let mut pairs = Pairs { of_base: vec![None; base.steps.len()], of_run: vec![None; run.steps.len()] };
    whole(base, base_shapes, run, run_shapes, &mut pairs);
    if base.steps.len().max(run.steps.len()) <= MAX_NODES {
        by_likeness(base, base_shapes, run, run_shapes, &mut pairs);
    }
    by_place(base, run, &mut pairs);
    pairs
}

/// Sub-plans of one shape, the highest first: a leaf is not taken from a larger one that holds it.
fn whole(base: &Graph<'_>, base_shapes: &[Shape], run: &Graph<'_>, run_shapes: &[Shape], pairs: &mut Pairs) {
    let mut places: std::collections::HashMap<Hash, Vec<usize>> = std::collections::HashMap::new();
    for place in (0..base.steps.len()).rev() {
        places.entry(base_shapes[place].whole).or_default().push(place);
    }
    let heights = run.heights();
    let mut highest_first: Vec<usize> = (0..run.steps.len()).rev().collect();
    highest_first.sort_by_key(|&place| std::cmp::Reverse(heights[place]));
    for here in highest_first {
        if pairs.base_of(here).is_some() {
            continue;
        }
        let alike = places.get(&run_shapes[here].whole).into_iter().flatten();
        let Some(&there) = alike.into_iter().find(|&&there| pairs.run_of(there).is_none()) else { continue };
        let mut open = vec![(there, here)];
        while let Some((there, here)) = open.pop() {
            if pairs.free(there, here) {
                pairs.add(there, here);
                let inputs = base.steps[there].inputs.iter().copied();
                open.extend(inputs.zip(run.steps[here].inputs.iter().copied()));
            }
        }
    }
}

/// From the leaves up, each node left with the most similar one.
fn by_likeness(
    base: &Graph<'_>,
    base_shapes: &[Shape],
    run: &Graph<'_>,
    run_shapes: &[Shape],
    pairs: &mut Pairs,
) {
    let left = |pairs: &Pairs| -> Vec<usize> {
        (0..base.steps.len()).filter(|&place| pairs.run_of(place).is_none()).collect()
    };
    if left(pairs).is_empty() {
        return;
    }
    let below_base: Vec<Vec<usize>> = (0..base.steps.len()).map(|place| base.below(place)).collect();
    for (here, step) in run.steps.iter().enumerate() {
        if pairs.base_of(here).is_some() {
            continue;
        }
        let mut partners = vec![false; base.steps.len()];
        let below = run.below(here);
        below.iter().filter_map(|&place| pairs.base_of(place)).for_each(|place| partners[place] = true);
        let mut best: Option<(f64, usize)> = None;
        for there in left(pairs) {
            let other = &base.steps[there];
            if !alike(other, step) {
                continue;
            }
            let shared = below_base[there].iter().filter(|&&place| partners[place]).count();
            let size = below.len() + below_base[there].len() - 2;
            // Sørensen-Dice: 0 where nothing below is shared, 1 where all is.
            let shared = if size == 0 { 0.0 } else { 2.0 * shared as f64 / size as f64 };
            let same = base_shapes[there].own == run_shapes[here].own;
            let leaf = step.inputs.is_empty() && other.inputs.is_empty();
            if shared == 0.0 && !same && !leaf {
                continue;
            }
            let kind = other.node.kind == step.node.kind;
            let score = shared + if same { 1.0 } else { 0.0 } + if kind { 0.25 } else { 0.0 };
            if best.is_none_or(|(most, _)| score > most) {
                best = Some((score, there));
            }
        }
        if let Some((_, there)) = best {
            pairs.add(there, here);
        }
    }
}

/// From the results down, nodes of one role at the same place.
fn by_place(base: &Graph<'_>, run: &Graph<'_>, pairs: &mut Pairs) {
    let roots = base.roots().zip(run.roots()).collect::<Vec<_>>();
    for (there, here) in roots {
        if pairs.free(there, here) && same_sort(&base.steps[there], &run.steps[here]) {
            pairs.add(there, here);
        }
    }
    for here in (0..run.steps.len()).rev() {
        let Some(there) = pairs.base_of(here) else { continue };
        let inputs = base.steps[there].inputs.iter().copied().zip(run.steps[here].inputs.iter().copied());
        for (below, above) in inputs.collect::<Vec<_>>() {
            if pairs.free(below, above) && same_sort(&base.steps[below], &run.steps[above]) {
                pairs.add(below, above);
            }
        }
    }
}

/// Whether nodes have one role; where that says little, also one kind.
fn same_sort(base: &Step<'_>, run: &Step<'_>) -> bool {
    let says_little = matches!(run.role(), Role::Engine | Role::Function | Role::Unknown);
    base.role() == run.role() && (!says_little || base.node.kind == run.node.kind)
}

/// Whether a node can be the other: they are of one sort, and so is the table of a scan.
fn alike(base: &Step<'_>, run: &Step<'_>) -> bool {
    let table = |step: &Step<'_>| step.properties.text(&TABLE).map(table_name);
    same_sort(base, run) && table(base) == table(run)
}
