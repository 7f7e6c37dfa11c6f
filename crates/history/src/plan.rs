//! Has the plan of a query changed, and when?

use std::collections::BTreeMap;

use crate::limits::USUAL_RUNS_MIN;
use crate::point::{Names, Place, Point};

/// When the plan a query runs now first ran, if it is not the plan it usually ran.
///
/// - The plan it runs now is that of its last run whose plan is known, also when that failed or still runs.
/// - The plan it usually ran is the one most of the usual runs had. Of several that as many had, each is usual.
///   It is known from [`USUAL_RUNS_MIN`] usual runs on whose plan is known.
/// - It first ran when the first of its runs among the lately runs and the 14 days before them started. That it
///   ran earlier still, and had gone out of use, does not count.
#[derive(Debug)]
pub(crate) struct PlanChange<'n, 'a> {
    names: &'n Names<'a>,
    /// Usual runs by the number of their plan.
    usual: Vec<usize>,
    /// The last run whose plan is known, and the number of that.
    last: Option<(Place, u32)>,
}

impl<'n, 'a> PlanChange<'n, 'a> {
    pub(crate) fn new(names: &'n Names<'a>) -> Self {
        Self { names, usual: vec![0; names.plans.len()], last: None }
    }

    /// Adds a run that is among the lately runs and the 14 days before them.
    pub(crate) fn run(&mut self, point: &Point) {
        let place = point.place();
        if self.last.is_none_or(|(last, _)| last < place) && self.fingerprint(point.plan).is_some() {
            self.last = Some((place, point.plan));
        }
    }

    /// Notes that this run is a usual one, if it finished.
    pub(crate) fn usual(&mut self, point: &Point) {
        self.usual[point.plan as usize] += usize::from(!point.time_ms.is_nan());
    }

    /// When the plan changed; takes all runs that were added, once more.
    pub(crate) fn unix_ns<'p>(&self, points: impl Iterator<Item = &'p Point>) -> Option<i64> {
        let now = self.fingerprint(self.last?.1)?;
        let mut runs_by_plan: BTreeMap<i64, usize> = BTreeMap::new();
        for (plan, runs) in self.names.plans.iter().zip(&self.usual) {
            if let Some(fingerprint) = plan.fingerprint {
                *runs_by_plan.entry(fingerprint).or_default() += runs;
            }
        }
        let known: usize = runs_by_plan.values().sum();
        let most = runs_by_plan.values().max()?;
        if known < USUAL_RUNS_MIN || runs_by_plan.get(&now) == Some(most) {
            return None;
        }
        points.filter(|point| self.fingerprint(point.plan) == Some(now)).map(|p| p.started_unix_ns).min()
    }

    fn fingerprint(&self, plan: u32) -> Option<i64> {
        self.names.plans[plan as usize].fingerprint
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::point::Numbered;
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
        let Numbered { points, names, .. } = Numbered::of(runs);
        let mut change = PlanChange::new(&names);
        for point in &points {
            change.run(point);
        }
        for point in &points[..before.len()] {
            change.usual(point);
        }
        assert_eq!(change.unix_ns(points.iter()), expected, "{plans:?}");
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
