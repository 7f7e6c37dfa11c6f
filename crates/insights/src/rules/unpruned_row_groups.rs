//! A scan that reads nearly every row group although few rows meet its predicate.

use queryscope_protocol::{Finding, Role};

use crate::finding::about;
use crate::graph::Graph;
use crate::query::Query;
use crate::say::percent;
use crate::vocabulary::counters::{ROW_GROUPS, ROW_GROUPS_PRUNED, ROWS_OUT, ROWS_SCANNED};
use crate::vocabulary::properties::{KEYS, PREDICATE};
use crate::words::Words;

/// With fewer row groups there is little to skip.
const ROW_GROUPS_LEAST: u64 = 10;
/// At most this share of the row groups was skipped.
const PRUNED: f64 = 0.1;
/// At most this share of the rows met the predicate.
const KEPT: f64 = 0.05;

pub(super) fn find(query: &Query<'_>, found: &mut Vec<Finding<'static>>) {
    for (place, step) in query.plan.steps.iter().enumerate().filter(|(_, step)| step.role() == Role::Scan) {
        let predicate = step.properties.texts(&PREDICATE);
        let (Some(groups), Some(scanned), Some(kept)) =
            (step.counter(&ROW_GROUPS), step.counter(&ROWS_SCANNED), step.counter(&ROWS_OUT))
        else {
            continue;
        };
        let pruned = step.counter(&ROW_GROUPS_PRUNED).unwrap_or(0);
        let rarely = scanned > 0 && kept as f64 <= KEPT * scanned as f64;
        let read = groups.saturating_sub(pruned);
        if predicate.is_empty() || step.runs() || groups < ROW_GROUPS_LEAST || !rarely {
            continue;
        }
        // A limit may have ended the scan long before its last row group.
        if pruned as f64 > PRUNED * groups as f64 || may_end_early(&query.plan, place) {
            continue;
        }
        let share = kept as f64 / scanned as f64;
        let columns: Vec<String> = Words::of(predicate).columns.into_iter().collect();
        let columns = if columns.is_empty() { "the predicate's columns".into() } else { columns.join(", ") };
        let title = format!("{read} of {groups} row groups are read for {} of their rows", percent(share));
        let finding = about(query, step, "unpruned_row_groups", title)
            .fix(format!(
                "write the files sorted by {columns} and with statistics, so that row groups without a match are \
                 skipped"
            ))
            .number("row_groups", groups, "row groups")
            .number("row_groups_pruned", pruned, "row groups")
            .number("rows_scanned", scanned, "rows")
            .number("rows_out", kept, "rows")
            .saves_cpu_ns(step.busy_ns() as f64 * (1.0 - share));
        found.push(finding.done());
    }
}

/// Whether a limit at a scan or above it may end it, with no node between that takes all rows before it gives one.
fn may_end_early(plan: &Graph<'_>, scan: usize) -> bool {
    let mut seen = vec![false; plan.steps.len()];
    let mut open = vec![scan];
    while let Some(place) = open.pop() {
        if std::mem::replace(&mut seen[place], true) {
            continue;
        }
        let step = &plan.steps[place];
        let takes_all = match step.role() {
            // A sort of groups that are in order already gives the first before it takes the second.
            Role::Sort | Role::TopK => !step.node.kind.starts_with("Partial"),
            Role::Aggregation => step.properties.get(&KEYS).is_none(),
            _ => false,
        };
        if takes_all {
            continue;
        }
        if step.properties.is_sliced() {
            return true;
        }
        open.extend(&step.readers);
    }
    false
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::testing::{check, node, only};

    fn scan(pruned: u64, kept: u64) -> Vec<Value> {
        let properties =
            json!({"predicate": "(col(\"day\") == \"2026-11-20\") & (col(\"region\") == \"EU\")"});
        let counters = json!({
            "row_groups": 100, "row_groups_pruned": pruned, "rows_scanned": 100_000, "rows_out": kept,
            "busy_ns": 2_000_000
        });
        vec![node(1, "Scan", "scan", &[], properties, counters)]
    }

    #[test]
    fn statistics_skip_nothing() {
        insta::assert_json_snapshot!(only(50.0, &scan(0, 100), json!({})), @r#"
            {
              "cpu_share": 1.0,
              "evidence": [
                {
                  "name": "row_groups",
                  "unit": "row groups",
                  "value": 100
                },
                {
                  "name": "row_groups_pruned",
                  "unit": "row groups",
                  "value": 0
                },
                {
                  "name": "rows_scanned",
                  "unit": "rows",
                  "value": 100000
                },
                {
                  "name": "rows_out",
                  "unit": "rows",
                  "value": 100
                },
                {
                  "name": "saves_cpu_at_most",
                  "unit": "ms",
                  "value": 1.998
                }
              ],
              "fix": "write the files sorted by day, region and with statistics, so that row groups without a match are skipped",
              "kind": "problem",
              "level": "warn",
              "node_id": 1,
              "node_kind": "Scan",
              "rule": "unpruned_row_groups",
              "title": "100 of 100 row groups are read for 0.10 % of their rows"
            }
            "#);
    }

    #[test]
    fn some_skipped_or_many_rows_kept_is_fine() {
        assert!(!check(&scan(10, 5000)).is_empty());
        assert!(check(&scan(11, 5000)).is_empty());
        assert!(check(&scan(10, 5001)).is_empty());
    }

    #[test]
    fn a_limit_may_end_the_scan() {
        let above = |role: &str, properties: Value| {
            let mut plan = scan(0, 100);
            plan.push(node(2, "Between", role, &[1], properties, json!({})));
            plan.push(node(3, "Slice", "function", &[2], json!({"offset": 0, "length": 10}), json!({})));
            check(&plan).into_iter().filter(|found| found.contains("unpruned_row_groups")).count()
        };
        assert_eq!(above("projection", json!({})), 0);
        assert_eq!(above("aggregation", json!({"keys": ["day"]})), 0, "groups may come in order");
        assert_eq!(above("sort", json!({})), 1);
        assert_eq!(above("aggregation", json!({})), 1);
        let mut own = scan(0, 100);
        own[0]["properties"]["limit"] = json!(10);
        assert!(check(&own).is_empty());
        own[0]["properties"]["limit"] = Value::Null;
        own[0]["properties"]["pre_slice"] = json!([0, 10]);
        assert!(check(&own).is_empty());
    }

    #[test]
    fn without_a_predicate_all_is_wanted() {
        let mut plan = scan(0, 100);
        plan[0]["properties"] = json!({});
        assert!(check(&plan).is_empty());
    }
}
