//! Small plans and profiles for tests.

use queryscope_protocol::{Plan, Profile};
use serde_json::{Value, json};

/// Expressions that end in the middle, as a text that is cut off does.
pub(crate) const CUT_OFF: [&str; 8] = ["col(\"", "Utf8(\"a", "\"", "<", "a@", "f(((", "é", "…é\"ü\\"];

/// A node: its id, kind, role, inputs, properties and counters.
#[expect(clippy::needless_pass_by_value, reason = "tests write the values where they call")]
pub(crate) fn node(
    id: u64,
    kind: &str,
    role: &str,
    inputs: &[u64],
    properties: Value,
    metrics: Value,
) -> Value {
    json!({
        "id": id, "kind": kind, "role": role, "inputs": inputs, "properties": properties, "metrics": metrics
    })
}

/// The text of a profile of so much wall time with such a physical plan.
pub(crate) fn profile_text(wall_ms: f64, physical: &[Value], more: Value) -> String {
    let mut profile = json!({
        "schema": "engine-telemetry/profile@1",
        "query_id": "q",
        "wall_ms": wall_ms,
        "plan": {"physical": physical, "logical": []},
    });
    let (Value::Object(all), Value::Object(more)) = (&mut profile, more) else { unreachable!("objects") };
    all.extend(more);
    profile.to_string()
}

pub(crate) fn profile(text: &str) -> Profile<'_> {
    serde_json::from_str(text).expect("a profile")
}

pub(crate) fn plan(text: &str) -> Plan<'_> {
    serde_json::from_str(text).expect("a plan")
}

/// The findings of a query with such a physical plan, a line each.
pub(crate) fn check(physical: &[Value]) -> Vec<String> {
    check_with(1000.0, physical, json!({}))
}

/// The same, with a wall time and more members of the profile.
pub(crate) fn check_with(wall_ms: f64, physical: &[Value], more: Value) -> Vec<String> {
    let text = profile_text(wall_ms, physical, more);
    let found = crate::findings(&profile(&text)).findings;
    let line = |finding: &queryscope_protocol::Finding<'_>| {
        let node = finding.node_id.map(|id| format!(" #{id}")).unwrap_or_default();
        format!("{} {}{node}: {}", finding.level, finding.rule, finding.title)
    };
    found.iter().map(line).collect()
}

/// The only finding of a query with such a physical plan, as JSON.
pub(crate) fn only(wall_ms: f64, physical: &[Value], more: Value) -> Value {
    let text = profile_text(wall_ms, physical, more);
    let found = crate::findings(&profile(&text)).findings;
    let [finding] = &found[..] else { panic!("{found:?}") };
    serde_json::to_value(finding).expect("JSON")
}
