//! A run as the read API shows it.

use queryscope_store::{Query, Status};
use serde::Serialize;
use utoipa::ToSchema;

/// One query.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "query_id": "01a1faa8-1bd9-77b2-97ab-860dd7026506",
    "stream_id": "210de94c-dce3-44f0-9cd3-2604c74dbeea",
    "project": "default",
    "service": "orders-etl",
    "environment": "prod",
    "program_version": "2026.11.3",
    "host": "worker-1",
    "engine": "polars",
    "engine_version": "1.35.2",
    "label": "scan/parquet-filter-project",
    "fingerprint": "238b6af6d50a",
    "status": "finished",
    "started_unix_ns": 1_795_206_683_609_778_763_i64,
    "wall_ms": 372.7242,
    "cpu_ms": 558.1463,
    "result_rows": 8059,
    "bytes_read": 1_048_576,
    "spilled_bytes": 0,
    "peak_memory_bytes": null,
    "failed": null,
    "warnings": 0,
    "rules": [],
    "recording": "2026/11/20/01a1faa8-1bd9-77b2-97ab-860dd7026506.jsonl.gz"
}))]
pub(crate) struct QuerySummary {
    /// Id of the query, a UUID.
    query_id: String,
    /// Id of the event stream that reported it, a UUID.
    stream_id: String,
    /// The project of the token it was sent with.
    project: String,
    /// What the sending process is.
    service: Option<String>,
    /// Where the sending process runs.
    environment: Option<String>,
    /// Version of the program; null where its process does not say it, and where an earlier version of the service
    /// stored the query.
    program_version: Option<String>,
    /// Machine of the sending process.
    host: String,
    /// The engine its events name; null for the neutral format.
    engine: Option<String>,
    /// Version of the engine; null where no profile says it yet, and where an earlier version of the service stored the
    /// query.
    engine_version: Option<String>,
    /// Name the program gave the query.
    label: Option<String>,
    /// Hash of the plan.
    fingerprint: Option<String>,
    /// State of the query.
    status: Status,
    /// When it started, in Unix nanoseconds.
    started_unix_ns: i64,
    /// Wall time in milliseconds; null until it finished or failed.
    wall_ms: Option<f64>,
    /// CPU time over all threads in milliseconds; null where unknown.
    cpu_ms: Option<f64>,
    /// Rows of the result; null where unknown.
    result_rows: Option<i64>,
    /// Bytes read; null where unknown.
    bytes_read: Option<i64>,
    /// Bytes written to disk for want of memory; null where unknown.
    spilled_bytes: Option<i64>,
    /// The most memory the query used at a time, in bytes; null where unknown.
    peak_memory_bytes: Option<i64>,
    /// The engine's error text when the query failed.
    failed: Option<String>,
    /// Findings that warn.
    warnings: u32,
    /// Rules of the findings that warn, each once.
    rules: Vec<String>,
    /// Path of the recording under the recordings' root; null while the query runs.
    recording: Option<String>,
}

impl From<Query> for QuerySummary {
    fn from(query: Query) -> Self {
        Self {
            recording: query.recording(),
            query_id: query.query_id.to_string(),
            stream_id: query.stream_id.to_string(),
            project: query.project,
            service: query.service,
            environment: query.environment,
            program_version: query.program_version,
            host: query.host,
            engine: query.engine,
            engine_version: query.engine_version,
            label: query.label,
            fingerprint: query.fingerprint,
            status: query.status,
            started_unix_ns: query.started_unix_ns,
            wall_ms: query.wall_ms,
            cpu_ms: query.cpu_ms,
            result_rows: query.result_rows,
            bytes_read: query.bytes_read,
            spilled_bytes: query.spilled_bytes,
            peak_memory_bytes: query.peak_memory_bytes,
            failed: query.failed,
            warnings: query.warnings,
            rules: query.rules,
        }
    }
}
