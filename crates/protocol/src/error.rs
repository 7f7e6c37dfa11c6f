//! Why a batch is refused: where it is not `events@1`, and what is allowed there.

use std::fmt;

use thiserror::Error;

use crate::id::StreamId;

/// Characters that are shown of a value or name of the sender's.
const SHOWN_CHARS: usize = 80;

/// A body that is not `events@1`.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub struct BatchError {
    /// The line to blame, counted from 1, where one is. Blank lines count.
    pub line: Option<usize>,
    /// What is wrong, and what is allowed.
    pub kind: BatchErrorKind,
}

impl BatchError {
    pub(crate) fn at(line: usize, kind: BatchErrorKind) -> Self {
        Self { line: Some(line), kind }
    }
}

impl fmt::Display for BatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.kind),
            None => self.kind.fmt(f),
        }
    }
}

/// What is wrong with a batch or a line.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BatchErrorKind {
    /// The body has no line that is not blank.
    #[error("the body is empty, expected a process event")]
    Empty,
    /// The body is no text.
    #[error("the body is not UTF-8")]
    NotUtf8,
    /// The line is not JSON from this column on, counted from 1.
    #[error("the line is not JSON at column {column}")]
    NotJson {
        /// The column.
        column: usize,
    },
    /// The line ends within a JSON value.
    #[error("the line ends within a JSON value")]
    CutOff,
    /// The first event is of another type.
    #[error("the first event of a batch must be of type process")]
    NoProcess,
    /// A process event of another stream.
    #[error("a batch comes from one process: expected the id {expected}, got {got}")]
    OtherProcess {
        /// The stream of the batch.
        expected: StreamId,
        /// The stream of this process event.
        got: StreamId,
    },
    /// A required member is not there.
    #[error("{path} is missing")]
    Missing {
        /// The member.
        path: MemberPath,
    },
    /// A member is there more than once.
    #[error("{path} is there twice")]
    Repeated {
        /// The member.
        path: MemberPath,
    },
    /// A member has a name that is not allowed.
    #[error("{path} has a member {name:?}, which must be {allowed}")]
    Misnamed {
        /// The object it is in.
        path: MemberPath,
        /// Its name, cut to 80 characters.
        name: String,
        /// What is allowed.
        allowed: &'static str,
    },
    /// A value of another type, or out of its bounds.
    #[error("{path} must be {allowed}, got {got}")]
    NotAllowed {
        /// The member.
        path: MemberPath,
        /// What is allowed.
        allowed: String,
        /// What is there: its JSON, cut to 80 characters, or its type.
        got: String,
    },
}

/// Where in a line a member is: `profile.plan.physical[2].id`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberPath(Vec<Step>);

/// A step from an object or array to what is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    Member(String),
    Item(usize),
}

impl Step {
    pub(crate) fn member(name: &str) -> Self {
        Self::Member(name.to_owned())
    }
}

impl From<Vec<Step>> for MemberPath {
    fn from(steps: Vec<Step>) -> Self {
        Self(steps)
    }
}

impl fmt::Display for MemberPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, rest @ ..] = &self.0[..] else { return f.write_str("the line") };
        match first {
            Step::Member(name) => f.write_str(&shown(name))?,
            Step::Item(index) => write!(f, "[{index}]")?,
        }
        rest.iter().try_for_each(|step| match step {
            Step::Member(name) => write!(f, ".{}", shown(name)),
            Step::Item(index) => write!(f, "[{index}]"),
        })
    }
}

/// A value as it is shown to the sender.
pub(crate) fn got(json: &str) -> String {
    match json.as_bytes().first() {
        Some(b'{') => "an object".into(),
        Some(b'[') => "an array".into(),
        _ => shown(json),
    }
}

/// The first characters of a text.
pub(crate) fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
