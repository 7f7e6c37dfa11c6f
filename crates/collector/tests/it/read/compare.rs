use serde_json::{Value, json};

use crate::app::{OTHER_TOKEN, TestApp};
use crate::events::{
    NOW_NS, SECOND_NS, batch, event, finished, process, process_with, progress, query, started,
};

async fn compare(app: &TestApp, params: &str) -> Value {
    let answer = app.get(&format!("/api/compare?{params}")).await;
    assert_eq!(answer.status, 200, "{params}: {answer:?}");
    answer.json()
}

async fn refused(app: &TestApp, params: &str) -> (u16, String) {
    let answer = app.get(&format!("/api/compare?{params}")).await;
    (answer.status.as_u16(), answer.json()["error"].as_str().expect("a text").to_owned())
}

/// A run of a label with a plan of one scan, as long after the first as its number says.
fn run(n: u64, wall_ms: f64, plan: &str, scan: &Value, rows: u64) -> Value {
    let node = json!({
        "id": 4_294_967_297_u64, "kind": "MultiScan", "role": "scan", "inputs": [], "properties": scan,
        "metrics": {"rows_sent": rows, "total_time_ns": rows * 1000}
    });
    json!({
        "label": "daily", "fingerprint": plan, "wall_ms": wall_ms, "planning_ms": 1.5,
        "started_unix_ns": NOW_NS + n as i64 * SECOND_NS,
        "plan": {"physical": [node], "logical": []}
    })
}

fn filtered() -> Value {
    json!({"table": "orders", "predicate": "amount > 5", "projection": ["amount"]})
}

fn whole() -> Value {
    json!({"table": "orders", "projection": ["amount", "note"]})
}

/// Four runs of one plan, the third of usual length; then one of another plan.
async fn world() -> TestApp {
    let app = TestApp::new().await;
    let runs = [(1, 100.0), (2, 900.0), (3, 120.0), (4, 500.0)];
    let mut events: Vec<String> = runs
        .iter()
        .map(|&(n, wall_ms)| finished(n + 1, n, run(n, wall_ms, "p1", &filtered(), wall_ms as u64 * 1000)))
        .collect();
    events.push(finished(6, 5, run(5, 800.0, "p2", &whole(), 790_000)));
    app.store(batch(1, events)).await;
    app
}

#[tokio::test]
async fn a_run_of_a_new_plan_is_compared_with_the_usual_one_of_its_label() {
    let app = world().await;
    insta::assert_json_snapshot!(compare(&app, &format!("run={}", query(5))).await, @r#"
        {
          "account": {
            "base_wall_ns": 500000000,
            "difference_ns": 300000000,
            "parts": [
              {
                "cause": "plan_change",
                "dimension": null,
                "evidence": [
                  {
                    "after": 790.102016,
                    "before": 499.908608,
                    "name": "busy",
                    "unit": "ms"
                  }
                ],
                "node": {
                  "id": 4294967297,
                  "kind": "MultiScan",
                  "table": "orders"
                },
                "ns": 300000000,
                "sentence": "The plan changed and works more: MultiScan of orders lost its predicate on amount"
              }
            ],
            "run_wall_ns": 800000000
          },
          "base": {
            "bytes_read": null,
            "cpu_ms": null,
            "engine": null,
            "engine_version": null,
            "environment": "prod",
            "failed": null,
            "fingerprint": "p1",
            "host": "worker-1",
            "label": "daily",
            "peak_memory_bytes": null,
            "program_version": null,
            "project": "default",
            "query_id": "e0000000-0000-4000-8000-000000000004",
            "recording": "2026/11/20/e0000000-0000-4000-8000-000000000004.jsonl.gz",
            "result_rows": null,
            "rules": [],
            "service": "orders-etl",
            "spilled_bytes": null,
            "started_unix_ns": 1795206687609778763,
            "status": "finished",
            "stream_id": "57000000-0000-4000-8000-000000000001",
            "wall_ms": 500.0,
            "warnings": 0
          },
          "base_physical_fingerprint": "e9f084d478ee",
          "basis": "label",
          "change": null,
          "differences": [
            {
              "base": 4294967297,
              "run": 4294967297,
              "text": "The scan of orders no longer filters on amount"
            },
            {
              "base": 4294967297,
              "run": 4294967297,
              "text": "The scan of orders now reads 2 columns instead of 1"
            }
          ],
          "nodes": [
            {
              "base": {
                "busy_ns": 500000000,
                "bytes_read": null,
                "id": 4294967297,
                "kind": "MultiScan",
                "role": "scan",
                "rows_in": null,
                "rows_out": 500000
              },
              "changes": [
                {
                  "shape": true,
                  "text": "projection of 2 columns instead of 1",
                  "what": "projection"
                },
                {
                  "shape": true,
                  "text": "predicate no longer reaches the scan",
                  "what": "predicate"
                }
              ],
              "delta": {
                "busy_ns": 290000000,
                "bytes_read": null,
                "rows_in": null,
                "rows_out": 290000
              },
              "fate": "changed",
              "run": {
                "busy_ns": 790000000,
                "bytes_read": null,
                "id": 4294967297,
                "kind": "MultiScan",
                "role": "scan",
                "rows_in": null,
                "rows_out": 790000
              }
            }
          ],
          "run": {
            "bytes_read": null,
            "cpu_ms": null,
            "engine": null,
            "engine_version": null,
            "environment": "prod",
            "failed": null,
            "fingerprint": "p2",
            "host": "worker-1",
            "label": "daily",
            "peak_memory_bytes": null,
            "program_version": null,
            "project": "default",
            "query_id": "e0000000-0000-4000-8000-000000000005",
            "recording": "2026/11/20/e0000000-0000-4000-8000-000000000005.jsonl.gz",
            "result_rows": null,
            "rules": [],
            "service": "orders-etl",
            "spilled_bytes": null,
            "started_unix_ns": 1795206688609778763,
            "status": "finished",
            "stream_id": "57000000-0000-4000-8000-000000000001",
            "wall_ms": 800.0,
            "warnings": 0
          },
          "run_physical_fingerprint": "e28e3e02eb70",
          "runs": 4,
          "same_plan": false
        }
        "#);
}

#[tokio::test]
async fn the_usual_run_is_one_of_its_plan_that_began_before() {
    let app = world().await;
    // 100, 900 and 120 ms before: the median is 120.
    let usual = compare(&app, &format!("run={}", query(4))).await;
    assert_eq!((&usual["base"]["query_id"], &usual["basis"]), (&json!(query(3)), &json!("plan")));
    assert_eq!((&usual["runs"], &usual["same_plan"]), (&json!(3), &json!(true)));
    let sum: i64 = usual["account"]["parts"]
        .as_array()
        .expect("parts")
        .iter()
        .map(|part| part["ns"].as_i64().expect("whole"))
        .sum();
    assert_eq!(sum, 380_000_000);
}

#[tokio::test]
async fn a_base_may_be_named() {
    let app = world().await;
    let named = compare(&app, &format!("base={}&run={}", query(4), query(1))).await;
    assert_eq!((&named["basis"], &named["runs"]), (&json!("named"), &Value::Null));
    assert_eq!(named["account"]["difference_ns"], json!(-400_000_000));
    // A run beside itself differs in nothing.
    let same = compare(&app, &format!("base={0}&run={0}", query(1))).await;
    assert_eq!((&same["same_plan"], &same["account"]["difference_ns"]), (&json!(true), &json!(0)));
}

#[tokio::test]
async fn the_base_may_be_a_typical_run_of_those_asked_for() {
    let app = world().await;
    let after = NOW_NS + 2 * SECOND_NS;
    let version = [
        process_with(2, json!({"program_version": "2.0", "host": "other"})),
        finished(2, 20, run(20, 333.0, "p1", &filtered(), 7)),
    ];
    app.store(version.join("\n") + "\n").await;
    for (of, chosen, base, runs) in [
        (5, "base_fingerprint=p1".to_owned(), 20, 5),
        (1, "base_fingerprint=p2".to_owned(), 5, 1),
        (1, "base_program_version=2.0".to_owned(), 20, 1),
        (1, "base_host=other".to_owned(), 20, 1),
        (5, format!("base_since={after}&base_until={}", NOW_NS + 3 * SECOND_NS), 3, 2),
        (5, format!("base_until={}", NOW_NS + SECOND_NS), 1, 1),
    ] {
        let compared = compare(&app, &format!("run={}&{chosen}", query(of))).await;
        let told = (&compared["base"]["query_id"], &compared["basis"], &compared["runs"]);
        assert_eq!(told, (&json!(query(base)), &json!("chosen"), &json!(runs)), "{chosen}");
    }
    let one = query(1);
    let none = format!("query {one}: no other finished run of its label and service is of those asked for");
    assert_eq!(refused(&app, &format!("run={one}&base_fingerprint=p9")).await, (404, none));
    let (status, reason) = refused(&app, &format!("run={one}&base={one}&base_host=other")).await;
    assert_eq!(status, 400, "{reason}");
    assert!(reason.starts_with("base: not allowed together"), "{reason}");
    let (status, reason) = refused(&app, &format!("run={one}&base_since=yesterday")).await;
    assert_eq!(status, 400, "{reason}");
}

#[tokio::test]
async fn a_running_query_is_compared_by_its_latest_samples() {
    let app = world().await;
    let mut begun = run(9, 1000.0, "p1", &filtered(), 0);
    begun["plan"]["physical"][0]["metrics"] = Value::Null;
    let nodes = json!({"4294967297": {"rows_sent": 77}});
    let sample =
        event(11, "query.progress", json!({"query_id": query(9), "elapsed_ms": 1500.0, "nodes": nodes}));
    app.store(batch(1, [started(10, 9, begun), sample])).await;
    let running = compare(&app, &format!("run={}", query(9))).await;
    assert_eq!(running["account"]["run_wall_ns"], json!(1_500_000_000));
    assert_eq!(running["nodes"][0]["run"]["rows_out"], json!(77));
    assert_eq!(running["run"]["status"], "running");
}

#[tokio::test]
async fn what_cannot_be_compared_is_refused() {
    let app = world().await;
    app.store(batch(1, [progress(20, 8)])).await;
    let lines = format!("{}\n{}\n", process(2), finished(2, 7, json!({"label": "daily"})));
    assert_eq!(app.post_as(OTHER_TOKEN, lines).await.status, 202);
    let (one, planless, foreign) = (query(1), query(8), query(7));
    let nothing =
        "no earlier run of its plan or label has finished in its service: nothing to compare it with";
    for (params, status, reason) in [
        (String::new(), 400, "run: is needed, the id of a query".into()),
        (format!("run={one}&run={one}"), 400, "run: given twice, once is allowed".into()),
        (format!("run={one}"), 404, format!("query {one}: {nothing}")),
        (format!("run={foreign}"), 404, format!("query {foreign}: {nothing}")),
        ("run=x".into(), 404, "there is no query \"x\"".into()),
        (format!("run={one}&base={}", query(77)), 404, format!("there is no query {:?}", query(77))),
        (format!("run={one}&base={foreign}&project=default"), 404, format!("there is no query {foreign:?}")),
        (
            format!("run={planless}&base={one}"),
            404,
            format!("the plan of query {planless} has not been sent"),
        ),
    ] {
        assert_eq!(refused(&app, &params).await, (status, reason), "{params}");
    }
}

#[tokio::test]
async fn a_base_that_is_not_named_is_of_the_same_service() {
    let app = world().await;
    for (stream, service) in [(2, json!("web")), (3, Value::Null)] {
        let lines = [
            process_with(stream, json!({"service": service})),
            finished(2, stream * 100 + 6, run(6, 7.0, "p1", &filtered(), 7)),
            finished(3, stream * 100 + 7, run(7, 8.0, "p1", &filtered(), 8)),
            finished(4, stream * 100 + 8, run(8, 9.0, "p3", &whole(), 9)),
        ];
        app.store(lines.join("\n") + "\n").await;
    }
    app.store(format!("{}\n{}\n", process(1), finished(7, 9, run(9, 110.0, "p1", &filtered(), 110)))).await;
    for (of, base, basis, runs) in [
        // Of two as near the median the newer; of a plan without an earlier run, the label in the same service.
        (9, 4, "plan", 4),
        (207, 206, "plan", 1),
        (307, 306, "plan", 1),
        (208, 207, "label", 2),
        (308, 307, "label", 2),
    ] {
        let compared = compare(&app, &format!("run={}", query(of))).await;
        let told = (&compared["base"]["query_id"], &compared["basis"], &compared["runs"]);
        assert_eq!(told, (&json!(query(base)), &json!(basis), &json!(runs)), "{of}");
    }
    let (status, error) = refused(&app, &format!("run={}", query(206))).await;
    assert_eq!(status, 404, "{error}: the first of its service has no base");
}
