//! A physical plan: what runs with one physical fingerprint have in common, kept once.

use std::collections::HashMap;

use queryscope_insights::{Fingerprint, Outline, columns_of, on_columns};
use queryscope_protocol::Role;

/// A physical plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Its fingerprint.
    pub fingerprint: Fingerprint,
    /// Its nodes, each after its inputs.
    pub nodes: Box<[PlanNode]>,
}

/// A node of a [`Plan`].
#[derive(Debug, Clone, PartialEq)]
pub struct PlanNode {
    /// Identity of the node in the profile the plan was first seen in.
    pub id: u64,
    /// The engine's name for what it is.
    pub kind: String,
    /// What it does.
    pub role: Role,
    /// The nodes it reads from, by place.
    pub inputs: Vec<usize>,
    /// Hash of the node without its inputs.
    pub own_shape: u64,
    /// Hash of the node and all below it.
    pub shape: u64,
    /// The table it scans.
    pub table: Option<String>,
    /// The condition rows must meet.
    pub predicate: Option<String>,
    /// Columns it reads; `None` for all.
    pub columns: Option<u32>,
    /// Sort of a join.
    pub how: Option<String>,
    /// The function of the program that it calls.
    pub user_code: Option<String>,
}

impl Default for Plan {
    fn default() -> Self {
        Self { fingerprint: Fingerprint::from_bytes([0; 6]), nodes: Box::default() }
    }
}

impl From<&Outline> for Plan {
    fn from(outline: &Outline) -> Self {
        let nodes = outline.nodes.iter().map(|node| PlanNode {
            id: node.id,
            kind: node.kind.clone(),
            role: node.role,
            inputs: node.inputs.clone(),
            own_shape: node.own_shape,
            shape: node.shape,
            table: node.table.clone(),
            predicate: node.predicate.clone(),
            columns: node.columns,
            how: node.how.clone(),
            user_code: node.user_code.clone(),
        });
        Self { fingerprint: outline.fingerprint, nodes: nodes.collect() }
    }
}

impl Plan {
    /// Whether a node calls code of the program.
    pub fn calls_user_code(&self) -> bool {
        self.nodes.iter().any(|node| node.user_code.is_some())
    }

    /// How many nodes have the name of this one.
    fn named_as(&self, node: &PlanNode) -> usize {
        self.nodes.iter().filter(|other| other.kind == node.kind && other.table == node.table).count()
    }

    /// The leaves that read something: all leaves, unless some only give again what others read.
    pub(crate) fn reading_leaves(&self) -> impl Iterator<Item = usize> {
        let leaves = || (0..self.nodes.len()).filter(|&place| self.nodes[place].inputs.is_empty());
        let some_read = leaves().any(|leaf| self.nodes[leaf].reads());
        leaves().filter(move |&leaf| !some_read || self.nodes[leaf].reads())
    }

    /// The nodes above a node, the one that reads from it first; of several that do, the first.
    pub(crate) fn readers(&self, place: usize) -> impl Iterator<Item = usize> {
        let reader = |place: &usize| self.nodes.iter().position(|node| node.inputs.contains(place));
        std::iter::successors(reader(&place), reader)
    }

    /// What a node reads from, below nodes that only pass rows on, such as exchanges and projections.
    fn sources(&self, place: usize) -> Vec<usize> {
        let below = |mut input: usize| {
            while let (true, [only]) = (self.nodes[input].role.passes_rows_on(), &*self.nodes[input].inputs) {
                input = *only;
            }
            input
        };
        self.nodes[place].inputs.iter().map(|&input| below(input)).collect()
    }
}

impl PlanNode {
    /// Whether a leaf reads something: those of the engine's own, such as scans of a common table expression, give
    /// again what other nodes made.
    pub(crate) fn reads(&self) -> bool {
        self.role != Role::Engine
    }

    /// The node as sentences name it: its kind, and the table it scans.
    pub fn name(&self) -> String {
        match &self.table {
            Some(table) => format!("{} of {table}", self.kind),
            None => self.kind.clone(),
        }
    }
}

#[cfg(test)]
impl PlanNode {
    /// A node without inputs of which nothing else is known.
    pub(crate) fn bare(kind: &str, role: Role) -> Self {
        Self {
            id: 1,
            kind: kind.into(),
            role,
            inputs: Vec::new(),
            own_shape: 1,
            shape: 1,
            table: None,
            predicate: None,
            columns: None,
            how: None,
            user_code: None,
        }
    }
}

/// Whether two nodes of one role can be the same: the old one, the new one, and whether matched nodes feed
/// both.
type Rule<'r> = &'r dyn Fn(&PlanNode, &PlanNode, bool) -> bool;

/// Which nodes of two plans are the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matching {
    /// For each node of the new plan, its partner in the old one.
    pub of_new: Vec<Option<usize>>,
    /// For each node of the old plan, its partner in the new one.
    pub of_old: Vec<Option<usize>>,
}

impl Matching {
    /// The same with the sides changed.
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self { of_new: self.of_old.clone(), of_old: self.of_new.clone() }
    }

    /// Matches the nodes of two plans: sub-plans of one shape first, the highest first, as GumTree does
    /// (Falleri and others, ASE 2014), then scans of one table, then nodes of one role whose inputs are matched
    /// with each other, then what is left of a role in order.
    pub fn new(old: &Plan, new: &Plan) -> Self {
        let (olds, news) = (old.nodes.len(), new.nodes.len());
        let mut matching = Self { of_new: vec![None; news], of_old: vec![None; olds] };
        if old.fingerprint == new.fingerprint && olds == news {
            matching.of_new = (0..news).map(Some).collect();
            matching.of_old = (0..olds).map(Some).collect();
            return matching;
        }
        let mut by_shape: HashMap<u64, Vec<usize>> = HashMap::new();
        for (place, node) in old.nodes.iter().enumerate().rev() {
            by_shape.entry(node.shape).or_default().push(place);
        }
        for here in (0..news).rev() {
            if matching.of_new[here].is_some() {
                continue;
            }
            let alike = by_shape.get(&new.nodes[here].shape).into_iter().flatten();
            let Some(&there) = alike.into_iter().find(|&&there| matching.of_old[there].is_none()) else {
                continue;
            };
            let mut open = vec![(there, here)];
            while let Some((there, here)) = open.pop() {
                if matching.pair(there, here) {
                    let inputs = old.nodes[there].inputs.iter().copied();
                    open.extend(inputs.zip(new.nodes[here].inputs.iter().copied()));
                }
            }
        }
        let scans = |old: &PlanNode, new: &PlanNode, _: bool| new.inputs.is_empty() && old.table == new.table;
        let same = |old: &PlanNode, new: &PlanNode, _: bool| old.own_shape == new.own_shape;
        let fed = |_: &PlanNode, _: &PlanNode, fed_alike: bool| fed_alike;
        let leaf = |old: &PlanNode, new: &PlanNode, _: bool| {
            old.inputs.is_empty() == new.inputs.is_empty() && old.role != Role::Unknown
        };
        let rules: [Rule<'_>; 4] = [&scans, &same, &fed, &leaf];
        for rule in rules {
            for here in 0..news {
                if matching.of_new[here].is_some() {
                    continue;
                }
                let node = &new.nodes[here];
                let partner = (0..olds).find(|&there| {
                    let other = &old.nodes[there];
                    matching.of_old[there].is_none()
                        && other.role == node.role
                        && (node.role != Role::Engine || other.kind == node.kind)
                        && rule(other, node, matching.fed_alike(other, node))
                });
                if let Some(there) = partner {
                    matching.pair(there, here);
                }
            }
        }
        matching
    }

    fn pair(&mut self, there: usize, here: usize) -> bool {
        let free = self.of_old[there].is_none() && self.of_new[here].is_none();
        if free {
            self.of_old[there] = Some(here);
            self.of_new[here] = Some(there);
        }
        free
    }

    fn fed_alike(&self, old: &PlanNode, new: &PlanNode) -> bool {
        new.inputs.iter().any(|&input| self.of_new[input].is_some_and(|there| old.inputs.contains(&there)))
    }

    /// What is different between the plans, a sentence each without its full stop, those that can change the
    /// work first.
    pub fn differences(&self, old: &Plan, new: &Plan) -> Vec<Difference> {
        let mut found = Vec::new();
        let mut add = |role: Role, difference: Difference| found.push((rank(role, &difference), difference));
        for (here, node) in new.nodes.iter().enumerate() {
            let Some(there) = self.of_new[here] else {
                let before = if old.named_as(node) > 0 { "one more " } else { "" };
                let text = format!("{before}{} was added", work(node));
                add(node.role, Difference { node: Some(here), text, makes_rows: makes_rows(node.role) });
                continue;
            };
            let other = &old.nodes[there];
            let moved = self.inputs_swapped(old, there, new, here);
            if other.own_shape != node.own_shape || moved {
                let left = other.predicate.as_deref().filter(|_| node.predicate.is_none());
                let is_elsewhere = left.is_some_and(|left| askers(new, left) > askers(old, left));
                let difference = difference(other, node, moved, is_elsewhere);
                add(node.role, Difference { node: Some(here), ..difference });
            }
        }
        for (there, node) in old.nodes.iter().enumerate().filter(|(there, _)| self.of_old[*there].is_none()) {
            let text = match (old.named_as(node), new.named_as(node)) {
                (count @ 2.., 1..) => format!("one {} of {count} is gone", work(node)),
                _ => format!("{} is gone", work(node)),
            };
            // What now reads from where it stood.
            let gone = Difference {
                node: old.readers(there).next().and_then(|reader| self.of_old[reader]),
                text,
                makes_rows: makes_rows(node.role),
            };
            add(node.role, gone);
        }
        found.sort_by_key(|(rank, _)| *rank);
        found.into_iter().map(|(_, difference)| difference).collect()
    }

    /// Whether a matched node reads from the same two nodes in another order; nodes between them that pass rows on are
    /// left out.
    pub fn inputs_swapped(&self, old: &Plan, there: usize, new: &Plan, here: usize) -> bool {
        let before = old.sources(there);
        let then: Vec<usize> = before.iter().filter_map(|&input| self.of_old[input]).collect();
        let mut now = new.sources(here);
        now.retain(|&input| self.of_new[input].is_some_and(|there| before.contains(&there)));
        now.len() > 1 && now != then && now.iter().all(|input| then.contains(input))
    }
}

/// One difference between two plans.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The node of the new plan it is at.
    pub node: Option<usize>,
    /// It in words.
    pub text: String,
    /// Whether it can change how many rows there are.
    pub makes_rows: bool,
}

/// What makes rows is told first, and last what only passes them on.
fn rank(role: Role, difference: &Difference) -> u8 {
    match difference.makes_rows {
        true => 0,
        false if role.passes_rows_on() => 2,
        false => 1,
    }
}

fn makes_rows(role: Role) -> bool {
    !matches!(
        role,
        Role::Projection | Role::Map | Role::Rename | Role::Sort | Role::Engine | Role::Sink | Role::Unknown
    )
}

/// How many nodes but scans have a predicate that names all columns of this one.
fn askers(plan: &Plan, predicate: &str) -> usize {
    let columns = columns_of(predicate);
    let others = plan.nodes.iter().filter(|node| node.role != Role::Scan);
    let asked = others.filter_map(|node| node.predicate.as_deref());
    asked.filter(|asked| columns.is_subset(&columns_of(asked))).count()
}

/// A node as a difference names it: a filter with its columns.
fn work(node: &PlanNode) -> String {
    let predicate = node.predicate.as_deref().filter(|_| node.role == Role::Selection);
    node.name() + &predicate.map_or_else(String::new, on)
}

/// " on day, price and 2 more", of the columns that a predicate names but those that the engine made up.
fn on(predicate: &str) -> String {
    let mut columns = columns_of(predicate);
    columns.retain(|name| !name.starts_with(['#', '_']));
    on_columns(&columns)
}

/// What is different about a matched node. A predicate that left a scan may be elsewhere in the new plan.
fn difference(old: &PlanNode, new: &PlanNode, swapped: bool, is_elsewhere: bool) -> Difference {
    let at = new.name();
    let rows = |text: String| Difference { node: None, text, makes_rows: true };
    let work = |text: String| Difference { node: None, text, makes_rows: false };
    if old.kind != new.kind {
        return rows(format!("{} became {}", old.name(), at));
    }
    if old.how != new.how {
        let (then, now) = (old.how.as_deref().unwrap_or("none"), new.how.as_deref().unwrap_or("none"));
        return rows(format!("{at}: {then} join became {now} join"));
    }
    match (&old.predicate, &new.predicate) {
        (Some(then), None) if new.role == Role::Scan && is_elsewhere => {
            return rows(format!("the predicate{} no longer reaches {at}", on(then)));
        }
        (None, Some(now)) if new.role == Role::Scan => {
            return rows(format!("the predicate{} reaches {at} now", on(now)));
        }
        (Some(then), None) => return rows(format!("{at} lost its predicate{}", on(then))),
        (None, Some(now)) => return rows(format!("{at} has the new predicate {now}")),
        (Some(then), Some(now)) if then != now => {
            return rows(format!("{at}: predicate {then} became {now}"));
        }
        _ => {}
    }
    if old.table != new.table {
        return rows(format!("{} became {at}", old.name()));
    }
    if swapped {
        return rows(format!("{at}: its inputs changed places"));
    }
    if new.user_code.is_some() && old.user_code != new.user_code {
        return work(format!("{at} calls {} now", new.user_code.as_deref().unwrap_or("user code")));
    }
    if old.columns != new.columns {
        let say = |columns: Option<u32>| columns.map_or_else(|| "all".to_owned(), |count| count.to_string());
        return work(format!("{at} reads {} instead of {} columns", say(new.columns), say(old.columns)));
    }
    work(format!("{at} has other properties"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_rows_is_told_first_and_projections_last() {
        let of = |role: Role| {
            let difference = Difference { node: None, text: String::new(), makes_rows: makes_rows(role) };
            rank(role, &difference)
        };
        assert_eq!([Role::Join, Role::Sort, Role::Projection].map(of), [0, 1, 2]);
    }
}
