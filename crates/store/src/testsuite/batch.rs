//! Builds batches of real lines, as a collector would from the same events.

use std::collections::BTreeMap;

use queryscope_protocol::{EVENTS_FORMAT, PROFILE_FORMAT, QueryId, Seq, StreamId, events_format};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::batch::{Facts, QueryPart, Report, StreamBatch, StreamProcess};
use crate::chunk::Packer;

/// The stream with this number.
pub fn stream_id(number: u64) -> StreamId {
    StreamId::new(Uuid::from_u64_pair(0x5712_ea4d_0000_4000, 0x8000_0000_0000_0000 | number))
}

/// The query with this number.
pub fn query_id(number: u64) -> QueryId {
    QueryId::new(Uuid::from_u64_pair(0x01a1_faa8_0000_7000, 0x8000_0000_0000_0000 | number))
}

/// A seq.
///
/// # Panics
/// When `number` is none.
pub fn seq(number: u64) -> Seq {
    Seq::new(number).expect("a seq")
}

/// Seqs, in the order they are given.
pub fn seqs(numbers: impl IntoIterator<Item = u64>) -> Vec<Seq> {
    numbers.into_iter().map(seq).collect()
}

/// What a profile with this label says: the query started at 1 s and took 5 ms.
pub fn facts(label: &str) -> Facts {
    Facts {
        seq: seq(1),
        engine_version: None,
        label: Some(label.into()),
        fingerprint: None,
        started_unix_ns: Some(1_000_000_000),
        wall_ms: 5.0,
        cpu_ms: None,
        result_rows: None,
        bytes_read: None,
        spilled_bytes: None,
        peak_memory_bytes: None,
        failed: None,
        warnings: 0,
        rules: vec![],
    }
}

/// The line a [`BatchBuilder`] makes of a `query.progress`; no two events have the same.
pub fn line(query: u64, number: u64) -> String {
    json!({
        "schema": EVENTS_FORMAT, "seq": number, "type": "query.progress", "query_id": query_id(query).to_string(),
        "elapsed_ms": 1000, "nodes": { "0": { "rows_out": number } },
    })
    .to_string()
}

/// Begins a batch of the stream with this number, of the project `default`, received at 1,000 ms.
pub fn batch(stream: u64) -> BatchBuilder {
    BatchBuilder {
        project: "default".into(),
        process: StreamProcess {
            id: stream_id(stream),
            service: None,
            environment: None,
            program_version: None,
            host: "localhost".into(),
            line: json!({
                "schema": EVENTS_FORMAT, "seq": 1, "type": "process",
                "id": stream_id(stream).to_string(), "host": "localhost",
            })
            .to_string(),
        },
        received_unix_ms: 1_000,
        guessed_start_unix_ns: 1_000_000_000,
        engine: None,
        queries: BTreeMap::new(),
        loose: Vec::new(),
    }
}

/// A batch in the making. Queries and events are given by number; of a seq given twice the first stays.
#[derive(Debug, Clone)]
pub struct BatchBuilder {
    project: String,
    process: StreamProcess,
    received_unix_ms: i64,
    guessed_start_unix_ns: i64,
    engine: Option<String>,
    queries: BTreeMap<u64, Part>,
    loose: Vec<u64>,
}

#[derive(Debug, Clone, Default)]
struct Part {
    lines: BTreeMap<u64, String>,
    started: Option<Facts>,
    finished: Option<Facts>,
}

impl BatchBuilder {
    /// Sets the project of the token.
    #[must_use]
    pub fn project(mut self, project: &str) -> Self {
        project.clone_into(&mut self.project);
        self
    }

    /// Sets what the sending process is, and its line.
    #[must_use]
    pub fn process(mut self, service: Option<&str>, environment: Option<&str>, host: &str) -> Self {
        self.process.service = service.map(Into::into);
        self.process.environment = environment.map(Into::into);
        host.clone_into(&mut self.process.host);
        self.process.line = self.process_line();
        self
    }

    /// Sets the version of the program.
    #[must_use]
    pub fn program_version(mut self, version: Option<&str>) -> Self {
        self.process.program_version = version.map(Into::into);
        self.process.line = self.process_line();
        self
    }

    fn process_line(&self) -> String {
        let StreamProcess { id, service, environment, program_version, host, .. } = &self.process;
        let mut line = json!({
            "schema": EVENTS_FORMAT, "seq": 1, "type": "process", "id": id.to_string(), "service": service,
            "environment": environment, "host": host,
        });
        if let Some(version) = program_version {
            line["program_version"] = version.as_str().into();
        }
        line.to_string()
    }

    /// Sets when the batch was received, in Unix milliseconds.
    #[must_use]
    pub fn received(mut self, unix_ms: i64) -> Self {
        self.received_unix_ms = unix_ms;
        self
    }

    /// Sets when its queries started as far as can be told without a profile, in Unix nanoseconds.
    #[must_use]
    pub fn guessed_start(mut self, unix_ns: i64) -> Self {
        self.guessed_start_unix_ns = unix_ns;
        self
    }

    /// Sets the engine that the formats of its events name.
    #[must_use]
    pub fn engine(mut self, engine: &str) -> Self {
        self.engine = Some(engine.into());
        self
    }

    /// Adds the `query.progress` events with these numbers.
    #[must_use]
    pub fn progress(mut self, query: u64, numbers: impl IntoIterator<Item = u64>) -> Self {
        for number in numbers {
            self.add(query, number, line(query, number));
        }
        self
    }

    /// Adds a `query.started`; `facts` may carry any seq.
    #[must_use]
    pub fn started(mut self, query: u64, number: u64, facts: Facts) -> Self {
        let line = self.profile_line("query.started", query, number, &facts);
        self.add(query, number, line);
        let started = &mut self.queries.entry(query).or_default().started;
        if started.as_ref().is_none_or(|first| number < first.seq.get()) {
            *started = Some(Facts { seq: seq(number), ..facts });
        }
        self
    }

    /// Adds a `query.finished`; `facts` may carry any seq.
    #[must_use]
    pub fn finished(mut self, query: u64, number: u64, facts: Facts) -> Self {
        let line = self.profile_line("query.finished", query, number, &facts);
        self.add(query, number, line);
        let finished = &mut self.queries.entry(query).or_default().finished;
        if finished.as_ref().is_none_or(|first| number < first.seq.get()) {
            *finished = Some(Facts { seq: seq(number), ..facts });
        }
        self
    }

    /// Adds an event with a line of the caller's making.
    #[must_use]
    pub fn event(mut self, query: u64, number: u64, line: impl Into<String>) -> Self {
        self.add(query, number, line.into());
        self
    }

    /// Adds events that belong to no query.
    #[must_use]
    pub fn loose(mut self, numbers: impl IntoIterator<Item = u64>) -> Self {
        self.loose.extend(numbers);
        self
    }

    /// Packs the batch.
    pub fn build(mut self) -> StreamBatch {
        let mut packer = Packer::new();
        let parts = self
            .queries
            .into_iter()
            .map(|(query, part)| QueryPart {
                query_id: query_id(query),
                seqs: seqs(part.lines.keys().copied()),
                gzip: packer.pack(part.lines.values().map(String::as_bytes)),
                report: Report {
                    engine: self.engine.clone(),
                    guessed_start_unix_ns: self.guessed_start_unix_ns,
                    started: part.started,
                    finished: part.finished,
                },
            })
            .collect();
        self.loose.sort_unstable();
        self.loose.dedup();
        StreamBatch {
            project: self.project,
            process: self.process,
            received_unix_ms: self.received_unix_ms,
            parts,
            loose: seqs(self.loose),
        }
    }

    fn add(&mut self, query: u64, number: u64, line: String) {
        self.queries.entry(query).or_default().lines.entry(number).or_insert(line);
    }

    fn profile_line(&self, kind: &str, query: u64, number: u64, facts: &Facts) -> String {
        let finding = |rule: &String| {
            json!({
                "rule": rule, "kind": "problem", "level": "warn", "node_id": null, "title": rule
            })
        };
        let findings: Vec<Value> = facts.rules.iter().map(finding).collect();
        let bytes = [
            ("bytes_read", facts.bytes_read),
            ("spilled_bytes", facts.spilled_bytes),
            ("peak_memory_bytes", facts.peak_memory_bytes),
        ];
        let known = bytes.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.into())));
        let query_metrics: serde_json::Map<String, Value> = known.collect();
        json!({
            "schema": events_format(self.engine.as_deref()), "seq": number, "type": kind,
            "query_id": query_id(query).to_string(),
            "profile": {
                "schema": PROFILE_FORMAT, "query_id": query_id(query).to_string(),
                "engine_version": facts.engine_version, "label": facts.label, "fingerprint": facts.fingerprint,
                "started_unix_ns": facts.started_unix_ns, "wall_ms": facts.wall_ms, "cpu_ms": facts.cpu_ms,
                "result_rows": facts.result_rows, "failed": facts.failed,
                "query_metrics": query_metrics,
                "plan": { "physical": [], "logical": [] },
                "insights": { "schema": "insights", "findings": findings },
            },
        })
        .to_string()
    }
}

#[cfg(test)]
mod tests {
    use queryscope_protocol::{Batch, EventKind};

    use super::*;
    use crate::chunk::{lines_of, unpack};

    #[test]
    fn a_built_batch_is_what_its_lines_say() {
        let told = Facts {
            seq: seq(9),
            engine_version: Some("1.35".into()),
            rules: vec!["spill".into()],
            warnings: 1,
            ..facts("täglich")
        };
        let built = batch(1)
            .process(Some("etl"), None, "h")
            .started(1, 2, facts("x"))
            .progress(1, [3, 4])
            .finished(1, 9, told.clone())
            .build();
        let part = &built.parts[0];
        let lines = unpack(&part.gzip).expect("sound");
        let body = [built.process.line.as_bytes(), b"\n", &lines].concat();
        let read = Batch::open(&body).expect("a batch");
        let process = StreamProcess::of(&read.process, read.process_line);
        assert_eq!(format!("{process:?}"), format!("{:?}", built.process));
        let events: Vec<_> = read.events.map(|event| event.expect("an event")).collect();
        assert_eq!(events.iter().map(|event| event.seq).collect::<Vec<_>>(), part.seqs);
        assert_eq!(events.len(), lines_of(&lines).count());
        let EventKind::Finished(id, profile) = &events[3].kind else { panic!("{:?}", events[3]) };
        assert_eq!((*id, Facts::of(events[3].seq, profile)), (query_id(1), told.clone()));
        assert_eq!(part.report.finished, Some(told));
    }
}
