//! Answers over many queries: facets, groups, versions, the overview.

mod filters;
mod params;
mod part;
mod ranges;
mod shape;

use serde_json::{Value, json};

use crate::app::{OTHER_TOKEN, TestApp};
use crate::events::{DAY_NS, NOW_NS, SECOND_NS, batch, finished, process_with, started};

/// What a profile says, with further members or others in their place.
fn told(label: &str, plan: &str, started_unix_ns: i64, members: Value) -> Value {
    let mut told = json!({"label": label, "fingerprint": plan, "started_unix_ns": started_unix_ns});
    let Value::Object(members) = members else { panic!("{members}") };
    told.as_object_mut().expect("an object").extend(members);
    told
}

/// Members of a profile with a warning.
fn warns(rule: &str) -> Value {
    let finding = json!({"rule": rule, "kind": "k", "level": "warn", "node_id": 1, "title": "t"});
    json!({"insights": {"schema": "i", "findings": [finding]}})
}

/// | query | service    | environment | host     | label   | plan | started         | ended    |
/// |-------|------------|-------------|----------|---------|------|-----------------|----------|
/// | 1     | orders-etl | prod        | worker-1 | daily   | p1   | now             | finished |
/// | 2     | orders-etl | prod        | worker-1 | daily   | p1   | a second before | failed   |
/// | 3     | orders-etl | prod        | worker-1 | daily   | p2   | a day before    | finished |
/// | 4     | -          | -           | worker-2 | nightly | p3   | now             | -        |
/// | 5     | web        | test        | worker-3 | daily   | p1   | 2 s before      | finished |
///
/// The last is of the project `etl`.
async fn five(app: &TestApp) {
    let ended = [
        finished(2, 1, told("daily", "p1", NOW_NS, warns("skew"))),
        finished(3, 2, told("daily", "p1", NOW_NS - SECOND_NS, json!({"failed": "boom"}))),
        finished(4, 3, told("daily", "p2", NOW_NS - DAY_NS, json!({"wall_ms": 20.25}))),
    ];
    app.store(batch(1, ended)).await;
    let process = process_with(2, json!({"service": null, "environment": null, "host": "worker-2"}));
    let runs = started(2, 4, told("nightly", "p3", NOW_NS, json!({})));
    app.store(format!("{process}\n{runs}\n")).await;
    let process = process_with(3, json!({"service": "web", "environment": "test", "host": "worker-3"}));
    let other = finished(2, 5, told("daily", "p1", NOW_NS - 2 * SECOND_NS, json!({"wall_ms": 1.5})));
    let answer = app.post_as(OTHER_TOKEN, format!("{process}\n{other}\n")).await;
    assert_eq!(answer.status, 202, "{answer:?}");
}

async fn get(app: &TestApp, path: &str) -> Value {
    let answer = app.get(path).await;
    assert_eq!(answer.status, 200, "{path}: {answer:?}");
    answer.json()
}

/// The entries of an answer as `key runs`, in the order given.
fn entries(list: &Value, key: &str) -> Vec<String> {
    let entry = |entry: &Value| format!("{} {}", entry[key].as_str().unwrap_or("-"), entry["runs"]);
    list.as_array().expect("an array").iter().map(entry).collect()
}
