//! Batches as senders write them.

use serde_json::{Map, Value, json};

pub(crate) const SCHEMA: &str = "engine-telemetry/events@1";
/// More than a float holds exactly.
pub(crate) const STARTED_NS: i64 = 1_795_206_683_609_778_763;

/// The id of the n-th query.
pub(crate) fn query(n: u64) -> String {
    format!("e0000000-0000-4000-8000-{n:012x}")
}

/// A batch of the n-th stream, with further members of its process event.
pub(crate) fn batch_of(n: u64, process: &Value, events: impl IntoIterator<Item = String>) -> String {
    let own = json!({
        "schema": SCHEMA, "seq": 1, "type": "process", "id": format!("57000000-0000-4000-8000-{n:012x}"),
        "service": "orders-etl", "environment": "prod", "host": "worker-1",
    });
    let mut text = joined(&own, process).to_string() + "\n";
    for event in events {
        text += &event;
        text.push('\n');
    }
    text
}

pub(crate) fn batch(n: u64, events: impl IntoIterator<Item = String>) -> String {
    batch_of(n, &json!({}), events)
}

pub(crate) fn started(seq: u64, n: u64) -> String {
    profile_event(seq, n, "query.started", &json!({ "label": "daily" }))
}

pub(crate) fn finished(seq: u64, n: u64) -> String {
    profile_event(seq, n, "query.finished", &json!({ "label": "daily" }))
}

pub(crate) fn profile_event(seq: u64, n: u64, kind: &str, members: &Value) -> String {
    let node = |id: u64, kind: &str| json!({ "id": id, "kind": kind, "role": "unknown", "inputs": [] });
    let profile = json!({
        "schema": "engine-telemetry/profile@1", "query_id": query(n), "started_unix_ns": STARTED_NS,
        "wall_ms": 1500.5, "plan": { "logical": [], "physical": [node(1, "scan"), node(2, "sort")] },
    });
    json!({
        "schema": SCHEMA, "seq": seq, "type": kind, "query_id": query(n), "profile": joined(&profile, members),
    })
    .to_string()
}

/// A sample whose two nodes have worked for so many milliseconds.
pub(crate) fn sample(seq: u64, n: u64, elapsed_ms: f64, busy_ms: [u64; 2]) -> String {
    let nodes = json!({
        "1": { "total_time_ns": busy_ms[0] * 1_000_000, "io_total_active_ns": 7_000_000_000_u64 },
        "2": { "total_time_ns": busy_ms[1] * 1_000_000 },
    });
    sample_of(seq, n, elapsed_ms, &nodes)
}

pub(crate) fn sample_of(seq: u64, n: u64, elapsed_ms: f64, nodes: &Value) -> String {
    json!({
        "schema": SCHEMA, "seq": seq, "type": "query.progress", "query_id": query(n),
        "elapsed_ms": elapsed_ms, "nodes": nodes,
    })
    .to_string()
}

fn joined(object: &Value, members: &Value) -> Value {
    let map = |value: &Value| value.as_object().expect("an object").clone();
    let mut joined: Map<String, Value> = map(object);
    joined.extend(map(members));
    Value::Object(joined)
}
