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
        let (Some(rows), Some((offset, limit))) = (step.counter(&ROWS_IN), slice_above(&query.plan, place))
        else {
            continue;
        };
        let limit = if offset < 0 { limit.min(offset.unsigned_abs()) } else { limit };
        // A top-k must hold all rows from the nearer end of the order to the last row kept.
        let skipped =
            if offset < 0 { offset.unsigned_abs().saturating_sub(limit) } else { offset.unsigned_abs() };
        let held = skipped.saturating_add(limit);
        // Rows in only grow: what is said of a running query stays true.
        if rows < ROWS || held as f64 > KEPT * rows as f64 {
            continue;
        }
        let end = if offset < 0 { "last" } else { "first" };
        let behind =
            if skipped > 0 { format!(" behind the {end} {}", count(skipped)) } else { String::new() };
        let title = format!("{} rows are sorted to keep {}{behind}", count(rows), count(limit));
        let fix = match (offset < 0, skipped) {
            (true, _) => format!("ask for the first {} rows by the reverse order (top-k)", count(held)),
            (false, 0) => {
                "ask for the first rows by the order (top-k), or put the limit right after the sort"
                    .to_owned()
            }
            (false, _) => format!("ask for the first {} rows by the order (top-k)", count(held)),
        };
        // Sorting n rows takes n log n steps, keeping the first k of them n log k.
        let saved = 1.0 - (held.max(2) as f64).ln() / (rows as f64).ln();
        let mut finding = about(query, step, "sort_under_limit", title)
            .fix(fix)
            .number("rows_in", rows, "rows")
            .number("limit", limit, "rows");
        if skipped > 0 {
            finding = finding.number("skipped", skipped, "rows");
        }
        let finding = finding.saves_cpu_ns(step.busy_ns() as f64 * saved);
        found.push(finding.done());
    }
}

/// The rows kept of those sorted, by the sort itself or above it, with only nodes between that keep rows and their
/// order.
fn slice_above(plan: &Graph<'_>, sort: usize) -> Option<(i64, u64)> {
    let mut place = sort;
    loop {
        let step = &plan.steps[place];
        if step.properties.is_sliced() {
            return step.properties.slice();
        }
        let [reader] = step.readers[..] else { return None };
        let keeps = matches!(
            plan.steps[reader].role(),
            Role::Projection | Role::Map | Role::Rename | Role::Engine | Role::Function | Role::Sink
        );
        let limits = plan.steps[reader].properties.is_sliced();
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
              "title": "4.0 M rows are sorted to keep 20"
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
        assert_eq!(check(&plan), ["note sort_under_limit #1: 5.0 k rows are sorted to keep 5"]);
        let top_k = [node(1, "Sort", "top_k", &[], json!({"fetch": 5}), json!({"rows_in": 5000}))];
        assert!(check(&top_k).is_empty());
    }

    #[test]
    fn rows_before_the_offset_must_be_held_as_well() {
        let sliced = |slice: Value| {
            let properties = json!({"slice": slice});
            check(&[
                node(1, "Sort", "sort", &[], json!({}), json!({"rows_in": 2_000_000})),
                node(2, "Slice", "engine", &[1], properties, json!({})),
            ])
        };
        assert!(sliced(json!([1_900_000, 20])).is_empty());
        assert!(sliced(json!([-1_900_000, 20])).is_empty());
        assert!(sliced(json!(["<num>", 20])).is_empty(), "an offset that is not known");
        assert!(sliced(json!([u64::MAX, 20])).is_empty());
        assert_eq!(
            sliced(json!([1000, 20])),
            ["note sort_under_limit #1: 2.0 M rows are sorted to keep 20 behind the first 1.0 k"]
        );
        assert_eq!(sliced(json!([-20, 20])), ["note sort_under_limit #1: 2.0 M rows are sorted to keep 20"]);
        let beside = |offset: Value| {
            let mut plan = sort(2_000_000, 20, "projection");
            plan[2]["properties"]["offset"] = offset;
            check(&plan)
        };
        assert!(beside(json!(1_900_000)).is_empty());
        assert_eq!(beside(Value::Null).len(), 1);
    }

    #[test]
    fn the_last_rows_are_the_first_of_the_reverse_order() {
        let plan = [node(1, "Sort", "sort", &[], json!({"slice": [-5, 5]}), json!({"rows_in": 5000}))];
        let finding = only(50.0, &plan, json!({}));
        assert_eq!(finding["fix"], "ask for the first 5 rows by the reverse order (top-k)");
    }

    #[test]
    fn a_filter_between_needs_all() {
        assert!(check(&sort(5000, 5, "selection")).is_empty());
    }
}
