//! What a summary says.

use serde_json::{Value, json};

use crate::app::TestApp;
use crate::events::{
    NOW_NS, SECOND_NS, batch, done, event, finished, process_with, progress, query, started,
};

/// A profile with everything a summary shows.
fn full() -> Value {
    let finding = |rule: &str, level: &str| {
        json!({
            "rule": rule, "kind": "k", "level": level, "node_id": 1, "title": "t"
        })
    };
    json!({
        "label": "scan/parquet", "fingerprint": "238b6af6d50a", "cpu_ms": 558.25, "result_rows": 8059, "failed": null,
        "insights": {"schema": "i", "findings": [
            finding("skew", "warn"), finding("spill", "info"), finding("late_filter", "warn"), finding("skew", "warn"),
        ]},
        "query_metrics": {"spilled_bytes": 7, "peak_memory_bytes": 9},
        "plan": {
            "physical": [
                {"id": 1, "kind": "scan", "inputs": [], "metrics": {"bytes_read": 5}},
                {"id": 2, "kind": "scan", "inputs": [], "metrics": {"bytes_scanned": 6, "spilled_bytes": 0}},
            ],
            "logical": [],
        },
    })
}

#[tokio::test]
async fn a_finished_query_has_every_field() {
    let app = TestApp::new().await;
    app.store(batch(1, [finished(2, 1, full())]).replace("engine-telemetry/", "polars-telemetry/")).await;
    insta::assert_json_snapshot!(app.summary(1).await, @r#"
    {
      "bytes_read": 11,
      "cpu_ms": 558.25,
      "engine": "polars",
      "engine_version": null,
      "environment": "prod",
      "failed": null,
      "fingerprint": "238b6af6d50a",
      "host": "worker-1",
      "label": "scan/parquet",
      "peak_memory_bytes": 9,
      "program_version": null,
      "project": "default",
      "query_id": "e0000000-0000-4000-8000-000000000001",
      "recording": "2026/11/20/e0000000-0000-4000-8000-000000000001.jsonl.gz",
      "result_rows": 8059,
      "rules": [
        "late_filter",
        "skew"
      ],
      "service": "orders-etl",
      "spilled_bytes": 7,
      "started_unix_ns": 1795206683609778763,
      "status": "finished",
      "stream_id": "57000000-0000-4000-8000-000000000001",
      "wall_ms": 1500.5,
      "warnings": 3
    }
    "#);
    assert_eq!(app.list("").await, [app.summary(1).await], "a list shows the same");
}

#[tokio::test]
async fn what_nobody_told_is_null() {
    let app = TestApp::new().await;
    let process = process_with(1, json!({"service": null, "environment": null}));
    app.store(format!("{process}\n{}\n", progress(2, 1))).await;
    insta::assert_json_snapshot!(app.summary(1).await, @r#"
    {
      "bytes_read": null,
      "cpu_ms": null,
      "engine": null,
      "engine_version": null,
      "environment": null,
      "failed": null,
      "fingerprint": null,
      "host": "worker-1",
      "label": null,
      "peak_memory_bytes": null,
      "program_version": null,
      "project": "default",
      "query_id": "e0000000-0000-4000-8000-000000000001",
      "recording": null,
      "result_rows": null,
      "rules": [],
      "service": null,
      "spilled_bytes": null,
      "started_unix_ns": 1795206682609778763,
      "status": "running",
      "stream_id": "57000000-0000-4000-8000-000000000001",
      "wall_ms": null,
      "warnings": 0
    }
    "#);
}

#[tokio::test]
async fn a_failed_query_has_its_error() {
    let app = TestApp::new().await;
    let error = "ColumnNotFound: \"x\"\n\nResolved plan until failure: …";
    app.store(batch(1, [finished(2, 1, json!({"failed": error, "wall_ms": 7})), done(3, 2)])).await;
    let summary = app.summary(1).await;
    assert_eq!((&summary["status"], &summary["failed"]), (&json!("failed"), &json!(error)));
    assert_eq!((&summary["wall_ms"], &summary["result_rows"]), (&json!(7.0), &json!(null)));
    assert_eq!(app.summary(2).await["failed"], json!(null), "null when the query did not fail");
}

#[tokio::test]
async fn a_running_query_has_its_plan_and_no_times() {
    let app = TestApp::new().await;
    app.store(batch(1, [started(2, 1, full())])).await;
    let summary = app.summary(1).await;
    assert_eq!(
        (&summary["label"], &summary["fingerprint"]),
        (&json!("scan/parquet"), &json!("238b6af6d50a"))
    );
    for unknown in
        ["wall_ms", "cpu_ms", "result_rows", "bytes_read", "spilled_bytes", "peak_memory_bytes", "recording"]
    {
        assert_eq!(summary[unknown], json!(null), "{unknown}");
    }
}

#[tokio::test]
async fn a_start_nobody_told_is_taken_from_the_id_or_the_first_sample() {
    let app = TestApp::new().await;
    let made_ms = 0x01a1_faa8_1bd9_i64;
    let timed = "01a1faa8-1bd9-77b2-97ab-860dd7026506";
    app.store(batch(1, [progress(2, 1), event(3, "x", json!({"query_id": timed}))])).await;
    assert_eq!(app.summary(1).await["started_unix_ns"], NOW_NS - SECOND_NS, "a second before its sample");
    let summary = app.get(&format!("/api/queries/{timed}")).await.json();
    assert_eq!(summary["started_unix_ns"].as_i64().map(|ns| ns / 1_000_000), Some(made_ms));
}

#[tokio::test]
async fn long_texts_are_cut_in_the_summary_and_whole_in_the_recording() {
    let app = TestApp::new().await;
    let long = finished(2, 1, json!({"label": "ä".repeat(1000), "failed": "ö".repeat(10_000)}));
    app.store(batch(1, [&long])).await;
    let summary = app.summary(1).await;
    let label = summary["label"].as_str().expect("a label");
    assert!(label.starts_with(&("ä".repeat(495) + "…")) && label.chars().count() == 512, "{label}");
    assert_eq!(summary["failed"], "ö".repeat(4096) + "…");
    assert_eq!(app.recorded(1).await[1], long);
}

#[tokio::test]
async fn a_query_is_found_by_its_id_in_any_case() {
    let app = TestApp::new().await;
    app.store(batch(1, [done(2, 1)])).await;
    let answer = app.get(&format!("/api/queries/{}", query(1).to_uppercase())).await;
    assert_eq!(answer.json()["query_id"], query(1));
}

#[tokio::test]
async fn an_unknown_query_is_404() {
    let app = TestApp::new().await;
    app.store(batch(1, [done(2, 1)])).await;
    for path in [query(2), "no-uuid".into(), query(1) + "0", query(1).replace('-', "")] {
        for end in ["", "/recording"] {
            let answer = app.get(&format!("/api/queries/{path}{end}")).await;
            assert_eq!(answer.status, 404, "{path}{end}");
            assert!(answer.error().contains(&path), "{answer:?}");
        }
    }
}
