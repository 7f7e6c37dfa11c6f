//! What is a group of runs, of one label or one plan?

use queryscope_protocol::QueryId;

use crate::limits::GROUP_RECENT_RUNS;
use crate::quantile::median;
use crate::rules::RuleSet;
use crate::run::{Run, RunStatus};
use crate::total::WallTotal;

/// The runs of one key.
#[derive(Debug, Clone, PartialEq)]
pub struct Group<'a> {
    /// How many there are, of every state.
    pub runs: u64,
    /// How many of them failed.
    pub failed: u64,
    /// When the last of them started, in Unix nanoseconds.
    pub last_started_unix_ns: i64,
    /// Wall time of those that finished, together, in milliseconds.
    pub total_wall_ms: f64,
    /// Names of the insights that warned in any of them, each once, by name.
    pub rules: Vec<&'a str>,
    /// Wall times of the last [`GROUP_RECENT_RUNS`] that finished, the oldest first, in milliseconds.
    pub recent_wall_ms: Vec<f64>,
    /// Median wall time of all that finished, in milliseconds.
    pub usual_wall_ms: Option<f64>,
}

impl<'a> Group<'a> {
    /// Of the runs of a key, in any order; `None` when there are none.
    pub fn of(runs: &[Run<'a>]) -> Option<Self> {
        let mut tally = GroupTally::default();
        for run in runs {
            tally.add(run);
        }
        tally.finish()
    }
}

/// The runs of one key as they are read, so that nobody need hold them all: of a run only its time is kept.
#[derive(Debug, Clone, Default)]
pub struct GroupTally<'a> {
    runs: u64,
    failed: u64,
    last_started_unix_ns: Option<i64>,
    total: WallTotal,
    rules: RuleSet<'a>,
    times_ms: Vec<f64>,
    /// The last that finished, up to twice as many as asked for, and when they started.
    recent: Vec<((i64, QueryId), f64)>,
}

impl<'a> GroupTally<'a> {
    /// Adds a run.
    pub fn add(&mut self, run: &Run<'a>) {
        self.runs += 1;
        self.failed += u64::from(run.status == RunStatus::Failed);
        self.last_started_unix_ns = self.last_started_unix_ns.max(Some(run.started_unix_ns));
        self.rules.add(run.rules);
        if let Some(time_ms) = run.time_ms() {
            self.total.add(time_ms);
            self.times_ms.push(time_ms);
            if self.recent.len() == 2 * GROUP_RECENT_RUNS {
                self.forget_older();
            }
            self.recent.push((run.place(), time_ms));
        }
    }

    /// What the runs come to; `None` when there were none.
    pub fn finish(mut self) -> Option<Group<'a>> {
        self.forget_older();
        self.recent.sort_unstable_by_key(|(place, _)| *place);
        Some(Group {
            runs: self.runs,
            failed: self.failed,
            last_started_unix_ns: self.last_started_unix_ns?,
            total_wall_ms: self.total.wall_ms(),
            rules: self.rules.into_names(),
            recent_wall_ms: self.recent.into_iter().map(|(_, time_ms)| time_ms).collect(),
            usual_wall_ms: median(&mut self.times_ms),
        })
    }

    fn forget_older(&mut self) {
        let older = self.recent.len().saturating_sub(GROUP_RECENT_RUNS);
        if older > 0 {
            self.recent.select_nth_unstable_by_key(older, |(place, _)| *place);
            self.recent.drain(..older);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::RunStatus;
    use crate::sample::{id, run};

    #[test]
    fn no_runs_are_no_group() {
        assert_eq!(Group::of(&[]), None);
    }

    #[test]
    fn runs_of_every_state_are_counted_and_finished_ones_have_times() {
        let runs = [
            Run { wall_ms: Some(30.0), rules: &["spill", "skew"], ..run(3) },
            Run { status: RunStatus::Failed, wall_ms: Some(500.0), rules: &["skew"], ..run(4) },
            Run { wall_ms: Some(10.0), ..run(1) },
            Run { status: RunStatus::Running, wall_ms: None, ..run(9) },
            Run { status: RunStatus::Unfinished, wall_ms: None, ..run(2) },
        ];
        let expected = Group {
            runs: 5,
            failed: 1,
            last_started_unix_ns: 9,
            total_wall_ms: 40.0,
            rules: vec!["skew", "spill"],
            recent_wall_ms: vec![10.0, 30.0],
            usual_wall_ms: Some(20.0),
        };
        assert_eq!(Group::of(&runs), Some(expected));
    }

    #[test]
    fn where_nothing_finished_no_time_is_known() {
        let group = Group::of(&[Run { status: RunStatus::Failed, ..run(1) }]).expect("a run");
        assert_eq!((group.usual_wall_ms, group.total_wall_ms, group.recent_wall_ms), (None, 0.0, vec![]));
    }

    #[test]
    fn the_last_30_that_finished_are_recent() {
        let mut runs: Vec<Run<'_>> =
            (1..=31).map(|start| Run { wall_ms: Some(start as f64), ..run(start) }).collect();
        runs.push(Run { status: RunStatus::Failed, ..run(32) });
        runs.reverse();
        let group = Group::of(&runs).expect("runs");
        assert_eq!(group.recent_wall_ms, (2..=31).map(f64::from).collect::<Vec<_>>());
        assert_eq!(group.usual_wall_ms, Some(16.0), "the median is of all");
    }

    #[test]
    fn runs_of_one_start_stand_by_id() {
        let at = |number, wall_ms| Run { query_id: id(number), wall_ms: Some(wall_ms), ..run(5) };
        let group = Group::of(&[at(2, 20.0), at(3, 30.0), at(1, 10.0)]).expect("runs");
        assert_eq!(group.recent_wall_ms, [10.0, 20.0, 30.0]);
    }
}
