//! What is printed, on terminals of 80 and 200 columns.

use serde_json::{Value, json};

use super::*;
use crate::read::screen::Reader;
use crate::read::units::{Times, Zone};

/// Friday, 20 November 2026, 20:31 UTC.
const NOW_UNIX_NS: i64 = 1_795_206_683_000_000_000;
const DAY_NS: i64 = 86_400_000_000_000;

/// What a terminal of 80 columns shows.
fn printed(overview: Value, changes: Value) -> String {
    printed_on(80, overview, changes)
}

fn printed_on(columns: usize, overview: Value, changes: Value) -> String {
    let times = Times { now_unix_ns: NOW_UNIX_NS, zone: Zone::Utc };
    let overview = serde_json::from_value(overview).expect("an overview");
    let changes: Vec<Change> = serde_json::from_value(changes).expect("changes");
    let text = text(
        "orders/daily",
        &overview,
        &changes,
        Screen { columns: Some(columns), times, reader: Reader::Person },
    );
    anstream::adapter::strip_str(&text).to_string()
}

fn overview(runs: &[(&str, u64)]) -> Value {
    let queries: Vec<Value> = runs
        .iter()
        .map(|(service, runs)| {
            let is_known = *runs > 5;
            json!({"label": "orders/daily", "service": service, "runs": runs, "failed": 0,
                "usual_wall_ms": is_known.then_some(39_700.0), "recent_wall_ms": is_known.then_some(40_100.0)})
        })
        .collect();
    let totals = json!({"labels": queries.len(), "runs": 14, "total_wall_ms": 1000.0});
    json!({"totals": totals, "change_runs_min": 8, "queries": queries})
}

fn change(more: Value) -> Value {
    let mut change = json!({
        "kind": "slower", "state": "open", "label": "orders/daily", "service": "etl", "host": "etl-3",
        "since_unix_ns": NOW_UNIX_NS - 2 * DAY_NS, "since_query_id": "01a1faa8-1bd9-77b2-97ab-860dd7026506",
        "before": {"runs": 120, "failed": 0, "median_wall_ms": 39_700.0, "low_ms": 39_000.0, "high_ms": 40_800.0},
        "after": {"runs": 37, "failed": 1, "median_wall_ms": 93_500.0, "low_ms": 92_000.0, "high_ms": 95_000.0},
        "factor": 2.36,
        "causes": [
            {"cause": "more_rows", "share": 0.8, "wall_ms": 43_000.0, "sentence": "Scan #3 reads 4.0x the rows",
                "node": {"id": 4_294_967_299_u64, "kind": "Scan"},
                "evidence": [{"name": "rows_out", "unit": "rows", "before": 10_000.0, "after": 40_000.0}]},
            {"cause": "unexplained", "share": 0.2, "wall_ms": 10_800.0, "sentence": ""},
        ],
        "cost": {"runs": 37, "extra_wall_ms": 3_780_000.0, "wall_ms_a_day": 720_000.0},
        "examples": {"base": "b", "run": "01a1faa8-1bd9-77b2-97ab-860dd7026507"},
        "harmless": ["the engine is 55.0 instead of 54.1"],
    });
    let Value::Object(more) = more else { panic!("members") };
    change.as_object_mut().expect("an object").extend(more);
    change
}

#[test]
fn an_open_change_and_one_that_is_over() {
    let recovered = json!({"state": "recovered", "recovered_unix_ns": NOW_UNIX_NS - 5 * DAY_NS, "host": null,
        "since_unix_ns": NOW_UNIX_NS - 9 * DAY_NS});
    insta::assert_snapshot!(printed(
        overview(&[("etl", 157)]),
        json!([change(json!({})), change(recovered)])
    ));
}

#[test]
fn an_open_change_on_a_wide_terminal() {
    insta::assert_snapshot!(printed_on(200, overview(&[("etl", 157)]), json!([change(json!({}))])));
}

#[test]
fn failures_have_shares_and_no_times() {
    let failing = json!({"kind": "failing", "host": null, "causes": [], "harmless": [], "examples": {},
        "before": {"runs": 120, "failed": 0}, "after": {"runs": 10, "failed": 9},
        "cost": {"runs": 10, "extra_wall_ms": 0.0, "wall_ms_a_day": 0.0}});
    insta::assert_snapshot!(printed(overview(&[("etl", 130)]), json!([change(failing)])));
}

#[test]
fn without_a_change_it_says_what_is_usual_or_that_runs_are_too_few() {
    insta::assert_snapshot!(printed(overview(&[("billing", 40), ("etl", 3)]), json!([])));
}
