//! Code of the program that the plan calls, row by row or for all rows at once.

use queryscope_protocol::Finding;

use crate::finding::about;
use crate::graph::Step;
use crate::query::Query;
use crate::say::count;
use crate::vocabulary::counters::{LONGEST_STEP, ROWS_IN};
use crate::vocabulary::properties::{EXPRESSIONS, PREDICATE};
use crate::words::Words;

pub(super) fn find(query: &Query<'_>, found: &mut Vec<Finding<'static>>) {
    for step in &query.plan.steps {
        let Some(name) = called(step) else { continue };
        let Some(rows) = step.counter(&ROWS_IN).filter(|&rows| rows > 0) else { continue };
        let title = format!("User code ({name}) is called for {} rows", count(rows));
        let mut finding = about(query, step, "user_code", title)
            .fix("say it in expressions of the engine, or as a compiled plugin that takes whole columns")
            .number("rows_in", rows, "rows");
        if let Some(longest) = step.counter(&LONGEST_STEP) {
            finding = finding.number("longest_step", longest as f64 / 1e6, "ms");
        }
        found.push(finding.saves_cpu_ns(step.busy_ns() as f64).done());
    }
}

/// The function of the program that a node calls.
pub(super) fn called(step: &Step<'_>) -> Option<String> {
    if let Some(name) = step.properties.user_code() {
        return Some(name.chars().take(80).collect());
    }
    let words =
        Words::of([&EXPRESSIONS, &PREDICATE].into_iter().flat_map(|term| step.properties.texts(term)));
    words.functions.into_iter().find(|name| name.ends_with("_udf"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::testing::{check, node, only};

    fn map(properties: Value) -> Vec<Value> {
        let counters = json!({"rows_in": 1_200_000, "busy_ns": 900_000, "longest_step_ns": 2_281_833});
        vec![node(1, "Select", "map", &[], properties, counters)]
    }

    #[test]
    fn a_function_of_the_program() {
        let plan = map(json!({"selectors": ["col(\"amount\").python_udf().alias(\"m\")"]}));
        insta::assert_json_snapshot!(only(50.0, &plan, json!({})), @r#"
            {
              "cpu_share": 1.0,
              "evidence": [
                {
                  "name": "rows_in",
                  "unit": "rows",
                  "value": 1200000
                },
                {
                  "name": "longest_step",
                  "unit": "ms",
                  "value": 2.281833
                },
                {
                  "name": "saves_cpu_at_most",
                  "unit": "ms",
                  "value": 0.9
                }
              ],
              "fix": "say it in expressions of the engine, or as a compiled plugin that takes whole columns",
              "kind": "problem",
              "level": "warn",
              "node_id": 1,
              "node_kind": "Select",
              "rule": "user_code",
              "title": "User code (python_udf) is called for 1.2M rows"
            }
            "#);
        assert_eq!(check(&map(json!({"name": "python_udf"}))).len(), 1);
        assert_eq!(check(&map(json!({"user_code": "score"}))).len(), 1);
    }

    #[test]
    fn the_engines_own_functions_are_fine() {
        assert!(check(&map(json!({"selectors": ["col(\"udf\").sum()"], "name": "row_index"}))).is_empty());
    }
}
