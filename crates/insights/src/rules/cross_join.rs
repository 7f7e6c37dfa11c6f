//! A cross join of two inputs of more than one row.

use queryscope_protocol::{Finding, Role};

use crate::finding::about;
use crate::query::Query;
use crate::say::count;
use crate::vocabulary::counters::ROWS_OUT;

/// Fewer pairs than this cost nothing.
const PAIRS: u64 = 1000;

pub(super) fn find(query: &Query<'_>, found: &mut Vec<Finding<'static>>) {
    for (place, step) in query.plan.steps.iter().enumerate() {
        if step.role() != Role::CrossJoin {
            continue;
        }
        // Inputs only grow: what is said of a running query stays true.
        let [Some(left), Some(right)] = query.plan.rows_from(place)[..] else { continue };
        if left < 2 || right < 2 || left.saturating_mul(right) < PAIRS {
            continue;
        }
        let title = format!("Cross join of {} by {} rows", count(left), count(right));
        let mut finding = about(query, step, "cross_join", title)
            .fix(
                "join on a key, or put the condition that follows into the join, unless every pair is needed",
            )
            .number("rows_left", left, "rows")
            .number("rows_right", right, "rows");
        if let Some(rows_out) = step.counter(&ROWS_OUT) {
            finding = finding.number("rows_out", rows_out, "rows");
        }
        found.push(finding.done());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::testing::{check, node, only};

    fn join(left: u64, right: u64) -> Vec<Value> {
        vec![
            node(1, "Scan", "dataframe", &[], json!({}), json!({"rows_out": left, "busy_ns": 10})),
            node(2, "Scan", "dataframe", &[], json!({}), json!({"rows_out": right, "busy_ns": 10})),
            node(
                3,
                "Cross",
                "cross_join",
                &[1, 2],
                json!({}),
                json!({"rows_out": left * right, "busy_ns": 980}),
            ),
        ]
    }

    #[test]
    fn every_pair_of_two_tables() {
        insta::assert_json_snapshot!(only(50.0, &join(2500, 40), json!({})), @r#"
            {
              "cpu_share": 0.98,
              "evidence": [
                {
                  "name": "rows_left",
                  "unit": "rows",
                  "value": 2500
                },
                {
                  "name": "rows_right",
                  "unit": "rows",
                  "value": 40
                },
                {
                  "name": "rows_out",
                  "unit": "rows",
                  "value": 100000
                }
              ],
              "fix": "join on a key, or put the condition that follows into the join, unless every pair is needed",
              "kind": "problem",
              "level": "warn",
              "node_id": 3,
              "node_kind": "Cross",
              "rule": "cross_join",
              "title": "Cross join of 2.5 k by 40 rows"
            }
            "#);
    }

    #[test]
    fn a_single_row_or_few_pairs_are_fine() {
        assert!(check(&join(100_000, 1)).is_empty());
        assert!(check(&join(99, 10)).is_empty());
        assert!(!check(&join(100, 10)).is_empty());
    }

    #[test]
    fn a_table_with_itself() {
        let plan = [
            node(1, "Share", "engine", &[], json!({}), json!({"rows_out": 5000})),
            node(2, "Cross", "cross_join", &[1, 1], json!({}), json!({"rows_in": 5000})),
        ];
        assert_eq!(check(&plan), ["note cross_join #2: Cross join of 2.5 k by 2.5 k rows"]);
    }
}
