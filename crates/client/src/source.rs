//! What an engine's adapter implements.

use queryscope_protocol::{Metrics, Plan};
use serde_json::{Map, Value};

use crate::readings::Readings;

/// Reads one query: its plan and its counters.
///
/// All methods are called by a background thread, never by the query's, one at a time and in this order: `plan`
/// once, `sample` any number of times, and after the end `final_plan`, `sample` once more, then `totals`. A query that
/// ends within its first second has `plan`, `sample` and `totals` called after its end only. The source is dropped as
/// soon as that is done, at most half a second after the end in a process that is not overloaded. The thread has a
/// stack of 64 MiB, so that deep expressions can be rendered.
///
/// A source should hold nothing that the engine would otherwise free: live counters and rendered expressions,
/// and [`Weak`](std::sync::Weak) references to the rest. Where something is gone, leave it out. A panic costs
/// the query its counters and is logged; it goes no further.
pub trait QuerySource: Send + Sync + 'static {
    /// The plans, without counters.
    ///
    /// A literal value within the text of a property stands in quotes (`'…'` or `"…"`, doubled inside) or is a
    /// number: what redaction masks.
    fn plan(&self) -> Plan<'static>;

    /// Reads the counters of the physical nodes, counted since the start of the query.
    ///
    /// The library finds out what changed. Nodes and counters may come and go between calls; keep their order
    /// where you can, which makes it cheapest.
    fn sample(&self, readings: &mut Readings);

    /// The plans after the end, where more is known of them than `plan` told: the same nodes with other properties.
    fn final_plan(&self) -> Option<Plan<'static>> {
        None
    }

    /// What is known of the query as a whole once it has ended.
    fn totals(&self) -> Totals {
        Totals::default()
    }
}

/// What is known of a query as a whole once it has ended.
#[derive(Debug, Clone, Default)]
pub struct Totals {
    /// Rows of the result.
    pub result_rows: Option<u64>,
    /// CPU time over all threads, in milliseconds. Where it is more than twice what the process used meanwhile, the
    /// time of the process is told instead.
    pub cpu_ms: Option<f64>,
    /// Part of the wall time in which the query was planned, in milliseconds.
    pub planning_ms: Option<f64>,
    /// Counters of the query as a whole.
    pub query_metrics: Metrics<'static>,
    /// What the adapter worked out about the run. Members of the library's own (`cpu_count`,
    /// `parallel_efficiency`, `incomplete_nodes`, `samples`) are added where they are not set.
    pub diagnostics: Map<String, Value>,
}
