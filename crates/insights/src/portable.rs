//! What a run did, without what depends on the machine or on time.
//!
//! Two machines run one query in different numbers of partitions, on different numbers of threads, and never in the
//! same time. [`Portable`] keeps of a run what is the same on each of them: the plan without the nodes that only move
//! rows between partitions, the predicates and columns that reach scans, rows, bytes and row groups, and findings
//! that follow from these. Counters that depend on when an engine stops reading, such as those below a limit, are
//! left out ([`steady`]). So runs of one program over one set of data are equal, and a test suite can be compared
//! with an earlier run of it ([`differences`]) without a run that is called different by chance.

mod differences;
mod reduced;
mod scans;
mod steady;

use std::collections::{BTreeMap, HashSet};

use queryscope_protocol::{Plan, Profile, Role};

use crate::fingerprint::Fingerprint;
use crate::graph::Graph;
use crate::outline::outline;
use crate::query::Query;
use crate::vocabulary::counters::{ROWS_OUT, SPILLED_BYTES, SPILLED_ROWS};
use crate::vocabulary::query_counters;

pub use differences::{Difference, DifferenceKind, Direction, differences};
use scans::Table;

/// What of a run does not depend on the machine. Two runs are equal where nothing of it differs.
#[derive(Debug, Clone)]
pub struct Portable<'p> {
    /// The profile with the physical plan without exchanges.
    physical: Profile<'p>,
    /// The profile with the logical plan in the place of the physical one.
    logical: Profile<'p>,
    /// Nodes of the physical plan whose counters depend on the machine.
    unsteady: HashSet<u64>,
    facts: Facts,
}

/// What is compared where no words are needed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Facts {
    logical: Fingerprint,
    physical: Fingerprint,
    /// What reaches the scans of each table.
    reached: BTreeMap<String, Table>,
    /// What the scans of each table count.
    counted: BTreeMap<String, Table>,
    /// Rows of the other nodes, in the order of the plan's shape.
    rows: Vec<Option<u64>>,
    /// Joins by keys, and joins without.
    joins: (usize, usize),
    spilled: bool,
    /// Texts of the findings of each rule.
    findings: BTreeMap<String, Vec<String>>,
}

impl PartialEq for Portable<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.facts == other.facts
    }
}

impl<'p> Portable<'p> {
    /// Takes from a profile what does not depend on the machine.
    pub fn of(profile: &Profile<'p>) -> Self {
        let engine = profile.engine.as_deref();
        let whole = Graph::of(&profile.plan.physical);
        let unsteady = steady::unsteady(&whole, engine);
        let with = |nodes| Profile {
            plan: Plan { physical: nodes, logical: Vec::new() },
            insights: None,
            ..profile.clone()
        };
        let physical = with(reduced::reduced(&profile.plan.physical));
        let logical = with(reduced::reduced(&profile.plan.logical));
        let graph = Graph::of(&physical.plan.physical);
        let asked = Graph::of(&logical.plan.physical);
        let counted = scans::tables(&graph, engine, &unsteady);
        let reached = scans::tables(&asked, engine, &HashSet::new());
        let reached = if reached.is_empty() { counted.clone() } else { reached };
        let outlined = outline(&physical);
        let steady_rows = |node: &crate::outline::OutlineNode| {
            let is_counted = has_own_rows(node.role) && !unsteady.contains(&node.id);
            node.counters.rows_out.filter(|_| is_counted)
        };
        let facts = Facts {
            logical: outline(&logical).fingerprint,
            physical: outlined.fingerprint,
            reached,
            counted,
            rows: outlined.nodes.iter().map(steady_rows).collect(),
            joins: joins(if graph.steps.is_empty() { &asked } else { &graph }),
            spilled: spilled(profile),
            findings: steady::findings(profile, &whole, &unsteady),
        };
        Self { physical, logical, unsteady, facts }
    }

    /// The shape of the plan the program asked for, or of the physical one where there is no other.
    pub fn plan(&self) -> Fingerprint {
        if self.logical.plan.physical.is_empty() { self.facts.physical } else { self.facts.logical }
    }

    /// Rows a node gave on, where they do not depend on the machine.
    fn rows(&self, id: u64) -> Option<u64> {
        if self.unsteady.contains(&id) {
            return None;
        }
        let node = self.physical.plan.physical.iter().find(|node| node.id == id)?;
        ROWS_OUT.value_in(node.metrics.as_ref()?).filter(|_| has_own_rows(node.role))
    }
}

/// Whether a node of this role gives on other rows than it takes. Scans are counted by table.
fn has_own_rows(role: Role) -> bool {
    matches!(
        role,
        Role::Selection
            | Role::Join
            | Role::ThetaJoin
            | Role::CrossJoin
            | Role::SemiAntiJoin
            | Role::Aggregation
            | Role::Distinct
            | Role::Union
            | Role::Function
            | Role::TopK
    )
}

/// How many joins compare keys, and how many do not.
fn joins(graph: &Graph<'_>) -> (usize, usize) {
    let count = |roles: [Role; 2]| graph.steps.iter().filter(|step| roles.contains(&step.role())).count();
    (count([Role::Join, Role::SemiAntiJoin]), count([Role::ThetaJoin, Role::CrossJoin]))
}

fn spilled(profile: &Profile<'_>) -> bool {
    let query = Query::of(profile);
    let by_nodes = query.plan.steps.iter().any(|step| {
        [&SPILLED_BYTES, &SPILLED_ROWS].into_iter().any(|term| step.counter(term).unwrap_or(0) > 0)
    });
    by_nodes || query.counter(&query_counters::SPILLED_BYTES).unwrap_or(0) > 0
}

#[cfg(test)]
mod tests;
