//! A join whose output is many times its larger input.

use queryscope_protocol::{Finding, Role};

use crate::finding::about;
use crate::query::Query;
use crate::say::{count, times};
use crate::vocabulary::counters::ROWS_OUT;

/// Growth below this is what one-to-many joins do.
const GROWTH: f64 = 10.0;
/// Fewer rows than this cost nothing.
const ROWS: u64 = 1000;

pub(super) fn find(query: &Query<'_>, found: &mut Vec<Finding<'static>>) {
    for (place, step) in query.plan.steps.iter().enumerate() {
        if !matches!(step.role(), Role::Join | Role::ThetaJoin) {
            continue;
        }
        let Some(rows_out) = step.counter(&ROWS_OUT).filter(|&rows| rows >= ROWS) else { continue };
        let inputs: Option<Vec<u64>> = query.plan.rows_from(place).into_iter().collect();
        let Some(larger) = inputs.and_then(|rows| rows.into_iter().max()).filter(|&rows| rows > 0) else {
            continue;
        };
        let growth = rows_out as f64 / larger as f64;
        // While it runs its inputs still grow: what it has put out may yet be little beside them.
        if growth < GROWTH || step.runs() {
            continue;
        }
        let title = format!("Join puts out {} its larger input: {} rows", times(growth), count(rows_out));
        let finding = about(query, step, "exploding_join", title)
            .fix(
                "if keys repeat by mistake, remove the duplicates of one input first or join on the full key; \
                 else aggregate before the join",
            )
            .number("rows_out", rows_out, "rows")
            .number("larger_input", larger, "rows")
            .number("growth", growth, "ratio")
            .saves_cpu_ns(step.busy_ns() as f64 * (1.0 - 1.0 / growth));
        found.push(finding.done());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::testing::{check, node, only};

    fn join(rows_out: u64, done: bool) -> Vec<Value> {
        let counters = json!({"rows_in": 3000, "rows_out": rows_out, "busy_ns": 900, "done": done});
        vec![
            node(1, "Scan", "dataframe", &[], json!({}), json!({"rows_out": 1000, "busy_ns": 50})),
            node(2, "Scan", "dataframe", &[], json!({}), json!({"rows_out": 2000, "busy_ns": 50})),
            node(3, "HashJoin", "join", &[1, 2], json!({}), counters),
        ]
    }

    #[test]
    fn repeated_keys_multiply_rows() {
        insta::assert_json_snapshot!(only(50.0, &join(80_000, true), json!({})), @r#"
            {
              "cpu_share": 0.9,
              "evidence": [
                {
                  "name": "rows_out",
                  "unit": "rows",
                  "value": 80000
                },
                {
                  "name": "larger_input",
                  "unit": "rows",
                  "value": 2000
                },
                {
                  "name": "growth",
                  "unit": "ratio",
                  "value": 40.0
                },
                {
                  "name": "saves_cpu_at_most",
                  "unit": "ms",
                  "value": 0.000878
                }
              ],
              "fix": "if keys repeat by mistake, remove the duplicates of one input first or join on the full key; else aggregate before the join",
              "kind": "problem",
              "level": "warn",
              "node_id": 3,
              "node_kind": "HashJoin",
              "rule": "exploding_join",
              "title": "Join puts out 40x its larger input: 80.0 k rows"
            }
            "#);
    }

    #[test]
    fn up_to_ten_times_is_what_joins_do() {
        assert!(check(&join(19_999, true)).is_empty());
        assert!(!check(&join(20_000, true)).is_empty());
    }

    #[test]
    fn a_join_that_runs_may_still_get_its_input() {
        assert!(check(&join(80_000, false)).is_empty());
    }
}
