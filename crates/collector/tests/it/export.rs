//! Telemetry as tables.

use axum::body::Body;
use axum::http::{Request, header};
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::changes::changed;
use crate::events::{NOW_NS, batch, done, finished, query, started};

/// The lines of a table as JSON.
async fn lines(app: &TestApp, path: &str) -> Vec<Value> {
    let joint = if path.contains('?') { '&' } else { '?' };
    let answer = app.get(&format!("/api/export/{path}{joint}format=json")).await;
    assert_eq!(answer.status, 200, "{path}: {answer:?}");
    assert_eq!(answer.header("content-type"), Some("application/x-ndjson"));
    answer.text().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

async fn population() -> TestApp {
    let app = TestApp::new().await;
    let run = |n: u64, members: Value| {
        let mut members = members;
        members["started_unix_ns"] = json!(NOW_NS - 1_000 + n as i64);
        finished(n + 1, n, members)
    };
    let lines = [
        run(
            1,
            json!({"label": "orders/daily", "wall_ms": 12_000.5, "cpu_ms": 7, "result_rows": 5,
            "query_metrics": {"bytes_read": 9_007_199_254_740_993_i64, "spilled_bytes": 0}}),
        ),
        run(2, json!({"label": "=cmd()", "wall_ms": 200, "failed": "line 1,\n\"line 2\""})),
        started(4, 3, json!({"label": "orders/hourly", "started_unix_ns": NOW_NS - 10})),
    ];
    app.store(batch(1, lines)).await;
    app
}

#[tokio::test]
async fn runs_are_what_the_list_says_of_them() {
    let app = population().await;
    let table = lines(&app, "runs").await;
    let listed = app.list("order=oldest").await;
    assert_eq!(table.len(), listed.len());
    for (row, mut summary) in table.into_iter().zip(listed) {
        let rules: Vec<String> = serde_json::from_value(summary["rules"].take()).expect("texts");
        summary["rules"] = json!(rules.join(","));
        let mut row = row;
        let at = row.as_object_mut().expect("an object").remove("started_at").expect("a time");
        assert!(at.as_str().expect("a text").ends_with('Z'));
        assert_eq!(row, summary);
    }
}

#[tokio::test]
async fn the_filters_of_lists_hold_for_tables() {
    let app = population().await;
    for (params, expected) in [
        ("filter=wall%3E10s", &[1][..]),
        ("label=orders/daily", &[1]),
        ("status=failed", &[2]),
        ("q=orders", &[1, 3]),
        ("filter=orders", &[1, 3]),
        (format!("until={}", NOW_NS - 999).as_str(), &[1]),
        ("project=other", &[]),
    ] {
        let found: Vec<Value> =
            lines(&app, &format!("runs?{params}")).await.iter().map(|row| row["query_id"].clone()).collect();
        let expected: Vec<Value> = expected.iter().map(|n| json!(query(*n))).collect();
        assert_eq!(found, expected, "{params}");
    }
    for (path, reason) in [
        ("runs?filter=wall%3E1", "filter: at character 6"),
        ("nodes?format=xml", "format: \"xml\" is not parquet, csv or json"),
        ("issues?state=x", "state: "),
    ] {
        let answer = app.get(&format!("/api/export/{path}")).await;
        assert_eq!(answer.status, 400, "{answer:?}");
        let told = answer.json()["error"].as_str().expect("an error").to_owned();
        assert!(told.starts_with(reason), "{told}");
    }
}

#[tokio::test]
async fn a_cell_of_csv_is_no_formula() {
    let app = population().await;
    let answer = app.get("/api/export/runs?format=csv").await;
    assert_eq!(answer.header("content-type"), Some("text/csv; charset=utf-8"));
    assert_eq!(answer.header("content-disposition"), Some("attachment; filename=\"runs.csv\""));
    let text = answer.text();
    assert!(text.starts_with("query_id,stream_id,project,"), "{text}");
    assert!(text.contains(",'=cmd(),"), "{text}");
    assert!(text.contains(",\"line 1,\n\"\"line 2\"\"\","), "{text}");
}

#[tokio::test]
async fn a_table_is_read_in_pieces_to_its_end() {
    let app = TestApp::new().await;
    let runs = (1..=4_500).map(|n| finished(n + 1, n, json!({"label": "x", "started_unix_ns": NOW_NS - 7})));
    app.store(batch(1, runs)).await;
    let table = lines(&app, "runs").await;
    let mut ids: Vec<&str> = table.iter().map(|row| row["query_id"].as_str().expect("an id")).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 4_500);
    let parquet = app.get("/api/export/runs").await;
    assert_eq!(parquet.header("content-type"), Some("application/vnd.apache.parquet"));
    assert!(parquet.body.starts_with(b"PAR1") && parquet.body.ends_with(b"PAR1"));
}

#[tokio::test]
async fn nodes_findings_and_issues_are_tables() {
    let app = TestApp::new().await;
    app.store(batch(1, [done(2, 1), started(4, 2, json!({"label": "running"}))])).await;
    changed(&app).await;
    let nodes = lines(&app, "nodes?label=running").await;
    assert!(nodes.is_empty(), "what runs has no row: {nodes:?}");
    let runs = app.list("limit=1000").await;
    let findings = lines(&app, "findings").await;
    let nodes = lines(&app, "nodes").await;
    for summary in runs.iter().filter(|run| run["status"] != "running") {
        let id = summary["query_id"].as_str().expect("an id");
        let of =
            |table: &[Value]| table.iter().filter(|row| row["query_id"] == id).cloned().collect::<Vec<_>>();
        let told = app.get(&format!("/api/queries/{id}/insights")).await;
        if told.status != 200 {
            continue;
        }
        let told = told.json();
        let expected: Vec<&Value> =
            told["findings"].as_array().expect("findings").iter().map(|finding| &finding["title"]).collect();
        let found = of(&findings);
        assert_eq!(found.iter().map(|row| &row["title"]).collect::<Vec<_>>(), expected);
        for (position, row) in of(&nodes).iter().enumerate() {
            assert_eq!(row["position"], position);
            assert_eq!(row["label"], summary["label"]);
        }
    }
    let issues = lines(&app, "issues").await;
    let listed = app.get("/api/issues").await.json();
    let listed = listed["issues"].as_array().expect("issues");
    assert!(!issues.is_empty());
    for name in ["id", "label", "kind", "state", "wall_ms_a_day", "severity", "transitions"] {
        let of = |rows: &[Value]| rows.iter().map(|row| row[name].clone()).collect::<Vec<_>>();
        assert_eq!(of(&issues), of(listed), "{name}");
    }
}

#[tokio::test]
async fn as_many_tables_as_may_be_are_made_at_once() {
    let app = TestApp::new().await;
    let runs = (1..=4_500).map(|n| finished(n + 1, n, json!({"label": "x", "started_unix_ns": NOW_NS - 7})));
    app.store(batch(1, runs)).await;
    let request = || Request::get("/api/export/runs?format=csv").header(header::HOST, "localhost");
    let mut held = Vec::new();
    for _ in 0..4 {
        let answer = app.open(request().body(Body::empty()).expect("a request")).await;
        assert_eq!(answer.status(), 200);
        held.push(answer);
    }
    let refused = app.get("/api/export/runs").await;
    assert_eq!(refused.status, 503, "{refused:?}");
    drop(held);
    crate::app::eventually("room for a table", async || {
        (app.get("/api/export/runs").await.status == 200).then_some(())
    })
    .await;
}
