//! The fingerprint of a plan: equal for runs of one query, different for different queries.
//!
//! It is the first 6 bytes of a SHA-256 over the plan's nodes from the leaves up. A node goes in with its role
//! and kind, its table's name (see [`table_name`]), the columns it reads or keeps, the columns and functions its
//! expressions name, the sort of its join, whether it has a limit, and where it writes to, each under its name;
//! then the hashes of its inputs in their order. The roots' hashes go in sorted. So neither ids nor the
//! order of the nodes, nor literals, paths and limits' sizes matter. The logical plan counts where there is one:
//! the physical one depends on the machine.

use std::collections::BTreeSet;
use std::fmt;

use queryscope_protocol::{Node, Plan};
use sha2::{Digest, Sha256};

use crate::graph::{Graph, Step};
use crate::table::table_name;
use crate::vocabulary::properties::{
    COLUMNS, DESTINATION, EXPRESSIONS, FORMAT, HOW, KEYS, ORDER, PREDICATE, PROJECTION, TABLE,
};
use crate::words::{Words, stable_name};

/// Changes when the same plan is hashed to something else than before.
const VERSION: &str = "plan/1";

/// Identity of a plan's shape; shown as 12 lowercase hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint([u8; 6]);

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The fingerprint of a plan.
///
/// Equal for plans that differ in literals, in numbers within paths, in the folders tables are in, in node ids
/// or in the order nodes are listed. A query that failed before it was planned has the fingerprint of the
/// empty plan, which is that of no bytes: `e3b0c44298fc`.
pub fn fingerprint(plan: &Plan<'_>) -> Fingerprint {
    of_nodes(if plan.logical.is_empty() { &plan.physical } else { &plan.logical })
}

/// The fingerprint of the physical plan: that of another join algorithm or build side is another one, under the same
/// logical plan.
pub fn physical_fingerprint(plan: &Plan<'_>) -> Fingerprint {
    of_nodes(&plan.physical)
}

fn of_nodes(nodes: &[Node<'_>]) -> Fingerprint {
    let graph = Graph::of(nodes);
    of_shapes(&graph, &shapes(&graph))
}

/// The fingerprint of a plan whose nodes have these shapes.
pub(crate) fn of_shapes(graph: &Graph<'_>, shapes: &[Shape]) -> Fingerprint {
    let mut roots: Vec<Hash> = graph.roots().map(|root| shapes[root].whole).collect();
    roots.sort_unstable();
    let mut whole = Sha256::new();
    for root in roots {
        whole.update(root);
    }
    let hash: Hash = whole.finalize().into();
    Fingerprint(std::array::from_fn(|at| hash[at]))
}

impl Fingerprint {
    /// The six bytes.
    pub const fn bytes(self) -> [u8; 6] {
        self.0
    }

    /// From six bytes, as [`bytes`](Self::bytes) gave them.
    pub const fn from_bytes(bytes: [u8; 6]) -> Self {
        Self(bytes)
    }
}

pub(crate) type Hash = [u8; 32];

/// The shape of a node.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    /// Of the node without its inputs.
    pub(crate) own: Hash,
    /// Of the node and all below it.
    pub(crate) whole: Hash,
}

/// The shapes of all nodes.
pub(crate) fn shapes(graph: &Graph<'_>) -> Vec<Shape> {
    shapes_of(graph, graph.steps.iter().map(own_shape))
}

/// The shapes of all nodes, given those of each without its inputs.
pub(crate) fn shapes_of(graph: &Graph<'_>, own: impl IntoIterator<Item = Hash>) -> Vec<Shape> {
    let mut shapes: Vec<Shape> = Vec::with_capacity(graph.steps.len());
    for (step, own) in graph.steps.iter().zip(own) {
        let mut whole = Sha256::new_with_prefix(own);
        step.inputs.iter().for_each(|&input| whole.update(shapes[input].whole));
        shapes.push(Shape { own, whole: whole.finalize().into() });
    }
    shapes
}

/// The shape of a node without its inputs: each part with its length, so that no two run together.
pub(crate) fn own_shape(step: &Step<'_>) -> Hash {
    let mut parts = Parts(Sha256::new_with_prefix(VERSION));
    let properties = &step.properties;
    parts.add("role", [step.role().as_str()]);
    parts.add("kind", [&*step.node.kind]);
    parts.add("table", properties.text(&TABLE).map(table_name));
    parts.add("how", properties.text(&HOW).map(str::to_ascii_lowercase));
    parts.add("format", properties.text(&FORMAT).map(str::to_ascii_lowercase));
    parts.add("user_code", properties.user_code());
    parts.add("limit", properties.limit().map(|_| "some"));
    let destination = properties.texts(&DESTINATION);
    parts.add("destination", destination.into_iter().map(table_name));
    for (name, term) in [("projection", &PROJECTION), ("columns", &COLUMNS)] {
        let names = properties.names(term).into_iter().flatten();
        parts.add(name, names.map(stable_name).collect::<BTreeSet<_>>());
    }
    let texts =
        [("predicate", &PREDICATE), ("keys", &KEYS), ("order", &ORDER), ("expressions", &EXPRESSIONS)];
    for (name, term) in texts {
        let words = Words::of(properties.texts(term));
        let columns = words.columns.iter().map(|column| stable_name(column));
        parts.add(name, columns.collect::<BTreeSet<_>>());
        parts.add("functions", words.functions);
    }
    parts.0.finalize().into()
}

struct Parts(Sha256);

impl Parts {
    fn add<T: AsRef<str>>(&mut self, name: &str, values: impl IntoIterator<Item = T>) {
        let values: Vec<T> = values.into_iter().collect();
        self.text(name);
        self.0.update((values.len() as u64).to_be_bytes());
        for value in values {
            self.text(value.as_ref());
        }
    }

    fn text(&mut self, text: &str) {
        self.0.update((text.len() as u64).to_be_bytes());
        self.0.update(text);
    }
}

#[cfg(test)]
mod tests;
