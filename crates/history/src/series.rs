//! How did the times of some runs develop, slice by slice, for each value of a field?
//!
//! Quantiles are those of type 7 ([`quartiles`](crate::quartiles)), exact, of the runs that finished. The 95th of a
//! hundred needs some runs to say more than the largest of them does: it is told from [`P95_RUNS_MIN`] on.

use serde::Serialize;

use crate::failure::{Failure, Failures};
use crate::quantile::quantile;
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
    pub failure: Failure,
}

/// The runs that started in one slice of the range.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SeriesSlice {
    /// Runs, of every state.
    pub runs: u64,
    /// Those of them that failed.
    pub failed: u64,
    /// Those of the failed ones that a person or the program stopped.
    pub cancelled: u64,
    /// Those of the runs of which nothing was heard for too long; they are not among the failed.
    pub unfinished: u64,
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
///
/// `each_run` hands on one run after the other, whose groups have numbers below `groups`. It is asked twice, so that
/// only the times of runs are held, in 8 bytes each.
pub fn series(
    window: &Window,
    groups: usize,
    most: usize,
    each_run: impl Fn(&mut dyn FnMut(SeriesRun)),
) -> Vec<(Option<u32>, SeriesGroup)> {
    let mut totals: Vec<(u32, WallTotal, u64)> =
        (0..groups as u32).map(|group| (group, WallTotal::default(), 0)).collect();
    each_run(&mut |run| {
        let (_, total, runs) = &mut totals[run.group as usize];
        *runs += 1;
        total.extend((!run.time_ms.is_nan()).then_some(run.time_ms));
    });
    totals.retain(|(.., runs)| *runs > 0);
    // Of two with the same time, that with more runs; of these, that which has the smaller number.
    totals.sort_by(|a, b| b.1.cmp(&a.1).then(b.2.cmp(&a.2)).then(a.0.cmp(&b.0)));
    let own = if totals.len() > most { most.saturating_sub(1) } else { totals.len() };
    let rest = totals.len() - own;
    let mut place_of = vec![own; groups];
    for (place, (group, ..)) in totals.iter().enumerate().take(own) {
        place_of[*group as usize] = place;
    }
    let slices = || (0..window.slice_count()).map(|_| Slice::default()).collect::<Vec<_>>();
    let mut sliced: Vec<Vec<Slice>> = (0..own + usize::from(rest > 0)).map(|_| slices()).collect();
    each_run(&mut |run| {
        sliced[place_of[run.group as usize]][window.slice_of(run.started_unix_ns)].add(run);
    });
    let told = sliced.into_iter().enumerate().map(|(place, slices)| {
        let total = totals[place..].iter().take(if place < own { 1 } else { rest });
        let total = total.fold(WallTotal::default(), |mut sum, (_, total, _)| {
            sum.merge(*total);
            sum
        });
        let (number, values) = if place < own { (Some(totals[place].0), 1) } else { (None, rest as u64) };
        (number, group(values, total, slices))
    });
    told.collect()
}

/// The runs of a slice.
#[derive(Debug, Default)]
struct Slice {
    runs: u64,
    failures: Failures,
    /// Of those that finished.
    times: Vec<f64>,
}

impl Slice {
    fn add(&mut self, run: SeriesRun) {
        self.runs += 1;
        self.failures.add(run.failure);
        if !run.time_ms.is_nan() {
            self.times.push(run.time_ms);
        }
    }

    fn told(&mut self) -> SeriesSlice {
        SeriesSlice {
            runs: self.runs,
            failed: self.failures.failed,
            cancelled: self.failures.cancelled,
            unfinished: self.failures.unfinished,
            p50_ms: quantile(&mut self.times, 50),
            p95_ms: if self.times.len() < P95_RUNS_MIN { None } else { quantile(&mut self.times, 95) },
        }
    }
}

fn group(values: u64, total: WallTotal, slices: Vec<Slice>) -> SeriesGroup {
    let mut all = Slice::default();
    let told = slices.into_iter().map(|mut slice| {
        let told = slice.told();
        all.runs += slice.runs;
        all.failures.merge(slice.failures);
        all.times.append(&mut slice.times);
        told
    });
    let slices = told.collect();
    SeriesGroup { value: None, values, all: all.told(), total_wall_ms: total.wall_ms(), slices }
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
        SeriesRun { group, started_unix_ns: minute * MINUTE_NS, time_ms, failure: Failure::None }
    }

    fn series_of(runs: &[SeriesRun], most: usize) -> Vec<(Option<u32>, SeriesGroup)> {
        series(&window(), 4, most, |take| runs.iter().copied().for_each(take))
    }

    #[test]
    fn slices_tell_of_the_runs_that_started_in_them() {
        let mut runs: Vec<SeriesRun> = (1..=5).map(|ms| run(0, 3, f64::from(ms) * 10.0)).collect();
        runs.push(SeriesRun { failure: Failure::Cancelled, ..run(0, 3, f64::NAN) });
        runs.push(SeriesRun { failure: Failure::Unfinished, ..run(0, 3, f64::NAN) });
        runs.push(run(0, 59, 7.0));
        let groups = series_of(&runs, 8);
        let [(Some(0), group)] = &groups[..] else { panic!("{groups:?}") };
        assert_eq!(group.slices.len(), 60);
        let third = SeriesSlice {
            runs: 7,
            failed: 1,
            cancelled: 1,
            unfinished: 1,
            p50_ms: Some(30.0),
            p95_ms: Some(48.0),
        };
        assert_eq!(group.slices[3], third);
        assert_eq!(group.slices[59], SeriesSlice { runs: 1, p50_ms: Some(7.0), ..SeriesSlice::default() });
        assert_eq!(group.slices[0], SeriesSlice::default());
        let all = SeriesSlice { runs: 8, p50_ms: Some(25.0), p95_ms: Some(47.5), ..third };
        assert_eq!((group.all, group.total_wall_ms), (all, 157.0));
    }

    #[test]
    fn groups_of_the_most_time_come_first_and_the_rest_is_one() {
        let runs =
            vec![run(0, 1, 5.0), run(1, 1, 50.0), run(2, 1, 20.0), run(3, 2, 1.0), run(3, 3, f64::NAN)];
        let told = |most| {
            let groups = series_of(&runs, most);
            groups.iter().map(|(number, group)| (*number, group.values, group.all.runs)).collect::<Vec<_>>()
        };
        assert_eq!(told(8), [(Some(1), 1, 1), (Some(2), 1, 1), (Some(0), 1, 1), (Some(3), 1, 2)]);
        assert_eq!(told(2), [(Some(1), 1, 1), (None, 3, 4)]);
        assert_eq!(told(4).len(), 4);
        let rest = &series_of(&runs, 2)[1].1;
        assert_eq!((rest.all.p50_ms, rest.total_wall_ms), (Some(5.0), 26.0));
    }

    #[test]
    fn nothing_has_no_groups() {
        assert_eq!(series_of(&[], 8), []);
    }
}
