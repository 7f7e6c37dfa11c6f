//! The table of runs.

use queryscope_store::Query;

use super::table::{Cell, Column, Kind, Row, column};

pub(super) const COLUMNS: [Column; 24] = [
    column("query_id", Kind::Text),
    column("stream_id", Kind::Text),
    column("project", Kind::Text),
    column("service", Kind::Text),
    column("environment", Kind::Text),
    column("program_version", Kind::Text),
    column("host", Kind::Text),
    column("engine", Kind::Text),
    column("engine_version", Kind::Text),
    column("label", Kind::Text),
    column("fingerprint", Kind::Text),
    column("status", Kind::Text),
    column("started_at", Kind::Time),
    column("started_unix_ns", Kind::Int),
    column("wall_ms", Kind::Float),
    column("cpu_ms", Kind::Float),
    column("result_rows", Kind::Int),
    column("failed", Kind::Text),
    column("warnings", Kind::Int),
    column("rules", Kind::Text),
    column("recording", Kind::Text),
    column("bytes_read", Kind::Int),
    column("spilled_bytes", Kind::Int),
    column("peak_memory_bytes", Kind::Int),
];

pub(super) fn row(query: Query) -> Row {
    let recording = query.recording();
    vec![
        query.query_id.to_string().into(),
        query.stream_id.to_string().into(),
        query.project.into(),
        query.service.into(),
        query.environment.into(),
        query.program_version.into(),
        query.host.into(),
        query.engine.into(),
        query.engine_version.into(),
        query.label.into(),
        query.fingerprint.into(),
        query.status.name().to_owned().into(),
        Cell::Time(query.started_unix_ns),
        query.started_unix_ns.into(),
        query.wall_ms.into(),
        query.cpu_ms.into(),
        query.result_rows.into(),
        query.failed.into(),
        query.warnings.into(),
        query.rules.join(",").into(),
        recording.into(),
        query.bytes_read.into(),
        query.spilled_bytes.into(),
        query.peak_memory_bytes.into(),
    ]
}
