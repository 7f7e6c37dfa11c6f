//! One batch on its way into a store: decoded, checked and packed.

use std::borrow::Cow;

use queryscope_protocol::{Event, EventKind, Process, ProfileSummary, QueryId, Seq, StreamId};

use crate::name::{Naming, cut};

/// What one request adds to one stream.
#[derive(Debug, Clone)]
pub struct StreamBatch {
    /// The project of the token the batch came with.
    pub project: String,
    /// The process that sent it.
    pub process: StreamProcess,
    /// When it was received, in Unix milliseconds of the collector's clock; [`Self::NO_NEWS_UNIX_MS`] where that says
    /// nothing of runs that run.
    pub received_unix_ms: i64,
    /// Its events by query.
    pub parts: Vec<QueryPart>,
    /// Events that belong to no query, ascending: they are remembered as seen and not kept.
    pub loose: Vec<Seq>,
}

impl StreamBatch {
    /// When a run was heard of that nobody hears of: before anything a collector may have heard.
    pub const NO_NEWS_UNIX_MS: i64 = 0;
}

/// The process event of a batch.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamProcess {
    /// Identity of the stream.
    pub id: StreamId,
    /// What the process is.
    pub service: Option<String>,
    /// Where it runs.
    pub environment: Option<String>,
    /// Version of the program.
    pub program_version: Option<String>,
    /// Name of its machine.
    pub host: String,
    /// The event as it was sent, without its line feed.
    pub line: String,
}

/// The events of one query in one batch.
#[derive(Debug, Clone)]
pub struct QueryPart {
    /// The query.
    pub query_id: QueryId,
    /// Numbers of its events, ascending, each once.
    pub seqs: Vec<Seq>,
    /// The events' lines in the order of `seqs`, as one gzip member.
    pub gzip: Vec<u8>,
    /// What the events say about the query.
    pub report: Report,
}

/// What some events of a query say about it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// The engine the events' format name carries.
    pub engine: Option<String>,
    /// When the query started as far as can be told without a profile, in Unix nanoseconds.
    pub guessed_start_unix_ns: i64,
    /// The `query.started` among them with the lowest seq.
    pub started: Option<Facts>,
    /// The `query.finished` among them with the lowest seq.
    pub finished: Option<Facts>,
}

impl Report {
    /// Takes out what events say that are not among `fresh` (ascending).
    pub fn keep(&mut self, fresh: &[Seq]) {
        for facts in [&mut self.started, &mut self.finished] {
            if facts.as_ref().is_some_and(|facts| fresh.binary_search(&facts.seq).is_err()) {
                *facts = None;
            }
        }
    }
}

/// What a profile says about its query.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    /// Number of the event the profile came in.
    pub seq: Seq,
    /// Version of the engine, as [`Naming`] has it.
    pub engine_version: Option<String>,
    /// Name the program gave the query, as [`Naming`] has it.
    pub label: Option<String>,
    /// Hash of the plan, as [`Naming`] has it.
    pub fingerprint: Option<String>,
    /// When the query started, in Unix nanoseconds.
    pub started_unix_ns: Option<i64>,
    /// Time since the start, in milliseconds.
    pub wall_ms: f64,
    /// CPU time over all threads, in milliseconds.
    pub cpu_ms: Option<f64>,
    /// Rows of the result.
    pub result_rows: Option<i64>,
    /// Bytes read.
    pub bytes_read: Option<i64>,
    /// Bytes written to disk for want of memory.
    pub spilled_bytes: Option<i64>,
    /// The most memory the query used at a time, in bytes.
    pub peak_memory_bytes: Option<i64>,
    /// The engine's error text when the query failed, cut to [`Facts::ERROR_CHARS`].
    pub failed: Option<String>,
    /// Findings that warn.
    pub warnings: u32,
    /// Rules of the findings that warn, each once, in alphabetical order.
    pub rules: Vec<String>,
}

impl Facts {
    /// Characters of an error text a summary keeps; the recording keeps all.
    pub const ERROR_CHARS: usize = 4096;
    /// Rules a summary keeps.
    pub const RULES_MAX: usize = 64;

    /// Takes from a profile what a summary shows.
    pub fn of(seq: Seq, profile: &ProfileSummary<'_>) -> Self {
        Self::named(seq, profile, Naming::Hashed)
    }

    /// The same with names as another version made them.
    pub fn named(seq: Seq, profile: &ProfileSummary<'_>, naming: Naming) -> Self {
        let mut rules: Vec<String> = profile.warnings().map(|rule| naming.short(rule)).collect();
        let warnings = u32::try_from(rules.len()).unwrap_or(u32::MAX);
        rules.sort_unstable();
        rules.dedup();
        rules.truncate(Self::RULES_MAX);
        Self {
            seq,
            engine_version: naming.name(profile.engine_version.as_deref()),
            label: naming.name(profile.label.as_deref()),
            fingerprint: naming.name(profile.fingerprint.as_deref()),
            started_unix_ns: profile.started_unix_ns,
            wall_ms: profile.wall_ms,
            cpu_ms: profile.cpu_ms,
            result_rows: profile.result_rows,
            bytes_read: profile.bytes_read,
            spilled_bytes: profile.spilled_bytes,
            peak_memory_bytes: profile.peak_memory_bytes,
            failed: profile.failed.as_deref().map(|text| cut(text, Self::ERROR_CHARS)),
            warnings,
            rules,
        }
    }
}

impl StreamProcess {
    /// The process as its stream's first batch had it, by the line that is stored of it: what a process is does
    /// not change.
    pub fn as_first_sent(&self, stored_line: &str) -> Cow<'_, Self> {
        let changed = (stored_line != self.line).then(|| Self::read(stored_line)).flatten();
        changed.map_or(Cow::Borrowed(self), Cow::Owned)
    }

    /// Reads a process event that was accepted before.
    pub fn read(line: &str) -> Option<Self> {
        Self::read_as_named(line).into_iter().next()
    }

    /// The same with names as each version made them, that of today first; once where they do not differ.
    pub fn read_as_named(line: &str) -> Vec<Self> {
        let Ok(EventKind::Process(process)) = Event::read_stored(line).map(|event| event.kind) else {
            return Vec::new();
        };
        let mut named = Naming::ALL.map(|naming| Self::named(&process, line, naming)).to_vec();
        named.dedup();
        named
    }

    /// Takes the process event of a batch.
    pub fn of(process: &Process<'_>, line: &str) -> Self {
        Self::named(process, line, Naming::Hashed)
    }

    fn named(process: &Process<'_>, line: &str, naming: Naming) -> Self {
        Self {
            id: process.id,
            service: naming.name(process.service.as_deref()),
            environment: naming.name(process.environment.as_deref()),
            program_version: naming.name(process.program_version.as_deref()),
            host: naming.short(&process.host),
            line: line.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_fresh_events_have_a_say() {
        let facts = |seq| Facts {
            seq: Seq::new(seq).expect("a seq"),
            engine_version: None,
            label: None,
            fingerprint: None,
            started_unix_ns: None,
            wall_ms: 0.0,
            cpu_ms: None,
            result_rows: None,
            bytes_read: None,
            spilled_bytes: None,
            peak_memory_bytes: None,
            failed: None,
            warnings: 0,
            rules: vec![],
        };
        let mut report = Report { started: Some(facts(2)), finished: Some(facts(5)), ..Report::default() };
        report.keep(&[Seq::new(3).expect("a seq"), Seq::new(5).expect("a seq")]);
        assert_eq!((report.started, report.finished), (None, Some(facts(5))));
    }
}
