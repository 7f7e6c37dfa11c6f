//! `/api/live`: each transition, filters, restarts and resuming.

use serde_json::{Value, json};

use crate::client::Message;
use crate::events::{
    STARTED_NS, batch, batch_of, finished, profile_event, query, sample, sample_of, started,
};
use crate::server::Server;

/// The ids of a snapshot's running queries, that started last first.
fn ids(snapshot: &Message) -> Vec<Value> {
    let snapshot = snapshot.json();
    snapshot["running"].as_array().expect("an array").iter().map(|query| query["query_id"].clone()).collect()
}

#[tokio::test]
async fn a_query_is_seen_from_its_start_to_its_end() {
    let server = Server::new().await;
    let mut live = server.live("/api/live").await;
    assert_eq!(live.status, 200);
    for header in ["content-type: text/event-stream", "cache-control: no-cache", "x-accel-buffering: no"] {
        assert!(live.head.contains(header), "{}", live.head);
    }
    assert_eq!(live.expect("snapshot").await.json(), json!({ "running": [], "pulses": [] }));

    server.post(batch(1, [started(2, 1)])).await;
    let summary = live.expect("query").await.json();
    assert_eq!(summary, server.summary(1).await);
    assert_eq!((&summary["status"], &summary["started_unix_ns"]), (&json!("running"), &json!(STARTED_NS)));

    server.post(batch(1, [sample(3, 1, 1_000.0, [500, 1_500])])).await;
    let expected = json!({
        "query_id": query(1), "elapsed_ms": 1_000.0, "threads": [2.0], "busy_known": true, "rows_read": null,
        "busiest": { "id": 2, "kind": "sort", "threads": 1.5 }, "user_code": null,
        "done": 0, "nodes": 2, "quiet_ms": 0.0,
    });
    assert_eq!(live.expect("pulse").await.json(), expected);

    // Several samples in a batch are one message with as many values.
    let nodes = json!({ "1": { "total_time_ns": 900_000_000, "done": true } });
    server.post(batch(1, [sample(4, 1, 1_500.0, [750, 1_500]), sample_of(5, 1, 2_000.0, &nodes)])).await;
    let pulse = live.expect("pulse").await.json();
    assert_eq!(pulse["threads"], json!([0.5, 0.3]));
    assert_eq!((&pulse["done"], &pulse["elapsed_ms"]), (&json!(1), &json!(2_000.0)));

    server.post(batch(1, [finished(6, 1)])).await;
    let summary = live.expect("query").await.json();
    assert_eq!((summary["status"].as_str(), &summary), (Some("finished"), &server.summary(1).await));
}

#[tokio::test]
async fn failed_unseen_silent_and_returning_queries_are_told() {
    let server = Server::new().await;
    let mut live = server.live("/api/live").await;
    live.expect("snapshot").await;
    let mut status = async |n: u64| {
        let summary = live.expect("query").await.json();
        assert_eq!(summary["query_id"], query(n));
        summary["status"].as_str().expect("a status").to_owned()
    };
    server.post(batch(1, [profile_event(2, 1, "query.finished", &json!({ "failed": "boom" }))])).await;
    assert_eq!(status(1).await, "failed", "a query that was never seen running is told of, too");
    server.post(batch(1, [started(3, 2)])).await;
    assert_eq!(status(2).await, "running");
    server.let_queries_fall_silent();
    assert_eq!(status(2).await, "unfinished", "nothing is heard of it");
    server.post(batch(1, [sample(4, 2, 1_000.0, [10, 10])])).await;
    assert_eq!(status(2).await, "running");
    let pulses = server.live("/api/live").await.expect("snapshot").await.json()["pulses"].clone();
    assert_eq!(pulses[0]["nodes"], 2, "what was known of it is known again");
    // Its pulse comes after it, then silence again.
    live.expect("pulse").await;
    server.let_queries_fall_silent();
    assert_eq!(live.expect("query").await.json()["status"], "unfinished");
}

#[tokio::test]
async fn a_name_that_becomes_known_is_told() {
    let server = Server::new().await;
    server.post(batch(1, [sample(3, 1, 1_000.0, [1, 1])])).await;
    let mut unnamed = server.live("/api/live?label=").await;
    let mut named = server.live("/api/live?label=daily").await;
    assert_eq!(ids(&unnamed.expect("snapshot").await), [query(1)]);
    assert!(ids(&named.expect("snapshot").await).is_empty());
    server.post(batch(1, [started(2, 1)])).await;
    assert_eq!(named.expect("query").await.json()["label"], "daily");
    assert_eq!(unnamed.expect("query").await.json()["label"], "daily", "it leaves this reader's list");
}

#[tokio::test]
async fn a_query_whose_samples_are_empty_is_quiet() {
    let server = Server::new().await;
    let empty = |seq, elapsed_ms| sample_of(seq, 1, elapsed_ms, &json!({}));
    server.post(batch(1, [started(2, 1), sample(3, 1, 1_000.0, [5, 5]), empty(4, 6_000.0)])).await;
    let mut live = server.live("/api/live").await;
    assert_eq!(live.expect("snapshot").await.json()["pulses"][0]["quiet_ms"], 5_000.0);
    server.post(batch(1, [empty(5, 11_000.0)])).await;
    let pulse = live.expect("pulse").await.json();
    assert_eq!((&pulse["quiet_ms"], &pulse["threads"]), (&json!(10_000.0), &json!([0.0])));
    server.post(batch(1, [sample(6, 1, 11_500.0, [6, 5])])).await;
    assert_eq!(live.expect("pulse").await.json()["quiet_ms"], 0.0);
}

#[tokio::test]
async fn a_restart_changes_nothing_of_the_snapshot() {
    let server = Server::new().await;
    let mut live = server.live("/api/live").await;
    live.expect("snapshot").await;
    for second in 1..=300_u64 {
        let events = [sample(second * 2 + 1, 1, second as f64 * 1e3, [second * 700, second * 900])];
        server.post(batch(1, events.into_iter().chain((second == 1).then(|| started(2, 1))))).await;
    }
    server.post(batch(2, [started(2, 2)])).await;
    let end = batch(3, [started(2, 3), finished(3, 3)]);
    server.post(end).await;
    let before = server.live("/api/live").await.expect("snapshot").await.json();
    assert_eq!(before["running"].as_array().map(Vec::len), Some(2));
    assert_eq!(before["pulses"][0]["threads"].as_array().map(Vec::len), Some(120));
    let server = server.restarted().await;
    let after = server.live("/api/live").await.expect("snapshot").await.json();
    assert_eq!(after, before);
}

#[tokio::test]
async fn filters_keep_what_they_name() {
    let server = Server::new().await;
    let filters =
        ["service=a", "service=", "environment=test", "host=h2", "label=daily&host=h1", "project=etl"];
    let mut live = Vec::new();
    for filter in filters {
        let mut stream = server.live(&format!("/api/live?{filter}")).await;
        assert!(ids(&stream.expect("snapshot").await).is_empty());
        live.push(stream);
    }
    let process = json!({ "service": "a", "environment": "test", "host": "h1" });
    server.post(batch_of(1, &process, [started(2, 1), sample(3, 1, 1e3, [1, 1])])).await;
    let process = json!({ "service": null, "host": "h2" });
    let body = batch_of(2, &process, [started(2, 2), sample(3, 2, 1e3, [1, 1])]);
    server.post_as("etl", "identity", body.as_bytes()).await;
    // Everyone gets the last, so that what is left out shows.
    let process = json!({ "service": "a", "environment": "test", "host": "h2" });
    let body = batch_of(3, &process, [profile_event(2, 9, "query.finished", &json!({ "label": "daily" }))]);
    server.post_as("etl", "identity", body.as_bytes()).await;
    let expected: [&[u64]; 6] = [&[1, 1, 9], &[2, 2], &[1, 1, 9], &[2, 2, 9], &[1, 1], &[2, 2, 9]];
    for ((filter, stream), expected) in filters.into_iter().zip(&mut live).zip(expected) {
        for n in expected {
            let message = stream.next().await.expect("a message");
            assert_eq!(message.json()["query_id"], query(*n), "{filter}");
        }
    }
    let kept =
        async |filter: &str| ids(&server.live(&format!("/api/live?{filter}")).await.expect("snapshot").await);
    assert_eq!(kept("service=a").await, [query(1)]);
    assert_eq!(kept("project=etl").await, [query(2)]);
    assert_eq!(kept("project=etl&service=a").await.len(), 0);
}

#[tokio::test]
async fn a_reader_goes_on_after_any_message() {
    let server = Server::new().await;
    let mut whole = server.live("/api/live").await;
    let mut all = vec![whole.expect("snapshot").await];
    for n in 1..=4 {
        server.post(batch(n, [started(2, n), sample(3, n, 1e3, [1, 1])])).await;
        server.post(batch(n, [sample(4, n, 2e3, [5, 1])])).await;
        server.post(batch(n, [finished(5, n)])).await;
    }
    let mut ended = 0;
    while ended < 4 {
        let message = whole.next().await.expect("a message");
        ended += usize::from(message.event == "query" && message.data.contains(r#""status":"finished""#));
        all.push(message);
    }
    for cut in 0..all.len() - 1 {
        let mut resumed = server.live_after("/api/live", &all[cut].id).await;
        for expected in &all[cut + 1..] {
            assert_eq!(resumed.next().await.as_ref(), Some(expected), "after {cut}");
        }
    }
    // After the last there is nothing but what comes.
    let mut resumed = server.live_after("/api/live", &all[all.len() - 1].id).await;
    server.post(batch(9, [started(2, 9)])).await;
    assert_eq!(resumed.expect("query").await, whole.expect("query").await);
}

#[tokio::test]
async fn a_foreign_or_stale_id_gets_a_snapshot() {
    let server = Server::new().await;
    server.post(batch(1, [started(2, 1)])).await;
    let id = server.live("/api/live").await.expect("snapshot").await.id;
    let (epoch, number) = id.split_once('-').expect("an epoch and a number");
    let number: u64 = number.parse().expect("a number");
    for foreign in ["x", "00000000-0", &format!("{epoch}-{}", number + 1), "e0000000-1-2", "-", "%"] {
        let snapshot = server.live_after("/api/live", foreign).await.expect("snapshot").await;
        assert_eq!(ids(&snapshot), [query(1)], "{foreign}");
    }
    let server = server.restarted().await;
    assert_eq!(ids(&server.live_after("/api/live", &id).await.expect("snapshot").await), [query(1)]);
}

#[tokio::test]
async fn refusals_and_heads_are_as_of_other_reads() {
    let server = Server::new().await;
    let answer = server.ask("GET", "/api/live?host=a&host=b").await;
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    assert!(answer.ends_with(r#"{"error":"host: given twice, once is allowed"}"#), "{answer}");
    assert!(server.ask("POST", "/api/live").await.starts_with("HTTP/1.1 405 "));
    let head = server.ask("HEAD", "/api/live").await;
    assert!(head.starts_with("HTTP/1.1 200 ") && head.contains("text/event-stream"), "{head}");
    assert_eq!(server.metric("queryscope_live_subscribers").await, 0);
}
