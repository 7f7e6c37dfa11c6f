//! What do some runs come to together?

use crate::quantile::median;
use crate::rules::RuleSet;
use crate::run::{Run, RunStatus};
use crate::total::WallTotal;

/// How many runs, and how many of them failed.
pub(crate) fn counts(runs: &[Run<'_>]) -> (u64, u64) {
    let failed = runs.iter().filter(|run| run.status == RunStatus::Failed).count();
    (runs.len() as u64, failed as u64)
}

/// The times of those that finished.
pub(crate) fn times_ms(runs: &[Run<'_>]) -> Vec<f64> {
    runs.iter().filter_map(Run::time_ms).collect()
}

/// The median time of those that finished.
pub(crate) fn median_ms(runs: &[Run<'_>]) -> Option<f64> {
    median(&mut times_ms(runs))
}

/// The time of those that finished, together.
pub(crate) fn total_ms(runs: &[Run<'_>]) -> f64 {
    let mut total = WallTotal::default();
    total.extend(runs.iter().filter_map(Run::time_ms));
    total.wall_ms()
}

/// The warnings of any of them, each once, by name.
pub(crate) fn distinct_rules<'a>(runs: &[Run<'a>]) -> Vec<&'a str> {
    let mut rules = RuleSet::default();
    for run in runs {
        rules.add(run.rules);
    }
    rules.into_names()
}

/// The runs in order: by start, then by id.
pub(crate) fn ordered<'a>(runs: impl IntoIterator<Item = Run<'a>>) -> Vec<Run<'a>> {
    let mut ordered: Vec<Run<'a>> = runs.into_iter().collect();
    ordered.sort_unstable_by_key(Run::place);
    ordered
}
