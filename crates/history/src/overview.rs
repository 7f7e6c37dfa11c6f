//! How is a label doing?

use crate::compare::Comparison;
use crate::lately::Lately;
use crate::plan;
use crate::rules::{Earlier, new_rules};
use crate::run::Run;
use crate::tally::{counts, distinct_rules, median_ms, ordered, times_ms, total_ms};
use crate::window::Window;

/// How a label is doing: its runs in the range of a [`Window`], and its lately runs beside the usual ones.
///
/// Lately, usual, the verdict, new warnings and the change of plan do not depend on how long the range is.
#[derive(Debug, Clone, PartialEq)]
pub struct Overview<'a> {
    /// The service of the last run in the range that names one.
    pub service: Option<&'a str>,
    /// Runs in the range, of every state.
    pub runs: u64,
    /// Those of them that failed.
    pub failed: u64,
    /// Wall time of those of them that finished, together, in milliseconds.
    pub total_wall_ms: f64,
    /// Names of the insights that warned in any of them, each once, by name.
    pub rules: Vec<&'a str>,
    /// The times of the lately runs beside those of the usual runs.
    pub times: Comparison,
    /// Lately runs, of every state: those of the last 24 hours, or the last three when there were fewer.
    pub recent_runs: u64,
    /// Those of them that failed.
    pub recent_failed: u64,
    /// Runs that failed in the 14 days before the first lately run.
    pub failed_before: u64,
    /// Names of the insights that first warned in the last 7 days, by name; none where fewer than
    /// [`NEW_RULE_EARLIER_RUNS_MIN`](crate::limits::NEW_RULE_EARLIER_RUNS_MIN) runs came before those days.
    pub new_rules: Vec<&'a str>,
    /// When the plan of the last run first ran, in Unix nanoseconds, if it is not the plan most usual runs had.
    /// Only the lately runs and the 14 days before them count; a usual plan is known from
    /// [`USUAL_RUNS_MIN`](crate::limits::USUAL_RUNS_MIN) usual runs on.
    pub plan_changed_unix_ns: Option<i64>,
    /// Median wall time of the runs that finished, in milliseconds, of each slice of 6 hours of the range
    /// ([`Window::slice_of`]); `None` where none did.
    pub bins: Vec<Option<f64>>,
    /// Each of the [`Window::days`]: the runs in the range that started on it.
    pub days: Vec<Day>,
}

/// The runs of a local day.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Day {
    /// Runs, of every state.
    pub runs: u64,
    /// Those of them that failed.
    pub failed: u64,
    /// Median wall time of those that finished, in milliseconds.
    pub median_wall_ms: Option<f64>,
}

impl<'a> Overview<'a> {
    /// Of the runs of a label in any order: at least those that [`Window::runs_since_unix_ns`] speaks of, and
    /// what is known of those before them. Runs that start after the end of the range, by the clock of a sender
    /// that is ahead, have no part. `None` when no run started in the range.
    pub fn of(window: &Window, runs: &[Run<'a>], earlier: &Earlier<'a>) -> Option<Self> {
        let begun = runs.iter().filter(|run| run.started_unix_ns <= window.now_unix_ns());
        let ordered = ordered(begun.copied());
        let first = ordered.partition_point(|run| run.started_unix_ns < window.since_unix_ns());
        let range = ordered.get(first..).filter(|range| !range.is_empty())?;
        let (runs, failed) = counts(range);
        let lately = Lately::of(&ordered, window);
        let (recent_runs, recent_failed) = counts(lately.runs);
        let (_, failed_before) = counts(lately.before);
        Some(Self {
            service: range.iter().rev().find_map(|run| run.service),
            runs,
            failed,
            total_wall_ms: total_ms(range),
            rules: distinct_rules(range),
            times: Comparison::of_times(&mut times_ms(lately.runs), &mut times_ms(lately.before)),
            recent_runs,
            recent_failed,
            failed_before,
            new_rules: new_rules(&ordered, earlier, window),
            plan_changed_unix_ns: plan::changed_unix_ns(&lately),
            bins: bins(range, window),
            days: days(range, window),
        })
    }
}

fn bins(range: &[Run<'_>], window: &Window) -> Vec<Option<f64>> {
    let mut bins = vec![None; window.slice_count()];
    let slice_of = |run: &Run<'_>| window.slice_of(run.started_unix_ns);
    for slice in range.chunk_by(|a, b| slice_of(a) == slice_of(b)) {
        bins[slice_of(&slice[0])] = median_ms(slice);
    }
    bins
}

fn days(range: &[Run<'_>], window: &Window) -> Vec<Day> {
    let mut days = vec![Day::default(); window.day_count()];
    let day_of = |run: &Run<'_>| window.day_of(run.started_unix_ns);
    for day in range.chunk_by(|a, b| day_of(a) == day_of(b)) {
        let (runs, failed) = counts(day);
        days[day_of(&day[0])] = Day { runs, failed, median_wall_ms: median_ms(day) };
    }
    days
}

#[cfg(test)]
mod tests;
