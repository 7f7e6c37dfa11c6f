//! What is printed, on terminals of 80 and 200 columns.

use serde_json::{Value, json};

use super::*;
use crate::read::screen::Reader;
use crate::read::units::{Times, Zone};

/// Friday, 20 November 2026, 20:31 UTC.
const NOW_UNIX_NS: i64 = 1_795_206_683_000_000_000;
const QUERY: &str = "01a1faa8-1bd9-77b2-97ab-860dd7026506";

fn events() -> RunEvents {
    let physical = json!([
        {"id": 1, "kind": "Scan", "role": "scan", "inputs": [],
            "properties": {"table": "/data/orders.parquet", "predicate": "col(\"a\") > 5"},
            "metrics": {"busy_ns": 250_000_000, "rows_out": 40_000}},
        {"id": 2, "kind": "Scan", "role": "scan", "inputs": [], "properties": {"table": "customers.parquet"},
            "metrics": {"busy_ns": 0, "rows_out": 7}},
        {"id": 3, "kind": "Join", "role": "join", "inputs": [1, 2],
            "properties": {"how": "Inner", "left_on": ["id"], "right_on": ["id"]},
            "metrics": {"busy_ns": 750_000_000, "rows_in": 40_007, "rows_out": 1_234_567}},
    ]);
    let profile = json!({"schema": "engine-telemetry/profile@1", "query_id": QUERY, "wall_ms": 1000.0,
        "planning_ms": 3.5, "plan": {"physical": physical, "logical": []},
        "call_site": {"filepath": "/srv/etl/daily.py", "lineno": 112, "function": "main"}});
    let line = json!({"schema": "engine-telemetry/events@1", "seq": 2, "type": "query.finished", "query_id": QUERY,
        "profile": profile});
    let mut events = RunEvents::default();
    events.take(&line.to_string());
    events
}

fn known(events: Result<RunEvents>) -> Known {
    let finding = json!({"rule": "exploding_join", "kind": "problem", "level": "warn", "node_id": 3,
        "node_kind": "Join", "cpu_share": 0.75, "title": "Join puts out 31x its larger input: 1.23 M rows",
        "fix": "if keys repeat by mistake, remove the duplicates of one input first or join on the full key",
        "evidence": [{"name": "rows_out", "unit": "rows", "value": 1_234_567},
            {"name": "saves_wall_at_most", "unit": "ms", "value": 650.0}]});
    let progress = json!({"runs": 40, "is_late": false, "elapsed_ms": 1000.0, "usual_wall_ms": 500.0});
    Known {
        insights: Ok(json!({"checked": 13, "findings": [finding]})),
        progress: serde_json::from_value(progress).ok(),
        change: None,
        events,
    }
}

#[test]
fn what_is_left_out_of_an_error_is_said() {
    let error = |lines: usize, end: &str| format!("{}{end}", "frame\n".repeat(lines));
    let rest = |error: &str, reader| rest_of_error(error, error.lines().count(), reader);
    assert_eq!(rest(&error(40, ""), Reader::Person), None);
    assert_eq!(rest(&error(45, ""), Reader::Person).as_deref(), Some("5 more lines: --json has all"));
    assert_eq!(rest(&error(45, ""), Reader::Agent).as_deref(), Some("5 more lines are left out."));
    let goes_on = "The error goes on: the recording of the run has all of it.";
    for lines in [3, 45] {
        assert_eq!(rest(&error(lines, "fra…"), Reader::Person).as_deref(), Some(goes_on));
    }
}

/// What a terminal of 80 columns shows.
fn printed(more: Value, known: &Known) -> String {
    printed_on(80, more, known)
}

fn printed_on(columns: usize, more: Value, known: &Known) -> String {
    let mut run = json!({"query_id": QUERY, "status": "finished", "label": "orders/daily", "service": "etl",
        "host": "worker-1", "started_unix_ns": NOW_UNIX_NS - 7_000_000_000, "engine": "polars",
        "engine_version": "1.35.2", "fingerprint": "238b6af6d50a", "wall_ms": 1000.0, "cpu_ms": 1000.0,
        "result_rows": 1_234_567});
    let Value::Object(more) = more else { panic!("members") };
    run.as_object_mut().expect("an object").extend(more);
    let times = Times { now_unix_ns: NOW_UNIX_NS, zone: Zone::Utc };
    let screen = Screen { columns: Some(columns), times, reader: Reader::Person };
    let rows = known.events.as_ref().ok().and_then(RunEvents::profile).map(|profile| plan::rows(&profile));
    let run = serde_json::from_value(run).expect("a run");
    let Parts { head, plan, findings } = parts(&run, known, rows.as_deref(), screen);
    let text = format!("{head}{plan}{findings}");
    anstream::adapter::strip_str(&text).to_string()
}

#[test]
fn a_run_with_a_finding() {
    insta::assert_snapshot!(printed(json!({}), &known(Ok(events()))));
}

#[test]
fn a_run_on_a_wide_terminal() {
    insta::assert_snapshot!(printed_on(200, json!({}), &known(Ok(events()))));
}

#[test]
fn a_run_since_its_query_got_faster() {
    let faster = json!({"kind": "faster", "state": "open", "factor": 0.4, "since_query_id": QUERY,
        "since_unix_ns": NOW_UNIX_NS - 90_000_000_000_000_i64,
        "cost": {"runs": 32, "extra_wall_ms": -8, "wall_ms_a_day": -9},
        "before": {"runs": 120, "failed": 0, "median_wall_ms": 2500.0},
        "after": {"runs": 32, "failed": 0, "median_wall_ms": 1100.0}});
    let known = Known { change: serde_json::from_value(faster).ok(), ..known(Ok(events())) };
    let text = printed_on(200, json!({}), &known);
    let said = text.lines().skip(1).take(3).collect::<Vec<_>>().join(" ");
    let state = "Finished in 1 s, 0.9x its usual time since it got faster (1.1 s, n = 32).";
    let medians = "(1.1 s in 32 runs, before 2.5 s in 120)";
    let note = format!("Its query is 2.5x faster since 19 Nov 19:31 {medians}. The cause is not known.");
    assert_eq!(said, format!("{state} {note}"));
}

#[test]
fn a_run_that_failed_and_whose_recording_is_missing() {
    let mut known =
        known(Err(anyhow::anyhow!("http://127.0.0.1:7766 answered 410 Gone: its recording is missing")));
    known.insights =
        Err(anyhow::anyhow!("http://127.0.0.1:7766 answered 410 Gone: its recording is missing"));
    let failed =
        json!({"status": "failed", "failed": "schema error: column `tax\u{1b}[2J` is Utf8\n  in node Scan"});
    insta::assert_snapshot!(printed(failed, &known));
}

#[test]
fn a_cancelled_run_did_not_fail() {
    let cancelled = printed(json!({"status": "failed", "failed": "cancelled"}), &known(Ok(events())));
    assert!(cancelled.contains("Cancelled after 1 s.") && !cancelled.contains("Failed"), "{cancelled}");
    let lost = printed(json!({"status": "unfinished", "wall_ms": null}), &known(Ok(events())));
    assert!(lost.contains("Unfinished: lost contact after 1 s, whether it finished is not known."), "{lost}");
}
