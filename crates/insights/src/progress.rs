//! How long a running run may still take, from earlier runs of its plan.
//!
//! Of the earlier runs, those that took longer than this one has by now say what may still come: the median, the
//! 10th and the 90th percentile of their remaining times (nearest rank). A run that has outlasted nearly all others is
//! predicted nothing.

use serde::Serialize;

/// Earlier runs that are needed to say anything.
pub const MIN_RUNS: usize = 5;
/// Earlier runs longer than now that are needed to give a time.
const MIN_LONGER: usize = 3;

/// What earlier runs say of a running one. Times are milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Progress {
    /// How long the query has run.
    pub elapsed_ms: f64,
    /// How many earlier runs it is judged by.
    pub runs: usize,
    /// How many of them it has outlasted: "already longer than 38 of 40 runs".
    pub longer_than: usize,
    /// Their median wall time.
    pub usual_wall_ms: f64,
    /// The remaining time, P10, P50 and P90; `None` when fewer than 3 of the runs took longer than this one has.
    pub remaining_ms: Option<[f64; 3]>,
    /// How much of it is done, 0 to 1, at the P90 and at the P50 of the remaining time.
    pub done: Option<[f64; 2]>,
}

/// Judges a query that has run for some time by the wall times of earlier finished runs of its plan.
///
/// `None` where fewer than [`MIN_RUNS`] of them are known.
pub fn progress(elapsed_ms: f64, earlier_wall_ms: &[f64]) -> Option<Progress> {
    (earlier_wall_ms.len() >= MIN_RUNS).then(|| judge(elapsed_ms, earlier_wall_ms))
}

fn judge(elapsed_ms: f64, earlier_wall_ms: &[f64]) -> Progress {
    let mut walls = earlier_wall_ms.to_vec();
    walls.sort_by(f64::total_cmp);
    let longer_than = walls.partition_point(|&wall| wall <= elapsed_ms);
    let longer = &walls[longer_than..];
    let remaining_ms = (longer.len() >= MIN_LONGER)
        .then(|| [10, 50, 90].map(|percent| nearest_rank(longer, percent) - elapsed_ms));
    let done = remaining_ms.map(|[_, p50, p90]| [p90, p50].map(|left| elapsed_ms / (elapsed_ms + left)));
    Progress { elapsed_ms, runs: walls.len(), longer_than, usual_wall_ms: median(&walls), remaining_ms, done }
}

/// The smallest value that at least so many percent of the sorted values do not exceed.
fn nearest_rank(sorted: &[f64], percent: usize) -> f64 {
    sorted[(sorted.len() * percent).div_ceil(100).max(1) - 1]
}

fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => 0.0,
        n if n % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

#[cfg(test)]
mod tests;
