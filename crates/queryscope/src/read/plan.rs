//! A physical plan as the rows of a tree.
//!
//! Nodes with one input stand above it at the same margin, as in the answer of `EXPLAIN`; only where a node has several
//! inputs, the tree branches. So a plan of hundreds of nodes is as deep as it has joins.

use std::collections::{HashMap, HashSet};

use queryscope_insights::vocabulary::Term;
use queryscope_insights::vocabulary::counters::{BUSY, BYTES_READ, ROWS_IN, ROWS_OUT, ROWS_WRITTEN};
use queryscope_protocol::{Node, Profile, Role};

use super::node_words::node_words;
use super::text::line;

/// A node as one row of the tree.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PlanRow {
    /// The branches before it.
    pub(crate) branches: String,
    pub(crate) id: u64,
    pub(crate) kind: String,
    pub(crate) role: Role,
    pub(crate) inputs: Vec<u64>,
    /// What it reads, keeps, joins on or groups by; empty where it does not say.
    pub(crate) words: String,
    /// Its busy time of that of all nodes, 0 to 1.
    pub(crate) share: Option<f64>,
    pub(crate) busy_ns: Option<u64>,
    pub(crate) rows_in: Option<u64>,
    pub(crate) rows_out: Option<u64>,
    pub(crate) bytes_read: Option<u64>,
    /// Whether it has ended; `None` where its sender does not say.
    pub(crate) done: Option<bool>,
    /// Whether the tree has it above already: it is read by several nodes.
    pub(crate) is_repeated: bool,
}

/// The plan of a profile, root first.
pub(crate) fn rows(profile: &Profile<'_>) -> Vec<PlanRow> {
    let nodes = &profile.plan.physical;
    let mut by_id: HashMap<u64, &Node<'_>> = HashMap::new();
    for node in nodes {
        by_id.entry(node.id).or_insert(node);
    }
    let all_ns: u64 = by_id.values().filter_map(|node| counter(node, &BUSY)).fold(0, u64::saturating_add);
    let read: HashSet<u64> = nodes.iter().flat_map(|node| node.inputs.iter().copied()).collect();
    let mut tree = Tree { by_id, all_ns, seen: HashSet::new(), rows: Vec::with_capacity(nodes.len()) };
    for node in nodes.iter().filter(|node| !read.contains(&node.id)) {
        tree.add(node.id);
    }
    // Of nodes that read only each other, the first.
    for node in nodes {
        tree.add(node.id);
    }
    tree.rows
}

struct Tree<'n> {
    by_id: HashMap<u64, &'n Node<'n>>,
    all_ns: u64,
    seen: HashSet<u64>,
    rows: Vec<PlanRow>,
}

impl Tree<'_> {
    /// Adds a node and all below it, unless the tree has it.
    fn add(&mut self, root: u64) {
        if self.seen.contains(&root) {
            return;
        }
        // A stack of its own: plans come from outside and may be deep.
        let mut waiting = vec![(root, String::new(), String::new())];
        while let Some((id, branches, below)) = waiting.pop() {
            let Some(&node) = self.by_id.get(&id) else { continue };
            let is_repeated = !self.seen.insert(id);
            self.rows.push(self.row(node, branches, is_repeated));
            if is_repeated {
                continue;
            }
            let mut inputs = Vec::new();
            for input in &node.inputs {
                if self.by_id.contains_key(input) && !inputs.contains(input) {
                    inputs.push(*input);
                }
            }
            let last = inputs.len().saturating_sub(1);
            for (place, &input) in inputs.iter().enumerate().rev() {
                let (first, rest) = match (last, place) {
                    (0, _) => ("", ""),
                    (_, place) if place == last => ("└─ ", "   "),
                    _ => ("├─ ", "│  "),
                };
                waiting.push((input, format!("{below}{first}"), format!("{below}{rest}")));
            }
        }
    }

    fn row(&self, node: &Node<'_>, branches: String, is_repeated: bool) -> PlanRow {
        let busy_ns = counter(node, &BUSY);
        let rows_out = counter(node, &ROWS_OUT);
        let is_sink = node.role == Role::Sink && rows_out.unwrap_or(0) == 0;
        PlanRow {
            branches,
            id: node.id,
            kind: line(&node.kind).into_owned(),
            role: node.role,
            inputs: node.inputs.clone(),
            words: line(&node_words(node)).into_owned(),
            share: busy_ns.filter(|_| self.all_ns > 0).map(|ns| ns as f64 / self.all_ns as f64),
            busy_ns,
            // A node that reads from no other took nothing, whatever its counter says.
            rows_in: counter(node, &ROWS_IN).filter(|&rows| rows > 0 || !node.inputs.is_empty()),
            // A sink gives nothing on: what counts is what it wrote.
            rows_out: if is_sink { counter(node, &ROWS_WRITTEN).or(rows_out) } else { rows_out },
            bytes_read: counter(node, &BYTES_READ),
            done: node.metrics.as_ref().and_then(|counters| counters.done),
            is_repeated,
        }
    }
}

fn counter(node: &Node<'_>, term: &Term) -> Option<u64> {
    term.value_in(node.metrics.as_ref()?)
}

#[cfg(test)]
mod tests {
    use queryscope_protocol::Plan;
    use serde_json::json;

    use super::*;
    use crate::read::words::node_number;

    fn tree(nodes: &[(u64, &str, &[u64], u64)]) -> String {
        let physical: Vec<_> = nodes
            .iter()
            .map(|(id, kind, inputs, busy_ns)| {
                json!({"id": id, "kind": kind, "inputs": inputs, "metrics": {"busy_ns": busy_ns}})
            })
            .collect();
        let text = json!({"physical": physical, "logical": []}).to_string();
        let plan: Plan<'_> = serde_json::from_str(&text).expect("a plan");
        let rows = rows(&Profile::new("q", 1.0, plan));
        let line = |row: &PlanRow| {
            let share = row.share.unwrap_or(0.0) * 100.0;
            let again = if row.is_repeated { " again" } else { "" };
            format!("{}{} #{} {share:.0} %{again}\n", row.branches, row.kind, node_number(row.id))
        };
        rows.iter().map(line).collect()
    }

    #[test]
    fn only_several_inputs_branch() {
        let plan: &[(u64, &str, &[u64], u64)] = &[
            (1, "Scan", &[], 10),
            (2, "Scan", &[], 20),
            (3, "Filter", &[2], 0),
            (4, "Join", &[1, 3], 60),
            (5, "Scan", &[], 10),
            (6, "Union", &[4, 5], 0),
            (7, "Sink", &[6], 0),
        ];
        insta::assert_snapshot!(tree(plan));
    }

    #[test]
    fn shared_nodes_circles_and_missing_inputs_end() {
        let plan: &[(u64, &str, &[u64], u64)] = &[
            (1, "Scan", &[9], 1),
            (2, "Join", &[1, 1], 1),
            (3, "Union", &[1, 2], 2),
            (4, "A", &[5], 0),
            (5, "B", &[4], 0),
        ];
        insta::assert_snapshot!(tree(plan));
    }
}
