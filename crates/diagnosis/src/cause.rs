//! Why is it slower? Many runs of one side beside many of the other.
//!
//! The difference of the medians is put down to parts by [`account`], each with its node; then to a host or a
//! version that carries it ([`dimension`]). Plans that came before it are named as harmless.

mod account;
mod dimension;
mod median_plan;
mod origins;
mod pair;
mod per_row;
mod rest;
mod sentences;
mod words;

use std::sync::Arc;

use crate::change::{Cause, CauseKind, Change, Examples, Kind, Side};
use crate::features::{RunFeatures, Status};
use crate::limits::COMPARED_RUNS;
use crate::plan::{Matching, Plan};
use crate::stats::{median, median_interval};

use account::{MOVED, Part, account};
use median_plan::Medians;
use per_row::PerRow;
use words::{figure, ms_words};

pub use pair::{Account, AccountPart};

/// Parts below this share of the difference are not told: they join what is unexplained.
const SHARE_MIN: f64 = 0.03;
/// Less of the difference is what shares are rounded by: it joins the largest cause.
const REST_MIN: f64 = 0.005;
/// Runs of the compared plans that differ by less than this part of what all runs do are not typical of them.
const OF_PLANS_MIN: f64 = 0.7;
/// So many of the runs nearest the median are asked whether they tell the first cause.
const EXAMPLES_TRIED: usize = 6;
/// So many runs of a plan before a change show what it costs.
const PLAN_RUNS_MIN: usize = 3;
/// Runs whose rows are this near read as many.
const ROWS_ALIKE: f64 = 1.05;
/// A time that changed by less than this part is as before.
const AS_BEFORE: f64 = 0.05;

/// The runs a change is explained by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sides<'r> {
    /// Before, oldest first; all finished.
    pub(crate) before: &'r [&'r RunFeatures],
    /// Since, oldest first; all finished.
    pub(crate) after: &'r [&'r RunFeatures],
    /// Runs since the change that it is not about: those on other hosts.
    pub(crate) others: &'r [&'r RunFeatures],
    /// Of a change that is about one host, what the others did.
    pub(crate) one_host: Option<OtherHosts>,
}

/// What runs on other hosts did while those on one changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OtherHosts {
    /// They take about the time of before.
    AsBefore,
    /// They changed as well, by much less, or the other way.
    Moved,
}

/// What is said of a change.
#[derive(Debug, Clone, Default)]
pub(crate) struct Explained {
    pub(crate) before: Side,
    pub(crate) after: Side,
    pub(crate) factor: Option<f64>,
    pub(crate) causes: Vec<Cause>,
    pub(crate) examples: Examples,
    pub(crate) harmless: Vec<String>,
}

pub(crate) fn explain(kind: Kind, sides: &Sides<'_>) -> Explained {
    let (before, after) = (side(sides.before), side(sides.after));
    let (Some(then), Some(now)) = (before.median_wall_ms, after.median_wall_ms) else {
        return Explained { before, after, ..Explained::default() };
    };
    let difference_ms = now - then;
    let chosen = Chosen::of(sides);
    let mut explained = Explained { factor: (then > 0.0).then(|| now / then), ..Explained::default() };
    let mut parts = account(&chosen.before, &chosen.after, &chosen.matching, sides.one_host.is_some());
    if kind == Kind::Faster {
        for part in &mut parts {
            part.wall_ns = -part.wall_ns;
        }
    }
    explained.harmless = chosen.harmless(sides);
    let mut causes = shares(parts, difference_ms);
    dimension::carry(&mut causes, sides, chosen.alike().filter(|alike| *alike == kind));
    settle(&mut causes, difference_ms);
    explained.examples = examples(sides, &chosen, [then, now], &causes);
    explained.causes = causes;
    (explained.before, explained.after) = (before, after);
    explained
}

/// Both sides of failures, and what they are.
pub(crate) fn explain_failures(change: &mut Change, before: &[&RunFeatures], after: &[&RunFeatures]) {
    let finished = |runs: &[&RunFeatures]| -> Side {
        let finished: Vec<&RunFeatures> =
            runs.iter().copied().filter(|run| run.status == Status::Finished).collect();
        let failed = (runs.len() - finished.len()) as u64;
        Side { runs: runs.len() as u64, failed, ..side(&finished) }
    };
    (change.before, change.after) = (finished(before), finished(after));
    let typical = |runs: &[&RunFeatures], status: Status| {
        runs.iter().rev().find(|run| run.status == status).map(|run| run.query_id.to_string())
    };
    change.examples =
        Examples { base: typical(before, Status::Finished), run: typical(after, Status::Failed) };
    change.causes = vec![failures(&change.before, &change.after)];
}

/// What the numbers of failed runs say.
pub(crate) fn failures(then: &Side, now: &Side) -> Cause {
    Cause {
        cause: CauseKind::Failures,
        share: 1.0,
        wall_ms: 0.0,
        node: None,
        dimension: None,
        evidence: vec![
            figure("failed", Some(then.failed as f64), Some(now.failed as f64), "runs"),
            figure("runs", Some(then.runs as f64), Some(now.runs as f64), "runs"),
        ],
        sentence: format!(
            "{} of {} runs failed; {} of {} did before",
            now.failed, now.runs, then.failed, then.runs
        ),
    }
}

fn side(runs: &[&RunFeatures]) -> Side {
    let mut walls: Vec<f64> = runs.iter().map(|run| run.wall_ns as f64 / 1e6).collect();
    let mut cpus: Vec<f64> = runs.iter().filter_map(|run| run.cpu_ns).map(|ns| ns as f64 / 1e6).collect();
    let interval = median_interval(&mut walls);
    Side {
        runs: runs.len() as u64,
        median_wall_ms: interval.map(|(middle, _, _)| middle),
        low_ms: interval.map(|(_, low, _)| low),
        high_ms: interval.map(|(_, _, high)| high),
        median_cpu_ms: (!cpus.is_empty()).then(|| median(&mut cpus)),
        failed: 0,
    }
}

/// Of the runs of the plans that were compared, those whose times are nearest to the medians: a pair of two plans would
/// be told apart by what did not matter. The run since is one whose difference has the first cause of the change, where
/// one of the nearest has.
fn examples(sides: &Sides<'_>, chosen: &Chosen, [then_ms, now_ms]: [f64; 2], causes: &[Cause]) -> Examples {
    let base = typical(sides.before, &chosen.before.plan, then_ms).into_iter().next();
    let runs = typical(sides.after, &chosen.after.plan, now_ms);
    let tells_it = |base: &RunFeatures, run: &RunFeatures| {
        let account = Account::of(base, run, causes);
        account.parts.first().map(|part| part.cause) == causes.first().map(|cause| cause.cause)
    };
    let tells = base.and_then(|base| runs.iter().take(EXAMPLES_TRIED).find(|run| tells_it(base, run)));
    let id = |run: &RunFeatures| run.query_id.to_string();
    Examples { base: base.map(id), run: tells.or(runs.first()).copied().map(id) }
}

/// Runs of a plan, that whose time is nearest to the median first. Of the last ones, as they are kept the longest.
fn typical<'r>(runs: &[&'r RunFeatures], plan: &Plan, median_ms: f64) -> Vec<&'r RunFeatures> {
    let mut of_plan = last_of_plan(runs, Some(plan));
    let far = |run: &RunFeatures| (run.wall_ns as f64 / 1e6 - median_ms).abs();
    of_plan.sort_by(|a, b| far(a).total_cmp(&far(b)));
    of_plan
}

/// The runs whose nodes are compared: of one plan on each side, of the same one where it ran before the change.
struct Chosen {
    before: Medians,
    after: Medians,
    matching: Matching,
    /// Plans of runs before that are not those of the compared ones, with how many runs had them.
    other_plans: Vec<(Arc<Plan>, usize)>,
    /// Whether the new plan ran before the change, and how many runs.
    ran_before: usize,
}

impl Chosen {
    fn of(sides: &Sides<'_>) -> Self {
        let after = last_of_plan(sides.after, None);
        let plan = after.first().map(|run| Arc::clone(&run.plan)).unwrap_or_default();
        let ran_before = last_of_plan(sides.before, Some(&plan)).len();
        let as_many = runs_of_as_many_rows(sides, &plan, &after);
        let before = as_many.as_deref().unwrap_or(sides.before);
        let same = last_of_plan(before, Some(&plan));
        let is_harmless = proves_harmless(&same, before, sides.after);
        let before = if is_harmless { same } else { last_of_plan(before, None) };
        let old = before.first().map(|run| Arc::clone(&run.plan)).unwrap_or_default();
        let mut other_plans: Vec<(Arc<Plan>, usize)> = Vec::new();
        for run in sides.before.iter().filter(|run| run.plan.fingerprint != plan.fingerprint) {
            match other_plans.iter_mut().find(|(known, _)| known.fingerprint == run.plan.fingerprint) {
                Some((_, runs)) => *runs += 1,
                None => other_plans.push((Arc::clone(&run.plan), 1)),
            }
        }
        let matching = Matching::new(&old, &plan);
        Self {
            before: Medians::of(old, &before),
            after: Medians::of(plan, &after),
            matching,
            other_plans,
            ran_before,
        }
    }

    /// Whether all nodes of one plan moved the same way, as a machine moves them as well, and which way.
    fn alike(&self) -> Option<Kind> {
        let Self { before, after, matching, .. } = self;
        if before.plan.fingerprint != after.plan.fingerprint {
            return None;
        }
        if PerRow::of(before, after, matching).are_all_slower() {
            return Some(Kind::Slower);
        }
        PerRow::of(after, before, &matching.reversed()).are_all_slower().then_some(Kind::Faster)
    }

    /// Plans that came before the change and cost nothing.
    fn harmless(&self, sides: &Sides<'_>) -> Vec<String> {
        if self.ran_before == 0 || self.before.plan.fingerprint != self.after.plan.fingerprint {
            return Vec::new();
        }
        let Some((old, runs)) = self.other_plans.iter().max_by_key(|(_, runs)| *runs) else {
            return Vec::new();
        };
        if *runs < PLAN_RUNS_MIN {
            return Vec::new();
        }
        let of = |plan: &Plan| {
            let runs = sides.before.iter().copied().enumerate();
            let of_plan = runs.filter(|(_, run)| run.plan.fingerprint == plan.fingerprint);
            let (mut places, mut walls): (Vec<f64>, Vec<f64>) =
                of_plan.clone().map(|(place, run)| (place as f64, run.wall_ns as f64 / 1e6)).unzip();
            (median(&mut places), median(&mut walls), median_rows(of_plan.map(|(_, run)| run)))
        };
        let ((earlier, then, rows_then), (later, now, rows_now)) = (of(old), of(&self.after.plan));
        if !is_as_many(rows_then, rows_now) {
            return Vec::new();
        }
        let factor = now / then.max(f64::MIN_POSITIVE);
        if earlier > later || !(1.0 / MOVED..=MOVED).contains(&factor) {
            return Vec::new();
        }
        let much = if (factor - 1.0).abs() < AS_BEFORE { "nothing" } else { "little" };
        let differences = Matching::new(old, &self.after.plan).differences(old, &self.after.plan);
        let what =
            differences.first().map_or_else(|| "the plan changed".to_owned(), |first| first.text.clone());
        vec![format!(
            "Before that, {what}: it changed {much} ({} in {} runs, {} in {} with the plan before)",
            ms_words(now),
            self.ran_before,
            ms_words(then),
            runs
        )]
    }
}

/// The last runs of a plan; of the most frequent one of the last runs where none is said.
fn last_of_plan<'r>(runs: &[&'r RunFeatures], plan: Option<&Plan>) -> Vec<&'r RunFeatures> {
    let last = &runs[runs.len().saturating_sub(COMPARED_RUNS)..];
    let fingerprint = plan.map_or_else(
        || {
            let count = |run: &RunFeatures| {
                last.iter().filter(|other| other.plan.fingerprint == run.plan.fingerprint).count()
            };
            last.iter().max_by_key(|run| count(run)).map(|run| run.plan.fingerprint)
        },
        |plan| Some(plan.fingerprint),
    );
    let of_plan =
        runs.iter().rev().filter(|run| Some(run.plan.fingerprint) == fingerprint).take(COMPARED_RUNS);
    of_plan.copied().collect()
}

/// Rows that runs read, in the median of those that say it.
fn median_rows<'r>(runs: impl Iterator<Item = &'r RunFeatures>) -> Option<f64> {
    let mut rows: Vec<f64> = runs.filter_map(|run| run.rows_read).map(|rows| rows as f64).collect();
    (!rows.is_empty()).then(|| median(&mut rows))
}

/// Whether runs read about as many rows as others; where nobody says it, they are taken to.
fn is_as_many(one: Option<f64>, other: Option<f64>) -> bool {
    one.zip(other).is_none_or(|(one, other)| one.max(other) <= ROWS_ALIKE * one.min(other))
}

/// The runs before a change that read as many rows as those since. `None` where all runs do as well: those of the new
/// plan read as many, or hardly any did.
fn runs_of_as_many_rows<'r>(
    sides: &Sides<'r>,
    plan: &Plan,
    after: &[&RunFeatures],
) -> Option<Vec<&'r RunFeatures>> {
    let same = last_of_plan(sides.before, Some(plan));
    let rows = median_rows(after.iter().copied());
    if same.is_empty() || is_as_many(median_rows(same.into_iter()), rows) {
        return None;
    }
    let reads_as_many = |run: &&RunFeatures| {
        run.rows_read.is_some() && is_as_many(run.rows_read.map(|rows| rows as f64), rows)
    };
    let alike: Vec<&RunFeatures> = sides.before.iter().copied().filter(reads_as_many).collect();
    // Some of many are as many by chance: most runs of the other plans must be.
    let others = sides.before.iter().filter(|run| run.plan.fingerprint != plan.fingerprint).count();
    (alike.len() >= PLAN_RUNS_MIN && 2 * alike.len() >= others).then_some(alike)
}

/// Whether the runs of the new plan before the change took as long as the others before, not as those since. Of few
/// runs that must be clearer.
fn proves_harmless(same: &[&RunFeatures], before: &[&RunFeatures], after: &[&RunFeatures]) -> bool {
    let log = |runs: &[&RunFeatures]| {
        median(&mut runs.iter().map(|run| (run.wall_ns.max(1) as f64).ln()).collect::<Vec<_>>())
    };
    if same.is_empty() {
        return false;
    }
    let (own, then, now) = (log(same), log(before), log(after));
    let clear = if same.len() < PLAN_RUNS_MIN { 2.0 } else { 1.0 };
    (own - then).abs() * clear < (now - own).abs()
}

/// Parts in the direction of the difference, as causes whose shares sum to 1. The parts are those of the runs of one
/// plan on each side: where these differ by less than all runs do, the rest is not explained.
fn shares(parts: Vec<Part>, difference_ms: f64) -> Vec<Cause> {
    let of_plans: f64 = parts.iter().map(|part| part.wall_ns).sum();
    let with: Vec<Part> = parts.into_iter().filter(|part| part.wall_ns > 0.0).collect();
    let sum: f64 = with.iter().map(|part| part.wall_ns).sum();
    if sum <= 0.0 {
        return vec![unexplained(1.0)];
    }
    let whole = difference_ms.abs() * 1e6;
    let sum = if of_plans < OF_PLANS_MIN * whole { sum.max(whole) } else { sum };
    let mut causes: Vec<Cause> = Vec::new();
    let mut rest = 0.0;
    for part in with {
        let share = part.wall_ns / sum;
        if share < SHARE_MIN || part.cause == CauseKind::Unexplained {
            rest += share;
            continue;
        }
        causes.push(Cause {
            cause: part.cause,
            share,
            wall_ms: share * difference_ms,
            node: part.node,
            dimension: None,
            evidence: part.evidence,
            sentence: part.sentence,
        });
    }
    if rest > 0.0 || causes.is_empty() {
        causes.push(unexplained(rest));
    }
    causes
}

fn unexplained(share: f64) -> Cause {
    Cause {
        cause: CauseKind::Unexplained,
        share,
        wall_ms: 0.0,
        node: None,
        dimension: None,
        evidence: Vec::new(),
        sentence: String::new(),
    }
}

/// Puts the largest first, and makes the shares sum to 1 and the milliseconds to the difference, exactly.
fn settle(causes: &mut Vec<Cause>, difference_ms: f64) {
    let known: f64 =
        causes.iter().filter(|cause| cause.cause != CauseKind::Unexplained).map(|cause| cause.share).sum();
    causes.retain(|cause| cause.cause != CauseKind::Unexplained);
    // What the milliseconds are rounded to: whole nanoseconds.
    let rounded = |ms: f64| (ms * 1e6).round() / 1e6 + 0.0;
    causes.sort_by(|a, b| b.share.total_cmp(&a.share));
    for cause in &mut *causes {
        cause.wall_ms = rounded(cause.share * difference_ms);
    }
    let told: f64 = causes.iter().map(|cause| cause.wall_ms).sum();
    let mut rest = unexplained((1.0 - known).clamp(0.0, 1.0));
    rest.wall_ms = difference_ms - told + 0.0;
    if let Some(largest) = causes.first_mut().filter(|largest| largest.share > 0.0 && rest.share < REST_MIN) {
        largest.share += 1.0 - known;
        largest.wall_ms += rest.wall_ms;
        return;
    }
    rest.sentence = format!("Where {} went is not known", ms_words(rest.wall_ms.abs()));
    let place = causes.partition_point(|cause| cause.share >= rest.share);
    causes.insert(place, rest);
}
