//! The whole of a `profile@1`.
//!
//! [`ProfileSummary`](crate::ProfileSummary) reads what a list of queries shows and passes over the rest; a
//! [`Profile`] is every member of the format, for those who draw plans, look for problems or send profiles.
//! Members the format does not name are passed over and are not written again.

mod counters;
mod insights;
mod object;
mod plan;
mod read;
mod trace;
mod write;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::text::Text;

pub use counters::{Counters, Custom, Metrics};
pub use insights::{Evidence, EvidenceValue, Finding, INSIGHTS_FORMAT, Insights};
pub use object::Object;
pub use plan::{Node, Plan, Role};
pub use trace::{SpanId, TraceId, TraceIdError};

/// The version of an engine with the name of the engine, where a brand tells it: `polars 2.1.0`.
pub fn named_version(engine: Option<&str>, version: &str) -> String {
    engine.map_or_else(|| version.to_owned(), |engine| format!("{engine} {version}"))
}

/// One query's profile: its plans, counters and findings.
///
/// Strings are borrowed from the line that was read where they hold no escapes. Durations are milliseconds,
/// times Unix nanoseconds.
///
/// Writing fails when a number the format bounds is out of its bounds (`wall_ms`, `cpu_ms`: finite and at least
/// 0; the shares of a finding: finite), or when `engine` is no brand of the form `[a-z][a-z0-9-]*`.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile<'a> {
    /// The engine the format name carries; `None` for the neutral form.
    pub engine: Option<Cow<'a, str>>,
    /// Version of the engine; its member is called `<engine>_version`.
    pub engine_version: Option<Text<'a>>,
    /// Version of the library that made the profile; its member is called `<engine>_telemetry_version`.
    pub engine_telemetry_version: Option<Text<'a>>,
    /// Identity of the run. The event around a profile says it as well, and there it must be a UUID.
    pub query_id: Text<'a>,
    /// Name the program gave the query.
    pub label: Option<Text<'a>>,
    /// Hash of the plan.
    pub fingerprint: Option<Text<'a>>,
    /// When the query started, in Unix nanoseconds.
    pub started_unix_ns: Option<i64>,
    /// Time since the start, in milliseconds; at least 0.
    pub wall_ms: f64,
    /// Part of `wall_ms` that the engine planned, in milliseconds.
    pub planning_ms: Option<f64>,
    /// Part of `wall_ms` that measuring took, in milliseconds.
    pub telemetry_ms: Option<f64>,
    /// CPU time over all threads, in milliseconds; at least 0.
    pub cpu_ms: Option<f64>,
    /// Counters of the query as a whole.
    pub query_metrics: Option<Metrics<'a>>,
    /// Rows of the result.
    pub result_rows: Option<i64>,
    /// Where the program ran the query.
    pub call_site: Option<CallSite<'a>>,
    /// The engine's error text when the query failed.
    pub failed: Option<Text<'a>>,
    /// What was masked before sending; `None` when nothing was.
    pub redacted: Option<Vec<Text<'a>>>,
    /// What the engine's library worked out about the run, in its own words.
    pub diagnostics: Option<Object<'a>>,
    /// The plans.
    pub plan: Plan<'a>,
    /// What was found in them.
    pub insights: Option<Insights<'a>>,
    /// The trace the query is part of.
    pub trace_id: Option<TraceId>,
    /// The span of the trace that the query is.
    pub span_id: Option<SpanId>,
}

impl<'a> Profile<'a> {
    /// A neutral profile that holds the required members alone.
    pub fn new(query_id: impl Into<Text<'a>>, wall_ms: f64, plan: Plan<'a>) -> Self {
        Self {
            engine: None,
            engine_version: None,
            engine_telemetry_version: None,
            query_id: query_id.into(),
            label: None,
            fingerprint: None,
            started_unix_ns: None,
            wall_ms,
            planning_ms: None,
            telemetry_ms: None,
            cpu_ms: None,
            query_metrics: None,
            result_rows: None,
            call_site: None,
            failed: None,
            redacted: None,
            diagnostics: None,
            plan,
            insights: None,
            trace_id: None,
            span_id: None,
        }
    }

    /// The findings, in the profile's order.
    pub fn findings(&self) -> &[Finding<'a>] {
        self.insights.as_ref().map_or(&[], |insights| &insights.findings)
    }
}

/// Where a program ran a query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallSite<'a> {
    /// The source file.
    #[serde(borrow)]
    pub filepath: Text<'a>,
    /// The line in it, counted from 1.
    pub lineno: i64,
    /// The function.
    #[serde(borrow)]
    pub function: Text<'a>,
}

#[cfg(test)]
mod tests;
