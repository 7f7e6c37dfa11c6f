//! Has the plan of a query changed, and when?

use std::collections::HashMap;

use crate::lately::Lately;
use crate::limits::USUAL_RUNS_MIN;

/// When the plan the query runs now first ran, if it is not the plan it usually ran.
///
/// - The plan it runs now is that of its last run whose plan is known, also when that failed or still runs.
/// - The plan it usually ran is the one most of the usual runs had. Of several that as many had, each is usual.
///   It is known from [`USUAL_RUNS_MIN`] usual runs on whose plan is known.
/// - It first ran when the first of its runs among the lately runs and the 14 days before them started. That it
///   ran earlier still, and had gone out of use, does not count.
pub(crate) fn changed_unix_ns(lately: &Lately<'_, '_>) -> Option<i64> {
    let considered = || lately.before.iter().chain(lately.runs);
    let now = considered().rev().find_map(|run| run.fingerprint)?;

    let usual = lately.before.iter().filter(|run| run.time_ms().is_some()).filter_map(|run| run.fingerprint);
    let mut runs_by_plan: HashMap<&str, usize> = HashMap::new();
    for plan in usual {
        *runs_by_plan.entry(plan).or_default() += 1;
    }
    let known: usize = runs_by_plan.values().sum();
    let most = runs_by_plan.values().max()?;
    if known < USUAL_RUNS_MIN || runs_by_plan.get(now) == Some(most) {
        return None;
    }
    considered().find(|run| run.fingerprint == Some(now)).map(|run| run.started_unix_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Run, RunStatus};
    use crate::sample::run;

    /// Plans by run, a letter each, `.` unknown, small ones failed; the start is the place in the text.
    fn check(before: &str, lately: &str, expected: Option<i64>) {
        let all: Vec<char> = before.chars().chain(lately.chars()).collect();
        let plans: Vec<String> = all.iter().map(|plan| plan.to_ascii_uppercase().to_string()).collect();
        let runs: Vec<Run<'_>> = (all.iter().zip(&plans).zip(0..))
            .map(|((letter, plan), start)| Run {
                fingerprint: (*letter != '.').then_some(plan.as_str()),
                status: if letter.is_ascii_lowercase() { RunStatus::Failed } else { RunStatus::Finished },
                ..run(start)
            })
            .collect();
        let (before, runs) = runs.split_at(before.len());
        assert_eq!(changed_unix_ns(&Lately { runs, before }), expected, "{plans:?}");
    }

    #[test]
    fn the_usual_plan_has_not_changed() {
        check("AAAAA", "AAA", None);
        check("", "", None);
        check(".....", "...", None);
    }

    #[test]
    fn a_new_plan_changed_with_its_first_run() {
        check("AAAAA", "ABB", Some(6));
        check("AAAAAB", "BBB", Some(5));
    }

    #[test]
    fn a_plan_that_changed_back_has_not_changed() {
        check("AAAAA", "BBA", None);
    }

    #[test]
    fn a_plan_is_usual_from_5_runs_on() {
        check("AAAA", "BBB", None);
        check("AAAA.", "BBB", None);
        check("AAAAa", "BBB", None);
        check("AAAAC", "BBB", Some(5));
    }

    #[test]
    fn the_plan_most_runs_had_is_usual() {
        check("AAABB", "BBB", Some(3));
        check("AABBB", "BBB", None);
        check("AABBCC", "CCC", None);
        check("AABBC", "CCC", Some(4));
    }

    #[test]
    fn the_last_known_plan_counts_also_of_a_failed_run() {
        check("AAAAA", "AB.", Some(6));
        check("AAAAA", "AAb", Some(7));
    }
}
