//! What is different between two plans, in the words of a planner.
//!
//! Nodes are named by what they do ("the filter on valid_until"), and changes by where they stand among the nodes that
//! shape the rows: joins, groupings, sorts. A node is told of once: a filter that left a scan and became a node of its
//! own is one sentence, not three.

use std::borrow::Cow;
use std::collections::BTreeSet;

use queryscope_protocol::Role;
use serde::Serialize;

use super::changes;
use super::matching::{MAX_NODES, Pairs};
use crate::condition::{NAMES_MAX, listed, on_columns, without_literals};
use crate::graph::{Graph, Step};
use crate::table::table_name;
use crate::vocabulary::Term;
use crate::vocabulary::properties::{EXPRESSIONS, FILES, KEYS, ORDER, PREDICATE, PROJECTION, TABLE};
use crate::words::{Words, plain_columns, stable_name};

/// More sentences say less.
const SENTENCES_MAX: usize = 40;

/// One difference between two plans.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = PlanDifference))]
pub struct Difference {
    /// It in words, as a sentence without its full stop.
    pub text: String,
    /// The node of the base it is about; null where it has none.
    pub base: Option<u64>,
    /// The node of the run it is about; null where it has none.
    pub run: Option<u64>,
}

/// What is different, the changes of order first.
pub(super) fn differences(base: &Graph<'_>, run: &Graph<'_>, pairs: &Pairs) -> Vec<Difference> {
    // Nothing came or went where nobody knows what was there.
    if base.steps.is_empty() != run.steps.is_empty() {
        let text = format!(
            "The physical plan of the {} is not known",
            if base.steps.is_empty() { "base" } else { "run" }
        );
        return vec![Difference { text, base: None, run: None }];
    }
    let mut telling = Telling {
        base,
        run,
        pairs,
        found: Vec::new(),
        base_told: BTreeSet::new(),
        run_told: BTreeSet::new(),
        base_parted: BTreeSet::new(),
        run_parted: BTreeSet::new(),
    };
    // Beyond that, which node stands before which takes time by the square of their number.
    if base.steps.len().max(run.steps.len()) <= MAX_NODES {
        telling.moved();
    }
    telling.filters_of_scans();
    telling.sources();
    telling.changed(is_told_alone);
    telling.came();
    telling.went();
    // Projections follow from what reads from them.
    telling.changed(|step| !is_told_alone(step));
    telling.machinery();
    telling.found.truncate(SENTENCES_MAX);
    telling.found
}

struct Telling<'t, 'p> {
    base: &'t Graph<'p>,
    run: &'t Graph<'p>,
    pairs: &'t Pairs,
    found: Vec<Difference>,
    /// Places of nodes that a sentence has named as its subject.
    base_told: BTreeSet<usize>,
    run_told: BTreeSet<usize>,
    /// Places of nodes that were matched as the most alike, and do another work at another place.
    base_parted: BTreeSet<usize>,
    run_parted: BTreeSet<usize>,
}

impl Telling<'_, '_> {
    fn tell(&mut self, text: String, base: Option<usize>, run: Option<usize>) {
        self.base_told.extend(base);
        self.run_told.extend(run);
        let id = |graph: &Graph<'_>, place: Option<usize>| place.map(|place| graph.steps[place].node.id);
        let (base, run) = (id(self.base, base), id(self.run, run));
        self.found.push(Difference { text, base, run });
    }

    fn base_of(&self, run: usize) -> Option<usize> {
        self.pairs.base_of(run).filter(|_| !self.run_parted.contains(&run))
    }

    fn run_of(&self, base: usize) -> Option<usize> {
        self.pairs.run_of(base).filter(|_| !self.base_parted.contains(&base))
    }

    /// Whether a node of the run does the work of its node of the base; a filter between other aggregations may be on
    /// what these compute, and is another one then.
    fn is_same_work(&self, there: usize, here: usize) -> Sameness {
        let (was, is) = (&self.base.steps[there], &self.run.steps[here]);
        let same = same_work(was, is);
        if is.role() != Role::Selection || same != Sameness::Same {
            return same;
        }
        let aggregations = |graph: &Graph<'_>, filter: usize| -> Vec<usize> {
            let below = graph.below(filter).into_iter();
            below.filter(|&place| graph.steps[place].role() == Role::Aggregation).collect()
        };
        let (below_base, below_run) = (aggregations(self.base, there), aggregations(self.run, here));
        let partnered =
            |place: &usize| self.pairs.base_of(*place).is_some_and(|base| below_base.contains(&base));
        let (new, old): (Vec<usize>, Vec<usize>) = (
            below_run.iter().filter(|place| !partnered(place)).copied().collect(),
            below_base
                .iter()
                .filter(|&&place| self.pairs.run_of(place).is_none_or(|run| !below_run.contains(&run)))
                .copied()
                .collect(),
        );
        let columns = columns(is);
        let passes = new.iter().all(|&place| is_by(&self.run.steps[place], &columns))
            && old.iter().all(|&place| is_by(&self.base.steps[place], &columns));
        if passes { Sameness::Same } else { Sameness::Other }
    }

    /// Nodes of both plans of which one ran before the other, and now runs after it.
    fn moved(&mut self) {
        let matched: Vec<(usize, usize)> = (0..self.run.steps.len())
            .filter(|&here| rank(&self.run.steps[here]).is_some())
            .filter_map(|here| Some((self.pairs.base_of(here)?, here)))
            .collect();
        let (below_base, below_run) = (Below::of(self.base), Below::of(self.run));
        let (same, others): (Vec<_>, Vec<_>) = matched
            .iter()
            .copied()
            .partition(|&(there, here)| self.is_same_work(there, here) == Sameness::Same);
        for &(there, here) in &others {
            let turned = |&(was, is): &(usize, usize)| {
                below_base.has(was, there) && below_run.has(here, is)
                    || below_base.has(there, was) && below_run.has(is, here)
            };
            if self.is_same_work(there, here) == Sameness::Other && same.iter().any(turned) {
                self.base_parted.insert(there);
                self.run_parted.insert(here);
            }
        }
        let matched = same;
        let mut subjects = matched.clone();
        subjects.sort_by_key(|&(_, here)| rank(&self.run.steps[here]));
        let mut told = BTreeSet::new();
        for &(there, here) in &subjects {
            let others =
                || matched.iter().copied().filter(|&(_, other)| other != here && !told.contains(&other));
            // The farthest that it ran before and runs after now, or the other way round.
            let after = others()
                .filter(|&(was, is)| below_base.has(was, there) && below_run.has(here, is))
                .max_by_key(|&(_, is)| below_run.count(is));
            let before = others()
                .filter(|&(was, is)| below_base.has(there, was) && below_run.has(is, here))
                .min_by_key(|&(_, is)| below_run.count(is));
            let Some((way, (_, other))) =
                after.map(|pair| ("after", pair)).or_else(|| before.map(|pair| ("before", pair)))
            else {
                continue;
            };
            let text = format!(
                "{} now runs {way} {}",
                sentence_name(&self.run.steps[here]),
                name(&self.run.steps[other])
            );
            self.tell(text, Some(there), Some(here));
            told.insert(here);
        }
    }

    /// Conditions that a scan no longer applies itself, or applies now.
    fn filters_of_scans(&mut self) {
        for here in 0..self.run.steps.len() {
            let Some(there) = self.base_of(here) else { continue };
            if self.run.steps[here].role() != Role::Scan {
                continue;
            }
            let (was, is) = (columns(&self.base.steps[there]), columns(&self.run.steps[here]));
            if was.is_empty() == is.is_empty() {
                continue;
            }
            let scan = name(&self.run.steps[here]);
            if is.is_empty() {
                let filter = filter_above(self.run, here, &self.base.steps[there], |place| {
                    self.base_of(place).is_none()
                });
                let on = on_columns(&was);
                let text = match filter.map(|filter| (filter, join_between(self.run, here, filter))) {
                    Some((_, Some(join))) => {
                        let join = name(&self.run.steps[join]);
                        format!("The filter{on} now runs after {join}, no longer in {scan}")
                    }
                    Some((_, None)) => format!("The filter{on} now runs after {scan}, no longer in it"),
                    None => format!("{} no longer filters{on}", capital(&scan)),
                };
                self.run_told.extend(filter);
                self.tell(text, Some(there), Some(filter.unwrap_or(here)));
            } else {
                let filter = filter_above(self.base, there, &self.run.steps[here], |place| {
                    self.run_of(place).is_none()
                });
                let on = on_columns(&is);
                let text = match filter.map(|filter| join_between(self.base, there, filter)) {
                    Some(Some(join)) => {
                        let join = name(&self.base.steps[join]);
                        format!("The filter{on} now runs in {scan}, before {join}")
                    }
                    Some(None) => format!("The filter{on} now runs in {scan}"),
                    None => format!("{} now filters{on}", capital(&scan)),
                };
                self.base_told.extend(filter);
                self.tell(text, Some(filter.unwrap_or(there)), Some(here));
            }
            self.run_told.insert(here);
        }
    }

    /// Nodes of both plans that do their work in another way.
    fn changed(&mut self, is_asked: fn(&Step<'_>) -> bool) {
        for here in (0..self.run.steps.len()).filter(|&here| is_asked(&self.run.steps[here])) {
            let Some(there) = self.base_of(here) else { continue };
            let (was, is) = (&self.base.steps[there], &self.run.steps[here]);
            let what = sentence_name(is);
            let is_scan_told = is.role() == Role::Scan && self.run_told.contains(&here);
            let moved = self.pairs.inputs_moved(self.base, self.run, here);
            let swapped = moved.as_deref() == Some(super::matching::SWAPPED);
            for change in changes::changes(was, is, None).into_iter().filter(|change| change.shape) {
                let text = match change.what {
                    "kind" if !is_told_alone(is) => format!("{what} stands where {} was", name(was)),
                    "kind" => format!("{what} is done by {} instead of {}", is.node.kind, was.node.kind),
                    "predicate" if is_scan_told => continue,
                    // Beside the columns, the functions are told apart.
                    "predicate" if columns(was) == columns(is) => format!("{what}: {}", change.text),
                    "predicate" if columns(was).is_empty() || columns(is).is_empty() => {
                        format!("{what}: {}", change.text)
                    }
                    "predicate" => format!("{what} was{} before", on_columns(&columns(was))),
                    "projection" => format!("{what} {}", reads(was, is)),
                    "table" => format!("{what} stands where {} was", name(was)),
                    _ => format!("{what}: {}", change.text),
                };
                self.tell(text, Some(there), Some(here));
            }
            if swapped {
                self.tell(format!("The sides of {} changed places", name(is)), Some(there), Some(here));
            } else if let Some(text) =
                moved.filter(|_| rank(is).is_some() && self.found.is_empty() && self.run_parted.is_empty())
            {
                self.tell(format!("{what} {text}"), Some(there), Some(here));
            }
        }
    }

    /// Scans of one table that read other files of it: the plan has the same shape, and other rows.
    fn sources(&mut self) {
        for here in 0..self.run.steps.len() {
            let Some(there) = self.base_of(here) else { continue };
            let (was, is) = (&self.base.steps[there], &self.run.steps[here]);
            let Some((then, now)) = was.properties.text(&TABLE).zip(is.properties.text(&TABLE)) else {
                continue;
            };
            if then == now || table_name(then) != table_name(now) {
                continue;
            }
            let (then, now) = changes::apart(then, now);
            let files = was.properties.number(&FILES).zip(is.properties.number(&FILES));
            let files = files.filter(|(old, new)| old != new);
            let files =
                files.map_or_else(String::new, |(old, new)| format!(": {new} files instead of {old}"));
            let text = format!("{} reads {now} instead of {then}{files}", sentence_name(is));
            // What else is different of the scan is still to be told.
            let (base, run) = (Some(was.node.id), Some(is.node.id));
            self.found.push(Difference { text, base, run });
        }
    }

    fn came(&mut self) {
        for here in 0..self.run.steps.len() {
            let step = &self.run.steps[here];
            let is_new = self.base_of(here).is_none() && !self.run_told.contains(&here);
            if is_new && is_told_alone(step) {
                let before = reader(self.run, here, |place| self.base_of(place).is_some());
                let place = before.map(|place| format!(" before {}", name(&self.run.steps[place])));
                let text = format!("{} was added{}", capital(&indefinite(step)), place.unwrap_or_default());
                self.tell(text, None, Some(here));
            }
        }
    }

    fn went(&mut self) {
        for there in 0..self.base.steps.len() {
            let step = &self.base.steps[there];
            let is_gone = self.run_of(there).is_none() && !self.base_told.contains(&there);
            if is_gone && is_told_alone(step) {
                let before = reader(self.base, there, |place| self.run_of(place).is_some());
                let place =
                    before.map(|place| format!(", which ran before {}", name(&self.base.steps[place])));
                let text = format!("{} is gone{}", sentence_name(step), place.unwrap_or_default());
                self.tell(text, Some(there), None);
            }
        }
    }

    /// Nodes that shape no rows, all in one sentence: projections, exchanges, and what only the engine knows.
    fn machinery(&mut self) {
        let kinds = |graph: &Graph<'_>, is_alone: &dyn Fn(usize) -> bool| -> Vec<(usize, String)> {
            let mut counts: Vec<(usize, String)> = Vec::new();
            for place in (0..graph.steps.len()).filter(|&place| is_alone(place)) {
                let step = &graph.steps[place];
                if is_told_alone(step) {
                    continue;
                }
                match counts.iter_mut().find(|(_, kind)| *kind == *step.node.kind) {
                    Some((count, _)) => *count += 1,
                    None => counts.push((1, step.node.kind.to_string())),
                }
            }
            counts.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
            counts
        };
        let come = kinds(self.run, &|place| self.base_of(place).is_none() && !self.run_told.contains(&place));
        let gone =
            kinds(self.base, &|place| self.run_of(place).is_none() && !self.base_told.contains(&place));
        for (kinds, way) in [(come, "added"), (gone, "gone")] {
            let count: usize = kinds.iter().map(|(count, _)| count).sum();
            let name = |(count, kind): &(usize, String)| format!("{count} {kind}");
            let names: Vec<String> = kinds.iter().take(NAMES_MAX).map(name).collect();
            let more = if kinds.len() > NAMES_MAX { ", …" } else { "" };
            let names = names.join(", ");
            match (count, way) {
                (0, _) => {}
                (1, "added") => self.tell(format!("One more step was added: {names}"), None, None),
                (1, _) => self.tell(format!("One step is gone: {names}"), None, None),
                (_, "added") => {
                    self.tell(format!("{count} more steps were added: {names}{more}"), None, None);
                }
                _ => self.tell(format!("{count} steps are gone: {names}{more}"), None, None),
            }
        }
    }
}

/// Which nodes are below which, as sets of bits.
struct Below {
    words: usize,
    bits: Vec<u64>,
}

impl Below {
    fn of(graph: &Graph<'_>) -> Self {
        let words = graph.steps.len().div_ceil(64);
        let mut bits = vec![0; words * graph.steps.len()];
        // A node stands behind all it reads from.
        for (place, step) in graph.steps.iter().enumerate() {
            for &input in &step.inputs {
                for word in 0..words {
                    bits[place * words + word] |= bits[input * words + word];
                }
                bits[place * words + input / 64] |= 1 << (input % 64);
            }
        }
        Self { words, bits }
    }

    fn has(&self, above: usize, below: usize) -> bool {
        self.bits[above * self.words + below / 64] >> (below % 64) & 1 == 1
    }

    fn count(&self, above: usize) -> u32 {
        self.bits[above * self.words..(above + 1) * self.words].iter().map(|word| word.count_ones()).sum()
    }
}

/// Nodes whose order shapes the rows: the lower, the sooner it is the subject of a sentence.
fn rank(step: &Step<'_>) -> Option<u8> {
    match step.role() {
        Role::Selection => Some(0),
        Role::TopK => Some(1),
        Role::Sort => Some(2),
        Role::Distinct => Some(3),
        Role::Aggregation => Some(4),
        Role::Union => Some(5),
        Role::Join | Role::ThetaJoin | Role::CrossJoin | Role::SemiAntiJoin => Some(6),
        _ => None,
    }
}

fn is_told_alone(step: &Step<'_>) -> bool {
    rank(step).is_some() || matches!(step.role(), Role::Scan | Role::Dataframe | Role::Function | Role::Sink)
}

/// The condition's columns.
fn columns(step: &Step<'_>) -> BTreeSet<String> {
    let words = Words::of(step.properties.texts(&PREDICATE));
    words.columns.iter().map(|name| stable_name(name).into_owned()).collect()
}

/// Whether two nodes do one work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sameness {
    Same,
    Other,
    /// They do not say what they work on.
    Unknown,
}

/// Whether two matched nodes filter by one condition, or join, group or sort by the same columns.
fn same_work(was: &Step<'_>, is: &Step<'_>) -> Sameness {
    let of = |step: &Step<'_>, term: &Term| {
        let words = Words::of(step.properties.texts(term));
        words.columns.iter().map(|name| stable_name(name).into_owned()).collect::<BTreeSet<_>>()
    };
    let same = match is.role() {
        Role::Selection => {
            let (then, now) = (condition(was), condition(is));
            if then.is_empty() || now.is_empty() {
                return Sameness::Unknown;
            }
            then == now
        }
        Role::ThetaJoin => condition(was) == condition(is),
        Role::Sort | Role::TopK => of(was, &ORDER) == of(is, &ORDER),
        _ => of(was, &KEYS) == of(is, &KEYS),
    };
    if same { Sameness::Same } else { Sameness::Other }
}

/// A condition's parts without their literals, brackets and spaces, in the order of the alphabet: equal for a filter
/// and for a scan that applies it.
fn condition(step: &Step<'_>) -> Vec<String> {
    let texts = step.properties.texts(&PREDICATE);
    let mut parts: Vec<String> = texts.into_iter().flat_map(without_literals).collect();
    parts.sort_unstable();
    parts.dedup();
    parts
}

/// Whether an aggregation groups by all of these columns themselves: they are the same after it.
fn is_by(aggregation: &Step<'_>, columns: &BTreeSet<String>) -> bool {
    let keys = plain_columns(aggregation.properties.texts(&KEYS));
    let keys: BTreeSet<String> = keys.iter().map(|name| stable_name(name).into_owned()).collect();
    columns.is_subset(&keys)
}

/// A filter above a scan that has the condition of a scan. Between them is nothing that computes one of its columns.
fn filter_above(
    graph: &Graph<'_>,
    scan: usize,
    wanted: &Step<'_>,
    is_alone: impl Fn(usize) -> bool,
) -> Option<usize> {
    let (condition, columns) = (condition(wanted), columns(wanted));
    let mut above = vec![false; graph.steps.len()];
    for place in scan + 1..graph.steps.len() {
        above[place] = graph.steps[place].inputs.iter().any(|&input| input == scan || above[input]);
    }
    (scan + 1..graph.steps.len()).find(|&place| {
        graph.steps[place].role() == Role::Selection
            && above[place]
            && is_alone(place)
            && self::condition(&graph.steps[place]) == condition
            && graph
                .below(place)
                .into_iter()
                .all(|between| !above[between] || hands_on(&graph.steps[between], &columns))
    })
}

/// Whether a node gives these columns on as they are.
fn hands_on(step: &Step<'_>, columns: &BTreeSet<String>) -> bool {
    match step.role() {
        Role::Aggregation => is_by(step, columns),
        Role::Map | Role::Projection | Role::Rename => {
            let computed = step.properties.texts(&EXPRESSIONS).into_iter();
            computed.filter(|text| plain_columns([*text]).is_empty()).all(|text| {
                let named = Words::of([text]).columns;
                named.iter().all(|name| !columns.contains(stable_name(name).as_ref()))
                    && !columns.iter().any(|name| gives_name(text, name))
            })
        }
        _ => true,
    }
}

/// Whether an expression gives its value this name.
fn gives_name(expression: &str, name: &str) -> bool {
    expression.ends_with(&format!(" AS {name}")) || expression.contains(&format!(".alias(\"{name}\")"))
}

/// The last join between a scan and a filter above it.
fn join_between(graph: &Graph<'_>, scan: usize, filter: usize) -> Option<usize> {
    let below = graph.below(filter);
    (scan + 1..filter).rev().find(|&place| {
        rank(&graph.steps[place]) == Some(6) && below.contains(&place) && graph.below(place).contains(&scan)
    })
}

/// The nearest node above that both plans have and that shapes rows.
fn reader(graph: &Graph<'_>, from: usize, is_matched: impl Fn(usize) -> bool) -> Option<usize> {
    let mut place = from;
    // A reader stands behind what it reads: this ends.
    loop {
        place = *graph.steps[place].readers.first()?;
        if is_matched(place) && rank(&graph.steps[place]).is_some() {
            return Some(place);
        }
    }
}

/// "now reads 96 columns instead of 8".
fn reads(was: &Step<'_>, is: &Step<'_>) -> String {
    let of = |step: &Step<'_>| step.properties.names(&PROJECTION).map(|names| names.len());
    let say = |count: Option<usize>| count.map_or_else(|| "all".to_owned(), |count| count.to_string());
    let (then, now) = (of(was), of(is));
    if then == now {
        return format!("now reads {} other columns", say(now));
    }
    let columns = if now == Some(1) { "column" } else { "columns" };
    format!("now reads {} {columns} instead of {}", say(now), say(then))
}

/// What a node does, without an article: "filter on valid_until". Names that the engine made up say nothing to a
/// reader, and are left out.
fn work(step: &Step<'_>) -> String {
    let of = |term| {
        let words = Words::of(step.properties.texts(term));
        let is_given = |name: &&String| matches!(stable_name(name), Cow::Borrowed(_));
        words.columns.iter().filter(is_given).cloned().collect::<BTreeSet<_>>()
    };
    let table = || step.properties.text(&TABLE).map(|table| format!(" of {}", table_name(table)));
    let (word, rest) = match step.role() {
        Role::Scan => ("scan", table().unwrap_or_default()),
        Role::Dataframe => ("frame in memory", String::new()),
        Role::Selection => ("filter", on_columns(&of(&PREDICATE))),
        Role::Join => ("join", on_columns(&of(&KEYS))),
        Role::ThetaJoin => ("join", on_columns(&of(&PREDICATE))),
        Role::CrossJoin => ("cross join", String::new()),
        Role::SemiAntiJoin => ("semi join", on_columns(&of(&KEYS))),
        Role::Aggregation => ("aggregation", listed("by", &of(&KEYS))),
        Role::Distinct => ("removal of duplicates", listed("by", &of(&KEYS))),
        Role::Sort => ("sort", listed("by", &of(&ORDER))),
        Role::TopK => ("top-k", listed("by", &of(&ORDER))),
        Role::Union => ("union", String::new()),
        Role::Sink => ("sink", String::new()),
        _ => return format!("{} #{}", step.node.kind, number(step)),
    };
    if rest.is_empty() {
        format!("{word} {} #{}", step.node.kind, number(step))
    } else {
        format!("{word}{rest}")
    }
}

/// The short number people say: slot maps put a generation into the upper 32 bits of an id.
fn number(step: &Step<'_>) -> u64 {
    if step.node.id < 1_000_000_000 { step.node.id } else { step.node.id & 0xffff_ffff }
}

fn name(step: &Step<'_>) -> String {
    format!("the {}", work(step))
}

fn sentence_name(step: &Step<'_>) -> String {
    format!("The {}", work(step))
}

fn indefinite(step: &Step<'_>) -> String {
    let work = work(step);
    format!("{} {work}", if work.starts_with(['a', 'u']) && !work.starts_with("un") { "an" } else { "a" })
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests;
