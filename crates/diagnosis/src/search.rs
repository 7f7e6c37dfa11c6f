//! The search for a change at the end of one stream of runs: what is known to move times is taken out, the rest
//! is scanned, and what was found must hold on the same hosts and on the same sort of day as before.

use std::collections::BTreeMap;

use queryscope_protocol::QueryId;

use crate::adjust::{Adjustment, DAY_NS, is_weekend};
use crate::detector::Workspace;
use crate::limits::{AFTER_RUNS_MIN, BEFORE_RUNS_KEPT, BEFORE_RUNS_MIN, DELTA_MIN, STRATUM_RUNS_MIN};
use crate::marks::marks;
use crate::scan::{self, Spending, Split, YOUNG, apart, least_shift, locate, scan};
use crate::series::{Entry, Point};
use crate::stats::median;

/// Runs just before a step of the rows that it is compared with.
const NEAR: usize = 20;
/// Runs on hosts that never ran a query before, until they count, and the longest turn that hosts take.
const NEW_HOST_RUNS: usize = 60;
const TURN_NS: i64 = 7 * DAY_NS;
/// Hosts that show how alike hosts are, and how alike that is: the range of their medians over a shift.
const KNOWN_HOSTS_MIN: usize = 5;
const HOSTS_ALIKE: f64 = 0.33;
/// Part of the runs of both sides that have a host of their own where each run has, as those of a cluster's jobs.
const OWN_HOSTS: f64 = 0.9;
/// Runs after a change of which no counter says more than that all is slower, and below what shift, in
/// logarithms.
const MACHINE_RUNS_MIN: usize = 8;
const MACHINE_SHIFT: f64 = 0.55;
/// Runs before a change that show what a host, and a sort of day, takes.
const LEVEL_RUNS_MIN: [usize; 2] = [BEFORE_RUNS_MIN, STRATUM_RUNS_MIN];
/// A shift, in logarithms, that a weekend which was not seen yet does not excuse: 1.9 times the time.
const BEYOND_WEEKEND: f64 = 0.642;
/// By how much, in logarithms, a run's time must fall for the query to be faster.
const LEAST_GAIN: f64 = 0.1;
/// By how much the slope of the rows may be wrong.
const SLOPE_DOUBT: f64 = 0.8;
/// A step of the rows, in logarithms, that a new plan makes.
const PLAN_STEP: f64 = 0.14;

/// A change that was found.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    /// First run after it.
    pub(crate) since: (i64, QueryId),
    /// In logarithms.
    pub(crate) shift: f64,
    /// Whether times are compared whatever rows were read: the rows are the change, or another plan makes them.
    pub(crate) by_rows: bool,
    /// Whether no counter marks it, and so few runs came after it that it may be a burst of the machine.
    pub(crate) is_doubtful: bool,
    /// The one host it was found on.
    pub(crate) host: Option<u32>,
    /// Whether it is held against runs of the same sort of day alone.
    pub(crate) alike_days: bool,
    pub(crate) adjustment: Adjustment,
}

/// Searches the runs of one stream for a change at their end.
pub(crate) fn search(
    entries: &[&Entry],
    spending: Spending,
    workspace: &mut Workspace,
    settled: Option<(i64, QueryId)>,
    inner: bool,
) -> Option<Found> {
    let count = entries.len();
    if count < BEFORE_RUNS_MIN + AFTER_RUNS_MIN {
        return None;
    }
    let Workspace { scan: scratch, adjust, points, values, rows } = workspace;
    points.clear();
    points.extend(entries.iter().map(|entry| entry.point));
    let floor = settled.map_or(0, |settled| points.partition_point(|point| point.place() < settled));
    without_plans(points);
    let settled = count - (count / 2).min(60);
    let adjustment = if settled >= BEFORE_RUNS_MIN {
        Adjustment::fit(&points[..settled], adjust)
    } else {
        Adjustment::default()
    };
    values.clear();
    values.extend(points.iter().map(|point| adjustment.rest(point)));
    let marks = if inner { Vec::new() } else { marks(points) };
    if let Some(split) = scan(values, floor, &marks, spending, scratch)
        && let known = is_named(&marks, split.cut)
        && let beyond = is_beyond_weekend(values, split)
        && (known || beyond || !is_first_weekend(points, split.cut))
        && holds_within(points, values, split, [known, known || beyond])
        && is_felt(points, &adjustment, split)
        && outgrows(points, split)
    {
        let cut = locate(values, split, &marks, scratch).max(floor);
        if is_first_weekend(points, cut) && !beyond && !is_named(&marks, cut) {
            return None;
        }
        let since = points[cut].place();
        let is_doubtful = (0.0..MACHINE_SHIFT).contains(&split.shift)
            && count - split.cut < MACHINE_RUNS_MIN
            && split.cut >= YOUNG
            && marks.iter().all(|mark| mark.cut.abs_diff(split.cut) > 2);
        return Some(Found {
            since,
            shift: split.shift,
            by_rows: plan_makes_rows(entries, points, cut),
            is_doubtful,
            host: None,
            alike_days: false,
            adjustment,
        });
    }
    // The rows made a step, and the time with them.
    rows.clear();
    rows.extend(points.iter().map(|point| point.rows));
    let cut = step_of_rows(rows, scratch)?;
    values.clear();
    values.extend(points.iter().map(|point| adjustment.rest_with_rows(point)));
    let near = cut.saturating_sub(4 * NEAR);
    let (by_rows, _) = scan::step(rows, cut, NEAR, scratch);
    let allowed = Spending { searched: 0.0, ..spending };
    let mark = [scan::Mark { cut: cut - near, strong: true, named: false, sure: false }];
    let split = scan(&values[near..], floor.saturating_sub(near), &mark, allowed, scratch)?;
    let (by_time, _) = scan::step(values, cut, NEAR, scratch);
    let split = Split { cut, shift: by_time, ..split };
    let beyond = is_beyond_weekend(values, split);
    let together = holds_within(points, values, split, [true; 2])
        && by_time.signum() == by_rows.signum()
        && by_time.abs() >= least_shift(count - cut);
    if !together || split.shift.signum() != by_rows.signum() || !beyond && is_first_weekend(points, cut) {
        return None;
    }
    let since = points[cut].place();
    Some(Found {
        since,
        shift: by_time,
        by_rows: true,
        is_doubtful: false,
        host: None,
        alike_days: false,
        adjustment,
    })
}

/// Whether a version, the plan or the number of threads is another since a cut, or a run or two from it.
fn is_named(marks: &[scan::Mark], cut: usize) -> bool {
    marks.iter().any(|mark| mark.named && mark.cut.abs_diff(cut) <= 2)
}

/// Whether a shift is so large, and so far from all runs before, that no weekend is to be waited for.
fn is_beyond_weekend(values: &[f64], split: Split) -> bool {
    split.shift.abs() >= BEYOND_WEEKEND && apart(values, split.cut)
}

/// Whether a shift is there on the same hosts, and on the same sort of day, as before. Where too few runs before
/// were on these hosts, or on such days, it holds if it is `sure` for hosts, or for days.
fn holds_within(points: &[Point], values: &[f64], split: Split, sure: [bool; 2]) -> bool {
    let strata: [fn(&Point) -> u32; 2] =
        [|point| point.host, |point| u32::from(is_weekend(point.started_unix_ns))];
    let after = points.len() - split.cut;
    strata.iter().enumerate().all(|(which, stratum)| {
        let mut levels: Vec<u32> = points[split.cut..].iter().map(stratum).collect();
        levels.sort_unstable();
        levels.dedup();
        let (mut matched, mut sum, mut dominates) = (0, 0.0, 0.0);
        for level in levels {
            let of = |from: usize, to: usize| -> Vec<f64> {
                let inside = (from..to).filter(|&place| stratum(&points[place]) == level);
                inside.map(|place| values[place]).collect()
            };
            let (mut then, mut now) = (of(0, split.cut), of(split.cut, points.len()));
            let known = then.len() >= LEVEL_RUNS_MIN[which]
                && (which == 0 || level == 0 || weekend_runs(points, split.cut) >= STRATUM_RUNS_MIN);
            if known {
                matched += now.len();
                sum += now.len() as f64 * (median(&mut now) - median(&mut then));
                dominates += dominance(&now, &then) * now.len() as f64;
            }
        }
        if matched * 2 < after {
            return sure[which]
                || if which == 0 {
                    new_hosts_are_slow(points, values, split)
                } else {
                    // A weekend is known from one before, or by the weekdays beside it.
                    matched == 0
                        || matched >= BEFORE_RUNS_MIN
                            && sum / matched as f64 * split.shift.signum() >= 0.6 * split.shift.abs()
                            && dominates / matched as f64 * split.shift.signum() >= DELTA_MIN
                };
        }
        let sign = split.shift.signum() / matched as f64;
        sum * sign >= 0.6 * split.shift.abs() && dominates * sign >= DELTA_MIN
    })
}

/// Whether runs on hosts that never ran the query are so slow that it is not the hosts' turn: hosts of before are
/// known and far more alike than that, or many runs moved from a host that had the query for a week, or have been
/// on the new ones for a week.
fn new_hosts_are_slow(points: &[Point], values: &[f64], split: Split) -> bool {
    let (before, after) = points.split_at(split.cut);
    let lasts = |runs: &[Point]| runs[runs.len() - 1].started_unix_ns - runs[0].started_unix_ns >= TURN_NS;
    let had_one = before.iter().all(|point| point.host == before[0].host);
    if after.len() >= NEW_HOST_RUNS && (lasts(after) || had_one && lasts(before)) {
        return true;
    }
    let mut by_host: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for (point, &value) in before.iter().zip(values) {
        by_host.entry(point.host).or_default().push(value);
    }
    // Where hosts take no turns, what they do to a run is part of how runs differ.
    if [before, after].iter().all(|runs| have_own_hosts(runs)) {
        return true;
    }
    let mut known: Vec<f64> =
        by_host.into_values().filter(|of| of.len() >= 2).map(|mut of| median(&mut of)).collect();
    known.sort_unstable_by(f64::total_cmp);
    known.len() >= KNOWN_HOSTS_MIN && known[known.len() - 1] - known[0] <= HOSTS_ALIKE * split.shift.abs()
}

/// Whether nearly each run has a host that no other has.
fn have_own_hosts(runs: &[Point]) -> bool {
    let mut hosts: Vec<u32> = runs.iter().map(|point| point.host).collect();
    hosts.sort_unstable();
    hosts.dedup();
    hosts.len() as f64 >= OWN_HOSTS * runs.len() as f64
}

/// Runs on Saturdays and Sundays before a cut that are not of the weekend of the newest run.
fn weekend_runs(points: &[Point], cut: usize) -> usize {
    let own = points[points.len() - 1].started_unix_ns - 3 * DAY_NS;
    let earlier = points[..cut].iter().take_while(|point| point.started_unix_ns < own);
    earlier.filter(|point| is_weekend(point.started_unix_ns)).count()
}

/// Cliff's delta of two samples, in any order.
pub(crate) fn dominance(first: &[f64], second: &[f64]) -> f64 {
    let sum: i64 = first.iter().map(|a| second.iter().map(|b| a.total_cmp(b) as i64).sum::<i64>()).sum();
    sum as f64 / (first.len() * second.len()) as f64
}

/// Whether a shift is larger than what the rows' slope may be wrong by, where the rows grew meanwhile.
fn outgrows(points: &[Point], split: Split) -> bool {
    let rows =
        |points: &[Point]| median(&mut points.iter().filter_map(Point::known_rows).collect::<Vec<_>>());
    let grown = (rows(&points[split.cut..]) - rows(&points[..split.cut])).abs();
    let least = least_shift(points.len() - split.cut);
    grown.is_nan() || split.shift.abs() >= 0.8 * least + SLOPE_DOUBT * grown
}

/// Whether the time itself moved as the shift says, and not only the time for so many rows. What is faster for its hour
/// and host alone takes no less time than the runs it is compared with.
fn is_felt(points: &[Point], adjustment: &Adjustment, split: Split) -> bool {
    let (before, after) = points.split_at(split.cut);
    let moved = |runs: usize, value: &dyn Fn(&Point) -> f64| {
        let of = |points: &[Point]| median(&mut points.iter().map(value).collect::<Vec<_>>());
        (of(after) - of(&before[before.len().saturating_sub(runs)..])) * split.shift.signum()
    };
    moved(3 * NEAR, &|point| adjustment.rest_with_rows(point)) >= 0.8 * least_shift(after.len())
        && (split.shift > 0.0 || moved(BEFORE_RUNS_KEPT, &|point| point.wall) >= LEAST_GAIN)
}

/// Gives the rows of runs without what another plan makes of them: where a scan lost its predicate it gives on
/// more rows of as many, which is work and no input.
pub(crate) fn without_plans(points: &mut [Point]) {
    let mut offsets: Vec<([u8; 6], f64)> = Vec::new();
    let Some(first) = points.first() else { return };
    offsets.push((first.marks.plan, 0.0));
    for place in 1..points.len() {
        let plan = points[place].marks.plan;
        if let Some(&(_, offset)) = offsets.iter().find(|(known, _)| *known == plan) {
            points[place].rows -= offset;
            continue;
        }
        let near =
            |points: &[Point]| median(&mut points.iter().filter_map(Point::known_rows).collect::<Vec<_>>());
        let before = near(&points[place.saturating_sub(8)..place]);
        let own: Vec<Point> =
            points[place..].iter().filter(|point| point.marks.plan == plan).take(8).copied().collect();
        let step = near(&own) - before;
        let offset = if step.abs() >= PLAN_STEP { step } else { 0.0 };
        offsets.push((plan, offset));
        points[place].rows -= offset;
    }
}

/// Whether a plan that came at a cut makes the rows others: those of runs are given without what plans make of them.
fn plan_makes_rows(entries: &[&Entry], points: &[Point], cut: usize) -> bool {
    let made = |side: std::ops::Range<usize>| {
        let made = entries[side.clone()].iter().zip(&points[side]);
        let made = made.map(|(entry, point)| entry.point.rows - point.rows);
        median(&mut made.filter(|rows| !rows.is_nan()).collect::<Vec<_>>())
    };
    (made(cut..points.len()) - made(0..cut)).abs() >= PLAN_STEP
}

/// Whether all runs after a cut are of a weekend, and none before is (or the other way round): what a weekend
/// does to the query cannot be known yet.
fn is_first_weekend(points: &[Point], cut: usize) -> bool {
    let days = |points: &[Point]| {
        let weekend = points.iter().filter(|point| is_weekend(point.started_unix_ns)).count();
        (weekend, points.len() - weekend)
    };
    let ((before_weekend, before_days), (after_weekend, after_days)) =
        (days(&points[..cut]), days(&points[cut..]));
    after_days == 0 && weekend_runs(points, cut) < STRATUM_RUNS_MIN && before_days > 0
        || after_weekend == 0 && before_days < STRATUM_RUNS_MIN && before_weekend > 0
}

/// Where the rows made a step that lasts until now: no run before read as many (or as few).
fn step_of_rows(rows: &[f64], scratch: &mut scan::Scratch) -> Option<usize> {
    let count = rows.len();
    let newest = rows[count - 1];
    if newest.is_nan() {
        return None;
    }
    for size in [3, 4, 5, 6, 8, 10, 15, 20, 30] {
        let Some(cut) = count.checked_sub(size).filter(|&cut| cut >= BEFORE_RUNS_MIN) else { break };
        let (shift, spread) = scan::step(rows, cut, NEAR, scratch);
        if shift.is_nan() || shift.abs() < 0.14 || shift.abs() < 3.0 * spread {
            continue;
        }
        let middle = newest - shift / 2.0;
        let beyond = |value: f64| if shift > 0.0 { value > middle } else { value < middle };
        // The step is where the last run on the other side is.
        let after = rows.iter().rev().take_while(|value| beyond(**value)).count();
        let cut = count - after;
        if after < AFTER_RUNS_MIN || cut < BEFORE_RUNS_MIN || after > 60 {
            continue;
        }
        let seen = rows[..cut].iter().filter(|value| beyond(**value)).count();
        // Growth is no step: what came right before and right after lies as far apart as the rest, and
        // farther than
        // the two halves of what came before.
        let from = cut.saturating_sub(NEAR);
        let (drift, _) = scan::step(&rows[from..cut], (cut - from) / 2, NEAR, scratch);
        let close = cut.saturating_sub(3);
        let (jump, _) = scan::step(&rows[close..(cut + 3).min(count)], cut - close, 3, scratch);
        if seen * 20 <= cut && jump * shift.signum() >= (0.6 * shift.abs()).max(2.5 * drift * shift.signum())
        {
            return Some(cut);
        }
    }
    None
}
