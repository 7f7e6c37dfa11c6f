//! With which plans did a label finish?

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use queryscope_protocol::QueryId;
use serde::Serialize;

use crate::point::Numbered;
use crate::run::Run;
use crate::tally::Tally;

/// The queries of a label with one plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(example = json!({
    "fingerprint": "238b6af6d50a",
    "runs": 12,
    "failed": 0,
    "cancelled": 0,
    "unfinished": 0,
    "first_started_unix_ns": 1_794_106_683_609_778_763_i64,
    "last_started_unix_ns": 1_795_206_683_609_778_763_i64,
    "usual_wall_ms": 408.1,
    "rules": ["exploding_join"],
    "latest_query_id": "01a1faa8-1bd9-77b2-97ab-860dd7026506"
})))]
pub struct Version {
    /// Hash of the plan.
    pub fingerprint: String,
    /// Queries, of every state.
    pub runs: u64,
    /// Those of them that failed.
    pub failed: u64,
    /// Those of the failed ones that a person or the program stopped.
    pub cancelled: u64,
    /// Those of the runs of which nothing was heard for too long; they are not among the failed.
    pub unfinished: u64,
    /// When the first of them started, in Unix nanoseconds.
    pub first_started_unix_ns: i64,
    /// When the last of them started, in Unix nanoseconds.
    pub last_started_unix_ns: i64,
    /// Median wall time of those that finished, in milliseconds.
    pub usual_wall_ms: f64,
    /// Rules that warned in any of them, by name.
    pub rules: Vec<String>,
    /// The last of them, whatever its state.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub latest_query_id: QueryId,
}

/// The plans that finished at least once among the runs of a label, the one that ran last first. Runs are given
/// in any order; one whose plan is unknown belongs to none.
pub fn versions(runs: &[Run<'_>]) -> Vec<Version> {
    let Numbered { points, names, fingerprints, query_ids } = Numbered::of(runs.iter().copied());
    let mut by_plan: BTreeMap<i64, (Tally, BTreeSet<&str>)> = BTreeMap::new();
    for point in &points {
        let plan = &names.plans[point.plan as usize];
        if let Some(fingerprint) = plan.fingerprint {
            let (tally, rules) = by_plan.entry(fingerprint).or_default();
            tally.add(point);
            rules.extend(&plan.rules);
        }
    }
    let version = |(fingerprint, (tally, rules)): (i64, (Tally, BTreeSet<_>))| {
        let latest = query_ids[tally.last()? as usize];
        tally.into_version(fingerprints[fingerprint as usize], rules.into_iter().collect(), latest)
    };
    let mut versions: Vec<_> = by_plan.into_iter().filter_map(version).collect();
    versions.sort_unstable_by_key(|version| Reverse((version.last_started_unix_ns, version.latest_query_id)));
    versions
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::RunStatus;
    use crate::sample::{id, run};

    fn of<'a>(plan: &'a str, run: Run<'a>) -> Run<'a> {
        Run { fingerprint: Some(plan), ..run }
    }

    #[test]
    fn a_version_holds_all_runs_of_its_plan() {
        let runs = [
            Run { wall_ms: Some(4.0), rules: &["spill"], ..of("A", run(2)) },
            Run { status: RunStatus::Failed, rules: &["skew"], ..of("A", run(7)) },
            Run { wall_ms: Some(8.0), rules: &["spill"], ..of("A", run(5)) },
            Run { status: RunStatus::Unfinished, wall_ms: None, ..of("A", run(6)) },
        ];
        let expected = Version {
            fingerprint: "A".into(),
            runs: 4,
            failed: 1,
            cancelled: 0,
            unfinished: 1,
            first_started_unix_ns: 2,
            last_started_unix_ns: 7,
            usual_wall_ms: 6.0,
            rules: vec!["skew".into(), "spill".into()],
            latest_query_id: id(7),
        };
        assert_eq!(versions(&runs), [expected]);
    }

    #[test]
    fn only_a_plan_that_finished_is_a_version() {
        let runs = [
            Run { status: RunStatus::Failed, ..of("A", run(1)) },
            Run { status: RunStatus::Running, wall_ms: None, ..of("B", run(2)) },
            of("C", run(3)),
            run(4),
        ];
        let plans: Vec<_> = versions(&runs).into_iter().map(|version| version.fingerprint).collect();
        assert_eq!(plans, ["C"]);
    }

    #[test]
    fn the_plan_that_ran_last_is_first_also_when_that_run_failed() {
        let runs = [
            of("A", run(1)),
            of("B", run(2)),
            Run { status: RunStatus::Failed, ..of("A", run(3)) },
            of("C", run(0)),
        ];
        let plans: Vec<_> = versions(&runs).into_iter().map(|version| version.fingerprint).collect();
        assert_eq!(plans, ["A", "B", "C"]);
    }

    #[test]
    fn plans_that_ran_last_at_one_time_stand_by_id() {
        let runs = [of("A", Run { query_id: id(2), ..run(5) }), of("B", Run { query_id: id(9), ..run(5) })];
        let plans: Vec<_> = versions(&runs).into_iter().map(|version| version.fingerprint).collect();
        assert_eq!(plans, ["B", "A"]);
    }
}
