//! What an evaluation saw of a query.

use crate::issue::Kind;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It finished.
    Finished,
    /// It failed.
    Failed,
    /// A person or the program stopped it: it says nothing.
    Cancelled,
}

/// An ended run that was evaluated.
#[derive(Debug, Clone, PartialEq)]
pub struct SeenRun {
    /// Its start, in Unix nanoseconds.
    pub started_unix_ns: i64,
    /// Its id.
    pub id: String,
    /// Its wall time, in milliseconds.
    pub wall_ms: f64,
    /// How it ended.
    pub outcome: Outcome,
    /// Its environment.
    pub environment: Option<String>,
    /// Its host.
    pub host: Option<String>,
    /// The version of its engine.
    pub engine_version: Option<String>,
    /// The version of its program.
    pub program_version: Option<String>,
    /// The file that ran it.
    pub call_site: Option<String>,
    /// The rules of its findings that warn.
    pub findings: Vec<String>,
}

/// A change that lasts.
#[derive(Debug, Clone, PartialEq)]
pub struct SeenChange {
    /// Its id.
    pub id: String,
    /// The kind of the issue it is.
    pub kind: Kind,
    /// Start of its first run, in Unix nanoseconds.
    pub since_unix_ns: i64,
    /// Its first run.
    pub since_query_id: String,
    /// Start of the last run before it that finished, in Unix nanoseconds, where that is known.
    pub good_unix_ns: Option<i64>,
    /// The environment whose runs changed.
    pub environment: Option<String>,
    /// The host whose runs changed, where one alone did.
    pub host: Option<String>,
    /// Median wall time before, in milliseconds.
    pub usual_wall_ms: Option<f64>,
    /// How bad it is: the factor of wall time, or the rate of failures.
    pub severity: f64,
    /// Wall time at stake a day, in milliseconds.
    pub wall_ms_a_day: f64,
}

/// What an evaluation saw of one query.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Observed {
    /// When, in Unix nanoseconds.
    pub unix_ns: i64,
    /// Runs that were evaluated, in the order they were.
    pub runs: Vec<SeenRun>,
    /// The changes that last now, at most one of each kind in each environment.
    pub open: Vec<SeenChange>,
    /// What became of runs that issues are about, at most one of each kind.
    pub signals: Vec<SeenSignal>,
}

/// What is seen of a run that an issue is about.
#[derive(Debug, Clone, PartialEq)]
pub struct SeenSignal {
    /// The kind of the issue it is.
    pub kind: Kind,
    /// The run, by id.
    pub run: String,
    /// What it does.
    pub now: Signal,
}

/// What a run that an issue is about does.
#[derive(Debug, Clone, PartialEq)]
pub enum Signal {
    /// It goes on as the issue says.
    Lasts {
        /// Its environment.
        environment: Option<String>,
        /// Its host.
        host: Option<String>,
        /// The version of its engine.
        engine_version: Option<String>,
        /// The version of its program.
        program_version: Option<String>,
        /// The file that ran it.
        call_site: Option<String>,
        /// Since when, in Unix nanoseconds: the start of a late run.
        since_unix_ns: Option<i64>,
        /// Start of the last run before that was not so, in Unix nanoseconds, where that is known.
        good_unix_ns: Option<i64>,
        /// How bad it is.
        severity: f64,
        /// Wall time at stake, in milliseconds.
        wall_ms: f64,
        /// What is said of it.
        detail: String,
        /// The findings it is about, by rule.
        findings: Vec<String>,
    },
    /// It does not any more, and why.
    Over(String),
}
