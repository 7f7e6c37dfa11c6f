//! Plans and counters as an adapter written in Python gives them: JSON in the shapes of the format.

use queryscope_client::Readings;
use queryscope_client::protocol::{Metrics, Node, Object, Plan, Role};
use serde::Deserialize;
use serde_json::{Map, Number, Value};

/// A plan as JSON: `{"physical": [node], "logical": [node]}`.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct PlanJson {
    #[serde(default)]
    physical: Vec<NodeJson>,
    #[serde(default)]
    logical: Vec<NodeJson>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct NodeJson {
    pub(crate) id: u64,
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) role: Role,
    #[serde(default)]
    pub(crate) inputs: Vec<u64>,
    #[serde(default)]
    pub(crate) properties: Map<String, Value>,
}

impl From<PlanJson> for Plan<'static> {
    fn from(plan: PlanJson) -> Self {
        Self { physical: nodes(plan.physical), logical: nodes(plan.logical) }
    }
}

/// The nodes in the form of the format.
pub(crate) fn nodes(nodes: Vec<NodeJson>) -> Vec<Node<'static>> {
    nodes.into_iter().map(Node::from).collect()
}

impl From<NodeJson> for Node<'static> {
    fn from(node: NodeJson) -> Self {
        Self {
            id: node.id,
            kind: node.kind.into(),
            role: node.role,
            inputs: node.inputs,
            properties: Some(node.properties)
                .filter(|properties| !properties.is_empty())
                .and_then(|properties| Object::of(&properties).ok()),
            metrics: None,
        }
    }
}

/// The counters of one node as JSON: `{"id": 1, "counters": {"rows_out": 5}, "done": true, "custom": []}`.
#[derive(Debug, Deserialize)]
pub(crate) struct ReadingJson {
    id: u64,
    #[serde(default)]
    counters: Map<String, Value>,
    done: Option<bool>,
    #[serde(default)]
    custom: Vec<CustomJson>,
}

#[derive(Debug, Deserialize)]
struct CustomJson {
    key: String,
    unit: String,
    value: Option<Number>,
}

impl ReadingJson {
    /// Adds the counters to a sample. Those that are no integers of at least 0 are left out: the format has no others.
    pub(crate) fn read_into(&self, readings: &mut Readings) {
        let node = readings.node(self.id);
        for (name, value) in &self.counters {
            if let Some(value) = value.as_u64() {
                node.add(name, value);
            }
        }
        for custom in &self.custom {
            node.custom(&custom.key, &custom.unit, custom.value.clone());
        }
        if let Some(done) = self.done {
            node.done(done);
        }
    }
}

/// What is known of a query as a whole, as JSON.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct TotalsJson {
    result_rows: Option<u64>,
    cpu_ms: Option<f64>,
    planning_ms: Option<f64>,
    #[serde(default)]
    query_metrics: Map<String, Value>,
    #[serde(default)]
    diagnostics: Map<String, Value>,
}

impl From<TotalsJson> for queryscope_client::Totals {
    fn from(totals: TotalsJson) -> Self {
        let metrics = totals.query_metrics.iter();
        Self {
            result_rows: totals.result_rows,
            cpu_ms: totals.cpu_ms,
            planning_ms: totals.planning_ms,
            query_metrics: metrics
                .filter_map(|(name, value)| Some((name.clone(), value.as_u64()?)))
                .collect::<Metrics<'static>>(),
            diagnostics: totals.diagnostics,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_of_json() {
        let text = r#"{"physical": [{"id": 7, "kind": "Scan", "role": "scan", "properties": {"table": "t"}},
            {"id": 8, "kind": "Odd", "role": "no such role", "inputs": [7]}]}"#;
        let plan = Plan::from(serde_json::from_str::<PlanJson>(text).expect("a plan"));
        assert!(plan.logical.is_empty());
        assert_eq!(plan.physical[0].properties.as_ref().expect("some").as_json(), r#"{"table":"t"}"#);
        assert_eq!((plan.physical[1].role, &plan.physical[1].inputs[..]), (Role::Unknown, &[7][..]));
    }

    #[test]
    fn totals_of_json_keep_what_the_format_can_hold() {
        let text = r#"{"result_rows": 3, "query_metrics": {"threads": 2, "share": 0.5}}"#;
        let totals =
            queryscope_client::Totals::from(serde_json::from_str::<TotalsJson>(text).expect("totals"));
        assert_eq!(totals.result_rows, Some(3));
        assert_eq!(totals.query_metrics.iter().collect::<Vec<_>>(), [("threads", 2)]);
    }
}
