//! A filter behind work that it would have spared: it could run earlier.

use std::collections::BTreeSet;

use queryscope_protocol::{Finding, Role};

use super::user_code;
use crate::condition::is_elementwise;
use crate::finding::about;
use crate::graph::{Graph, Step};
use crate::query::Query;
use crate::say::{count, percent};
use crate::vocabulary::counters::{ROWS_IN, ROWS_OUT};
use crate::vocabulary::properties::{COLUMNS, EXPRESSIONS, HOW, KEYS, PREDICATE, PROJECTION, TABLE_COLUMNS};
use crate::words::{Words, plain_columns};

/// At most this share of the rows passes the filter.
const KEPT: f64 = 0.5;
/// Fewer rows than this cost nothing.
const ROWS: u64 = 1000;

pub(super) fn find(query: &Query<'_>, found: &mut Vec<Finding<'static>>) {
    for (place, step) in query.plan.steps.iter().enumerate() {
        let columns = Words::of(step.properties.texts(&PREDICATE)).columns;
        if step.role() != Role::Selection || columns.is_empty() || user_code::called(step).is_some() {
            continue;
        }
        // A condition on other rows (`shift`, `mean`, `rank`) gives another result before another node.
        if !step.properties.texts(&PREDICATE).into_iter().all(is_elementwise) {
            continue;
        }
        let (Some(rows), Some(kept), false) = (step.counter(&ROWS_IN), step.counter(&ROWS_OUT), step.runs())
        else {
            continue;
        };
        let share = kept as f64 / rows as f64;
        let behind = spared(&query.plan, place, &columns);
        if rows < ROWS || share > KEPT || behind.is_empty() {
            continue;
        }
        let busy: u64 = behind.iter().map(|&place| query.plan.steps[place].busy_ns()).sum();
        let names: Vec<&str> = behind.iter().map(|&place| &*query.plan.steps[place].node.kind).collect();
        let title = format!(
            "Filter keeps {} of {} rows, but only after {}",
            percent(share),
            count(rows),
            names.join(", ")
        );
        let columns: Vec<String> = columns.into_iter().collect();
        let finding = about(query, step, "late_filter", title)
            .cpu_share(query.cpu_share(busy))
            .fix(format!(
                "filter on {} before {}",
                columns.join(", "),
                names.last().copied().unwrap_or_default()
            ))
            .number("rows_in", rows, "rows")
            .number("rows_out", kept, "rows")
            .saves_cpu_ns(busy as f64 * (1.0 - share));
        found.push(finding.done());
    }
}

/// The nodes below a filter whose work it would have spared, had it come before them.
fn spared(plan: &Graph<'_>, filter: usize, columns: &BTreeSet<String>) -> Vec<usize> {
    let mut behind = Vec::new();
    let mut candidate = plan.steps[filter].inputs.first().copied();
    while let Some(place) = candidate {
        let step = &plan.steps[place];
        // What others read as well must not be filtered for them.
        if step.readers.len() != 1 || !passes(step, columns) {
            return behind;
        }
        candidate = match step.inputs[..] {
            [] => None,
            [input] => Some(input),
            [left, right] => match side(plan, left, right, columns) {
                Some(side) => Some(side),
                None => return behind,
            },
            _ => return behind,
        };
        if step.role() != Role::Projection {
            behind.push(place);
        }
    }
    behind
}

/// The input of a join that has all the columns, where the other has none of them.
fn side(plan: &Graph<'_>, left: usize, right: usize, columns: &BTreeSet<String>) -> Option<usize> {
    let (of_left, of_right) = (columns_of(plan, left)?, columns_of(plan, right)?);
    if columns.is_subset(&of_left) && columns.is_disjoint(&of_right) {
        Some(left)
    } else if columns.is_subset(&of_right) && columns.is_disjoint(&of_left) {
        Some(right)
    } else {
        None
    }
}

/// Whether a filter on some columns gives the same before a node as after it.
fn passes(step: &Step<'_>, columns: &BTreeSet<String>) -> bool {
    let properties = &step.properties;
    let unlimited = !properties.is_sliced();
    match step.role() {
        Role::Sort => unlimited,
        Role::Projection if properties.get(&EXPRESSIONS).is_none() => true,
        // Columns handed on as they are.
        Role::Projection | Role::Rename | Role::Map => {
            columns.is_subset(&plain_columns(properties.texts(&EXPRESSIONS)))
        }
        Role::Join => properties.text(&HOW).is_some_and(|how| how.eq_ignore_ascii_case("inner")) && unlimited,
        // Groups by a column itself hold one value of it.
        Role::Aggregation | Role::Distinct => {
            columns.is_subset(&plain_columns(properties.texts(&KEYS))) && unlimited
        }
        _ => false,
    }
}

/// The columns a node gives on, where its own properties or those below say so.
fn columns_of(plan: &Graph<'_>, mut place: usize) -> Option<BTreeSet<String>> {
    loop {
        let step = &plan.steps[place];
        let names = match step.role() {
            Role::Scan | Role::Dataframe => {
                let read = step.properties.names(&PROJECTION);
                return owned(read.or_else(|| step.properties.names(&TABLE_COLUMNS)));
            }
            Role::Projection => step.properties.names(&COLUMNS),
            Role::Selection | Role::Sort | Role::TopK | Role::Engine => None,
            _ => return None,
        };
        if names.is_some() {
            return owned(names);
        }
        let [input] = step.inputs[..] else { return None };
        place = input;
    }
}

fn owned(names: Option<Vec<&str>>) -> Option<BTreeSet<String>> {
    names.map(|names| names.into_iter().map(ToOwned::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::testing::{check, node, only};

    /// A filter on `predicate` over a join of orders and customers.
    fn query(how: &str, predicate: &str, kept: u64) -> Vec<Value> {
        let scan = |id, projection: Value| {
            node(
                id,
                "Scan",
                "scan",
                &[],
                json!({"projection": projection}),
                json!({"rows_out": 1000, "busy_ns": 50}),
            )
        };
        let filtered = json!({"rows_in": 1000, "rows_out": kept, "busy_ns": 100_000});
        vec![
            scan(1, json!(["order_id", "region", "customer_id"])),
            scan(2, json!(["customer_id", "country"])),
            node(
                3,
                "HashJoin",
                "join",
                &[1, 2],
                json!({"how": how}),
                json!({"rows_in": 2000, "rows_out": 1000, "busy_ns": 800_000}),
            ),
            node(4, "Filter", "selection", &[3], json!({"predicate": predicate}), filtered),
        ]
    }

    #[test]
    fn a_join_of_rows_that_are_dropped() {
        let plan = query("INNER", "col(\"region\") == \"EU\"", 100);
        insta::assert_json_snapshot!(only(50.0, &plan, json!({})), @r#"
            {
              "cpu_share": 0.88879,
              "evidence": [
                {
                  "name": "rows_in",
                  "unit": "rows",
                  "value": 1000
                },
                {
                  "name": "rows_out",
                  "unit": "rows",
                  "value": 100
                },
                {
                  "name": "saves_cpu_at_most",
                  "unit": "ms",
                  "value": 0.72
                }
              ],
              "fix": "filter on region before HashJoin",
              "kind": "problem",
              "level": "warn",
              "node_id": 4,
              "node_kind": "Filter",
              "rule": "late_filter",
              "title": "Filter keeps 10 % of 1.0 k rows, but only after HashJoin"
            }
            "#);
    }

    #[test]
    fn half_kept_is_the_limit() {
        assert!(!check(&query("inner", "country@1 = Utf8(\"FR\")", 500)).is_empty());
        assert!(check(&query("inner", "country@1 = Utf8(\"FR\")", 501)).is_empty());
    }

    #[test]
    fn what_needs_both_sides_or_an_outer_join_stays() {
        assert!(check(&query("inner", "col(\"region\") == col(\"country\")", 100)).is_empty());
        assert!(check(&query("inner", "col(\"customer_id\") > 5", 100)).is_empty(), "which of the two?");
        assert!(check(&query("left", "col(\"country\") == \"FR\"", 100)).is_empty());
        let user = check(&query("inner", "col(\"region\").python_udf()", 100));
        assert!(user.iter().all(|finding| finding.contains("user_code")), "{user:?}");
    }

    #[test]
    fn conditions_on_other_rows_stay() {
        for predicate in [
            "[(col(\"region\")) > (col(\"region\").shift([dyn int: 1]))]",
            "[(col(\"region\")) > (col(\"region\").mean())]",
            "col(\"region\").rank() < 5",
            "random() < col(\"region\")",
        ] {
            assert!(check(&query("inner", predicate, 100)).is_empty(), "{predicate}");
        }
        assert!(!check(&query("inner", "col(\"region\").is_in([[1, 2, … 13]])", 100)).is_empty());
    }

    #[test]
    fn groups_by_the_column_itself_are_passed() {
        let by = |key: &str| {
            vec![
                node(1, "Group", "aggregation", &[], json!({"keys": [key]}), json!({"busy_ns": 9})),
                node(2, "Sort", "sort", &[1], json!({}), json!({"busy_ns": 9})),
                node(
                    3,
                    "Filter",
                    "selection",
                    &[2],
                    json!({"predicate": "col(\"day\") > 3"}),
                    json!({"rows_in": 5000, "rows_out": 5}),
                ),
            ]
        };
        assert_eq!(
            check(&by("col(\"day\")")),
            ["warn late_filter #3: Filter keeps 0.10 % of 5.0 k rows, but only after Sort, Group"]
        );
        assert_eq!(
            check(&by("col(\"day\") % 7")),
            ["warn late_filter #3: Filter keeps 0.10 % of 5.0 k rows, but only after Sort"]
        );
    }

    #[test]
    fn columns_handed_on_as_they_are_are_passed() {
        let of = |expression: &str| {
            let expressions = json!({"columns": ["day", "n"], "expressions": [expression, "count(*) AS n"]});
            let plan = [
                node(1, "Group", "aggregation", &[], json!({"keys": ["day"]}), json!({"busy_ns": 9})),
                node(2, "ProjectionExec", "rename", &[1], expressions, json!({"busy_ns": 9})),
                node(
                    3,
                    "Filter",
                    "selection",
                    &[2],
                    json!({"predicate": "day > 3"}),
                    json!({"rows_in": 5000, "rows_out": 5}),
                ),
            ];
            check(&plan)
        };
        assert_eq!(of("day").len(), 1);
        assert_eq!(of("day + 1 AS day").len(), 0);
    }
}
