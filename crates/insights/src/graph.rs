//! A plan as a graph: who reads from whom.

use std::collections::HashMap;

use queryscope_protocol::{Node, Role};

use crate::properties::Properties;
use crate::vocabulary::Term;
use crate::vocabulary::counters::{BUSY, ROWS_IN, ROWS_OUT};

/// A plan whose nodes know their neighbours, by place in `steps`.
#[derive(Debug)]
pub(crate) struct Graph<'p> {
    /// The nodes, each after all it reads from.
    pub(crate) steps: Vec<Step<'p>>,
}

/// A node of a [`Graph`].
#[derive(Debug)]
pub(crate) struct Step<'p> {
    pub(crate) node: &'p Node<'p>,
    pub(crate) properties: Properties,
    /// What it reads from, in the node's order.
    pub(crate) inputs: Vec<usize>,
    /// What reads from it.
    pub(crate) readers: Vec<usize>,
}

impl<'p> Graph<'p> {
    /// Joins nodes by their ids. An input that is not in the plan is left out, as is one that would close a
    /// circle; of two nodes with one id, the first counts.
    pub(crate) fn of(nodes: &'p [Node<'p>]) -> Self {
        let mut by_id = HashMap::with_capacity(nodes.len());
        for (place, node) in nodes.iter().enumerate() {
            by_id.entry(node.id).or_insert(place);
        }
        let mut order = Order { nodes, by_id: &by_id, marks: vec![Mark::New; nodes.len()], done: Vec::new() };
        (0..nodes.len()).for_each(|place| order.visit(place));
        let Order { marks, done, .. } = order;
        let rank = |place: usize| match marks[place] {
            Mark::Done(rank) => rank,
            Mark::New | Mark::Open => usize::MAX,
        };
        let mut steps: Vec<Step<'p>> = Vec::with_capacity(done.len());
        for (here, &place) in done.iter().enumerate() {
            let node = &nodes[place];
            let inputs = node.inputs.iter().filter_map(|id| by_id.get(id)).map(|&place| rank(place));
            let inputs: Vec<usize> = inputs.filter(|&input| input < here).collect();
            for &input in &inputs {
                steps[input].readers.push(here);
            }
            steps.push(Step { node, properties: Properties::of(node), inputs, readers: Vec::new() });
        }
        Self { steps }
    }

    /// Nodes nothing reads from.
    pub(crate) fn roots(&self) -> impl Iterator<Item = usize> {
        (0..self.steps.len()).filter(|&place| self.steps[place].readers.is_empty())
    }

    /// The node and all it reads from, directly or not, each once.
    pub(crate) fn below(&self, root: usize) -> Vec<usize> {
        let mut seen = vec![false; self.steps.len()];
        let mut open = vec![root];
        let mut found = Vec::new();
        while let Some(place) = open.pop() {
            if !std::mem::replace(&mut seen[place], true) {
                found.push(place);
                open.extend(&self.steps[place].inputs);
            }
        }
        found
    }

    /// The most steps from each node down to a leaf.
    pub(crate) fn heights(&self) -> Vec<usize> {
        let mut heights: Vec<usize> = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            heights.push(step.inputs.iter().map(|&input| heights[input] + 1).max().unwrap_or(0));
        }
        heights
    }

    /// Rows that came from each input, where they can be told apart.
    pub(crate) fn rows_from(&self, place: usize) -> Vec<Option<u64>> {
        let step = &self.steps[place];
        let given = |&input: &usize| {
            let input = &self.steps[input];
            // What is given to several readers is counted together.
            (input.readers.len() == 1).then(|| input.counter(&ROWS_OUT)).flatten()
        };
        let mut rows: Vec<Option<u64>> = step.inputs.iter().map(given).collect();
        let Some(all) = step.counter(&ROWS_IN) else { return rows };
        let shared: Vec<usize> = (0..rows.len()).filter(|&at| rows[at].is_none()).collect();
        // The rest of what it took came from the others; from one that is read twice, half of it each time.
        if shared.windows(2).all(|pair| step.inputs[pair[0]] == step.inputs[pair[1]]) {
            let known: u64 = rows.iter().flatten().sum();
            for &at in &shared {
                rows[at] = all.checked_sub(known).map(|rest| rest / shared.len() as u64);
            }
        }
        rows
    }
}

impl Step<'_> {
    pub(crate) fn role(&self) -> Role {
        self.node.role
    }

    pub(crate) fn counter(&self, term: &Term) -> Option<u64> {
        term.value_in(self.node.metrics.as_ref()?)
    }

    /// Working time in nanoseconds; 0 where it is unknown.
    pub(crate) fn busy_ns(&self) -> u64 {
        self.counter(&BUSY).unwrap_or(0)
    }

    /// Whether the node may go on counting.
    pub(crate) fn runs(&self) -> bool {
        self.node.metrics.as_ref().is_some_and(|counters| counters.done == Some(false))
    }
}

#[derive(Debug, Clone, Copy)]
enum Mark {
    New,
    Open,
    Done(usize),
}

/// Depth first without recursion: plans come from outside and may be deep.
struct Order<'o, 'p> {
    nodes: &'p [Node<'p>],
    by_id: &'o HashMap<u64, usize>,
    marks: Vec<Mark>,
    done: Vec<usize>,
}

impl Order<'_, '_> {
    fn visit(&mut self, root: usize) {
        let mut open = vec![(root, 0)];
        while let Some((place, next)) = open.pop() {
            if next == 0 {
                if !matches!(self.marks[place], Mark::New) {
                    continue;
                }
                self.marks[place] = Mark::Open;
            }
            if let Some(id) = self.nodes[place].inputs.get(next) {
                open.push((place, next + 1));
                if let Some(&input) = self.by_id.get(id) {
                    open.push((input, 0));
                }
            } else {
                self.marks[place] = Mark::Done(self.done.len());
                self.done.push(place);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(id: u64, inputs: &[u64]) -> Node<'static> {
        Node {
            id,
            kind: "K".into(),
            role: Role::Unknown,
            inputs: inputs.to_vec(),
            properties: None,
            metrics: None,
        }
    }

    fn order(nodes: &[Node<'_>]) -> Vec<(u64, Vec<usize>)> {
        Graph::of(nodes).steps.iter().map(|step| (step.node.id, step.inputs.clone())).collect()
    }

    #[test]
    fn inputs_come_first() {
        let nodes = [node(3, &[1, 2]), node(1, &[]), node(2, &[1])];
        assert_eq!(order(&nodes), [(1, vec![]), (2, vec![0]), (3, vec![0, 1])]);
        assert_eq!(Graph::of(&nodes).roots().collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn circles_strangers_and_twins_are_cut() {
        let nodes = [node(1, &[2, 9, 1]), node(2, &[1]), node(2, &[])];
        assert_eq!(order(&nodes), [(2, vec![]), (1, vec![0]), (2, vec![])]);
    }

    #[test]
    fn a_deep_plan_needs_no_deep_stack() {
        let nodes: Vec<Node<'_>> = (0..200_000).map(|id| node(id, &[id + 1])).collect();
        assert_eq!(Graph::of(&nodes).steps.len(), 200_000);
    }
}
