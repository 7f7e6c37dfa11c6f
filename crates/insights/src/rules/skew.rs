//! Partitions of a node that are not of one size.

use queryscope_protocol::Finding;

use crate::finding::about;
use crate::graph::Step;
use crate::query::Query;
use crate::say::{percent, times};
use crate::vocabulary::counters::{BUSY, PARTITION_BUSY_MAX, PARTITION_ROWS_MAX, PARTITIONS, ROWS_OUT};

/// The largest partition holds this many times what it would if all were of one size.
const IMBALANCE: f64 = 3.0;
/// Fewer rows are worked off in no time, and a file's few row groups may all lie in one part of it.
const ROWS: u64 = 100_000;

pub(super) fn find(query: &Query<'_>, found: &mut Vec<Finding<'static>>) {
    for step in &query.plan.steps {
        // While it runs, partitions that began later catch up.
        let Some(partitions) = step.counter(&PARTITIONS).filter(|_| !step.runs()) else { continue };
        let Some(skew) = of_rows(step).or_else(|| of_time(step)) else { continue };
        let imbalance = skew.largest as f64 * partitions as f64 / skew.whole as f64;
        if imbalance < IMBALANCE {
            continue;
        }
        let share = skew.largest as f64 / skew.whole as f64;
        let title = format!(
            "One of {partitions} partitions holds {} of the {}, {} its part",
            percent(share),
            skew.what,
            times(imbalance)
        );
        let mut finding = about(query, step, "skew", title)
            .fix(
                "partition by a key whose values are spread evenly; treat frequent or null keys apart, or add a \
                 salt to them",
            )
            .number("partitions", partitions, "partitions")
            .number("largest", skew.largest, skew.unit)
            .number("all", skew.whole, skew.unit)
            .number("imbalance", imbalance, "ratio");
        if let Some(slowest) = step.counter(&PARTITION_BUSY_MAX) {
            let fair = step.busy_ns() as f64 / partitions as f64;
            finding = finding.saves_wall_ms((slowest as f64 - fair).max(0.0) / 1e6);
        }
        found.push(finding.done());
    }
}

struct Skew {
    what: &'static str,
    unit: &'static str,
    largest: u64,
    whole: u64,
}

fn of_rows(step: &Step<'_>) -> Option<Skew> {
    let (largest, whole) = (step.counter(&PARTITION_ROWS_MAX)?, step.counter(&ROWS_OUT)?);
    (whole >= ROWS).then_some(Skew { what: "rows", unit: "rows", largest, whole })
}

fn of_time(step: &Step<'_>) -> Option<Skew> {
    // Where rows are known, they were too few.
    if step.counter(&PARTITION_ROWS_MAX).is_some() {
        return None;
    }
    let (largest, whole) = (step.counter(&PARTITION_BUSY_MAX)?, step.counter(&BUSY)?);
    (whole > 0).then_some(Skew { what: "working time", unit: "ns", largest, whole })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::testing::{check, node, only};

    fn node_of(counters: Value) -> Vec<Value> {
        vec![node(1, "Repartition", "engine", &[], json!({}), counters)]
    }

    #[test]
    fn one_partition_holds_nearly_all() {
        let plan = node_of(json!({
            "partitions": 8, "rows_out": 1_000_000, "partition_rows_max": 700_000,
            "busy_ns": 8_000_000, "partition_busy_max_ns": 6_000_000,
        }));
        insta::assert_json_snapshot!(only(50.0, &plan, json!({})), @r#"
            {
              "cpu_share": 1.0,
              "evidence": [
                {
                  "name": "partitions",
                  "unit": "partitions",
                  "value": 8
                },
                {
                  "name": "largest",
                  "unit": "rows",
                  "value": 700000
                },
                {
                  "name": "all",
                  "unit": "rows",
                  "value": 1000000
                },
                {
                  "name": "imbalance",
                  "unit": "ratio",
                  "value": 5.6
                },
                {
                  "name": "saves_wall_at_most",
                  "unit": "ms",
                  "value": 5.0
                }
              ],
              "fix": "partition by a key whose values are spread evenly; treat frequent or null keys apart, or add a salt to them",
              "kind": "problem",
              "level": "warn",
              "node_id": 1,
              "node_kind": "Repartition",
              "rule": "skew",
              "title": "One of 8 partitions holds 70 % of the rows, 5.6x its part"
            }
            "#);
    }

    #[test]
    fn three_times_its_part_is_the_limit() {
        let of = |most: u64, rows: u64| {
            check(&node_of(json!({"partitions": 10, "rows_out": rows, "partition_rows_max": most})))
        };
        assert!(of(29_999, 100_000).is_empty());
        assert!(!of(30_000, 100_000).is_empty());
        assert!(of(99_999, 99_999).is_empty(), "few rows");
    }

    #[test]
    fn working_time_counts_where_rows_are_unknown() {
        let plan = node_of(json!({"partitions": 4, "busy_ns": 1000, "partition_busy_max_ns": 800}));
        let title = "warn skew #1: One of 4 partitions holds 80 % of the working time, 3.2x its part";
        assert_eq!(check(&plan), [title]);
    }
}
