//! The row of one run, and how it follows from the events of the run.
//!
//! The wire format calls a run a query, and so do the types here: one [`Query`] is one run. [`Query::first`] makes a
//! row, [`Query::hear`] moves it on. Every store calls them, so all stores agree on the state of a run.

use std::fmt;
use std::str::FromStr;

use queryscope_protocol::{QueryId, Seq, StreamId};
use serde::{Deserialize, Serialize};

use crate::batch::{Facts, Report, StreamProcess};
use crate::path::recording_path;

/// State of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum Status {
    /// It has been heard of and has not ended.
    Running,
    /// Its finished profile has no error.
    Finished,
    /// Its finished profile has an error.
    Failed,
    /// Nothing has been heard of it for too long; it may report again.
    Unfinished,
}

impl Status {
    /// All states.
    pub const ALL: [Self; 4] = [Self::Running, Self::Finished, Self::Failed, Self::Unfinished];

    /// The number a store keeps it as.
    pub const fn number(self) -> u8 {
        match self {
            Self::Running => 0,
            Self::Finished => 1,
            Self::Failed => 2,
            Self::Unfinished => 3,
        }
    }

    /// The state kept as a number.
    pub fn of_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.number() == number)
    }

    /// The name the read API uses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Finished => "finished",
            Self::Failed => "failed",
            Self::Unfinished => "unfinished",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Status {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|status| status.name() == name).ok_or(())
    }
}

/// Where the best knowledge of a run comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Known {
    /// No profile yet: only samples or events of unknown types.
    Guess,
    /// Its `query.started`.
    Started,
    /// Its `query.finished`.
    Finished,
}

impl Known {
    /// The number a store keeps it as.
    pub const fn number(self) -> u8 {
        match self {
            Self::Guess => 0,
            Self::Started => 1,
            Self::Finished => 2,
        }
    }

    /// The origin kept as a number.
    pub fn of_number(number: u8) -> Option<Self> {
        [Self::Guess, Self::Started, Self::Finished].into_iter().find(|known| known.number() == number)
    }
}

/// One run as a store keeps it.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// The query.
    pub query_id: QueryId,
    /// The stream that reported it.
    pub stream_id: StreamId,
    /// The project that stream belongs to.
    pub project: String,
    /// What the sending process is.
    pub service: Option<String>,
    /// Where it runs.
    pub environment: Option<String>,
    /// Version of the program; also `None` where a version stored the query that did not keep it.
    pub program_version: Option<String>,
    /// Its machine.
    pub host: String,
    /// The engine; `None` for the neutral format.
    pub engine: Option<String>,
    /// Version of the engine; also `None` where a version stored the query that did not keep it.
    pub engine_version: Option<String>,
    /// Name the program gave the query.
    pub label: Option<String>,
    /// Hash of the plan.
    pub fingerprint: Option<String>,
    /// Its state.
    pub status: Status,
    /// Where the fields come from.
    pub known: Known,
    /// When it started, in Unix nanoseconds.
    pub started_unix_ns: i64,
    /// Wall time in milliseconds, once it finished or failed.
    pub wall_ms: Option<f64>,
    /// CPU time in milliseconds, once it finished or failed.
    pub cpu_ms: Option<f64>,
    /// Rows of the result, once it finished.
    pub result_rows: Option<i64>,
    /// Bytes read, once it finished or failed; also `None` where a version stored the query that did not keep it.
    pub bytes_read: Option<i64>,
    /// Bytes written to disk for want of memory, as [`bytes_read`](Self::bytes_read).
    pub spilled_bytes: Option<i64>,
    /// The most memory the query used at a time, in bytes, as [`bytes_read`](Self::bytes_read).
    pub peak_memory_bytes: Option<i64>,
    /// The engine's error text when it failed.
    pub failed: Option<String>,
    /// Findings that warn.
    pub warnings: u32,
    /// Rules of the findings that warn, each once, in alphabetical order.
    pub rules: Vec<String>,
}

impl Query {
    /// The row of a query of which nothing has been heard before.
    pub fn first(project: &str, process: &StreamProcess, query_id: QueryId, report: &Report) -> Self {
        let mut query = Self {
            query_id,
            stream_id: process.id,
            project: project.to_owned(),
            service: process.service.clone(),
            environment: process.environment.clone(),
            program_version: process.program_version.clone(),
            host: process.host.clone(),
            engine: report.engine.clone(),
            engine_version: None,
            label: None,
            fingerprint: None,
            status: Status::Running,
            known: Known::Guess,
            started_unix_ns: report.guessed_start_unix_ns,
            wall_ms: None,
            cpu_ms: None,
            result_rows: None,
            bytes_read: None,
            spilled_bytes: None,
            peak_memory_bytes: None,
            failed: None,
            warnings: 0,
            rules: Vec::new(),
        };
        query.hear(report);
        query
    }

    /// Moves the row on by new events of the query.
    ///
    /// A query that ended with a profile stays as it is; any other runs (again) or ends. Of several
    /// `query.finished` the first to arrive decides.
    pub fn hear(&mut self, report: &Report) {
        if self.known == Known::Finished {
            return;
        }
        if let Some(facts) = &report.finished {
            self.take(facts);
            self.known = Known::Finished;
            self.status = if facts.failed.is_some() { Status::Failed } else { Status::Finished };
            self.wall_ms = Some(facts.wall_ms);
            self.cpu_ms = facts.cpu_ms;
            self.result_rows = facts.result_rows;
            self.bytes_read = facts.bytes_read;
            self.spilled_bytes = facts.spilled_bytes;
            self.peak_memory_bytes = facts.peak_memory_bytes;
            return;
        }
        self.status = Status::Running;
        if let Some(facts) = report.started.as_ref().filter(|_| self.known == Known::Guess) {
            self.take(facts);
            self.known = Known::Started;
        }
    }

    fn take(&mut self, facts: &Facts) {
        self.engine_version.clone_from(&facts.engine_version);
        self.label.clone_from(&facts.label);
        self.fingerprint.clone_from(&facts.fingerprint);
        self.started_unix_ns = facts.started_unix_ns.unwrap_or(self.started_unix_ns);
        self.failed.clone_from(&facts.failed);
        self.warnings = facts.warnings;
        self.rules.clone_from(&facts.rules);
    }

    /// Whether new events of the query ended it. `before` is what was known of it before these events; `None` when it
    /// is new.
    pub fn has_just_ended(&self, before: Option<Known>) -> bool {
        self.known == Known::Finished && before != Some(Known::Finished)
    }

    /// The event that ended it, where new events of the query just did: its run is to be evaluated, if the query has a
    /// label. `before` is what was known of it before these events; `None` when it is new.
    pub fn ended_by(&self, before: Option<Known>, report: &Report) -> Option<Seq> {
        let ends = self.has_just_ended(before) && self.label.is_some();
        report.finished.as_ref().filter(|_| ends).map(|facts| facts.seq)
    }

    /// Path of the query's recording, relative to the recordings' root; `None` while it runs.
    pub fn recording(&self) -> Option<String> {
        (self.status != Status::Running).then(|| recording_path(self.query_id, self.started_unix_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "01a1faa8-1bd9-77b2-97ab-860dd7026506";

    fn facts(seq: u64, label: &str, failed: Option<&str>) -> Facts {
        Facts {
            seq: Seq::new(seq).expect("a seq"),
            engine_version: None,
            label: Some(label.into()),
            fingerprint: None,
            started_unix_ns: Some(1_000),
            wall_ms: 5.0,
            cpu_ms: None,
            result_rows: None,
            bytes_read: None,
            spilled_bytes: None,
            peak_memory_bytes: None,
            failed: failed.map(Into::into),
            warnings: 0,
            rules: vec![],
        }
    }

    fn first(report: &Report) -> Query {
        let process = StreamProcess {
            id: ID.parse().expect("a UUID"),
            service: None,
            environment: None,
            program_version: None,
            host: "h".into(),
            line: String::new(),
        };
        Query::first("default", &process, ID.parse().expect("a UUID"), report)
    }

    fn sample() -> Report {
        Report { guessed_start_unix_ns: 77, ..Report::default() }
    }

    fn started() -> Report {
        Report { started: Some(facts(2, "begun", None)), ..sample() }
    }

    fn finished(failed: Option<&str>) -> Report {
        Report { finished: Some(facts(9, "done", failed)), ..sample() }
    }

    #[test]
    fn a_sample_alone_makes_a_running_query() {
        let query = first(&sample());
        assert_eq!((query.status, query.known, query.started_unix_ns), (Status::Running, Known::Guess, 77));
        assert_eq!((query.wall_ms, query.recording()), (None, None));
    }

    #[test]
    fn running_ends_finished_or_failed() {
        let mut query = first(&started());
        assert_eq!(
            (query.label.as_deref(), query.started_unix_ns, query.wall_ms),
            (Some("begun"), 1_000, None)
        );
        query.hear(&finished(None));
        assert_eq!(
            (query.status, query.label.as_deref(), query.wall_ms),
            (Status::Finished, Some("done"), Some(5.0))
        );
        assert_eq!(first(&finished(Some("boom"))).status, Status::Failed);
    }

    #[test]
    fn unfinished_may_report_again() {
        for (report, status) in [
            (sample(), Status::Running),
            (finished(None), Status::Finished),
            (finished(Some("x")), Status::Failed),
        ] {
            let mut query = Query { status: Status::Unfinished, ..first(&started()) };
            assert!(query.recording().is_some());
            query.hear(&report);
            assert_eq!(query.status, status);
        }
    }

    #[test]
    fn a_late_event_changes_nothing() {
        let mut query = first(&finished(None));
        let before = query.clone();
        for late in [sample(), started(), finished(Some("late"))] {
            query.hear(&late);
            assert_eq!(query, before);
        }
    }

    #[test]
    fn numbers_come_back() {
        for status in Status::ALL {
            assert_eq!(Status::of_number(status.number()), Some(status));
        }
        assert_eq!((Status::of_number(4), Known::of_number(3)), (None, None));
        for known in [Known::Guess, Known::Started, Known::Finished] {
            assert_eq!(Known::of_number(known.number()), Some(known));
        }
    }
}
