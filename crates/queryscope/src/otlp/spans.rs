//! An ended run as a span.
//!
//! Names follow the semantic conventions for databases. The ids of a run that is part of no trace, and those of its
//! span and its nodes, follow from the run's id: whoever sends it, it is the same span.

use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span, Status};
use prost::Message;
use queryscope_collector::{Clock, EndedBatch, SystemClock};
use queryscope_insights::vocabulary::cancelled::is_cancelled;
use queryscope_insights::vocabulary::counters::{BUSY, BYTES_READ, ROWS_IN, ROWS_OUT};
use queryscope_protocol::{Batch, EventKind, Node, Process, Profile, QueryId};
use sha2::{Digest, Sha256};

use super::attributes::{Attributes, SCHEMA, cut, scope};
use super::metrics::Run;

/// Spans of nodes of one run.
const NODES_MAX: usize = 200;

/// What a batch gives.
#[derive(Debug, Default)]
pub(super) struct Made {
    pub(super) spans: Vec<ResourceSpans>,
    /// What metrics need of each run.
    pub(super) runs: Vec<Run>,
    /// Bytes of the spans.
    pub(super) bytes: usize,
}

/// The spans of the runs that a batch ended, with those of their nodes where they are asked for.
pub(super) fn of(batch: &EndedBatch, nodes: bool) -> Made {
    let mut made = Made::default();
    let Some(text) = batch.text() else { return made };
    let Ok(read) = Batch::open(text.as_bytes()) else { return made };
    let process = read.process;
    let mut spans = Vec::new();
    let mut told = Vec::new();
    for event in read.events.flatten() {
        let EventKind::Finished(id, _) = &event.kind else { continue };
        // Of two ends of one run, the first counts.
        if !batch.ended.contains(id) || told.contains(id) {
            continue;
        }
        let Ok(Some(profile)) = event.profile() else { continue };
        told.push(*id);
        let run = run_span(*id, &profile, &batch.project);
        made.runs.push(Run::of(&profile, &process));
        if nodes {
            spans.extend(node_spans(*id, &profile, &run));
        }
        spans.push(run);
    }
    if spans.is_empty() {
        return made;
    }
    let spans = ScopeSpans { scope: Some(scope()), spans, schema_url: SCHEMA.into() };
    let spans = ResourceSpans {
        resource: Some(resource(&process).resource()),
        scope_spans: vec![spans],
        schema_url: SCHEMA.into(),
    };
    made.bytes = spans.encoded_len();
    made.spans.push(spans);
    made
}

/// What the process is.
fn resource(process: &Process<'_>) -> Attributes {
    Attributes::default()
        .text("service.name", Some(process.service.as_deref().unwrap_or("unknown_service")))
        .text("service.version", process.program_version.as_deref())
        .text("deployment.environment.name", process.environment.as_deref())
        .text("host.name", Some(&*process.host))
        .integer("process.pid", process.pid.and_then(|pid| i64::try_from(pid).ok()))
}

/// The name of a system as the conventions have it; they know none of these engines, and ask for the name of the
/// system then.
pub(super) fn system<'p>(profile: &'p Profile<'_>) -> &'p str {
    profile.engine.as_deref().unwrap_or("other_sql")
}

/// Why a run did not finish: `failed`, or `cancelled` by a person or the program.
pub(super) fn error_type(profile: &Profile<'_>) -> Option<&'static str> {
    profile.failed.as_deref().map(|error| if is_cancelled(error) { "cancelled" } else { "failed" })
}

fn run_span(id: QueryId, profile: &Profile<'_>, project: &str) -> Span {
    let label = profile.label.as_deref();
    let seconds = |ms: Option<f64>| ms.map(|ms| ms / 1e3);
    let site = profile.call_site.as_ref();
    let attributes = Attributes::default()
        .text("db.system.name", Some(system(profile)))
        .text("db.query.summary", label)
        .integer("db.response.returned_rows", profile.result_rows)
        .text("error.type", error_type(profile))
        .text("code.file.path", site.map(|site| &*site.filepath))
        .integer("code.line.number", site.map(|site| site.lineno))
        .text("code.function.name", site.map(|site| &*site.function))
        .text("queryscope.run.id", Some(&id.to_string()))
        .text("queryscope.project", Some(project))
        .text("queryscope.plan.fingerprint", profile.fingerprint.as_deref())
        .text("queryscope.engine.version", profile.engine_version.as_deref())
        .double("queryscope.cpu_time", seconds(profile.cpu_ms))
        .double("queryscope.planning_time", seconds(profile.planning_ms))
        .texts("queryscope.findings", profile.findings().iter().map(|finding| &*finding.rule));
    let failed = profile.failed.as_deref().filter(|error| !is_cancelled(error));
    let status = failed.map(|error| Status { message: cut(error), code: StatusCode::Error.into() });
    let wall_ns = (profile.wall_ms * 1e6) as u64;
    let now = || SystemClock::new().unix_ns().unsigned_abs().saturating_sub(wall_ns);
    let start = profile.started_unix_ns.and_then(|ns| u64::try_from(ns).ok()).unwrap_or_else(now);
    Span {
        trace_id: trace_id(id, profile),
        span_id: span_id(id, None),
        // The span of the caller, where it traces.
        parent_span_id: parent(profile).unwrap_or_default(),
        name: label.map_or_else(|| format!("{} query", system(profile)), cut),
        kind: SpanKind::Internal.into(),
        start_time_unix_nano: start,
        end_time_unix_nano: start.saturating_add(wall_ns),
        attributes: attributes.list(),
        status,
        ..Span::default()
    }
}

/// A span for each node of the physical plan, below that of the node that reads from it. No engine says when a node
/// began: its span begins with the run, and is as long as the node worked, at most as the run.
fn node_spans(id: QueryId, profile: &Profile<'_>, run: &Span) -> Vec<Span> {
    let nodes = &profile.plan.physical;
    let reader =
        |node: &Node<'_>| nodes.iter().find(|other| other.inputs.contains(&node.id) && other.id != node.id);
    let wall_ns = run.end_time_unix_nano - run.start_time_unix_nano;
    let shown = nodes.iter().take(NODES_MAX);
    let spans = shown.map(|node| {
        let count = |term: &queryscope_insights::vocabulary::Term| term.value_in(node.metrics.as_ref()?);
        let integer = |value: Option<u64>| value.and_then(|value| i64::try_from(value).ok());
        let busy_ns = count(&BUSY);
        let attributes = Attributes::default()
            .text("db.system.name", Some(system(profile)))
            .integer("queryscope.node.id", i64::try_from(node.id).ok())
            .text("queryscope.node.role", Some(node.role.as_str()))
            .double("queryscope.node.busy_time", busy_ns.map(|ns| ns as f64 / 1e9))
            .integer("queryscope.node.rows_in", integer(count(&ROWS_IN)))
            .integer("queryscope.node.rows_out", integer(count(&ROWS_OUT)))
            .integer("queryscope.node.bytes_read", integer(count(&BYTES_READ)));
        Span {
            trace_id: run.trace_id.clone(),
            span_id: span_id(id, Some(node.id)),
            parent_span_id: match reader(node) {
                Some(reader) if nodes.iter().take(NODES_MAX).any(|each| each.id == reader.id) => {
                    span_id(id, Some(reader.id))
                }
                _ => run.span_id.clone(),
            },
            name: cut(&node.kind),
            kind: SpanKind::Internal.into(),
            start_time_unix_nano: run.start_time_unix_nano,
            end_time_unix_nano: run.start_time_unix_nano + busy_ns.unwrap_or(0).min(wall_ns),
            attributes: attributes.list(),
            ..Span::default()
        }
    });
    spans.collect()
}

/// The trace of the caller, else one of the run's own.
fn trace_id(id: QueryId, profile: &Profile<'_>) -> Vec<u8> {
    match profile.trace_id.as_ref().and_then(|trace| bytes::<16>(&trace.to_string())) {
        Some(trace) => trace.to_vec(),
        None => Sha256::digest(format!("{id}/trace"))[..16].to_vec(),
    }
}

fn parent(profile: &Profile<'_>) -> Option<Vec<u8>> {
    // A span without its trace belongs to none.
    profile.trace_id.as_ref()?;
    bytes::<8>(&profile.span_id.as_ref()?.to_string()).map(|id| id.to_vec())
}

fn span_id(id: QueryId, node: Option<u64>) -> Vec<u8> {
    let name = node.map_or_else(|| format!("{id}/span"), |node| format!("{id}/node/{node}"));
    Sha256::digest(name)[..8].to_vec()
}

/// Hexadecimal digits as bytes; `None` where they are zeros alone, which is no id.
fn bytes<const N: usize>(hex: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(hex.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    (hex.len() == 2 * N && bytes != [0; N]).then_some(bytes)
}
