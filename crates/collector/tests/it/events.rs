//! Batches as senders write them.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Map, Value, json};

pub(crate) const EVENTS: &str = "engine-telemetry/events@1";
pub(crate) const PROFILE: &str = "engine-telemetry/profile@1";

/// When the tests' clock starts and their queries start: 2026-11-20 20:31:23 UTC.
pub(crate) const NOW_NS: i64 = 1_795_206_683_609_778_763;
pub(crate) const SECOND_NS: i64 = 1_000_000_000;
pub(crate) const DAY_NS: i64 = 86_400 * SECOND_NS;

/// The id of the n-th stream.
pub(crate) fn stream(n: u64) -> String {
    format!("57000000-0000-4000-8000-{n:012x}")
}

/// The id of the n-th query.
pub(crate) fn query(n: u64) -> String {
    format!("e0000000-0000-4000-8000-{n:012x}")
}

/// The process event of a stream, with further members or others in their place.
pub(crate) fn process_with(n: u64, members: Value) -> String {
    let event = json!({
        "schema": EVENTS, "seq": 1, "type": "process", "id": stream(n),
        "service": "orders-etl", "environment": "prod", "host": "worker-1", "pid": 7,
    });
    line(event, members)
}

pub(crate) fn process(n: u64) -> String {
    process_with(n, json!({}))
}

/// A profile with only what it must have and a start, with further members or others in their place.
pub(crate) fn profile(n: u64, members: Value) -> Value {
    let profile = json!({
        "schema": PROFILE, "query_id": query(n), "started_unix_ns": NOW_NS, "wall_ms": 1500.5,
        "plan": {"physical": [], "logical": []},
    });
    joined(profile, members)
}

pub(crate) fn started(seq: u64, n: u64, members: Value) -> String {
    event(seq, "query.started", json!({"query_id": query(n), "profile": profile(n, members)}))
}

pub(crate) fn progress(seq: u64, n: u64) -> String {
    event(seq, "query.progress", json!({"query_id": query(n), "elapsed_ms": 1000.0, "nodes": {}}))
}

pub(crate) fn finished(seq: u64, n: u64, members: Value) -> String {
    event(seq, "query.finished", json!({"query_id": query(n), "profile": profile(n, members)}))
}

/// A query that ended well, in one event.
pub(crate) fn done(seq: u64, n: u64) -> String {
    finished(seq, n, json!({"failed": null}))
}

/// An event of any type.
pub(crate) fn event(seq: u64, kind: &str, members: Value) -> String {
    line(json!({"schema": EVENTS, "seq": seq, "type": kind}), members)
}

/// A batch of the n-th stream.
pub(crate) fn batch<L: AsRef<str>>(n: u64, events: impl IntoIterator<Item = L>) -> String {
    let mut text = process(n) + "\n";
    for event in events {
        text += event.as_ref();
        text.push('\n');
    }
    text
}

pub(crate) fn gzip(text: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_ref()).expect("memory");
    encoder.finish().expect("memory")
}

fn line(event: Value, members: Value) -> String {
    joined(event, members).to_string()
}

/// An object with further members, or others in their place.
pub(crate) fn joined(object: Value, members: Value) -> Value {
    let map = |value: Value| serde_json::from_value::<Map<String, Value>>(value).expect("an object");
    let mut joined = map(object);
    joined.extend(map(members));
    Value::Object(joined)
}
