use queryscope_store::testsuite::{facts, seq};
use queryscope_store::{Facts, Packer, QueryPart, Report, StreamBatch, StreamProcess};
use serde_json::{Value, json};

use crate::app::{OTHER_TOKEN, TestApp};
use crate::events::{NOW_NS, batch, event, finished, process, progress, query, started, stream};

async fn insights(app: &TestApp, n: u64) -> Value {
    let answer = app.get(&format!("/api/queries/{}/insights", query(n))).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

/// Members of a profile whose plan calls a function for so many rows.
fn calls(metrics: &Value) -> Value {
    let node = json!({
        "id": 4_294_967_299_u64, "kind": "Call", "role": "map", "inputs": [],
        "properties": {"user_code": "score"}, "metrics": metrics
    });
    json!({"plan": {"physical": [node], "logical": []}})
}

fn sample(seq: u64, n: u64, elapsed_ms: f64, counters: &Value) -> String {
    let nodes = json!({"4294967299": counters});
    event(seq, "query.progress", json!({"query_id": query(n), "elapsed_ms": elapsed_ms, "nodes": nodes}))
}

#[tokio::test]
async fn a_running_query_is_judged_by_its_latest_samples() {
    let app = TestApp::new().await;
    app.store(batch(1, [started(2, 1, calls(&Value::Null))])).await;
    assert_eq!(insights(&app, 1).await["findings"], json!([]));
    let samples = [
        sample(3, 1, 2000.0, &json!({"rows_received": 700, "total_time_ns": 5_000_000})),
        sample(4, 1, 2500.5, &json!({"rows_received": 1_200_000, "total_time_ns": 9_000_000})),
    ];
    app.store(batch(1, samples)).await;
    insta::assert_json_snapshot!(insights(&app, 1).await, @r#"
        {
          "checked": 13,
          "elapsed_ms": 2500.5,
          "findings": [
            {
              "blocked_share": null,
              "cpu_share": null,
              "evidence": [
                {
                  "name": "rows_in",
                  "unit": "rows",
                  "value": 1200000
                },
                {
                  "name": "in_no_counter",
                  "unit": "ms",
                  "value": 2491.5
                }
              ],
              "fix": "say it in expressions of the engine, or as a compiled plugin that takes whole columns",
              "kind": "problem",
              "level": "warn",
              "node_id": 4294967299,
              "node_kind": "Call",
              "rule": "user_code",
              "title": "User code (score) is called for 1.2 M rows; 2.49 s of 2.50 s so far are in no counter"
            }
          ],
          "physical_fingerprint": "42db45792207",
          "query_id": "e0000000-0000-4000-8000-000000000001",
          "source": "service",
          "status": "running"
        }
        "#);
}

#[tokio::test]
async fn what_the_sender_found_stands() {
    let app = TestApp::new().await;
    let finding = json!({
        "rule": "odd", "kind": "problem", "level": "bad", "node_id": null, "title": "An odd thing",
        "evidence": [{"name": "why", "value": "because"}, {"name": "how", "value": null}]
    });
    let mut members = calls(&json!({"rows_received": 5}));
    members["insights"] = json!({"schema": "i", "findings": [finding]});
    app.store(batch(1, [finished(2, 1, members)])).await;
    insta::assert_json_snapshot!(insights(&app, 1).await, @r#"
        {
          "checked": null,
          "elapsed_ms": 1500.5,
          "findings": [
            {
              "blocked_share": null,
              "cpu_share": null,
              "evidence": [
                {
                  "name": "why",
                  "unit": null,
                  "value": "because"
                },
                {
                  "name": "how",
                  "unit": null,
                  "value": null
                }
              ],
              "fix": null,
              "kind": "problem",
              "level": "bad",
              "node_id": null,
              "node_kind": null,
              "rule": "odd",
              "title": "An odd thing"
            }
          ],
          "physical_fingerprint": "42db45792207",
          "query_id": "e0000000-0000-4000-8000-000000000001",
          "source": "sender",
          "status": "finished"
        }
        "#);
}

#[tokio::test]
async fn where_the_sender_found_nothing_the_rules_look_also_after_sealing() {
    let app = TestApp::new().await;
    let mut members = calls(&json!({"rows_received": 5, "total_time_ns": 7}));
    members["insights"] = json!({"schema": "i", "findings": []});
    app.store(batch(1, [started(2, 1, calls(&Value::Null)), progress(3, 1), finished(4, 1, members)])).await;
    let found = insights(&app, 1).await;
    assert_eq!((&found["source"], &found["elapsed_ms"]), (&json!("service"), &json!(1500.5)));
    assert_eq!(found["findings"][0]["rule"], "user_code");
    app.seal().await;
    assert_eq!(insights(&app, 1).await, found);
}

#[tokio::test]
async fn without_a_plan_or_a_query_there_is_nothing_to_judge() {
    let app = TestApp::new().await;
    app.store(batch(1, [progress(2, 1)])).await;
    for (path, reason) in [
        (query(1), format!("the plan of query {} has not been sent", query(1))),
        (query(9), format!("there is no query {:?}", query(9))),
        ("x".into(), "there is no query \"x\"".into()),
    ] {
        let answer = app.get(&format!("/api/queries/{path}/insights")).await;
        assert_eq!((answer.status.as_u16(), &answer.json()["error"]), (404, &json!(reason)), "{path}");
    }
}

/// A profile that no rule can judge is told apart from one that nobody sent. Earlier versions stored such profiles.
#[tokio::test]
async fn a_profile_that_cannot_be_read_says_so() {
    let app = TestApp::new().await;
    let mut members = calls(&json!({"rows_received": 5}));
    members["plan"]["physical"][0]["inputs"] = json!("none");
    let line = finished(2, 1, members);
    let number = seq(2);
    let part = QueryPart {
        query_id: query(1).parse().expect("an id"),
        seqs: vec![number],
        gzip: Packer::new().pack([line.as_bytes()]),
        report: Report { finished: Some(Facts { seq: number, ..facts("earlier") }), ..Report::default() },
    };
    let process = StreamProcess {
        id: stream(1).parse().expect("an id"),
        service: None,
        environment: None,
        program_version: None,
        host: "host".into(),
        line: process(1),
    };
    let (project, received_unix_ms) = ("default".into(), NOW_NS / 1_000_000);
    let batch = StreamBatch { project, process, received_unix_ms, parts: vec![part], loose: vec![] };
    app.store.commit(batch).await.expect("stored");
    let answer = app.get(&format!("/api/queries/{}/insights", query(1))).await;
    let body = answer.json();
    let reason = body["error"].as_str().expect("a reason");
    assert_eq!(answer.status.as_u16(), 422, "{reason}");
    let begin = format!("the profile of query {} cannot be read: ", query(1));
    assert!(reason.starts_with(&begin), "{reason}");
}

#[tokio::test]
async fn where_nothing_is_found_the_rules_are_counted() {
    let app = TestApp::new().await;
    app.store(batch(1, [finished(2, 1, json!({}))])).await;
    let found = insights(&app, 1).await;
    assert_eq!((&found["findings"], &found["checked"]), (&json!([]), &json!(13)));
}

#[tokio::test]
async fn a_project_sees_its_own() {
    let app = TestApp::new().await;
    let lines = format!("{}\n{}\n", process(2), finished(2, 2, json!({})));
    assert_eq!(app.post_as(OTHER_TOKEN, lines).await.status, 202);
    for route in ["insights", "progress"] {
        let of = async |project: &str| {
            app.get(&format!("/api/queries/{}/{route}?project={project}", query(2))).await.status.as_u16()
        };
        assert_eq!((of("etl").await, of("default").await), (200, 404), "{route}");
    }
}
