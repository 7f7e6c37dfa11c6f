//! Is the end of a series another than what came before, and since which run?
//!
//! All splits of the series into its last `m` values and those before are ranked at once: the ranks of all
//! values are found once, and their sum over the last `m` is the rank sum of the Mann-Whitney test of that
//! split. A split is called when
//!
//! 1. the probability of its U by luck is under what a query may spend on one run ([`Spending`]),
//! 2. Cliff's delta is at least [`DELTA_MIN`], and the medians differ by at least a factor that falls with `m`,
//!    and
//! 3. no stretch of `m` runs before was as extreme (or nearly none, where counters say for sure where the change
//!    is): a burst, a cold cache or a slow day that was there before is what the query does. The ranks of every
//!    stretch are at hand, so that this test of its own past, which holds whatever the correlation of neighbours
//!    is, costs one pass (a block test, as in H. R. Künsch, "The Jackknife and the Bootstrap for General
//!    Stationary Observations", Annals of Statistics 17 (1989)).
//!
//! Few values cannot reach a small probability by rank, however far apart they lie; there the moderated t test
//! judges. The place is found in a second step, as the cut that explains most of the variance of the winsorised
//! values.

use queryscope_history::{Alternative, RankTest};

use crate::limits::{AFTER_RUNS_MIN, AFTER_SIZES, BEFORE_RUNS_MIN, DELTA_MIN};
use crate::stats::{
    best_cut, cliffs_delta, deviation, median, midranks, moderated_t, normal_quantile, normal_tail,
};
use crate::two_levels::TwoLevels;

/// What probability of luck one evaluation may call a change at.
///
/// A false discovery rate over all queries would need all of them at once. Where changes are rare, the rate of
/// false alarms is what people feel, so each query has an allowance a day (alpha spending, K. K. G. Lan and D.
/// L. DeMets, "Discrete Sequential Boundaries for Clinical Trials", Biometrika 70 (1983)), which its
/// evaluations share: it does not depend on other queries or on the order of work, and bounds the alarms of any
/// number of queries a day.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spending {
    /// Least runs after a change without a mark.
    pub(crate) least: usize,
    /// Where the place of the change is searched for.
    pub(crate) searched: f64,
    /// Where counters say where it is.
    pub(crate) marked: f64,
}

/// Runs after a change without a mark, unless a query is young and they lie far [`APART`] from all before, in
/// logarithms.
pub(crate) const SEARCHED_RUNS_MIN: usize = 5;
const APART: f64 = 0.8;
pub(crate) const YOUNG: usize = 40;
/// What a young query may spend of its allowance.
const YOUNG_PART: f64 = 0.3;
/// The least shift where counters mark a change, in logarithms.
const MARKED_SHIFT: f64 = 0.2;
/// Values that show whether neighbours are correlated.
const FOLLOWED: f64 = 20.0;
/// The gap between what lies apart.
const GAP: f64 = 0.3;

/// A split that is called.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Split {
    /// Values before the change.
    pub(crate) cut: usize,
    /// Median after less median before, in logarithms.
    pub(crate) shift: f64,
    /// Probability of luck.
    pub(crate) probability: f64,
}

/// Memory that is used again.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    order: Vec<u32>,
    ranks: Vec<f64>,
    sums: Vec<f64>,
    first: Vec<f64>,
    second: Vec<f64>,
    buffer: Vec<f64>,
}

/// The least shift that is called, in logarithms, for so many runs after it.
pub(crate) fn least_shift(after: usize) -> f64 {
    match after {
        ..=4 => 0.30,
        5..=9 => 0.26,
        10..=29 => 0.21,
        _ => 0.19,
    }
}

/// A place where counters say that something changed, by values before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) cut: usize,
    /// Whether it makes runs slower by itself.
    pub(crate) strong: bool,
    /// Whether a version, the plan or the number of threads is another: no host and no weekend does that.
    pub(crate) named: bool,
    /// Whether the counter never was so before: then its place was not searched for.
    pub(crate) sure: bool,
}

/// Looks for a split of the values, which are in the order of time, of which the last is new. No split lies
/// before the floor.
pub(crate) fn scan(
    values: &[f64],
    floor: usize,
    marks: &[Mark],
    spending: Spending,
    scratch: &mut Scratch,
) -> Option<Split> {
    let count = values.len();
    if count < BEFORE_RUNS_MIN + AFTER_RUNS_MIN {
        return None;
    }
    midranks(values, &mut scratch.order, &mut scratch.ranks);
    scratch.sums.clear();
    scratch.sums.push(0.0);
    let mut sum = 0.0;
    for rank in &scratch.ranks {
        sum += rank;
        scratch.sums.push(sum);
    }
    let mut best: Option<Split> = None;
    let marked = marks.iter().map(|mark| {
        (mark.cut, if mark.strong { spending.marked * 5.0 } else { spending.marked }, Some(*mark))
    });
    let searched =
        AFTER_SIZES.iter().filter(|&&size| size < count).map(|&size| (count - size, spending.searched, None));
    for (cut, allowed, mark) in marked.chain(searched) {
        let after = count - cut.min(count);
        if cut < BEFORE_RUNS_MIN.max(floor) || after < AFTER_RUNS_MIN {
            continue;
        }
        let found = judge(values, cut, allowed, mark, spending.least, scratch);
        if found.is_some_and(|found| best.is_none_or(|best| found.probability < best.probability)) {
            best = found;
        }
    }
    best
}

/// Judges one split; `None` where it may be luck.
fn judge(
    values: &[f64],
    cut: usize,
    allowed: f64,
    mark: Option<Mark>,
    least_after: usize,
    scratch: &mut Scratch,
) -> Option<Split> {
    let count = values.len();
    let after = count - cut;
    let (is_marked, is_sure) = (mark.is_some(), mark.is_some_and(|mark| mark.sure));
    let (m, n) = (after as f64, cut as f64);
    let rank_sum = scratch.sums[count] - scratch.sums[cut];
    let u = rank_sum - m * (m + 1.0) / 2.0;
    let delta = cliffs_delta(u, after, cut);
    if delta.abs() < DELTA_MIN {
        return None;
    }
    // Without a continuity correction: a gate, not a judgement.
    let z = (u - m * n / 2.0).abs() / (m * n * (m + n + 1.0) / 12.0).sqrt();
    if z < 2.0 {
        return None;
    }
    let seen = seen_before(&scratch.sums, cut, after, delta > 0.0);
    // The place of a sure mark was not searched for, so a few such stretches may have been there by luck.
    if seen > if is_sure { cut / 100 } else { 0 } {
        return None;
    }
    let Scratch { first, second, buffer, ranks, .. } = scratch;
    let fill = |to: &mut Vec<f64>, from: &[f64]| {
        to.clear();
        to.extend_from_slice(from);
    };
    fill(first, &values[cut..]);
    fill(second, &values[..cut]);
    let (now, then) = (median(first), median(second));
    let shift = now - then;
    // What counters say themselves needs no size of its own beyond the least.
    let least = if is_marked { least_shift(after).min(MARKED_SHIFT) } else { least_shift(after) };
    if shift.abs() < least || shift.signum() != delta.signum() {
        return None;
    }
    if after < least_after && !is_marked && !(cut < YOUNG && shift.abs() >= APART && apart(values, cut)) {
        return None;
    }
    if !is_sure && was_as_far(values, cut, then, shift, buffer) {
        return None;
    }
    let correlation = autocorrelation(&ranks[..cut]);
    let reachable = correlated((-log_choose(count, after.min(cut))).exp(), correlation);
    let probability = if reachable <= allowed / 4.0 {
        let alternative = if delta > 0.0 { Alternative::Greater } else { Alternative::Less };
        RankTest::of_times(first, second)?.probability(alternative)
    } else {
        if delta.abs() < 0.9 {
            return None;
        }
        // Outliers make the test blind; they are drawn in to three deviations about each median.
        for (sample, middle) in [(&mut *first, now), (&mut *second, then)] {
            let spread = 3.0 * deviation(sample, middle, buffer).max(0.05);
            for value in sample.iter_mut() {
                *value = value.clamp(middle - spread, middle + spread);
            }
        }
        if delta > 0.0 { moderated_t(first, second) } else { moderated_t(second, first) }
    };
    let probability = correlated(probability, correlation);
    // What few runs showed to be usual may be luck, too.
    let young = match mark {
        Some(mark) if mark.strong => 0,
        Some(_) => YOUNG / 2,
        None => YOUNG,
    };
    let allowed = if cut < young { allowed * YOUNG_PART } else { allowed };
    (probability <= allowed).then_some(Split { cut, shift, probability })
}

/// Whether all values after the cut are farther out than any before, with a gap between.
pub(crate) fn apart(values: &[f64], cut: usize) -> bool {
    let least = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = |values: &[f64]| values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (before, after) = values.split_at(cut);
    least(after) > most(before) + GAP || most(after) < least(before) - GAP
}

/// Whether a stretch before the cut came as far from the usual as the values after it: three quarters of the
/// shift count as all of it. The stretch is shorter than what came after, as no burst is as long as the one
/// before.
fn was_as_far(values: &[f64], cut: usize, usual: f64, shift: f64, buffer: &mut Vec<f64>) -> bool {
    let after = values.len() - cut;
    let length = (after * 3).div_ceil(5).max(AFTER_RUNS_MIN);
    if length > cut {
        return false;
    }
    buffer.clear();
    buffer.extend(values.iter().map(|value| ((value - usual) / (0.75 * shift)).clamp(0.0, 1.0)));
    let now = buffer[cut..].iter().sum::<f64>() / after as f64;
    let mut sum: f64 = buffer[..length].iter().sum();
    let mut most = sum;
    for end in length..cut {
        sum += buffer[end] - buffer[end - length];
        most = most.max(sum);
    }
    most >= 0.9 * now * length as f64
}

/// How much a rank says of the next one: their correlation, 0 where it is negative. Few ranks seem to follow one
/// another by luck: of fewer than [`FOLLOWED`] it counts less.
fn autocorrelation(ranks: &[f64]) -> f64 {
    let mean = ranks.iter().sum::<f64>() / ranks.len() as f64;
    let own: f64 = ranks.iter().map(|rank| (rank - mean).powi(2)).sum();
    let next: f64 = ranks.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    let known = (ranks.len() as f64 / FOLLOWED).min(1.0);
    if own > 0.0 { (next / own).clamp(0.0, 0.6) * known } else { 0.0 }
}

/// A probability where neighbours are correlated: as many values say as much as fewer independent ones would,
/// their number lower by `(1 - r) / (1 + r)` (the effective sample size of an autoregressive series of the
/// first order; von Storch and Zwiers, *Statistical Analysis in Climate Research*, 1999, section 6.6.8).
fn correlated(probability: f64, correlation: f64) -> f64 {
    if correlation <= 0.0 || probability >= 0.5 {
        return probability;
    }
    normal_tail(normal_quantile(probability) * ((1.0 - correlation) / (1.0 + correlation)).sqrt())
}

/// How many stretches of so many values before the cut were at least as extreme as all after it.
fn seen_before(sums: &[f64], cut: usize, after: usize, greater: bool) -> usize {
    let count = sums.len() - 1;
    let now = sums[count] - sums[cut];
    let as_far = |sum: f64| if greater { sum >= now } else { sum <= now };
    (after..=cut).filter(|&end| as_far(sums[end] - sums[end - after])).count()
}

/// The logarithm of the binomial coefficient.
fn log_choose(n: usize, k: usize) -> f64 {
    (0..k).map(|step| ((n - step) as f64 / (step + 1) as f64).ln()).sum()
}

/// Where the change that a split showed began: the cut near it that explains most of the variance. Values are
/// drawn in to three deviations about the median of their side first, so that one slow run does not draw the
/// cut to itself. A mark near it is the place, unless runs between the two show that the time moved at another run.
pub(crate) fn locate(values: &[f64], split: Split, marks: &[Mark], scratch: &mut Scratch) -> usize {
    let count = values.len();
    let after = count - split.cut;
    let reach = (2 * after).clamp(8, 60);
    let from = split.cut.saturating_sub(reach);
    let Scratch { first, second, buffer, .. } = scratch;
    first.clear();
    first.extend_from_slice(&values[split.cut..]);
    second.clear();
    second.extend_from_slice(&values[..split.cut]);
    let (now, then) = (median(first), median(second));
    let spread = deviation(second, then, buffer).max(0.02);
    let (low, high) = (now.min(then) - spread, now.max(then) + spread);
    buffer.clear();
    buffer.extend(values[from..].iter().map(|value| value.clamp(low, high)));
    let Some((cut, gain)) = best_cut(buffer, AFTER_RUNS_MIN.min(buffer.len() / 2)) else { return split.cut };
    // A mark that explains nearly as much is the place.
    let levels = TwoLevels::new(&values[..split.cut], &values[split.cut..], first);
    let fits = |mark: &&Mark| {
        let (mark, cut) = (mark.cut, from + cut);
        mark > from
            && mark < count
            && !(mark > cut && levels.are_after(values[cut..mark].iter().copied()))
            && !(mark < cut && levels.are_before(values[mark..cut].iter().copied()))
    };
    let marked = marks.iter().filter(fits).filter_map(|mark| {
        let own = gain_at(buffer, mark.cut - from);
        let near = mark.cut.abs_diff(from + cut) <= 3;
        (own >= gain * if mark.strong { 0.75 } else { 0.85 } || near && own >= gain * 0.6)
            .then_some((own, mark.cut))
    });
    marked.max_by(|a, b| a.0.total_cmp(&b.0)).map_or(from + cut, |(_, cut)| cut)
}

fn gain_at(values: &[f64], cut: usize) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let below: f64 = values[..cut].iter().map(|value| value - mean).sum();
    below * below * count / (cut as f64 * (count - cut as f64))
}

/// The step at a cut: the median after it less that of the `near` values before it, and the spread of those values.
/// A series that moves slowly has a small step beside a large difference of all values.
pub(crate) fn step(values: &[f64], cut: usize, near: usize, scratch: &mut Scratch) -> (f64, f64) {
    let from = cut.saturating_sub(near);
    let mut middle = |part: &[f64]| {
        scratch.buffer.clear();
        scratch.buffer.extend(part.iter().copied().filter(|value| !value.is_nan()));
        median(&mut scratch.buffer)
    };
    let (before, after) = (middle(&values[from..cut]), middle(&values[cut..]));
    scratch.first.clear();
    scratch.first.extend(values[from..cut].iter().copied().filter(|value| !value.is_nan()));
    let spread = deviation(&scratch.first, before, &mut scratch.buffer);
    (after - before, spread)
}
