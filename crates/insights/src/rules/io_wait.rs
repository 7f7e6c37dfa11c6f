//! A run that mostly waits for reads or writes.

use queryscope_protocol::{Finding, Role};

use crate::finding::about_query;
use crate::query::Query;
use crate::say::{millis, percent};
use crate::vocabulary::counters::IO;

/// At least this share of the wall time.
const SHARE: f64 = 0.5;
/// The first bytes of a file or object take some tens of milliseconds anyway.
const LEAST_MS: f64 = 100.0;

pub(super) fn find(query: &Query<'_>, found: &mut Vec<Finding<'static>>) {
    let wall_ms = query.profile.wall_ms;
    let steps = || query.plan.steps.iter();
    let Some(io_ms) = query.io_ms() else { return };
    // Engines do not count all work of user code; only the CPU time of the process bounds it.
    let cpu_ms = if query.calls_user_code() {
        let Some(process_cpu_ms) = query.process_cpu_ms() else { return };
        query.cpu_ms().max(process_cpu_ms)
    } else {
        query.cpu_ms()
    };
    // At least so long no thread worked, however the work was spread.
    let idle_ms = wall_ms - query.profile.planning_ms.unwrap_or(0.0) - cpu_ms;
    let waited_ms = idle_ms.min(io_ms);
    if waited_ms < LEAST_MS || waited_ms < SHARE * wall_ms {
        return;
    }
    let share = waited_ms / wall_ms;
    let scans = steps().filter(|step| step.role() == Role::Scan);
    let slowest = scans.max_by_key(|step| step.counter(&IO).unwrap_or(0));
    let mut finding =
        about_query("io_wait", format!("{} of the time nothing works: it waits for data", percent(share)));
    if let Some(scan) = slowest.filter(|step| step.counter(&IO).is_some()) {
        finding = finding.at(scan);
    }
    let finding = finding
        .blocked_share(share)
        .fix("read less (fewer columns, an earlier filter, files that can be skipped), or bring the data nearer")
        .number("waited", waited_ms, "ms")
        .number("io_active", io_ms, "ms")
        .number("cpu", cpu_ms, "ms")
        .text("wall", millis(wall_ms))
        .saves_wall_ms(waited_ms);
    found.push(finding.done());
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::testing::{check_with, node, only};

    fn waits(io_ms: u64, cpu_ms: f64) -> (Vec<Value>, Value) {
        let io = io_ms * 1_000_000;
        let scan = node(1, "Scan", "scan", &[], json!({}), json!({"io_ns": io, "busy_ns": 1_000_000}));
        (vec![scan], json!({"cpu_ms": cpu_ms, "planning_ms": 10.0, "query_metrics": {"io_ns": io}}))
    }

    #[test]
    fn a_slow_disk() {
        let (plan, more) = waits(9000, 1500.0);
        insta::assert_json_snapshot!(only(10_000.0, &plan, more), @r#"
            {
              "blocked_share": 0.849,
              "evidence": [
                {
                  "name": "waited",
                  "unit": "ms",
                  "value": 8490.0
                },
                {
                  "name": "io_active",
                  "unit": "ms",
                  "value": 9000.0
                },
                {
                  "name": "cpu",
                  "unit": "ms",
                  "value": 1500.0
                },
                {
                  "name": "wall",
                  "unit": null,
                  "value": "10.0 s"
                },
                {
                  "name": "saves_wall_at_most",
                  "unit": "ms",
                  "value": 8490.0
                }
              ],
              "fix": "read less (fewer columns, an earlier filter, files that can be skipped), or bring the data nearer",
              "kind": "problem",
              "level": "warn",
              "node_id": 1,
              "node_kind": "Scan",
              "rule": "io_wait",
              "title": "85 % of the time nothing works: it waits for data"
            }
            "#);
    }

    #[test]
    fn user_code_may_have_worked_meanwhile() {
        let with = |mut plan: Vec<Value>, more| {
            plan.push(node(2, "Map", "map", &[1], json!({"user_code": "score"}), json!({})));
            check_with(10_000.0, &plan, more)
        };
        let (plan, mut more) = waits(9000, 1500.0);
        assert!(with(plan.clone(), more.clone()).is_empty(), "what user code does is not counted");
        more["query_metrics"]["process_cpu_ns"] = json!(9_000_000_000_u64);
        assert!(with(plan.clone(), more.clone()).is_empty(), "the process worked");
        more["query_metrics"]["process_cpu_ns"] = json!(2_000_000_000_u64);
        assert_eq!(with(plan, more), ["warn io_wait #1: 80 % of the time nothing works: it waits for data"]);
    }

    #[test]
    fn half_of_the_time_is_the_limit() {
        let found = |io_ms, cpu_ms| {
            let (plan, more) = waits(io_ms, cpu_ms);
            !check_with(1000.0, &plan, more).is_empty()
        };
        assert!(found(500, 490.0));
        assert!(!found(499, 490.0), "reads were under way for less");
        assert!(!found(500, 491.0), "threads worked meanwhile");
    }

    #[test]
    fn a_short_wait_is_none() {
        let (plan, more) = waits(80, 1.0);
        assert!(check_with(100.0, &plan, more).is_empty());
    }
}
