//! What is a group of runs, of one label or one plan?

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::point::Numbered;
use crate::rules::distinct_rules;
use crate::run::Run;
use crate::tally::Tally;

/// The queries of one label or plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(example = json!({
    "key": "orders/daily",
    "runs": 14,
    "failed": 1,
    "cancelled": 0,
    "unfinished": 0,
    "last_started_unix_ns": 1_795_206_683_609_778_763_i64,
    "total_wall_ms": 5308.4,
    "usual_wall_ms": 408.1,
    "rules": ["exploding_join"],
    "recent_wall_ms": [401.2, 408.1, 415.7]
})))]
pub struct Group<'a> {
    /// The label or the fingerprint.
    pub key: Cow<'a, str>,
    /// Queries, of every state.
    pub runs: u64,
    /// Those of them that failed.
    pub failed: u64,
    /// Those of the failed ones that a person or the program stopped.
    pub cancelled: u64,
    /// Those of the runs of which nothing was heard for too long; they are not among the failed.
    pub unfinished: u64,
    /// When the last of them started, in Unix nanoseconds.
    pub last_started_unix_ns: i64,
    /// Wall time of those that finished, together, in milliseconds.
    pub total_wall_ms: f64,
    /// Median wall time of those that finished, in milliseconds; null when none did.
    pub usual_wall_ms: Option<f64>,
    /// Rules that warned in any of them, by name.
    pub rules: Vec<Cow<'a, str>>,
    /// Wall times of the last 30 that finished, the oldest first, in milliseconds.
    pub recent_wall_ms: Vec<f64>,
}

impl<'a> Group<'a> {
    /// Of the runs of a key, in any order; `None` when there are none. The key stays empty.
    pub fn of(runs: &[Run<'a>]) -> Option<Self> {
        let Numbered { points, names, .. } = Numbered::of(runs.iter().copied());
        let mut tally = Tally::default();
        for point in &points {
            tally.add(point);
        }
        let rules = names.plans.iter().flat_map(|plan| plan.rules.iter().copied());
        tally.group(distinct_rules(rules).into_iter().collect())
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
            Run { status: RunStatus::Cancelled, wall_ms: Some(70.0), ..run(5) },
            Run { status: RunStatus::Running, wall_ms: None, ..run(9) },
            Run { status: RunStatus::Unfinished, wall_ms: None, ..run(2) },
        ];
        let expected = Group {
            key: "".into(),
            runs: 6,
            failed: 2,
            cancelled: 1,
            unfinished: 1,
            last_started_unix_ns: 9,
            total_wall_ms: 40.0,
            rules: vec!["skew".into(), "spill".into()],
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
