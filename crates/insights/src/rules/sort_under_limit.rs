//! A full sort of which only the first rows are kept.

use queryscope_protocol::{Finding, Role};

use crate::finding::about;
use crate::graph::Graph;
use crate::query::Query;
use crate::say::count;
use crate::vocabulary::counters::ROWS_IN;

/// Fewer rows than this are sorted in no time.
const ROWS: u64 = 1000;
/// A tenth of the rows is about as far as keeping the first is cheaper than sorting.
const KEPT: f64 = 0.1;

pub(super) fn find(query: &Query<'_>, found: &mut Vec<Finding<'static>>) {
    for (place, step) in query.plan.steps.iter().enumerate() {
        if step.role() != Role::Sort {
            continue;
        }
        let (Some(rows), Some(limit)) = (step.counter(&ROWS_IN), limit_above(&query.plan, place)) else {
            continue;
        };
        // Rows in only grow: what is said of a running query stays true.
        if rows < ROWS || limit as f64 > KEPT * rows as f64 {
            continue;
        }
        let title = format!("{} rows are sorted to keep {}", count(rows), count(limit));
        // Sorting n rows takes n log n steps, keeping the first k of them n log k.
        let saved = 1.0 - (limit.max(2) as f64).ln() / (rows as f64).ln();
        let finding = about(query, step, "sort_under_limit", title)
            .fix("ask for the first rows by the order (top-k), or put the limit right after the sort")
            .number("rows_in", rows, "rows")
            .number("limit", limit, "rows")
            .saves_cpu_ns(step.busy_ns() as f64 * saved);
        found.push(finding.done());
    }
}

/// The limit at a sort or above it, with only nodes between that keep rows and their order.
fn limit_above(plan: &Graph<'_>, sort: usize) -> Option<u64> {
    let mut place = sort;
    loop {
        let step = &plan.steps[place];
        if let Some(limit) = step.properties.limit() {
            return Some(limit);
        }
        let [reader] = step.readers[..] else { return None };
        let keeps = matches!(
            plan.steps[reader].role(),
            Role::Projection | Role::Map | Role::Rename | Role::Engine | Role::Function | Role::Sink
        );
        let limits = plan.steps[reader].properties.limit().is_some();
        let plain =
            plan.steps[reader].inputs.len() == 1 && plan.steps[reader].properties.user_code().is_none();
        // A function is passed only where it is the limit itself.
        if !keeps || !plain || (plan.steps[reader].role() == Role::Function && !limits) {
            return None;
        }
        place = reader;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::testing::{check, node, only};

    fn sort(rows: u64, limit: u64, between: &str) -> Vec<Value> {
        vec![
            node(1, "Sort", "sort", &[], json!({}), json!({"rows_in": rows, "busy_ns": 1_000_000})),
            node(2, "Between", between, &[1], json!({}), json!({})),
            node(3, "Slice", "function", &[2], json!({"offset": 0, "length": limit}), json!({})),
        ]
    }

    #[test]
    fn all_are_sorted_for_a_few() {
        insta::assert_json_snapshot!(only(50.0, &sort(4_000_000, 20, "projection"), json!({})), @r#"
            {
              "cpu_share": 1.0,
              "evidence": [
                {
                  "name": "rows_in",
                  "unit": "rows",
                  "value": 4000000
                },
                {
                  "name": "limit",
                  "unit": "rows",
                  "value": 20
                },
                {
                  "name": "saves_cpu_at_most",
                  "unit": "ms",
                  "value": 0.802936
                }
              ],
              "fix": "ask for the first rows by the order (top-k), or put the limit right after the sort",
              "kind": "problem",
              "level": "warn",
              "node_id": 1,
              "node_kind": "Sort",
              "rule": "sort_under_limit",
              "title": "4.0M rows are sorted to keep 20"
            }
            "#);
    }

    #[test]
    fn a_tenth_is_the_limit() {
        assert!(!check(&sort(1000, 100, "map")).is_empty());
        assert!(check(&sort(1000, 101, "map")).is_empty());
        assert!(check(&sort(999, 1, "map")).is_empty());
    }

    #[test]
    fn the_limit_may_be_the_sorts_own() {
        let plan = [node(1, "Sort", "sort", &[], json!({"slice": [0, 5]}), json!({"rows_in": 5000}))];
        assert_eq!(check(&plan), ["note sort_under_limit #1: 5.0k rows are sorted to keep 5"]);
        let top_k = [node(1, "Sort", "top_k", &[], json!({"fetch": 5}), json!({"rows_in": 5000}))];
        assert!(check(&top_k).is_empty());
    }

    #[test]
    fn a_filter_between_needs_all() {
        assert!(check(&sort(5000, 5, "selection")).is_empty());
    }
}
