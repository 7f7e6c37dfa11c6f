//! Two runs side by side.

mod changes;
mod matching;
mod sentences;

use std::collections::HashMap;

use queryscope_protocol::Profile;
use serde::Serialize;

use crate::fingerprint::shapes;
use crate::graph::Step;
use crate::query::Query;
use crate::vocabulary::counters::{BUSY, BYTES_READ, ROWS_IN, ROWS_OUT};

pub use changes::Change;
pub use sentences::Difference;

/// What is different between two runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Whether both ran the same physical plan: no node was added or removed, none changed its shape.
    pub same_plan: bool,
    /// What is different between the plans, in the words of a planner; the changes of order first.
    pub differences: Vec<Difference>,
    /// Nodes of both physical plans: those of the run in its order, then those only the base has.
    pub nodes: Vec<NodePair>,
}

/// A node in both runs, or in one of them.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct NodePair {
    /// What became of it.
    pub fate: Fate,
    /// It in the base; null when it was added.
    pub base: Option<Figures>,
    /// It in the run; null when it was removed.
    pub run: Option<Figures>,
    /// Run minus base; null for a node of one run alone.
    pub delta: Option<Delta>,
    /// What the engine says of it that is different.
    pub changes: Vec<Change>,
}

/// What became of a node from the base to the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = NodeFate))]
pub enum Fate {
    /// It is in both, and does the same.
    Same,
    /// It is in both, and does something else.
    Changed,
    /// It is in the run alone.
    Added,
    /// It is in the base alone.
    Removed,
}

/// A node's figures in one run; null where unknown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = NodeFigures))]
pub struct Figures {
    /// Id of the node in that run's physical plan.
    pub id: u64,
    /// The engine's name for what it is.
    pub kind: String,
    /// What it does, in words all engines share.
    pub role: &'static str,
    /// Time threads worked in it, in nanoseconds.
    pub busy_ns: Option<u64>,
    /// Rows it took.
    pub rows_in: Option<u64>,
    /// Rows it gave on.
    pub rows_out: Option<u64>,
    /// Bytes it read.
    pub bytes_read: Option<u64>,
}

/// Figures of the run minus those of the base; null where one of them is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = NodeDelta))]
pub struct Delta {
    /// Of the time threads worked in it, in nanoseconds.
    pub busy_ns: Option<i64>,
    /// Of the rows it took.
    pub rows_in: Option<i64>,
    /// Of the rows it gave on.
    pub rows_out: Option<i64>,
    /// Of the bytes it read.
    pub bytes_read: Option<i64>,
}

/// Compares a run with another one of the same query, or of another.
pub fn compare(base: &Profile<'_>, run: &Profile<'_>) -> Comparison {
    let (base, run) = (Query::of(base), Query::of(run));
    let (base_shapes, run_shapes) = (shapes(&base.plan), shapes(&run.plan));
    let pairs = matching::pairs(&base.plan, &base_shapes, &run.plan, &run_shapes);
    let mut of_run = Vec::with_capacity(run.plan.steps.len());
    for (place, step) in run.plan.steps.iter().enumerate() {
        let partner = pairs.base_of(place).map(|place| &base.plan.steps[place]);
        of_run.push(pair(partner, Some(step), pairs.inputs_moved(&base.plan, &run.plan, place)));
    }
    let gone = (0..base.plan.steps.len()).filter(|&place| pairs.run_of(place).is_none());
    let gone: Vec<NodePair> = gone.map(|place| pair(Some(&base.plan.steps[place]), None, None)).collect();
    let differences = sentences::differences(&base.plan, &run.plan, &pairs);
    // In the order the run's profile lists them: a graph's order is another.
    let mut nodes = of_run;
    let listed = run.profile.plan.physical.iter().enumerate().rev();
    let listed: HashMap<u64, usize> = listed.map(|(place, node)| (node.id, place)).collect();
    nodes.sort_by_key(|pair| pair.run.as_ref().and_then(|run| listed.get(&run.id).copied()));
    nodes.extend(gone);
    let same_plan = nodes.iter().all(|pair| pair.fate == Fate::Same);
    Comparison { same_plan, differences, nodes }
}

fn pair(base: Option<&Step<'_>>, run: Option<&Step<'_>>, inputs_moved: Option<String>) -> NodePair {
    let (fate, changes) = match (base, run) {
        (Some(base), Some(run)) => {
            let changes = changes::changes(base, run, inputs_moved);
            let changed = changes.iter().any(|change| change.shape);
            (if changed { Fate::Changed } else { Fate::Same }, changes)
        }
        (None, _) => (Fate::Added, Vec::new()),
        (_, None) => (Fate::Removed, Vec::new()),
    };
    let (base, run) = (base.map(figures), run.map(figures));
    let delta = base.as_ref().zip(run.as_ref()).map(|(base, run)| delta(base, run));
    NodePair { fate, base, run, delta, changes }
}

fn figures(step: &Step<'_>) -> Figures {
    Figures {
        id: step.node.id,
        kind: step.node.kind.to_string(),
        role: step.role().as_str(),
        busy_ns: step.counter(&BUSY),
        rows_in: step.counter(&ROWS_IN),
        rows_out: step.counter(&ROWS_OUT),
        bytes_read: step.counter(&BYTES_READ),
    }
}

fn delta(base: &Figures, run: &Figures) -> Delta {
    let of = |base: Option<u64>, run: Option<u64>| {
        let (base, run) = (i64::try_from(base?).ok()?, i64::try_from(run?).ok()?);
        run.checked_sub(base)
    };
    Delta {
        busy_ns: of(base.busy_ns, run.busy_ns),
        rows_in: of(base.rows_in, run.rows_in),
        rows_out: of(base.rows_out, run.rows_out),
        bytes_read: of(base.bytes_read, run.bytes_read),
    }
}

#[cfg(test)]
mod tests;
