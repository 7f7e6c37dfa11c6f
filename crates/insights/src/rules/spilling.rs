//! A node, or a run, that wrote to disk for want of memory.

use queryscope_protocol::Finding;

use crate::finding::{about, about_query};
use crate::query::Query;
use crate::say::{bytes, count};
use crate::vocabulary::counters::{SPILLED_BYTES, SPILLED_ROWS};
use crate::vocabulary::query_counters;

pub(super) fn find(query: &Query<'_>, found: &mut Vec<Finding<'static>>) {
    let before = found.len();
    find_nodes(query, found);
    let spilled = query.counter(&query_counters::SPILLED_BYTES).unwrap_or(0);
    if found.len() == before && spilled > 0 {
        let title = format!("The query spills at least {} to disk", bytes(spilled));
        let finding = about_query("spilling", title)
            .fix("give the query more memory, or let less reach its joins, sorts and groupings")
            .number("spilled_bytes", spilled, "bytes");
        found.push(finding.done());
    }
}

fn find_nodes(query: &Query<'_>, found: &mut Vec<Finding<'static>>) {
    for step in &query.plan.steps {
        let spilled = step.counter(&SPILLED_BYTES).unwrap_or(0);
        let rows = step.counter(&SPILLED_ROWS).unwrap_or(0);
        if spilled == 0 && rows == 0 {
            continue;
        }
        let kind = &step.node.kind;
        let title = match (spilled, rows) {
            (0, rows) => format!("{kind} spills {} rows to disk", count(rows)),
            (spilled, _) => format!("{kind} spills {} to disk", bytes(spilled)),
        };
        let finding = about(query, step, "spilling", title)
            .fix(
                "give the query more memory, or let less reach this node: fewer columns, an earlier filter, the \
                 smaller input as the build side",
            )
            .number("spilled_bytes", spilled, "bytes")
            .number("spilled_rows", rows, "rows");
        found.push(finding.done());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::testing::{check, check_with, node, only};

    fn sort(counters: Value) -> Vec<Value> {
        vec![node(1, "Sort", "sort", &[], json!({}), counters)]
    }

    #[test]
    fn a_query_spills_where_no_node_says_so() {
        let more = || json!({"query_metrics": {"spilled_bytes": 41_811_968}});
        assert_eq!(
            check_with(1000.0, &sort(json!({"busy_ns": 900})), more()),
            ["note spilling: The query spills at least 39.9 MiB to disk"]
        );
        let told = check_with(1000.0, &sort(json!({"busy_ns": 900, "spilled_bytes": 1024})), more());
        assert_eq!(told, ["warn spilling #1: Sort spills 1.0 KiB to disk"]);
    }

    #[test]
    fn memory_did_not_suffice() {
        let plan =
            sort(json!({"busy_ns": 900, "spilled_bytes": 3_435_973_837_u64, "spilled_rows": 4_000_000}));
        insta::assert_json_snapshot!(only(50.0, &plan, json!({})), @r#"
            {
              "cpu_share": 1.0,
              "evidence": [
                {
                  "name": "spilled_bytes",
                  "unit": "bytes",
                  "value": 3435973837
                },
                {
                  "name": "spilled_rows",
                  "unit": "rows",
                  "value": 4000000
                }
              ],
              "fix": "give the query more memory, or let less reach this node: fewer columns, an earlier filter, the smaller input as the build side",
              "kind": "problem",
              "level": "warn",
              "node_id": 1,
              "node_kind": "Sort",
              "rule": "spilling",
              "title": "Sort spills 3.2 GiB to disk"
            }
            "#);
        assert_eq!(
            check(&sort(json!({"spilled_rows": 7}))),
            ["note spilling #1: Sort spills 7 rows to disk"]
        );
    }

    #[test]
    fn nothing_spilled_is_fine() {
        assert!(check(&sort(json!({"busy_ns": 900, "spilled_bytes": 0, "spilled_rows": 0}))).is_empty());
    }
}
