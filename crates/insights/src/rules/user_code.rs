//! Code of the program that the plan calls, row by row or for all rows at once.

use std::fmt::Write as _;

use queryscope_protocol::{Finding, Node};

use crate::finding::{about, rounded};
use crate::graph::Step;
use crate::properties::Properties;
use crate::query::Query;
use crate::say::{count, millis};
use crate::vocabulary::counters::{LONGEST_STEP, ROWS_IN};
use crate::vocabulary::properties::{EXPRESSIONS, PREDICATE};
use crate::words::Words;

/// The evidence of how much of the wall time is in no counter.
const IN_NO_COUNTER: &str = "in_no_counter";

pub(super) fn find(query: &Query<'_>, found: &mut Vec<Finding<'static>>) {
    let likely = likely_place(query).map(|step| step.node.id);
    for step in &query.plan.steps {
        let Some(name) = called(step) else { continue };
        let Some(rows) = step.counter(&ROWS_IN).filter(|&rows| rows > 0) else { continue };
        let uncounted = query.uncounted_share().filter(|_| likely == Some(step.node.id));
        let mut title = format!("User code ({name}) is called for {} rows", count(rows));
        if uncounted.is_some() {
            let so_far = if step.runs() && query.profile.failed.is_none() { " so far" } else { "" };
            let (part, whole) = (millis(query.uncounted_ms()), millis(query.profile.wall_ms));
            write!(title, "; {part} of {whole}{so_far} are in no counter").expect("a text takes all");
        }
        let mut finding = about(query, step, "user_code", title)
            .fix("say it in expressions of the engine, or as a compiled plugin that takes whole columns")
            .number("rows_in", rows, "rows");
        if let Some(longest) = step.counter(&LONGEST_STEP) {
            finding = finding.number("longest_step", longest as f64 / 1e6, "ms");
        }
        if let Some(share) = uncounted {
            finding =
                finding.uncounted_share(share).number(IN_NO_COUNTER, rounded(query.uncounted_ms()), "ms");
            if let Some(cpu_ms) = query.process_cpu_ms() {
                finding = finding.number("process_cpu", rounded(cpu_ms), "ms");
            }
        }
        // What the advice saves is not known: engines count little of what user code takes.
        found.push(finding.done());
    }
}

/// The node whose user code likely took the time that is in no counter: that with the most rows.
fn likely_place<'q, 'p>(query: &'q Query<'p>) -> Option<&'q Step<'p>> {
    let calling = query.plan.steps.iter().filter(|step| called(step).is_some());
    calling.max_by_key(|step| step.counter(&ROWS_IN).unwrap_or(0))
}

/// Whether a finding is about time that is in no counter.
pub(super) fn holds_uncounted(finding: &Finding<'_>) -> bool {
    finding.evidence.iter().any(|evidence| &*evidence.name == IN_NO_COUNTER)
}

/// The function of the program that a node calls; `None` where it calls none.
///
/// Engines count little of what such a function does: a node that calls one may work while its counters stand still.
pub fn user_code(node: &Node<'_>) -> Option<String> {
    called_by(&Properties::of(node))
}

/// The function of the program that a step calls.
pub(crate) fn called(step: &Step<'_>) -> Option<String> {
    called_by(&step.properties)
}

fn called_by(properties: &Properties) -> Option<String> {
    if let Some(name) = properties.user_code() {
        return Some(name.chars().take(80).collect());
    }
    let words = Words::of([&EXPRESSIONS, &PREDICATE].into_iter().flat_map(|term| properties.texts(term)));
    words.functions.into_iter().find(|name| name.ends_with("_udf"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::testing::{check, check_with, node, only, profile, profile_text};

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
    fn time_in_no_counter_is_likely_its_own() {
        let mut plan = map(json!({"user_code": "score"}));
        plan.push(node(2, "Few", "map", &[1], json!({"user_code": "few"}), json!({"rows_in": 7})));
        let more = json!({"planning_ms": 10.0, "query_metrics": {"process_cpu_ns": 9_300_000_000_u64}});
        let text = profile_text(14_200.0, &plan, more);
        let found = crate::findings(&profile(&text)).findings;
        let titles: Vec<_> = found.iter().map(|finding| (&*finding.level, &*finding.title)).collect();
        let likely = "User code (score) is called for 1.2M rows; 14.2 s of 14.2 s are in no counter";
        assert_eq!(titles, [("warn", likely), ("note", "User code (few) is called for 7 rows")]);
        assert_eq!(found[0].cpu_share, None, "the counters do not say");
        let evidence = serde_json::to_value(&found[0].evidence).expect("JSON");
        let named = |name: &str| {
            let is = |one: &&Value| one["name"] == name;
            evidence.as_array().expect("a list").iter().find(is).map(|one| one["value"].clone())
        };
        assert_eq!(named("in_no_counter"), Some(json!(14_189.1)));
        assert_eq!(named("process_cpu"), Some(json!(9300.0)));
        assert_eq!(named("saves_cpu_at_most"), None);
    }

    #[test]
    fn while_it_runs_that_is_so_far() {
        let mut plan = map(json!({"user_code": "score"}));
        plan[0]["metrics"]["done"] = json!(false);
        let found = check_with(2000.0, &plan, json!({}));
        assert_eq!(found.len(), 1);
        assert!(found[0].ends_with("; 2.00 s of 2.00 s so far are in no counter"), "{found:?}");
    }

    #[test]
    fn counted_time_is_counted() {
        let mut plan = map(json!({"user_code": "score"}));
        plan[0]["metrics"]["busy_ns"] = json!(1_600_000_000);
        assert_eq!(
            check_with(2000.0, &plan, json!({})),
            ["warn user_code #1: User code (score) is called for 1.2M rows"]
        );
    }

    #[test]
    fn the_engines_own_functions_are_fine() {
        assert!(check(&map(json!({"selectors": ["col(\"udf\").sum()"], "name": "row_index"}))).is_empty());
    }
}
