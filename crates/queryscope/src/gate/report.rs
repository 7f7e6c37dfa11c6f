//! What a gate says.

use std::fmt::Write as _;

use queryscope_insights::portable::{DifferenceKind, Direction};
use serde::Serialize;

/// What changes between versions of this format that no reader of this one could read.
const FORMAT: &str = "queryscope/gate@1";

/// What may fail a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cause {
    Differs(DifferenceKind),
    /// A query that finished fails.
    Failure,
    /// Queries that are the same run more often.
    Repeats,
    /// A query that the base does not have.
    New,
    /// A query that the head does not have.
    Removed,
}

impl Cause {
    pub(super) const ALL: &[Self] = &[
        Self::Differs(DifferenceKind::Predicate),
        Self::Differs(DifferenceKind::Projection),
        Self::Differs(DifferenceKind::Join),
        Self::Differs(DifferenceKind::Rows),
        Self::Differs(DifferenceKind::Bytes),
        Self::Differs(DifferenceKind::RowGroups),
        Self::Differs(DifferenceKind::Files),
        Self::Differs(DifferenceKind::Spill),
        Self::Differs(DifferenceKind::Finding),
        Self::Differs(DifferenceKind::Plan),
        Self::Failure,
        Self::Repeats,
        Self::New,
        Self::Removed,
    ];
    /// A plan that changes is no worse for it, and a query that fails, fails its test.
    pub(super) const DEFAULTS: [Self; 9] = [
        Self::Differs(DifferenceKind::Predicate),
        Self::Differs(DifferenceKind::Projection),
        Self::Differs(DifferenceKind::Join),
        Self::Differs(DifferenceKind::Rows),
        Self::Differs(DifferenceKind::Bytes),
        Self::Differs(DifferenceKind::RowGroups),
        Self::Differs(DifferenceKind::Files),
        Self::Differs(DifferenceKind::Spill),
        Self::Differs(DifferenceKind::Finding),
    ];

    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Differs(kind) => kind.as_str(),
            Self::Failure => "failure",
            Self::Repeats => "repeats",
            Self::New => "new",
            Self::Removed => "removed",
        }
    }
}

impl Serialize for Cause {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// What is asked for.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) fail_on: Vec<Cause>,
    /// Labels that do not fail the gate, with `*` for any text.
    pub(super) accept: Vec<String>,
    /// How much a figure may grow: 0.1 is a tenth.
    pub(super) tolerance: f64,
}

/// The answer. It holds no time, and names its entries in the order of their queries.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    schema: &'static str,
    pub(super) fails: bool,
    pub(super) base: Count,
    pub(super) head: Count,
    /// Queries in both that do not differ.
    pub(super) unchanged: usize,
    /// The others.
    pub(super) queries: Vec<Entry>,
}

/// How much was read.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Count {
    /// Queries that have ended.
    pub(super) queries: usize,
    /// Queries that began and did not end.
    pub(super) unfinished: usize,
}

/// A query that differs.
#[derive(Debug, Serialize)]
pub(super) struct Entry {
    /// Its label, or where it is run.
    pub(super) query: String,
    pub(super) engine: Option<String>,
    pub(super) call_site: Option<CallSite>,
    pub(super) state: State,
    pub(super) fails: bool,
    /// Whether it would fail the gate, and was accepted.
    pub(super) accepted: bool,
    pub(super) differences: Vec<Told>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum State {
    Changed,
    New,
    Removed,
}

/// Where a program runs a query. The file is relative to the source's folder where it is below it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct CallSite {
    pub(super) file: String,
    pub(super) line: i64,
    pub(super) function: String,
}

/// A difference, and whether it fails the gate.
#[derive(Debug, Serialize)]
pub(super) struct Told {
    pub(super) kind: Cause,
    pub(super) direction: Direction,
    pub(super) fails: bool,
    pub(super) text: String,
}

impl Report {
    pub(super) fn new(base: Count, head: Count, unchanged: usize, queries: Vec<Entry>) -> Self {
        let fails = queries.iter().any(|entry| entry.fails);
        Self { schema: FORMAT, fails, base, head, unchanged, queries }
    }

    /// How many entries are in a state.
    pub(super) fn count(&self, state: State) -> usize {
        self.queries.iter().filter(|entry| entry.state == state).count()
    }

    /// How many entries fail the gate.
    pub(super) fn failing(&self) -> usize {
        self.queries.iter().filter(|entry| entry.fails).count()
    }

    /// The outcome in a sentence.
    pub(super) fn verdict(&self) -> String {
        let of = self.unchanged + self.queries.len();
        match self.failing() {
            0 => "The gate passes.".into(),
            1 => format!("The gate fails for 1 of {of} queries."),
            more => format!("The gate fails for {more} of {of} queries."),
        }
    }

    /// What was compared, in a sentence.
    pub(super) fn summary(&self) -> String {
        let mut text = format!(
            "{} unchanged, {} changed, {} new, {} removed.",
            self.unchanged,
            self.count(State::Changed),
            self.count(State::New),
            self.count(State::Removed)
        );
        for (name, count) in [("base", self.base), ("head", self.head)] {
            if count.unfinished > 0 {
                let _ = write!(text, " {} of the {name} did not end and were left out.", count.unfinished);
            }
        }
        text
    }
}

impl CallSite {
    pub(super) fn shown(&self) -> String {
        format!("{}:{} in {}", self.file, self.line, self.function)
    }
}
