//! Places where the counters themselves say that something changed.
//!
//! A mark is a run since which every run has a version, a plan, a number of threads, a spill, a longer wait,
//! longer planning or a skew that the runs before had not. The place of a change need not be searched for there, so
//! less evidence of the time is enough. A mark that makes runs slower by itself (a spill, fewer threads, a wait, a
//! skew) is a strong one.

use crate::limits::AFTER_RUNS_MIN;
use crate::scan::Mark;
use crate::series::{Marks, Point};
use crate::stats::median;

/// So many of the last runs may lie after a mark.
const REACH: usize = 60;
/// So many runs before a mark must be without it.
const BEFORE: usize = 12;
/// A figure that is this many times what it was marks a change.
const TIMES: f64 = 1.4;
/// Runs that must show what a figure was.
const KNOWN_MIN: usize = 16;

pub(crate) fn marks(points: &[Point]) -> Vec<Mark> {
    let mut found = Vec::new();
    let Some(last) = points.last().map(|point| point.marks) else { return found };
    let mut tail = |named: bool, same: &dyn Fn(&Marks) -> bool, strong: &dyn Fn(&Marks) -> bool| {
        let after = points.iter().rev().take(REACH + 1).take_while(|point| same(&point.marks)).count();
        let cut = points.len() - after;
        if (AFTER_RUNS_MIN..=REACH).contains(&after) && cut > 0 {
            let before = &points[cut.saturating_sub(BEFORE)..cut];
            let others = before.iter().filter(|point| same(&point.marks)).count();
            if others * 10 <= before.len() {
                found.push(Mark { cut, strong: strong(&points[cut - 1].marks), named, sure: true });
            }
        }
    };
    tail(true, &|marks| marks.engine == last.engine, &|_| false);
    tail(true, &|marks| marks.program == last.program, &|_| false);
    tail(true, &|marks| marks.plan == last.plan, &|_| false);
    tail(true, &|marks| marks.threads == last.threads, &|before| last.threads < before.threads);
    tail(false, &|marks| marks.spills == last.spills, &|_| last.spills);
    tail(false, &|marks| marks.skewed == last.skewed, &|_| last.skewed);
    found.extend(since_when_more(points, |point| point.wait));
    found.extend(since_when_more(points, |point| point.planning));
    found.extend(since_when_more(points, |point| point.busy_over_cpu));
    found
}

/// Since when a figure is more than in nearly all of the runs before.
fn since_when_more(runs: &[Point], of: fn(&Point) -> f32) -> Option<Mark> {
    let of = |point: &Point| Some(f64::from(of(point))).filter(|value| !value.is_nan());
    let count = runs.len();
    let before = count.saturating_sub(REACH).max(BEFORE.min(count / 2));
    let mut known: Vec<f64> = runs[..before].iter().filter_map(of).collect();
    if known.len() < before.div_ceil(2) || known.len() < KNOWN_MIN {
        return None;
    }
    let usual = median(&mut known) * TIMES;
    let rank = (known.len() * 19 / 20).min(known.len() - 1);
    let usual = known.select_nth_unstable_by(rank, f64::total_cmp).1.max(usual);
    let most = known.iter().copied().fold(0.0, f64::max);
    let more = |run: &Point| of(run).is_some_and(|value| value > usual);
    let after = runs.iter().rev().take(REACH).take_while(|&run| more(run)).count();
    let cut = count - after;
    let quiet = runs[cut.saturating_sub(BEFORE)..cut].iter().filter(|&run| more(run)).count();
    let sure = runs[cut..].iter().all(|run| of(run).is_some_and(|value| value > most));
    let is_one = after > AFTER_RUNS_MIN && cut > 0 && quiet * 6 <= BEFORE.min(cut);
    is_one.then_some(Mark { cut, strong: true, named: false, sure })
}
