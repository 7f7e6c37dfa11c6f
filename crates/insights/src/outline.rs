//! The physical plan of a run in the few words and figures that a comparison of many runs needs.
//!
//! Whole profiles of hundreds of runs do not fit in memory, and two runs rarely list their nodes in one order. An
//! [`Outline`] therefore lists the nodes in an order that depends on the plan's shape alone: each after its inputs,
//! roots by their hash. Runs with one [physical fingerprint](Outline::fingerprint) have the same nodes at the same
//! places, so that figures can be kept as plain vectors. `docs/internals/diagnosis.md` tells what they are used for.
//!
//! To hash a node and to read its expressions takes longer than all else that is done with a run of a few milliseconds.
//! Runs of one query describe their nodes in the same words, so [`Outlines`] does both once for each description.

use std::collections::HashMap;
use std::sync::Arc;

use queryscope_protocol::{Profile, Role};

use crate::fingerprint::{Fingerprint, Hash, Shape, of_shapes, own_shape, shapes_of};
use crate::graph::{Graph, Step};
use crate::table::table_name;
use crate::vocabulary::counters::{
    BYTES_READ, IO, PARTITION_BUSY_MAX, PARTITION_ROWS_MAX, PARTITIONS, ROWS_IN, ROWS_OUT, ROWS_SCANNED,
    SPILLED_BYTES,
};
use crate::vocabulary::properties::{EXPRESSIONS, HOW, PREDICATE, PROJECTION, TABLE};
use crate::words::Words;

/// Names and predicates are cut to this many characters.
const QUOTED: usize = 80;
/// Bytes of descriptions that [`Outlines`] keeps; with more it begins anew.
const KNOWN_BYTES_MAX: usize = 4 << 20;
/// Bytes of the longest description it keeps, and about those of what it keeps of each.
const DESCRIPTION_BYTES_MAX: usize = 4 << 10;
const DESCRIBED_BYTES: usize = 256;

/// A physical plan, with what its nodes counted.
#[derive(Debug, Clone, PartialEq)]
pub struct Outline {
    /// Equal for runs with one physical plan. Another join algorithm or build side has another one, where the logical
    /// plan is the same. It depends on what the engine chose: two machines may run one query by two plans.
    pub fingerprint: Fingerprint,
    /// The nodes, each after its inputs.
    pub nodes: Vec<OutlineNode>,
}

/// A node of an [`Outline`].
#[derive(Debug, Clone, PartialEq)]
pub struct OutlineNode {
    /// Identity of the node in the profile.
    pub id: u64,
    /// The engine's name for what the node is.
    pub kind: String,
    /// What the node does.
    pub role: Role,
    /// The nodes it reads from, by their place in the outline.
    pub inputs: Vec<usize>,
    /// Hash of the node without its inputs.
    pub own_shape: u64,
    /// Hash of the node and all below it.
    pub shape: u64,
    /// The table a scan reads.
    pub table: Option<String>,
    /// The condition rows must meet.
    pub predicate: Option<String>,
    /// Columns a scan reads; `None` for all.
    pub columns: Option<u32>,
    /// Sort of a join.
    pub how: Option<String>,
    /// The function of the program that the node calls.
    pub user_code: Option<String>,
    /// What it counted.
    pub counters: OutlineCounters,
}

/// Counters of a node; `None` where the engine did not send one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OutlineCounters {
    /// Time threads worked in the node, in nanoseconds.
    pub busy_ns: Option<u64>,
    /// Rows taken from all inputs.
    pub rows_in: Option<u64>,
    /// Rows given on.
    pub rows_out: Option<u64>,
    /// Rows a scan decoded before its predicate.
    pub rows_scanned: Option<u64>,
    /// Bytes read.
    pub bytes_read: Option<u64>,
    /// Time its partitions waited for data, in sum, in nanoseconds. While reads were under way, all of them count as
    /// waiting.
    pub waiting_ns: Option<u64>,
    /// Bytes spilled to disk.
    pub spilled_bytes: Option<u64>,
    /// Partitions.
    pub partitions: Option<u64>,
    /// What the largest partition holds, in thousandths of what it would if all were of one size.
    pub imbalance_permille: Option<u64>,
}

/// Describes the physical plan of a profile.
pub fn outline(profile: &Profile<'_>) -> Outline {
    let graph = Graph::of(&profile.plan.physical);
    let described: Vec<Described> = graph.steps.iter().map(Described::of).collect();
    of_described(&graph, &described)
}

/// Makes the [`Outline`]s of many runs.
#[derive(Debug, Default)]
pub struct Outlines {
    /// By role, kind and properties, as they were sent.
    known: HashMap<Box<str>, Arc<Described>>,
    /// About the bytes of what is known.
    bytes: usize,
}

impl Outlines {
    /// The same as [`outline`].
    pub fn outline(&mut self, profile: &Profile<'_>) -> Outline {
        let graph = Graph::of(&profile.plan.physical);
        let mut key = String::new();
        let described: Vec<Arc<Described>> =
            graph.steps.iter().map(|step| self.describe(step, &mut key)).collect();
        of_described(&graph, &described)
    }

    fn describe(&mut self, step: &Step<'_>, key: &mut String) -> Arc<Described> {
        key.clear();
        key.push_str(step.role().as_str());
        key.push('\0');
        key.push_str(&step.node.kind);
        key.push('\0');
        key.push_str(step.node.properties.as_ref().map_or("", |properties| properties.as_json()));
        if let Some(known) = self.known.get(key.as_str()) {
            return Arc::clone(known);
        }
        let described = Arc::new(Described::of(step));
        if key.len() <= DESCRIPTION_BYTES_MAX {
            if self.bytes > KNOWN_BYTES_MAX {
                *self = Self::default();
            }
            self.bytes += key.len() + DESCRIBED_BYTES;
            self.known.insert(key.as_str().into(), Arc::clone(&described));
        }
        described
    }
}

/// What follows from the role, the kind and the properties of a node.
#[derive(Debug)]
struct Described {
    own_shape: Hash,
    table: Option<String>,
    predicate: Option<String>,
    columns: Option<u32>,
    how: Option<String>,
    user_code: Option<String>,
}

impl Described {
    fn of(step: &Step<'_>) -> Self {
        let properties = &step.properties;
        let predicate = properties.texts(&PREDICATE).join(" and ");
        Self {
            own_shape: own_shape(step),
            table: properties.text(&TABLE).map(table_name).map(|name| cut(&name)),
            predicate: (!predicate.is_empty()).then(|| cut(&predicate)),
            columns: properties.names(&PROJECTION).map(|names| names.len() as u32),
            how: properties.text(&HOW).map(str::to_ascii_lowercase),
            user_code: user_code(step),
        }
    }
}

/// The outline of a plan, given what is known of each node.
fn of_described<D: std::borrow::Borrow<Described>>(graph: &Graph<'_>, described: &[D]) -> Outline {
    let shapes = shapes_of(graph, described.iter().map(|described| described.borrow().own_shape));
    let order = order(graph, &shapes);
    let mut place_of = vec![0; order.len()];
    for (place, &step) in order.iter().enumerate() {
        place_of[step] = place;
    }
    let node = |&at: &usize| node(&graph.steps[at], described[at].borrow(), &shapes[at], &place_of);
    Outline { fingerprint: of_shapes(graph, &shapes), nodes: order.iter().map(node).collect() }
}

/// Depth first from the roots, which go by their hash; a node comes after its inputs.
fn order(graph: &Graph<'_>, shapes: &[Shape]) -> Vec<usize> {
    let mut roots: Vec<usize> = graph.roots().collect();
    roots.sort_by_key(|&root| shapes[root].whole);
    let mut order = Vec::with_capacity(graph.steps.len());
    let mut seen = vec![false; graph.steps.len()];
    for root in roots {
        let mut open = vec![(root, 0)];
        while let Some((step, next)) = open.pop() {
            if next == 0 && std::mem::replace(&mut seen[step], true) {
                continue;
            }
            if let Some(&input) = graph.steps[step].inputs.get(next) {
                open.push((step, next + 1));
                open.push((input, 0));
            } else {
                order.push(step);
            }
        }
    }
    order
}

fn node(step: &Step<'_>, described: &Described, shape: &Shape, place_of: &[usize]) -> OutlineNode {
    OutlineNode {
        id: step.node.id,
        kind: step.node.kind.to_string(),
        role: step.role(),
        inputs: step.inputs.iter().map(|&input| place_of[input]).collect(),
        own_shape: short(&shape.own),
        shape: short(&shape.whole),
        table: described.table.clone(),
        predicate: described.predicate.clone(),
        columns: described.columns,
        how: described.how.clone(),
        user_code: described.user_code.clone(),
        counters: counters(step),
    }
}

fn user_code(step: &Step<'_>) -> Option<String> {
    if let Some(name) = step.properties.user_code() {
        return Some(cut(name));
    }
    let texts = [&EXPRESSIONS, &PREDICATE].into_iter().flat_map(|term| step.properties.texts(term));
    let words = Words::of(texts.filter(|text| text.to_ascii_lowercase().contains("_udf")));
    words.functions.into_iter().find(|name| name.ends_with("_udf"))
}

fn counters(step: &Step<'_>) -> OutlineCounters {
    let partitions = step.counter(&PARTITIONS);
    let imbalance = |largest: Option<u64>, all: u64| {
        let (largest, partitions) = (u128::from(largest?), u128::from(partitions?));
        let permille = (largest * partitions * 1000).checked_div(u128::from(all))?;
        u64::try_from(permille).ok()
    };
    let rows_out = step.counter(&ROWS_OUT);
    let by_rows = imbalance(step.counter(&PARTITION_ROWS_MAX), rows_out.unwrap_or(0));
    OutlineCounters {
        busy_ns: step.counter(&crate::vocabulary::counters::BUSY),
        rows_in: step.counter(&ROWS_IN),
        rows_out,
        rows_scanned: step.counter(&ROWS_SCANNED),
        bytes_read: step.counter(&BYTES_READ),
        waiting_ns: reads_in_partitions(step).or_else(|| waited_in_partitions(step)),
        spilled_bytes: step.counter(&SPILLED_BYTES),
        partitions,
        imbalance_permille: by_rows.or_else(|| imbalance(step.counter(&PARTITION_BUSY_MAX), step.busy_ns())),
    }
}

/// Time reads were under way, for each partition.
fn reads_in_partitions(step: &Step<'_>) -> Option<u64> {
    let partitions = step.counter(&PARTITIONS).unwrap_or(1).max(1);
    Some(step.counter(&IO)?.saturating_mul(partitions))
}

/// How long the partitions of a scan of DataFusion waited for data: its own counters say how long each was under way
/// to the next batch, and the work within that is the node's busy time.
fn waited_in_partitions(step: &Step<'_>) -> Option<u64> {
    if step.role() != Role::Scan {
        return None;
    }
    let custom = &step.node.metrics.as_ref()?.custom;
    let of = |name: &str| {
        let counter = custom.iter().find(|custom| &*custom.key == name)?;
        let value = counter.value.as_ref()?.as_f64()?;
        let ns = match &*counter.unit {
            "s" => value * 1e9,
            "ms" => value * 1e6,
            "us" => value * 1e3,
            _ => value,
        };
        Some(ns as u64)
    };
    let under_way =
        of("time_elapsed_scanning_total")?.saturating_add(of("time_elapsed_opening").unwrap_or(0));
    Some(under_way.saturating_sub(of("time_elapsed_processing").unwrap_or_else(|| step.busy_ns())))
}

fn short(hash: &Hash) -> u64 {
    u64::from_be_bytes(std::array::from_fn(|at| hash[at]))
}

fn cut(text: &str) -> String {
    let mut shown: String = text.chars().take(QUOTED).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::testing::{node, profile, profile_text};

    fn outlined(physical: &[Value]) -> Outline {
        let text = profile_text(10.0, physical, json!({}));
        outline(&profile(&text))
    }

    fn plan() -> [Value; 3] {
        let scan = |id: u64, table: &str| node(id, "Scan", "scan", &[], json!({"table": table}), json!({}));
        let join = node(
            3,
            "HashJoin",
            "join",
            &[1, 2],
            json!({"how": "Inner", "keys": ["k"]}),
            json!({"busy_ns": 7}),
        );
        [scan(1, "a"), scan(2, "b"), join]
    }

    #[test]
    fn the_order_of_the_list_does_not_matter() {
        let listed = plan();
        let turned = [listed[2].clone(), listed[1].clone(), listed[0].clone()];
        assert_eq!(outlined(&listed), outlined(&turned));
        let nodes = outlined(&turned).nodes;
        assert_eq!(nodes.iter().map(|node| node.id).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!((&*nodes[2].inputs, nodes[2].counters.busy_ns), (&[0, 1][..], Some(7)));
    }

    #[test]
    fn another_algorithm_or_build_side_is_another_physical_plan() {
        let base = outlined(&plan()).fingerprint;
        let mut other = plan();
        other[2]["kind"] = json!("SortMergeJoin");
        assert_ne!(base, outlined(&other).fingerprint);
        let mut other = plan();
        other[2]["inputs"] = json!([2, 1]);
        assert_ne!(base, outlined(&other).fingerprint);
        let mut other = plan();
        other[2]["metrics"] = json!({"busy_ns": 8, "partitions": 4});
        assert_eq!(base, outlined(&other).fingerprint);
    }

    #[test]
    fn partitions_that_wait_for_data_are_counted() {
        let scan = |custom: Value| {
            let counters = json!({"busy_ns": 500, "partitions": 8, "rows_out": 800, "partition_rows_max": 400,
                "custom": custom});
            outlined(&[node(1, "DataSourceExec", "scan", &[], json!({}), counters)]).nodes[0].counters
        };
        let custom = json!([{"key": "time_elapsed_scanning_total", "unit": "ns", "value": 3_000},
            {"key": "time_elapsed_opening", "unit": "us", "value": 1}]);
        assert_eq!(scan(custom).waiting_ns, Some(3_500));
        assert_eq!(scan(json!([])).waiting_ns, None);
        assert_eq!(scan(json!([])).imbalance_permille, Some(4_000));
    }

    #[test]
    fn what_is_known_of_nodes_changes_no_outline() {
        let mut outlines = Outlines::default();
        let mut other = plan();
        other[1]["properties"] = json!({"table": "c", "predicate": "x > 1"});
        let mut role = plan();
        role[2]["role"] = json!("aggregate");
        for physical in [&plan(), &other, &role, &plan(), &other, &role] {
            let text = profile_text(10.0, physical, json!({}));
            let profile = profile(&text);
            assert_eq!(outlines.outline(&profile), outline(&profile));
        }
        assert_eq!(outlines.known.len(), 5, "two scans, a join; another scan; another role");
    }

    #[test]
    fn what_is_known_of_nodes_is_bounded() {
        let mut outlines = Outlines::default();
        for number in 0..3_000 {
            let predicate = format!("{number} {}", "x".repeat(3_000));
            let scan = node(1, "Scan", "scan", &[], json!({"predicate": predicate}), json!({}));
            let text = profile_text(10.0, &[scan], json!({}));
            outlines.outline(&profile(&text));
            assert!(outlines.bytes <= KNOWN_BYTES_MAX + DESCRIPTION_BYTES_MAX + DESCRIBED_BYTES);
        }
        assert!(outlines.known.len() < 3_000);
        let long = node(1, "Scan", "scan", &[], json!({"predicate": "x".repeat(9_000)}), json!({}));
        let known = outlines.known.len();
        outlines.outline(&profile(&profile_text(10.0, &[long], json!({}))));
        assert_eq!(outlines.known.len(), known, "a long description is not kept");
    }

    #[test]
    fn a_shared_node_is_listed_once() {
        let scan = node(1, "Scan", "scan", &[], json!({}), json!({}));
        let join = node(2, "CrossJoin", "cross_join", &[1, 1], json!({}), json!({}));
        let nodes = outlined(&[scan, join]).nodes;
        assert_eq!((nodes.len(), &*nodes[1].inputs), (2, &[0, 0][..]));
    }
}
