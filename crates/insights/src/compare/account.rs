//! What the difference between two wall times is made of.
//!
//! A run's wall time is planning, plus waiting, plus working, plus what is in no counter: `W = P + Q + C / A + U`,
//! where `C` is the time threads worked and `A >= 1` how many of them worked at a time. So the difference is
//!
//! ```text
//! W' - W = (P' - P) + (Q' - Q) + (C' - C) (1/A + 1/A') / 2 + (C + C') / 2 (1/A' - 1/A) + (U' - U)
//! ```
//!
//! where what two factors changed together is halved between them (the decomposition of Shapley for two factors).
//! The last term is less parallelism. The third is put down to nodes: the time of one that was added or removed is a
//! change of plan; of a node in both runs, it is rows times time per row, halved alike into more rows and slower per
//! row (or a change of plan, where the node does something else; to read another file is nothing else). More rows are
//! those of storage where the plan is the same at the node and below; where it is another, only as far as the scans
//! below read more, and the rest is a change of plan: of rows that grew by `g`, of which scans read `s` times as many,
//! storage has the part `ln s / ln g`.
//!
//! No sender tells how long nothing worked. It is at most the time reads and writes were under way, at least
//! `E - C` and at most `E - C / T` of the execution `E = W - P` on `T` threads. Within these bounds the base is
//! taken to have waited as long as it can have, and the run so long that it worked with the base's parallelism.
//!
//! Where even one thread at a time would have worked for less than what is left, the rest is `U`: user code, or time
//! in which the machine gave the process no core. No counter of the engine says which. Where the sender measured
//! the calls of user code in both runs, their difference is told apart, without that of more rows; the rest stays
//! unexplained. A run that calls user code is taken to have waited only for what the CPU time of its process leaves:
//! without that figure, not at all.

use serde::Serialize;

use super::NodePair;
use super::matching::Pairs;
use crate::graph::{Graph, Step};
use crate::query::Query;
use crate::rules::user_code;
use crate::vocabulary::counters::{IO, ROWS_IN, ROWS_OUT, ROWS_SCANNED};
use crate::vocabulary::properties::{PREDICATE, TABLE};
use crate::vocabulary::query_counters;

/// What a difference in wall time is made of, in whole nanoseconds: the parts sum to it exactly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Account {
    /// Wall time of the base.
    pub base_wall_ns: i64,
    /// Wall time of the run.
    pub run_wall_ns: i64,
    /// The run's minus the base's.
    pub difference_ns: i64,
    /// One part for each cause, always in this order; 0 where it changed nothing.
    pub parts: Vec<Part>,
}

/// A part of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AccountPart))]
pub struct Part {
    /// What it is put down to.
    pub cause: Cause,
    /// How much, in nanoseconds; negative where it made the run faster.
    pub ns: i64,
}

/// What a part of a difference is put down to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AccountCause))]
pub enum Cause {
    /// Nodes came, went or work otherwise for each row; with the rows that come from another plan.
    PlanChange,
    /// More rows came from storage.
    MoreRows,
    /// Nodes worked longer for each row.
    SlowerPerRow,
    /// Fewer threads worked at a time.
    LessParallelism,
    /// Nothing worked while reads or writes were under way.
    Waiting,
    /// Planning took longer.
    Planning,
    /// Calls of user code took longer, where both senders measure them.
    UserCode,
    /// What is in no counter: of user code, or of a machine that was busy with something else.
    Unexplained,
}

pub(super) fn account(base: &Query<'_>, run: &Query<'_>, pairs: &Pairs, of_run: &[NodePair]) -> Account {
    let (base_wall_ns, run_wall_ns) = (wall_ns(base), wall_ns(run));
    let difference_ns = run_wall_ns - base_wall_ns;
    let planned = base.profile.planning_ms.zip(run.profile.planning_ms).unwrap_or_default();
    let (then, now) = (Times::of(base, planned.0), Times::of(run, planned.1));
    let waited_then = then.longest_wait();
    let working_then = (then.execution - waited_then).min(then.busy);
    let storage = storage_parts(base, run, pairs, of_run);
    let mut parts = Effects { planning: now.planning - then.planning, ..Effects::default() };
    if then.busy > 0.0 && now.busy > 0.0 && working_then > 0.0 {
        let parallel = then.busy / working_then;
        let waited = (now.execution - now.busy / parallel).clamp(now.shortest_wait(), now.longest_wait());
        let working = (now.execution - waited).min(now.busy);
        parts.waiting = waited - waited_then;
        // Wall time for a time threads worked, in either run.
        let (slope_then, slope_now) = (working_then / then.busy, working / now.busy);
        parts.parallelism = f64::midpoint(then.busy, now.busy) * (slope_now - slope_then);
        let nodes = node_effects(base, run, pairs, of_run, &storage);
        let slope = f64::midpoint(slope_then, slope_now);
        parts.plan = nodes.plan * slope;
        parts.rows = nodes.rows * slope;
        parts.per_row = nodes.per_row * slope;
    } else {
        parts.waiting = now.longest_wait() - waited_then;
    }
    let explained = [
        (Cause::PlanChange, parts.plan),
        (Cause::MoreRows, parts.rows),
        (Cause::SlowerPerRow, parts.per_row),
        (Cause::LessParallelism, parts.parallelism),
        (Cause::Waiting, parts.waiting),
        (Cause::Planning, parts.planning),
    ];
    let mut parts: Vec<Part> =
        explained.into_iter().map(|(cause, ns)| Part { cause, ns: bounded(ns) }).collect();
    let rest = difference_ns - parts.iter().map(|part| part.ns).sum::<i64>();
    let called = called_ns(base).zip(called_ns(run)).unwrap_or_default();
    // Calls may overlap with what is counted: they explain what is left, and no more.
    let of_rest = |ns: i64| if rest < 0 { ns.clamp(rest, 0) } else { ns.clamp(0, rest) };
    let by_calls = of_rest(called.1 - called.0);
    let by_rows = bounded(calls_by_rows(called, base, run, pairs, &storage));
    let by_rows = if by_calls < 0 { by_rows.clamp(by_calls, 0) } else { by_rows.clamp(0, by_calls) };
    if let Some(more_rows) = parts.iter_mut().find(|part| part.cause == Cause::MoreRows) {
        more_rows.ns += by_rows;
    }
    parts.push(Part { cause: Cause::UserCode, ns: by_calls - by_rows });
    parts.push(Part { cause: Cause::Unexplained, ns: rest - by_calls });
    Account { base_wall_ns, run_wall_ns, difference_ns, parts }
}

/// Longest time that is told apart, a year: sums of a few stay within an `i64`.
const MAX_NS: f64 = 365.0 * 86_400.0 * 1e9;

fn bounded(ns: f64) -> i64 {
    if ns.is_nan() { 0 } else { ns.clamp(-MAX_NS, MAX_NS).round() as i64 }
}

fn wall_ns(query: &Query<'_>) -> i64 {
    bounded(query.profile.wall_ms * 1e6)
}

/// How long calls of user code were under way; `None` where the sender does not measure it.
fn called_ns(query: &Query<'_>) -> Option<i64> {
    query.user_code_ms().map(|ms| bounded(ms * 1e6))
}

#[derive(Default)]
struct Effects {
    plan: f64,
    rows: f64,
    per_row: f64,
    parallelism: f64,
    waiting: f64,
    planning: f64,
}

/// The times of one run, in nanoseconds.
struct Times {
    planning: f64,
    execution: f64,
    busy: f64,
    io: f64,
    threads: Option<f64>,
    /// Of a run that calls code of the program: the longest that its process may have worked without the engine's
    /// counters. `None` where it calls none.
    uncounted_work: Option<f64>,
}

impl Times {
    fn of(query: &Query<'_>, planning_ms: f64) -> Self {
        let wall = wall_ns(query) as f64;
        let planning = (planning_ms * 1e6).clamp(0.0, wall);
        let nodes = || query.plan.steps.iter();
        let io = query.counter(&query_counters::IO);
        let io = io.or_else(|| nodes().filter_map(|step| step.counter(&IO)).max());
        let threads = query.counter(&query_counters::THREADS).filter(|&threads| threads > 0);
        Self {
            planning,
            execution: wall - planning,
            busy: nodes().map(|step| step.busy_ns() as f64).sum(),
            io: io.unwrap_or(0) as f64,
            threads: threads.map(|threads| threads as f64),
            uncounted_work: query
                .calls_user_code()
                .then(|| query.process_cpu_ms().map_or(wall, |cpu_ms| (cpu_ms * 1e6).min(wall))),
        }
    }

    fn longest_wait(&self) -> f64 {
        let counted = self.threads.map_or(0.0, |threads| self.busy / threads);
        // Engines count little of what user code does: it may have worked while reads were under way.
        let working = self.uncounted_work.map_or(counted, |work| work.max(counted));
        (self.execution - working).clamp(0.0, self.io.min(self.execution))
    }

    fn shortest_wait(&self) -> f64 {
        (self.execution - self.busy).clamp(0.0, self.longest_wait())
    }
}

#[derive(Default)]
struct NodeEffects {
    plan: f64,
    rows: f64,
    per_row: f64,
}

/// Puts the change of the working time down to nodes.
fn node_effects(
    base: &Query<'_>,
    run: &Query<'_>,
    pairs: &Pairs,
    of_run: &[NodePair],
    storage: &[f64],
) -> NodeEffects {
    let mut effects = NodeEffects::default();
    for (here, step) in run.plan.steps.iter().enumerate() {
        let now = step.busy_ns() as f64;
        let Some(there) = pairs.base_of(here) else {
            effects.plan += now;
            continue;
        };
        let partner = &base.plan.steps[there];
        let then = partner.busy_ns() as f64;
        let by_rows = match (rows(partner), rows(step)) {
            (Some(before), Some(after)) if before > 0.0 && after > 0.0 => {
                Some(time_of_rows((then, before), (now, after)))
            }
            (Some(before), Some(after)) if before + after > 0.0 => Some(now - then),
            (Some(_), Some(_)) => Some(0.0),
            (None, _) | (_, None) => None,
        };
        let of_storage = by_rows.unwrap_or(0.0) * storage[here];
        effects.rows += of_storage;
        effects.plan += by_rows.unwrap_or(0.0) - of_storage;
        let rest = now - then - by_rows.unwrap_or(0.0);
        match by_rows {
            _ if is_changed(&of_run[here]) => effects.plan += rest,
            Some(_) => effects.per_row += rest,
            // Nothing is known of its rows: unexplained.
            None => {}
        }
    }
    let gone = (0..base.plan.steps.len()).filter(|&place| pairs.run_of(place).is_none());
    effects.plan -= gone.map(|place| base.plan.steps[place].busy_ns() as f64).sum::<f64>();
    effects
}

/// Whether a node is another one or does something else. To read another file is nothing else: rows are of the data.
fn is_changed(pair: &NodePair) -> bool {
    pair.base.is_none() || pair.changes.iter().any(|change| change.shape && change.what != TABLE.name())
}

/// What more rows have of the difference of two times, each with its rows: halved with what a row takes longer.
pub fn time_of_rows(then: (f64, f64), now: (f64, f64)) -> f64 {
    if then.1 <= 0.0 || now.1 <= 0.0 {
        return 0.0;
    }
    f64::midpoint(then.0 / then.1, now.0 / now.1) * (now.1 - then.1)
}

/// What more rows of storage have of the time of calls of the program's code: 0 where no node of both runs makes them.
fn calls_by_rows(
    called_ns: (i64, i64),
    base: &Query<'_>,
    run: &Query<'_>,
    pairs: &Pairs,
    storage: &[f64],
) -> f64 {
    let mut steps = run.plan.steps.iter().enumerate();
    let Some((here, step)) = steps.find(|(_, step)| user_code::called(step).is_some()) else { return 0.0 };
    let before = pairs.base_of(here).and_then(|there| rows(&base.plan.steps[there]));
    let of = |(before, after)| time_of_rows((called_ns.0 as f64, before), (called_ns.1 as f64, after));
    storage[here] * before.zip(rows(step)).map_or(0.0, of)
}

/// What a node's work grows with.
fn rows(step: &Step<'_>) -> Option<f64> {
    let out = step.counter(&ROWS_SCANNED).or_else(|| step.counter(&ROWS_OUT));
    match (step.counter(&ROWS_IN), out) {
        (None, None) => None,
        (taken, given) => Some(taken.unwrap_or(0) as f64 + given.unwrap_or(0) as f64),
    }
}

/// For each node of the run, which part of its additional rows storage has: 1 where the plan is the same at the node
/// and below it.
fn storage_parts(base: &Query<'_>, run: &Query<'_>, pairs: &Pairs, of_run: &[NodePair]) -> Vec<f64> {
    let (base, run) = (&base.plan, &run.plan);
    let other_plan = other_plan(base, run, pairs, of_run);
    // Rows that the scans at or below a node read, those of both runs.
    let mut read = vec![(0.0, 0.0); run.steps.len()];
    let mut parts = vec![1.0; run.steps.len()];
    for (here, step) in run.steps.iter().enumerate() {
        let partner = pairs.base_of(here).map(|there| &base.steps[there]);
        let mut sum = partner.filter(|_| step.inputs.is_empty()).and_then(|partner| scanned(partner, step));
        for &input in &step.inputs {
            let (then, now) = sum.unwrap_or_default();
            sum = Some((then + read[input].0, now + read[input].1));
        }
        read[here] = sum.unwrap_or_default();
        if other_plan[here] {
            let grown = partner.and_then(rows).zip(rows(step)).map_or(0.0, |(then, now)| (now / then).ln());
            let part = (read[here].1 / read[here].0).ln() / grown;
            parts[here] = if part.is_finite() { part.clamp(0.0, 1.0) } else { 0.0 };
        }
    }
    parts
}

/// Rows that a scan read in the base and in the run. Where neither says it, what it gave on tells it as long as it has
/// the same predicate; with another one, nothing tells that it read more.
fn scanned(base: &Step<'_>, run: &Step<'_>) -> Option<(f64, f64)> {
    let of = |counter| Some((base.counter(counter)? as f64, run.counter(counter)? as f64));
    let is_same = base.properties.texts(&PREDICATE) == run.properties.texts(&PREDICATE);
    of(&ROWS_SCANNED).or_else(|| of(&ROWS_OUT).map(|(then, now)| (then, if is_same { now } else { then })))
}

/// For each node of the run, whether it or the plan below it is another than in the base.
fn other_plan(base: &Graph<'_>, run: &Graph<'_>, pairs: &Pairs, of_run: &[NodePair]) -> Vec<bool> {
    let mut other = vec![false; run.steps.len()];
    for here in 0..run.steps.len() {
        let other_inputs = pairs.base_of(here).is_some_and(|there| {
            let then = base.steps[there].inputs.iter().map(|&input| pairs.run_of(input));
            let now = run.steps[here].inputs.iter().map(|&input| Some(input));
            !then.eq(now)
        });
        let below = run.steps[here].inputs.iter().any(|&input| other[input]);
        other[here] = other_inputs || below || is_changed(&of_run[here]);
    }
    other
}
