//! How did the times of some runs develop, slice by slice, for each value of a field?
//!
//! Quantiles are those of type 7 ([`quartiles`](crate::quartiles)), exact, of the runs that finished. The 95th of a
//! hundred needs some runs to say more than the largest of them does: it is told from [`P95_RUNS_MIN`] on.

use std::collections::HashMap;

use serde::Serialize;

use crate::quantile::quantile_of_sorted;
use crate::total::WallTotal;
use crate::window::Window;

/// So many finished runs say what the 95th percentile is.
pub const P95_RUNS_MIN: usize = 5;

/// A run of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SeriesRun {
    /// Number of its group.
    pub group: u32,
    /// When it started, in Unix nanoseconds.
    pub started_unix_ns: i64,
    /// Its wall time if it finished, in milliseconds; NaN otherwise ([`Run::time_ms`](crate::Run::time_ms)).
    pub time_ms: f64,
    /// Whether it failed.
    pub failed: bool,
}

/// The runs that started in one slice of the range.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SeriesSlice {
    /// Runs, of every state.
    pub runs: u64,
    /// Those of them that failed.
    pub failed: u64,
    /// Median wall time of those that finished, in milliseconds; null when none did.
    pub p50_ms: Option<f64>,
    /// 95th percentile of their wall times, in milliseconds; null when fewer than 5 finished.
    pub p95_ms: Option<f64>,
}

/// The runs of one value of a field.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SeriesGroup {
    /// The value; null is that of runs without the field, and of all runs where they are not divided.
    pub value: Option<String>,
    /// How many values stand together here: 1, and in the last group those that are not told of one by one.
    pub values: u64,
    /// The whole range.
    pub all: SeriesSlice,
    /// Wall time of those that finished, together, in milliseconds.
    pub total_wall_ms: f64,
    /// The slices of the range, in their order.
    pub slices: Vec<SeriesSlice>,
}

/// The groups of some runs, those of the most wall time first, without their values: the number of each stands beside
/// it. Where there are more than `most`, the last one holds all others and has no number.
pub fn series(window: &Window, mut runs: Vec<SeriesRun>, most: usize) -> Vec<(Option<u32>, SeriesGroup)> {
    let mut totals: Vec<(u32, WallTotal, u64)> = Vec::new();
    runs.sort_unstable_by_key(|run| run.group);
    for group in runs.chunk_by(|a, b| a.group == b.group) {
        let mut total = WallTotal::default();
        total.extend(group.iter().map(|run| run.time_ms).filter(|ms| !ms.is_nan()));
        totals.push((group[0].group, total, group.len() as u64));
    }
    // Of two with the same time, that with more runs; of these, that which has the smaller number.
    totals.sort_by(|a, b| b.1.cmp(&a.1).then(b.2.cmp(&a.2)).then(a.0.cmp(&b.0)));
    let own = if totals.len() > most { most.saturating_sub(1) } else { totals.len() };
    let mut place_of = HashMap::new();
    for (at, (group, ..)) in totals.iter().enumerate() {
        place_of.insert(*group, at.min(own) as u32);
    }
    let rest = totals.len() - own;
    let mut groups: Vec<(Option<u32>, SeriesGroup)> = (0..own + usize::from(rest > 0))
        .map(|at| {
            let number = (at < own).then(|| totals[at].0);
            let values = if at < own { 1 } else { rest as u64 };
            (number, SeriesGroup { values, ..SeriesGroup::default() })
        })
        .collect();
    let slice_of = |run: &SeriesRun| window.slice_of(run.started_unix_ns);
    runs.retain(|run| run.started_unix_ns >= window.since_unix_ns());
    let place = |run: &SeriesRun| place_of.get(&run.group).copied().unwrap_or_default();
    runs.sort_unstable_by(|a, b| {
        (place(a), slice_of(a)).cmp(&(place(b), slice_of(b))).then(a.time_ms.total_cmp(&b.time_ms))
    });
    let mut times = Vec::new();
    for of_group in runs.chunk_by(|a, b| place(a) == place(b)) {
        let (_, group) = &mut groups[place(&of_group[0]) as usize];
        group.slices = vec![SeriesSlice::default(); window.slice_count()];
        for of_slice in of_group.chunk_by(|a, b| slice_of(a) == slice_of(b)) {
            times.clear();
            times.extend(of_slice.iter().map(|run| run.time_ms).filter(|ms| !ms.is_nan()));
            group.slices[slice_of(&of_slice[0])] = slice(of_slice, &times);
        }
        times.clear();
        times.extend(of_group.iter().map(|run| run.time_ms).filter(|ms| !ms.is_nan()));
        times.sort_unstable_by(f64::total_cmp);
        group.all = slice(of_group, &times);
        let mut total = WallTotal::default();
        total.extend(times.iter().copied());
        group.total_wall_ms = total.wall_ms();
    }
    groups
}

/// Of runs and their times, which are sorted.
fn slice(runs: &[SeriesRun], times: &[f64]) -> SeriesSlice {
    SeriesSlice {
        runs: runs.len() as u64,
        failed: runs.iter().filter(|run| run.failed).count() as u64,
        p50_ms: quantile_of_sorted(times, 50),
        p95_ms: (times.len() >= P95_RUNS_MIN).then(|| quantile_of_sorted(times, 95)).flatten(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::MINUTE_NS;

    const HOUR_NS: i64 = 60 * MINUTE_NS;

    fn window() -> Window {
        Window::between(0, HOUR_NS, 0).expect("a window")
    }

    fn run(group: u32, minute: i64, time_ms: f64) -> SeriesRun {
        SeriesRun { group, started_unix_ns: minute * MINUTE_NS, time_ms, failed: false }
    }

    #[test]
    fn slices_tell_of_the_runs_that_started_in_them() {
        let mut runs: Vec<SeriesRun> = (1..=5).map(|ms| run(0, 3, f64::from(ms) * 10.0)).collect();
        runs.push(SeriesRun { failed: true, ..run(0, 3, f64::NAN) });
        runs.push(run(0, 59, 7.0));
        let groups = series(&window(), runs, 8);
        let [(Some(0), group)] = &groups[..] else { panic!("{groups:?}") };
        assert_eq!(group.slices.len(), 60);
        let third = SeriesSlice { runs: 6, failed: 1, p50_ms: Some(30.0), p95_ms: Some(48.0) };
        assert_eq!(group.slices[3], third);
        assert_eq!(group.slices[59], SeriesSlice { runs: 1, failed: 0, p50_ms: Some(7.0), p95_ms: None });
        assert_eq!(group.slices[0], SeriesSlice::default());
        let all = SeriesSlice { runs: 7, failed: 1, p50_ms: Some(25.0), p95_ms: Some(47.5) };
        assert_eq!((group.all, group.total_wall_ms), (all, 157.0));
    }

    #[test]
    fn groups_of_the_most_time_come_first_and_the_rest_is_one() {
        let runs =
            vec![run(0, 1, 5.0), run(1, 1, 50.0), run(2, 1, 20.0), run(3, 2, 1.0), run(3, 3, f64::NAN)];
        let told = |most| {
            let groups = series(&window(), runs.clone(), most);
            groups.iter().map(|(number, group)| (*number, group.values, group.all.runs)).collect::<Vec<_>>()
        };
        assert_eq!(told(8), [(Some(1), 1, 1), (Some(2), 1, 1), (Some(0), 1, 1), (Some(3), 1, 2)]);
        assert_eq!(told(2), [(Some(1), 1, 1), (None, 3, 4)]);
        assert_eq!(told(4).len(), 4);
        let rest = &series(&window(), runs, 2)[1].1;
        assert_eq!((rest.all.p50_ms, rest.total_wall_ms), (Some(5.0), 26.0));
    }

    #[test]
    fn nothing_has_no_groups() {
        assert_eq!(series(&window(), Vec::new(), 8), []);
    }
}
