//! A grouping or removal of duplicates that leaves as many rows as came.

use queryscope_protocol::{Finding, Role};

use crate::finding::about;
use crate::graph::{Graph, Step};
use crate::query::Query;
use crate::say::count;
use crate::vocabulary::counters::{ROWS_IN, ROWS_OUT};
use crate::vocabulary::properties::{KEYS, MODE};

/// Fewer rows than this cost nothing, and may be unique by chance.
const ROWS: u64 = 1000;

pub(super) fn find(query: &Query<'_>, found: &mut Vec<Finding<'static>>) {
    for (place, step) in query.plan.steps.iter().enumerate() {
        let what = match step.role() {
            // The first of two steps is the engine's, and free to do nothing.
            Role::Aggregation | Role::Distinct if is_partial(step) => continue,
            // Without keys it is one group.
            Role::Aggregation if step.properties.get(&KEYS).is_none() => continue,
            // They give rows of their own for each window, or for each set of keys.
            Role::Aggregation | Role::Distinct if gives_more(step) => continue,
            Role::Aggregation => "Grouping",
            Role::Distinct => "Removing duplicates of",
            _ => continue,
        };
        // Only at its end is known what it removed.
        let (Some(rows_in), Some(rows_out), false) =
            (rows_into(&query.plan, place), step.counter(&ROWS_OUT), step.runs())
        else {
            continue;
        };
        // A single one removed is a reason to keep it, and more than came are not these rows.
        if rows_in < ROWS || rows_out != rows_in {
            continue;
        }
        let title = format!("{what} {} rows removes none", count(rows_in));
        let finding = about(query, step, "redundant_aggregation", title)
            .fix("leave it out if its keys are unique by construction, or remove duplicates at the source")
            .number("rows_in", rows_in, "rows")
            .number("rows_out", rows_out, "rows")
            .saves_cpu_ns(step.busy_ns() as f64);
        found.push(finding.done());
    }
}

/// Rows that came to an aggregation: where it has two steps, to the first.
fn rows_into(plan: &Graph<'_>, aggregation: usize) -> Option<u64> {
    let mut place = aggregation;
    while let [input] = plan.steps[place].inputs[..] {
        let step = &plan.steps[input];
        if is_partial(step) {
            return step.counter(&ROWS_IN);
        }
        if step.role() != Role::Engine {
            break;
        }
        place = input;
    }
    plan.steps[aggregation].counter(&ROWS_IN)
}

/// Whether an aggregation gives a row to several groups: windows that overlap, or grouping sets.
fn gives_more(step: &Step<'_>) -> bool {
    let kind = step.node.kind.to_ascii_lowercase();
    let sets =
        step.properties.iter().any(|(name, value)| name == "grouping_sets" && value.as_bool() == Some(true));
    sets || ["rolling", "dynamic"].iter().any(|word| kind.contains(word))
}

fn is_partial(step: &Step<'_>) -> bool {
    let mode = step.properties.text(&MODE).unwrap_or_default();
    mode.to_ascii_lowercase().starts_with("partial")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::testing::{check, node, only};

    fn group(role: &str, properties: Value, rows_out: u64) -> Vec<Value> {
        let counters = json!({"rows_in": 1000, "rows_out": rows_out, "busy_ns": 900});
        vec![
            node(1, "Scan", "dataframe", &[], json!({}), json!({"rows_out": 1000, "busy_ns": 100})),
            node(2, "Group", role, &[1], properties, counters),
        ]
    }

    #[test]
    fn keys_that_are_unique_need_no_groups() {
        let plan = group("aggregation", json!({"keys": ["order_id"]}), 1000);
        insta::assert_json_snapshot!(only(50.0, &plan, json!({})), @r#"
            {
              "cpu_share": 0.9,
              "evidence": [
                {
                  "name": "rows_in",
                  "unit": "rows",
                  "value": 1000
                },
                {
                  "name": "rows_out",
                  "unit": "rows",
                  "value": 1000
                },
                {
                  "name": "saves_cpu_at_most",
                  "unit": "ms",
                  "value": 0.0009
                }
              ],
              "fix": "leave it out if its keys are unique by construction, or remove duplicates at the source",
              "kind": "problem",
              "level": "warn",
              "node_id": 2,
              "node_kind": "Group",
              "rule": "redundant_aggregation",
              "title": "Grouping 1.0 k rows removes none"
            }
            "#);
        assert_eq!(check(&group("distinct", json!({}), 1000)).len(), 1);
    }

    #[test]
    fn one_row_removed_is_a_reason() {
        assert!(check(&group("aggregation", json!({"keys": ["order_id"]}), 999)).is_empty());
        assert!(check(&group("distinct", json!({}), 999)).is_empty());
    }

    #[test]
    fn more_rows_than_came_are_not_groups_of_one() {
        assert!(check(&group("aggregation", json!({"keys": ["region", "day"]}), 1100)).is_empty());
        let sets = json!({"keys": ["region", "day"], "grouping_sets": true});
        assert!(check(&group("aggregation", sets, 1000)).is_empty());
        let mut rolling = group("aggregation", json!({"keys": ["day"]}), 1000);
        rolling[1]["kind"] = json!("RollingGroupBy");
        assert!(check(&rolling).is_empty());
    }

    #[test]
    fn a_global_or_partial_aggregation_is_not_meant_to_remove() {
        assert!(check(&group("aggregation", json!({}), 1000)).is_empty());
        assert!(check(&group("aggregation", json!({"keys": ["a"], "mode": "Partial"}), 1000)).is_empty());
    }

    #[test]
    fn two_steps_are_one() {
        let steps = |came: u64| {
            let step = |id, role, inputs: &[u64], mode: &str, rows: u64| {
                let counters = json!({"rows_in": rows, "rows_out": 1000, "busy_ns": 900});
                node(id, "Group", role, inputs, json!({"keys": ["a"], "mode": mode}), counters)
            };
            let first = step(1, "distinct", &[], "partial", came);
            let exchange = node(2, "Repartition", "engine", &[1], json!({}), json!({}));
            check(&[first, exchange, step(3, "distinct", &[2], "final", 1000)])
        };
        assert!(steps(1001).is_empty());
        assert_eq!(
            steps(1000),
            ["warn redundant_aggregation #3: Removing duplicates of 1.0 k rows removes none"]
        );
    }

    #[test]
    fn only_the_end_tells() {
        let mut plan = group("aggregation", json!({"keys": ["order_id"]}), 1000);
        plan[1]["metrics"]["done"] = json!(false);
        assert!(check(&plan).is_empty());
    }
}
