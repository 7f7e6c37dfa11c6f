//! What differs between two runs of one query, in words.

use std::collections::{BTreeSet, HashMap};

use queryscope_protocol::Role;
use serde::Serialize;

use super::scans::Table;
use super::{Facts, Portable};
use crate::compare::{Fate, NodePair, compare};
use crate::say::{bytes, count, times};

/// More changes of a plan than this are counted, not listed.
const LISTED: usize = 6;
/// More columns than this are counted, not listed.
const COLUMNS: usize = 4;
/// Fewer bytes more than this are no difference: what engines read of a file's footer depends on how they divide it.
const BYTES_MIN: u64 = 64 << 10;

/// One difference between two runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// What differs.
    pub kind: DifferenceKind,
    /// Whether the second run does better or worse.
    pub direction: Direction,
    /// The difference in words.
    pub text: String,
}

/// What differs between two runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DifferenceKind {
    /// A predicate that reaches the scan of a table, or does not.
    Predicate,
    /// The columns a scan reads.
    Projection,
    /// Whether joins compare keys.
    Join,
    /// Rows that a node gives on, or a scan decodes.
    Rows,
    /// Bytes that scans read.
    Bytes,
    /// Row groups that scans read.
    RowGroups,
    /// Files that scans read.
    Files,
    /// Whether anything was written to disk for want of memory.
    Spill,
    /// A finding that only one of the runs has.
    Finding,
    /// The shape of the plan.
    Plan,
}

impl DifferenceKind {
    /// Every kind, in the order they are told.
    pub const ALL: &[Self] = &[
        Self::Predicate,
        Self::Projection,
        Self::Join,
        Self::Rows,
        Self::Bytes,
        Self::RowGroups,
        Self::Files,
        Self::Spill,
        Self::Finding,
        Self::Plan,
    ];

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Predicate => "predicate",
            Self::Projection => "projection",
            Self::Join => "join",
            Self::Rows => "rows",
            Self::Bytes => "bytes",
            Self::RowGroups => "row-groups",
            Self::Files => "files",
            Self::Spill => "spill",
            Self::Finding => "finding",
            Self::Plan => "plan",
        }
    }
}

/// Which of two runs does better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// The second does more work, or less well.
    Worse,
    /// The second does less work.
    Better,
    /// It does something else.
    Other,
}

/// What differs between two runs of one query that does not depend on the machine, worse things first.
///
/// A figure differs where it grows or shrinks by more than `tolerance`, such as 0.1 for a tenth.
pub fn differences(base: &Portable<'_>, head: &Portable<'_>, tolerance: f64) -> Vec<Difference> {
    let mut found = Found { tolerance, differences: Vec::new() };
    reached(&base.facts, &head.facts, &mut found);
    joins(&base.facts, &head.facts, &mut found);
    counted(&base.facts, &head.facts, &mut found);
    node_rows(base, head, &mut found);
    spills(&base.facts, &head.facts, &mut found);
    findings(&base.facts, &head.facts, &mut found);
    plan(base, head, &mut found);
    let mut differences = found.differences;
    differences.sort_by_key(|each| (each.direction != Direction::Worse, each.kind));
    differences
}

struct Found {
    tolerance: f64,
    differences: Vec<Difference>,
}

impl Found {
    fn add(&mut self, kind: DifferenceKind, direction: Direction, text: String) {
        self.differences.push(Difference { kind, direction, text });
    }

    /// Adds that a figure grew or shrank, where it did by more than the tolerance.
    fn figure(
        &mut self,
        kind: DifferenceKind,
        figures: (Option<u64>, Option<u64>),
        text: impl Fn(u64, u64) -> String,
    ) {
        let (Some(base), Some(head)) = figures else { return };
        if let Some(direction) = self.direction(base, head) {
            self.add(kind, direction, text(base, head));
        }
    }

    fn direction(&self, base: u64, head: u64) -> Option<Direction> {
        let is_more = |more: u64, less: u64| more as f64 > less.max(1) as f64 * (1.0 + self.tolerance);
        if is_more(head, base) {
            Some(Direction::Worse)
        } else if is_more(base, head) {
            Some(Direction::Better)
        } else {
            None
        }
    }
}

/// Tables that both runs scan.
fn shared<'f>(
    base: &'f std::collections::BTreeMap<String, Table>,
    head: &'f std::collections::BTreeMap<String, Table>,
) -> impl Iterator<Item = (&'f str, &'f Table, &'f Table)> {
    base.iter().filter_map(|(name, then)| Some((name.as_str(), then, head.get(name)?)))
}

fn reached(base: &Facts, head: &Facts, found: &mut Found) {
    for (name, then, now) in shared(&base.reached, &head.reached) {
        predicate(name, then, now, found);
        projection(name, then, now, found);
    }
}

fn predicate(name: &str, then: &Table, now: &Table, found: &mut Found) {
    let kind = DifferenceKind::Predicate;
    let lost: BTreeSet<&String> = then.filtered_on.difference(&now.filtered_on).collect();
    let gained: BTreeSet<&String> = now.filtered_on.difference(&then.filtered_on).collect();
    let (filtered_then, filtered_now) = (then.scans - then.unfiltered, now.scans - now.unfiltered);
    if filtered_now < filtered_then && now.unfiltered > then.unfiltered {
        let on = then.filtered_on.iter().collect();
        found.add(
            kind,
            Direction::Worse,
            format!("the predicate{} no longer reaches the scan of {name}", on_columns(&on)),
        );
    } else if filtered_now > filtered_then && now.unfiltered < then.unfiltered {
        let on = now.filtered_on.iter().collect();
        found.add(
            kind,
            Direction::Better,
            format!("a predicate{} reaches the scan of {name} now", on_columns(&on)),
        );
    } else if !lost.is_empty() && gained.is_empty() {
        found.add(
            kind,
            Direction::Worse,
            format!("the scan of {name} is no longer filtered{}", on_columns(&lost)),
        );
    } else if lost.is_empty() && !gained.is_empty() && now.unfiltered <= then.unfiltered {
        found.add(
            kind,
            Direction::Better,
            format!("the scan of {name} is filtered{}, too", on_columns(&gained)),
        );
    } else if !lost.is_empty() {
        let text =
            format!("the scan of {name} is filtered{} instead of {}", on_columns(&gained), listed(&lost));
        found.add(kind, Direction::Other, text);
    }
}

fn projection(name: &str, then: &Table, now: &Table, found: &mut Found) {
    let kind = DifferenceKind::Projection;
    let (few, many) = (then.columns.len(), now.columns.len());
    if now.reads_all > then.reads_all && then.reads_all == 0 {
        found.add(kind, Direction::Worse, format!("the scan of {name} reads all columns instead of {few}"));
    } else if now.reads_all == 0 && then.reads_all > 0 {
        found.add(kind, Direction::Better, format!("the scan of {name} reads {many} columns instead of all"));
    } else if many != few {
        let direction = if many > few { Direction::Worse } else { Direction::Better };
        let more = now.columns.difference(&then.columns).collect();
        let which = if many > few { format!(" (new: {})", listed(&more)) } else { String::new() };
        found.add(
            kind,
            direction,
            format!("the scan of {name} reads {many} columns instead of {few}{which}"),
        );
    } else if now.columns != then.columns {
        let (gone, come) = (
            then.columns.difference(&now.columns).collect(),
            now.columns.difference(&then.columns).collect(),
        );
        let text = format!("the scan of {name} reads {} instead of {}", listed(&come), listed(&gone));
        found.add(kind, Direction::Other, text);
    }
}

fn joins(base: &Facts, head: &Facts, found: &mut Found) {
    let ((keyed_then, other_then), (keyed_now, other_now)) = (base.joins, head.joins);
    if other_now > other_then && keyed_now < keyed_then {
        let text = "a join compares no keys any more: it tries every pair of rows".into();
        found.add(DifferenceKind::Join, Direction::Worse, text);
    } else if other_now < other_then && keyed_now > keyed_then {
        let text = "a join that tried every pair of rows compares keys now".into();
        found.add(DifferenceKind::Join, Direction::Better, text);
    }
}

fn counted(base: &Facts, head: &Facts, found: &mut Found) {
    for (name, then, now) in shared(&base.counted, &head.counted) {
        let say = |what: &'static str| {
            move |then: u64, now: u64| {
                format!(
                    "the scan of {name} reads {} {what} instead of {}{}",
                    count(now),
                    count(then),
                    factor(then, now)
                )
            }
        };
        found.figure(DifferenceKind::Rows, (then.rows, now.rows), say("rows"));
        found.figure(DifferenceKind::RowGroups, (then.row_groups, now.row_groups), say("row groups"));
        found.figure(DifferenceKind::Files, (then.files, now.files), say("files"));
        let far = then.bytes.zip(now.bytes).filter(|(then, now)| then.abs_diff(*now) > BYTES_MIN).unzip();
        found.figure(DifferenceKind::Bytes, far, |then, now| {
            format!("the scan of {name} reads {} instead of {}{}", bytes(now), bytes(then), factor(then, now))
        });
    }
}

/// Rows of nodes that both plans have. What a node gives more for no other reason than that it took more is not told.
fn node_rows(base: &Portable<'_>, head: &Portable<'_>, found: &mut Found) {
    let pairs = compare(&base.physical, &head.physical).nodes;
    let inputs: HashMap<u64, &[u64]> =
        head.physical.plan.physical.iter().map(|node| (node.id, &node.inputs[..])).collect();
    let tables = shared(&base.facts.counted, &head.facts.counted);
    let most = |ratios: &mut dyn Iterator<Item = f64>| ratios.fold(1.0, f64::max);
    let of_scans = most(&mut tables.filter_map(|(_, then, now)| Some(ratio(then.rows?, now.rows?))));
    let figures = |pair: &NodePair| {
        let (then, now) = (pair.base.as_ref()?, pair.run.as_ref()?);
        Some((now.id, (base.rows(then.id)?, head.rows(now.id)?)))
    };
    let rows: HashMap<u64, (u64, u64)> = pairs.iter().filter_map(figures).collect();
    for pair in &pairs {
        let Some(node) = &pair.run else { continue };
        let Some(&(then, now)) = rows.get(&node.id) else { continue };
        let Some(direction) = found.direction(then, now) else { continue };
        let below = below(node.id, &inputs);
        let come = below.iter().filter_map(|id| rows.get(id)).map(|&(then, now)| ratio(then, now));
        let come = most(&mut come.chain([of_scans]));
        if direction == Direction::Worse && ratio(then, now) <= come * (1.0 + found.tolerance) {
            continue;
        }
        if direction == Direction::Better && !below.is_empty() && below.iter().any(|id| rows.contains_key(id))
        {
            continue;
        }
        let text = format!(
            "{} gives {} rows instead of {}{}",
            node.kind,
            count(now),
            count(then),
            factor(then, now)
        );
        found.add(DifferenceKind::Rows, direction, text);
    }
}

/// All nodes below one.
fn below(root: u64, inputs: &HashMap<u64, &[u64]>) -> BTreeSet<u64> {
    let mut open: Vec<u64> = inputs.get(&root).into_iter().flat_map(|ids| ids.iter().copied()).collect();
    let mut seen = BTreeSet::new();
    while let Some(id) = open.pop() {
        if seen.insert(id) {
            open.extend(inputs.get(&id).into_iter().flat_map(|ids| ids.iter()));
        }
    }
    seen
}

fn spills(base: &Facts, head: &Facts, found: &mut Found) {
    match (base.spilled, head.spilled) {
        (false, true) => {
            found.add(DifferenceKind::Spill, Direction::Worse, "it spills to disk now".into());
        }
        (true, false) => {
            found.add(DifferenceKind::Spill, Direction::Better, "it no longer spills to disk".into());
        }
        _ => {}
    }
}

fn findings(base: &Facts, head: &Facts, found: &mut Found) {
    let of = |facts: &Facts, rule: &str| facts.findings.get(rule).cloned().unwrap_or_default();
    let rules: BTreeSet<&String> = base.findings.keys().chain(head.findings.keys()).collect();
    for rule in rules {
        let (then, now) = (of(base, rule), of(head, rule));
        let (direction, longer, other) = match now.len().cmp(&then.len()) {
            std::cmp::Ordering::Greater => (Direction::Worse, &now, &then),
            std::cmp::Ordering::Less => (Direction::Better, &then, &now),
            std::cmp::Ordering::Equal => continue,
        };
        // Which of several is the new one shows by its text, where that is another.
        let text = longer.iter().find(|text| !other.contains(text)).or_else(|| longer.first());
        let is = if direction == Direction::Worse { "new finding" } else { "no longer found" };
        let text = text.map(String::as_str).unwrap_or_default();
        found.add(DifferenceKind::Finding, direction, format!("{is}, {rule}: {text}"));
    }
}

fn plan(base: &Portable<'_>, head: &Portable<'_>, found: &mut Found) {
    let asked = base.facts.logical != head.facts.logical;
    if !asked && base.facts.physical == head.facts.physical {
        return;
    }
    let (nodes, which) = if asked {
        (compare(&base.logical, &head.logical).nodes, "the plan")
    } else {
        (compare(&base.physical, &head.physical).nodes, "the engine's plan")
    };
    let mut changes: Vec<String> = nodes.iter().flat_map(changes).collect();
    if changes.is_empty() && nodes.iter().any(|pair| pair.fate == Fate::Changed) {
        // What reaches scans is told on its own.
        return;
    }
    let more = changes.len().saturating_sub(LISTED);
    changes.truncate(LISTED);
    if more > 0 {
        changes.push(format!("{more} more changes"));
    }
    if changes.is_empty() {
        changes.push("its nodes stand in another order".into());
    }
    found.add(DifferenceKind::Plan, Direction::Other, format!("{which} changed: {}", changes.join("; ")));
}

fn changes(pair: &NodePair) -> Vec<String> {
    let kind = |figures: &Option<crate::compare::Figures>| {
        figures.as_ref().map(|figures| figures.kind.clone()).unwrap_or_default()
    };
    match pair.fate {
        Fate::Same => Vec::new(),
        Fate::Added => vec![format!("{} is new", kind(&pair.run))],
        Fate::Removed => vec![format!("{} is gone", kind(&pair.base))],
        Fate::Changed => {
            let is_scan = pair.run.as_ref().is_some_and(|run| run.role == Role::Scan.as_str());
            let is_told = |what: &str| is_scan && matches!(what, "predicate" | "projection");
            let shape = pair.changes.iter().filter(|change| change.shape && !is_told(change.what));
            shape.map(|change| format!("{}: {}", kind(&pair.run), change.text)).collect()
        }
    }
}

fn ratio(then: u64, now: u64) -> f64 {
    now as f64 / then.max(1) as f64
}

/// How many times as much, in brackets; nothing where it is less than twice as much, or less.
fn factor(then: u64, now: u64) -> String {
    if then > 0 && now >= 2 * then { format!(" ({})", times(ratio(then, now))) } else { String::new() }
}

fn on_columns(columns: &BTreeSet<&String>) -> String {
    if columns.is_empty() { String::new() } else { format!(" on {}", listed(columns)) }
}

fn listed(columns: &BTreeSet<&String>) -> String {
    let mut names: Vec<&str> = columns.iter().take(COLUMNS).map(|name| name.as_str()).collect();
    let more = columns.len().saturating_sub(COLUMNS);
    let rest = format!("{more} more");
    if more > 0 {
        names.push(&rest);
    }
    names.join(", ")
}
