use std::time::Duration;

use serde_json::{Value, json};

use crate::app::TestApp;
use crate::events::{NOW_NS, SECOND_NS, batch, event, finished, process_with, query, started};

/// So many runs of a plan, ended before now after 10, 20, 30 … s, and one of 10 s that runs now.
async fn world(runs: u64) -> TestApp {
    let app = TestApp::new().await;
    let of = |n: u64, wall_ms: f64, members: Value| {
        let mut told = json!({
            "label": "daily", "fingerprint": "p1", "wall_ms": wall_ms,
            "started_unix_ns": NOW_NS - (1000 - n as i64) * SECOND_NS
        });
        let Value::Object(members) = members else { panic!("{members}") };
        told.as_object_mut().expect("an object").extend(members);
        told
    };
    let mut events: Vec<String> =
        (1..=runs).map(|n| finished(n + 1, n, of(n, n as f64 * 10_000.0, json!({})))).collect();
    // Of another plan, of another label, failed: no basis.
    for (at, members) in
        [json!({"fingerprint": "p2"}), json!({"label": "nightly"}), json!({"failed": "boom"})]
            .into_iter()
            .enumerate()
    {
        let n = 90 + at as u64;
        events.push(finished(n + 1, n, of(n, 5.0, members)));
    }
    let running = json!({"label": "daily", "fingerprint": "p1", "wall_ms": 1000.0});
    events.push(started(200, 99, running));
    app.store(batch(1, events)).await;
    app
}

async fn progress(app: &TestApp, n: u64) -> Value {
    let answer = app.get(&format!("/api/queries/{}/progress", query(n))).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

#[tokio::test]
async fn earlier_runs_of_the_plan_say_how_long_it_takes() {
    let app = world(10).await;
    app.clock.advance(Duration::from_secs(35));
    insta::assert_json_snapshot!(progress(&app, 99).await, @r#"
        {
          "basis": "the last 10 runs of its plan before it",
          "change": null,
          "done": {
            "high": 0.5,
            "low": 0.35
          },
          "elapsed_ms": 35000.0,
          "is_late": false,
          "longer_than": 3,
          "query_id": "e0000000-0000-4000-8000-000000000063",
          "remaining_ms": {
            "p10": 5000.0,
            "p50": 35000.0,
            "p90": 65000.0
          },
          "rows_read_factor": null,
          "runs": 10,
          "status": "running",
          "usual_wall_ms": 55000.0
        }
        "#);
}

#[tokio::test]
async fn longer_than_nearly_all_is_predicted_nothing() {
    let app = world(10).await;
    app.clock.advance(Duration::from_secs(85));
    let late = progress(&app, 99).await;
    assert_eq!((&late["longer_than"], &late["runs"]), (&json!(8), &json!(10)));
    assert_eq!((&late["remaining_ms"], &late["done"]), (&Value::Null, &Value::Null));
    assert_eq!(late["is_late"], false);
    app.clock.advance(Duration::from_secs(10));
    let late = progress(&app, 99).await;
    assert_eq!((&late["longer_than"], &late["is_late"]), (&json!(9), &json!(true)));
}

#[tokio::test]
async fn too_few_runs_say_nothing() {
    let app = world(4).await;
    insta::assert_json_snapshot!(progress(&app, 99).await, @r#"
        {
          "basis": null,
          "change": null,
          "done": null,
          "elapsed_ms": 0.0,
          "is_late": false,
          "longer_than": null,
          "query_id": "e0000000-0000-4000-8000-000000000063",
          "remaining_ms": null,
          "rows_read_factor": null,
          "runs": 4,
          "status": "running",
          "usual_wall_ms": null
        }
        "#);
}

#[tokio::test]
async fn a_query_whose_clock_is_ahead_has_run_as_long_as_its_sender_says() {
    let app = world(10).await;
    let start = NOW_NS + 3600 * SECOND_NS;
    let ahead = json!({"label": "daily", "fingerprint": "p1", "wall_ms": 1000.0, "started_unix_ns": start});
    app.store(batch(1, [started(300, 70, ahead)])).await;
    assert_eq!(progress(&app, 70).await["elapsed_ms"], json!(1000.0));
    let sample =
        event(301, "query.progress", json!({"query_id": query(70), "elapsed_ms": 25_000.5, "nodes": {}}));
    app.store(batch(1, [sample])).await;
    let told = progress(&app, 70).await;
    assert_eq!((&told["elapsed_ms"], &told["longer_than"]), (&json!(25_000.5), &json!(2)));
    let note = event(302, "query.note", json!({"query_id": query(70)}));
    app.store(batch(1, [note])).await;
    assert_eq!(progress(&app, 70).await["elapsed_ms"], json!(25_000.5), "a note says nothing of it");
}

#[tokio::test]
async fn a_query_that_ended_has_nothing_left() {
    let app = world(10).await;
    let ended = progress(&app, 10).await;
    // Nine began before it; those after it say nothing of it.
    assert_eq!((&ended["runs"], &ended["longer_than"]), (&json!(9), &json!(9)));
    assert_eq!((&ended["elapsed_ms"], &ended["remaining_ms"]), (&json!(100_000.0), &Value::Null));
}

#[tokio::test]
async fn the_first_runs_of_a_plan_are_judged_by_those_of_its_query() {
    let app = world(10).await;
    let of = |wall_ms: f64, plan: &str| {
        let start = NOW_NS + SECOND_NS;
        json!({"label": "daily", "fingerprint": plan, "wall_ms": wall_ms, "started_unix_ns": start})
    };
    let ended = finished(300, 70, of(165_000.0, "p3"));
    app.store(batch(1, [ended, started(301, 71, of(0.0, "p4"))])).await;
    let first = progress(&app, 70).await;
    // The run of the plan p2 is one of them.
    assert_eq!(
        (&first["runs"], &first["basis"]),
        (&json!(11), &json!("the last 11 runs of its query before it"))
    );
    assert_eq!(first["usual_wall_ms"], json!(50_000.0));
    let running = progress(&app, 71).await;
    assert_eq!(
        (&running["runs"], &running["basis"]),
        (&json!(0), &Value::Null),
        "how long it takes is not known"
    );
}

#[tokio::test]
async fn a_label_in_another_service_is_another_query() {
    let app = world(10).await;
    let told = |wall_ms: f64, ago: i64| {
        let start = NOW_NS - ago * SECOND_NS;
        json!({"label": "daily", "fingerprint": "p1", "wall_ms": wall_ms, "started_unix_ns": start})
    };
    for (stream, service) in [(2, json!("web")), (3, Value::Null)] {
        let mut lines = vec![process_with(stream, json!({"service": service}))];
        lines
            .extend((1..=6).map(|n| finished(n + 1, stream * 100 + n, told(stream as f64, 1000 - n as i64))));
        lines.push(started(8, stream * 100 + 99, told(1.0, 0)));
        app.store(lines.join("\n") + "\n").await;
    }
    let basis = |progress: &Value| (progress["runs"].clone(), progress["usual_wall_ms"].clone());
    assert_eq!(basis(&progress(&app, 99).await), (json!(10), json!(55_000.0)));
    assert_eq!(basis(&progress(&app, 299).await), (json!(6), json!(2.0)));
    assert_eq!(
        basis(&progress(&app, 399).await),
        (json!(6), json!(3.0)),
        "no service is a service of its own"
    );
}
