//! Queries of Polars: plans and counters as the engine gives them to its observer, in MessagePack.
//!
//! The shapes were read off Polars 2.1.0: a plan is an array of nodes `{id, input_ids, properties: {type, …}}`, of
//! which the physical ones have keys above 2^32; a sample is `{query: {name: integer}, nodes: [{phys_node_key, done,
//! custom, name: integer, …}]}`. The names of the counters become those of `queryscope_protocol::vocabulary`.

use std::sync::{Mutex, Once, PoisonError};

use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use queryscope_client::protocol::{Metrics, Plan, Role};
use queryscope_client::{QuerySource, Readings, Totals};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::nodes::{NodeJson, nodes};
use crate::user_code::{Share, UserCode};

/// Polars' names of counters, and ours. Counters that stand in no row keep their names.
const COUNTERS: [(&str, &str); 7] = [
    ("rows_received", "rows_in"),
    ("rows_sent", "rows_out"),
    ("total_time_ns", "busy_ns"),
    ("io_total_active_ns", "io_ns"),
    ("max_poll_time_ns", "longest_step_ns"),
    ("io_total_bytes_requested", "bytes_read"),
    ("io_total_bytes_sent", "bytes_written"),
];
/// The same for counters of a query as a whole.
const QUERY_COUNTERS: [(&str, &str); 2] = [("io_total_active_ns", "io_ns"), ("num_threads", "threads")];

/// Nodes that compute whole columns or take rows by their place.
const FUNCTIONS: [&str; 29] = [
    "BackwardFill",
    "ColumnarFunction",
    "CumAgg",
    "DynamicSlice",
    "Ewm",
    "ExtContext",
    "ForwardFill",
    "Gather",
    "GatherEvery",
    "HConcat",
    "InMemoryMap",
    "Interpolate",
    "IsFirstDistinct",
    "IsSorted",
    "Map",
    "MapFunction",
    "NegativeSlice",
    "PeakMax",
    "PeakMin",
    "Recursive",
    "Repeat",
    "Reverse",
    "Rle",
    "RleId",
    "RollingFixedWindowFunction",
    "Shift",
    "Slice",
    "StrptimeInfer",
    "Window",
];
/// What Polars writes where it has no text for a node.
const UNDESCRIBED: &str = "error: prepare_visualization was not set during conversion";
/// What it writes for the predicate of a Python source that has none.
const NO_PREDICATE: (&str, &str) = ("predicate", "None");

/// What is known of a query of Polars: its plans, where its counters are, and what Python measured beside them.
#[pyclass(frozen, module = "queryscope._native")]
pub(crate) struct PolarsQuery {
    logical: Vec<u8>,
    physical: Vec<u8>,
    /// Has `snapshot_query_metrics()`.
    handle: Py<PyAny>,
    /// What the query has of the time in functions of the program.
    user_code: Option<Share>,
    measured: Mutex<Measured>,
}

#[derive(Debug, Default)]
struct Measured {
    planning_ms: Option<f64>,
    query_counters: Metrics<'static>,
    /// The nodes that hand out results.
    sinks: Vec<u64>,
    result_rows: Option<u64>,
    working_ns: Option<u64>,
}

#[pymethods]
impl PolarsQuery {
    /// The query begins to run: from here on, calls that `user_code` is told of may be its own.
    #[new]
    #[pyo3(signature = (logical, physical, handle, user_code=None))]
    fn new(
        logical: Vec<u8>,
        physical: Vec<u8>,
        handle: Py<PyAny>,
        user_code: Option<PyRef<'_, UserCode>>,
    ) -> Self {
        let user_code = user_code.map(|clock| clock.begin());
        Self { logical, physical, handle, user_code, measured: Mutex::default() }
    }

    /// Notes how long the query was planned, in milliseconds.
    fn set_planning_ms(&self, planning_ms: f64) {
        self.measured().planning_ms = Some(planning_ms);
    }
}

impl PolarsQuery {
    /// The query runs no more.
    pub(crate) fn end(&self) {
        if let Some(share) = &self.user_code {
            share.end();
        }
    }

    fn measured(&self) -> std::sync::MutexGuard<'_, Measured> {
        self.measured.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn snapshot(&self) -> Option<Vec<u8>> {
        Python::attach(|python| match self.handle.bind(python).call_method0("snapshot_query_metrics") {
            Ok(answer) => answer.cast::<PyBytes>().ok().map(|bytes| bytes.as_bytes().to_vec()),
            Err(error) => {
                if error.is_instance_of::<PyAttributeError>(python) {
                    warn_once("counters", &error);
                }
                None
            }
        })
    }
}

/// Reads a [`PolarsQuery`].
pub(crate) struct PolarsSource(pub(crate) Py<PolarsQuery>);

impl QuerySource for PolarsSource {
    fn plan(&self) -> Plan<'static> {
        let query = self.0.get();
        let physical = decode(&query.physical);
        query.measured().sinks = sinks(&physical);
        Plan { physical: nodes(physical), logical: nodes(decode(&query.logical)) }
    }

    fn sample(&self, readings: &mut Readings) {
        let query = self.0.get();
        // A handle whose query has ended may be gone: what was read before stays.
        let Some(bytes) = query.snapshot() else { return };
        let sample = match rmp_serde::from_slice::<Sample>(&bytes) {
            Ok(sample) => sample,
            Err(error) => return warn_once("counters", &error),
        };
        read(&sample, readings);
        let mut measured = query.measured();
        measured.query_counters = query_counters(&sample.query);
        measured.working_ns =
            Some(sample.nodes.iter().filter_map(|node| node.counter("total_time_ns")).sum());
        measured.result_rows = sample
            .nodes
            .iter()
            .filter(|node| measured.sinks.contains(&node.phys_node_key))
            .filter_map(|node| node.counter("rows_received"))
            .reduce(u64::saturating_add);
    }

    fn totals(&self) -> Totals {
        let query = self.0.get();
        let measured = query.measured();
        let mut query_metrics = measured.query_counters.clone();
        if let Some(nanoseconds) = query.user_code.as_ref().and_then(Share::nanoseconds) {
            query_metrics.push("user_code_ns", nanoseconds);
        }
        Totals {
            result_rows: measured.result_rows,
            cpu_ms: measured.working_ns.filter(|nanoseconds| *nanoseconds > 0).map(|ns| ns as f64 / 1e6),
            planning_ms: measured.planning_ms,
            query_metrics,
            diagnostics: Map::new(),
        }
    }
}

/// A plan as Polars gives it.
#[derive(Debug, Deserialize)]
struct PlanNode {
    id: u64,
    #[serde(default)]
    input_ids: Vec<u64>,
    #[serde(default)]
    properties: Map<String, Value>,
}

/// Of a query of the in-memory engine, Polars gives nil for the physical plan.
fn decode(bytes: &[u8]) -> Vec<NodeJson> {
    let nodes = rmp_serde::from_slice::<Option<Vec<PlanNode>>>(bytes).unwrap_or_else(|error| {
        warn_once("a plan", &error);
        None
    });
    nodes.unwrap_or_default().into_iter().map(node).collect()
}

/// Warns of a version of Polars that is not understood, the first time alone.
fn warn_once(what: &str, error: &dyn std::error::Error) {
    static WARNED: Once = Once::new();
    WARNED.call_once(
        || log::warn!(target: "queryscope", "{what} of this version of Polars could not be read: {error}"),
    );
}

fn node(node: PlanNode) -> NodeJson {
    let PlanNode { id, input_ids, mut properties } = node;
    properties.retain(|name, value| {
        let text = value.as_str();
        text != Some(UNDESCRIBED) && (name.as_str(), text) != (NO_PREDICATE.0, Some(NO_PREDICATE.1))
    });
    let kind = match properties.remove("type") {
        Some(Value::String(kind)) => kind,
        _ => "unknown".to_owned(),
    };
    let text = |name: &str| properties.get(name).and_then(Value::as_str);
    if text("scan_source_type") == Some("IOPlugin") {
        // A generator written in Python, which an engine counts as little of as of any function.
        let name = text("explain_name").unwrap_or("io_source").to_owned();
        properties.insert("user_code".to_owned(), Value::String(name));
    }
    NodeJson { id, role: role(&kind, &properties), kind, inputs: input_ids, properties }
}

/// What a node does, by the name Polars gives it.
fn role(kind: &str, properties: &Map<String, Value>) -> Role {
    let says = |name: &str, words: &[&str]| {
        let text = properties.get(name).and_then(Value::as_str).unwrap_or_default().to_lowercase();
        words.iter().any(|word| text.contains(word))
    };
    match kind {
        "Scan" | "MultiScan" | "PythonScan" => Role::Scan,
        "DataFrameScan" | "InMemorySource" | "WorkingTableScan" => Role::Dataframe,
        "Filter" | "DynamicFilter" => Role::Selection,
        "SimpleProjection" => Role::Projection,
        "Select" | "InputIndependentSelect" => {
            let extends = properties.get("extend_original").and_then(Value::as_bool).unwrap_or_default();
            if extends { Role::Map } else { Role::Projection }
        }
        "HStack" | "WithRowIndex" => Role::Map,
        "Join" if says("how", &["semi", "anti"]) => Role::SemiAntiJoin,
        "Join" | "EquiJoin" | "InMemoryJoin" | "MergeJoin" => Role::Join,
        "SemiAntiJoin" => Role::SemiAntiJoin,
        "CrossJoin" => Role::CrossJoin,
        "AsOfJoin" | "IEJoin" | "InMemoryAsOfJoin" | "InMemoryIEJoin" | "NestedLoopJoin" | "RangeJoin" => {
            Role::ThetaJoin
        }
        "GroupBy" | "Reduce" | "SortedGroupBy" | "DynamicGroupBy" | "RollingGroupBy" => Role::Aggregation,
        "Sort" => Role::Sort,
        "TopK" | "BottomK" => Role::TopK,
        "Distinct" | "SortedUnique" | "Unique" => Role::Distinct,
        "Union" | "OrderedUnion" | "UnorderedUnion" | "MergeSorted" => Role::Union,
        "CallbackSink" | "FileSink" | "InMemorySink" | "IoSink" | "PartitionSink" | "Sink"
        | "SinkMultiple" => Role::Sink,
        "Cache" | "Multiplexer" | "Zip" => Role::Engine,
        "MapFunction" if says("function", &["rename"]) => Role::Rename,
        _ if FUNCTIONS.contains(&kind) => Role::Function,
        _ => Role::Unknown,
    }
}

/// A sample as Polars gives it.
#[derive(Debug, Deserialize)]
struct Sample {
    #[serde(default)]
    query: Map<String, Value>,
    #[serde(default)]
    nodes: Vec<NodeSample>,
}

#[derive(Debug, Deserialize)]
struct NodeSample {
    phys_node_key: u64,
    done: Option<bool>,
    #[serde(default)]
    custom: Vec<CustomSample>,
    #[serde(flatten)]
    counters: Map<String, Value>,
}

#[derive(Debug, Deserialize)]
struct CustomSample {
    key: String,
    unit: String,
    value: Option<serde_json::Number>,
}

impl NodeSample {
    fn counter(&self, name: &str) -> Option<u64> {
        self.counters.get(name).and_then(Value::as_u64)
    }
}

/// Adds a sample's counters.
fn read(sample: &Sample, readings: &mut Readings) {
    for node in &sample.nodes {
        let reading = readings.node(node.phys_node_key);
        for (name, value) in &node.counters {
            if let Some(value) = value.as_u64() {
                reading.add(renamed(&COUNTERS, name), value);
            }
        }
        for custom in &node.custom {
            reading.custom(&custom.key, &custom.unit, custom.value.clone());
        }
        if let Some(done) = node.done {
            reading.done(done);
        }
    }
}

/// The sinks of a plan: the rows they take are the result.
fn sinks(nodes: &[NodeJson]) -> Vec<u64> {
    nodes.iter().filter(|node| node.role == Role::Sink).map(|node| node.id).collect()
}

fn query_counters(counters: &Map<String, Value>) -> Metrics<'static> {
    let counters = counters.iter().filter_map(|(name, value)| Some((name.as_str(), value.as_u64()?)));
    counters.map(|(name, value)| (renamed(&QUERY_COUNTERS, name).to_owned(), value)).collect()
}

fn renamed<'n>(names: &[(&str, &'static str)], name: &'n str) -> &'n str {
    names.iter().find(|(theirs, _)| *theirs == name).map_or(name, |(_, ours)| ours)
}

#[cfg(test)]
mod tests {
    use queryscope_client::protocol::Node;
    use serde_json::json;

    use super::*;

    fn decoded(plan: &Value) -> Vec<NodeJson> {
        decode(&rmp_serde::to_vec(plan).expect("MessagePack"))
    }

    #[test]
    fn a_plan_has_roles_and_keeps_its_properties() {
        let plan = decoded(&json!([
            {"id": 4_294_967_302_u64, "input_ids": [4_294_967_301_u64], "ir_node_id": 6,
             "properties": {"type": "InMemorySink"}},
            {"id": 4_294_967_301_u64, "input_ids": [], "properties": {"type": "Select", "extend_original": true,
             "selectors": ["col(\"a\")"]}},
        ]));
        assert_eq!(sinks(&plan), [4_294_967_302]);
        let nodes: Vec<Node<'_>> = nodes(plan);
        assert_eq!(
            (&*nodes[0].kind, nodes[0].role, &nodes[0].properties),
            ("InMemorySink", Role::Sink, &None)
        );
        assert_eq!((&*nodes[1].kind, nodes[1].role), ("Select", Role::Map));
        let properties = nodes[1].properties.as_ref().expect("some").as_json();
        assert_eq!(properties, r#"{"extend_original":true,"selectors":["col(\"a\")"]}"#);
    }

    #[test]
    fn generators_of_the_program_are_user_code() {
        let scan = |source: &str, name: Value| {
            let properties = json!({"type": "PythonScan", "scan_source_type": source, "explain_name": name});
            decoded(&json!([{"id": 1, "properties": properties}]))[0].properties.get("user_code").cloned()
        };
        assert_eq!(scan("IOPlugin", Value::Null), Some(json!("io_source")));
        assert_eq!(scan("IOPlugin", json!("orders")), Some(json!("orders")));
        assert_eq!(scan("Pyarrow", Value::Null), None);
    }

    #[test]
    fn a_plan_of_another_shape_is_empty() {
        assert!(decode(b"no MessagePack").is_empty());
        assert!(decode(&[]).is_empty());
        assert!(decoded(&json!({"nodes": []})).is_empty());
        let nodes = decoded(&json!([{"id": 1, "properties": {"type": "Teleport"}}, {"id": 2}]));
        assert_eq!((nodes[0].role, &*nodes[1].kind), (Role::Unknown, "unknown"));
    }

    #[test]
    fn a_text_that_polars_does_not_have_is_left_out() {
        let plan =
            json!([{"id": 1, "properties": {"type": "InMemoryMap", "format_str": UNDESCRIBED, "n": 1}}]);
        let properties = &decoded(&plan)[0].properties;
        assert_eq!(properties.keys().collect::<Vec<_>>(), ["n"]);
    }

    #[test]
    fn a_python_source_without_a_predicate_has_none() {
        let predicate = |predicate: Value| {
            let scan =
                json!([{"id": 1, "properties": {"type": "PythonScan", "predicate": predicate, "n_rows": 3}}]);
            decoded(&scan)[0].properties.get("predicate").cloned()
        };
        assert_eq!(predicate(json!("None")), None);
        let told = json!({"Polars": {"predicate": "col(\"id\") > 0"}});
        assert_eq!(predicate(told.clone()), Some(told));
        assert_eq!(predicate(json!("col(\"None\")")), Some(json!("col(\"None\")")));
    }

    #[test]
    fn renaming_and_windows_are_told_from_other_functions() {
        let role = |kind: &str, function: &str| {
            decoded(&json!([{"id": 1, "properties": {"type": kind, "function": function}}]))[0].role
        };
        assert_eq!(role("MapFunction", "RENAME"), Role::Rename);
        assert_eq!(role("MapFunction", "EXPLODE"), Role::Function);
        assert_eq!(role("Window", ""), Role::Function);
    }

    #[test]
    fn semi_joins_are_told_from_joins() {
        let join =
            |how: &str| decoded(&json!([{"id": 1, "properties": {"type": "Join", "how": how}}]))[0].role;
        assert_eq!(
            ["Inner", "Semi", "LeftAnti"].map(join),
            [Role::Join, Role::SemiAntiJoin, Role::SemiAntiJoin]
        );
    }

    #[test]
    fn a_sample_gets_our_names() {
        let sample = json!({"query": {"num_threads": 2, "odd": -1}, "nodes": [{"phys_node_key": 7, "done": true,
            "rows_sent": 5, "rows_received": 9, "total_time_ns": 11, "morsels_sent": 1,
            "custom": [{"key": "groups", "unit": "1", "value": 4}]}]});
        let sample: Sample =
            rmp_serde::from_slice(&rmp_serde::to_vec(&sample).expect("bytes")).expect("a sample");
        let mut readings = Readings::default();
        read(&sample, &mut readings);
        assert_eq!(query_counters(&sample.query).iter().collect::<Vec<_>>(), [("threads", 2)]);
        assert_eq!(sample.nodes[0].counter("rows_received"), Some(9));
        assert_eq!(renamed(&COUNTERS, "rows_sent"), "rows_out");
        assert_eq!(renamed(&COUNTERS, "morsels_sent"), "morsels_sent");
    }
}
