//! Writes batches.

use std::fmt::Display;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use thiserror::Error;

use crate::event::Process;
use crate::format::{FormatError, TELEMETRY_VERSION_SUFFIX, brand, events_format};
use crate::id::{QueryId, Seq};
use crate::number::elapsed_ms;
use crate::profile::Profile;
use crate::sample::{NodeMap, Sample};

/// Version of this library, told to the reader of every batch it writes.
const TELEMETRY_VERSION: &str = env!("CARGO_PKG_VERSION");
/// The process event is the first of its stream.
const PROCESS_SEQ: u64 = 1;

/// An event that cannot be written.
#[derive(Debug, Error)]
#[error("event {seq} has a value the format cannot hold")]
#[non_exhaustive]
pub struct WriteError {
    /// Number of the event within its stream.
    pub seq: Seq,
    /// What is wrong.
    #[source]
    pub source: serde_json::Error,
}

/// Writes a batch line by line; what it has written is a batch that [`Batch::open`](crate::Batch::open) takes.
///
/// The seqs are the caller's: every event of a stream has its own, and keeps it when it is sent again. Seq 1 is
/// the process event's.
#[derive(Debug, Clone)]
pub struct BatchWriter {
    schema: String,
    lines: Vec<u8>,
}

impl BatchWriter {
    /// Begins a batch of an engine (`None` writes the neutral format name) with the process event.
    ///
    /// # Errors
    /// When the engine is no brand of the form `[a-z][a-z0-9-]*`.
    pub fn new(engine: Option<&str>, process: &Process<'_>) -> Result<Self, FormatError> {
        let version = format!("{}{TELEMETRY_VERSION_SUFFIX}", brand(engine)?);
        let schema = events_format(engine);
        let mut lines = Vec::new();
        let line = ProcessLine { schema: &schema, version: &version, process };
        serde_json::to_writer(&mut lines, &line).expect("texts and integers are written to memory");
        lines.push(b'\n');
        Ok(Self { schema, lines })
    }

    /// Adds a `query.started` event: the profile so far, without counters.
    ///
    /// # Errors
    /// When the profile holds a number or brand the format cannot hold. The batch is then as it was before.
    pub fn started(&mut self, seq: Seq, query_id: QueryId, profile: &Profile<'_>) -> Result<(), WriteError> {
        let line = ProfileLine { schema: &self.schema, seq, r#type: "query.started", query_id, profile };
        append(&mut self.lines, seq, &line)
    }

    /// Adds a `query.progress` event.
    ///
    /// # Errors
    /// When `elapsed_ms` is not finite or below 0. The batch is then as it was before.
    pub fn progress(&mut self, seq: Seq, query_id: QueryId, sample: &Sample<'_>) -> Result<(), WriteError> {
        let line = ProgressLine {
            schema: &self.schema,
            seq,
            r#type: "query.progress",
            query_id,
            elapsed_ms: sample.elapsed_ms,
            nodes: NodeMap(&sample.nodes),
            process_cpu_ns: sample.process_cpu_ns,
            process_memory_bytes: sample.process_memory_bytes,
            host_cpu_ns: sample.host_cpu_ns,
            host_memory_bytes: sample.host_memory_bytes,
            host_memory_total_bytes: sample.host_memory_total_bytes,
        };
        append(&mut self.lines, seq, &line)
    }

    /// Adds a `query.finished` event: the complete profile, with `failed` set when the query failed.
    ///
    /// # Errors
    /// When the profile holds a number or brand the format cannot hold. The batch is then as it was before.
    pub fn finished(&mut self, seq: Seq, query_id: QueryId, profile: &Profile<'_>) -> Result<(), WriteError> {
        let line = ProfileLine { schema: &self.schema, seq, r#type: "query.finished", query_id, profile };
        append(&mut self.lines, seq, &line)
    }

    /// Bytes written so far, to be held below [`MAX_BATCH_BYTES`](crate::limits::MAX_BATCH_BYTES).
    pub fn batch_bytes(&self) -> usize {
        self.lines.len()
    }

    /// The batch, every line ended by a line feed.
    pub fn into_bytes(self) -> Vec<u8> {
        self.lines
    }
}

fn append<T: Serialize>(lines: &mut Vec<u8>, seq: Seq, line: &T) -> Result<(), WriteError> {
    let before = lines.len();
    if let Err(source) = serde_json::to_writer(&mut *lines, line) {
        lines.truncate(before);
        return Err(WriteError { seq, source });
    }
    lines.push(b'\n');
    Ok(())
}

struct ProcessLine<'s, 'a> {
    schema: &'s str,
    /// Name of the member that holds the version of this library.
    version: &'s str,
    process: &'s Process<'a>,
}

impl Serialize for ProcessLine<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let process = self.process;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("schema", self.schema)?;
        map.serialize_entry("seq", &PROCESS_SEQ)?;
        map.serialize_entry("type", "process")?;
        map.serialize_entry("id", &process.id.to_string())?;
        map.serialize_entry("service", &process.service)?;
        map.serialize_entry("environment", &process.environment)?;
        if let Some(program_version) = &process.program_version {
            map.serialize_entry("program_version", program_version)?;
        }
        map.serialize_entry("host", &process.host)?;
        if let Some(pid) = process.pid {
            map.serialize_entry("pid", &pid)?;
        }
        map.serialize_entry(self.version, TELEMETRY_VERSION)?;
        if let Some(started_unix_ns) = process.started_unix_ns {
            map.serialize_entry("started_unix_ns", &started_unix_ns)?;
        }
        map.end()
    }
}

#[derive(Serialize)]
struct ProfileLine<'s, 'a> {
    schema: &'s str,
    #[serde(serialize_with = "number")]
    seq: Seq,
    r#type: &'static str,
    #[serde(serialize_with = "text")]
    query_id: QueryId,
    profile: &'s Profile<'a>,
}

#[derive(Serialize)]
struct ProgressLine<'s, 'a> {
    schema: &'s str,
    #[serde(serialize_with = "number")]
    seq: Seq,
    r#type: &'static str,
    #[serde(serialize_with = "text")]
    query_id: QueryId,
    #[serde(serialize_with = "elapsed_ms")]
    elapsed_ms: f64,
    nodes: NodeMap<'s, 'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    process_cpu_ns: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    process_memory_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    host_cpu_ns: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    host_memory_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    host_memory_total_bytes: Option<u64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn number<S: Serializer>(seq: &Seq, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(seq.get())
}

fn text<S: Serializer>(id: &impl Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(id)
}

#[cfg(test)]
mod tests;
