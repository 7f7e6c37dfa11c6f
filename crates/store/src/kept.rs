//! What a store keeps of a run or a stream, for the commands that judge or move it.

use queryscope_protocol::{QueryId, StreamId};

use crate::recording::RecordingParts;
use crate::seen::SeqRange;

/// A query, where its events are, and how many there must be.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    /// The query and its events.
    pub parts: RecordingParts,
    /// What it was given, where that was counted.
    pub account: Option<Account>,
}

/// How many events a query was given, as counted when they were committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Account {
    /// Events that were committed, each once.
    pub committed: u64,
    /// Of these, events that a repair found to be lost.
    pub lost: u64,
}

/// Events that a repair found to be lost. What retention deletes is no loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loss {
    /// The stream they were of.
    pub stream_id: StreamId,
    /// The query they were of, which may be gone; `None` when nothing tells which it was.
    pub query_id: Option<QueryId>,
    /// How many were found then.
    pub events: u64,
    /// When the repair found them, in Unix milliseconds; `None` when a version found them that did not note it.
    pub found_unix_ms: Option<i64>,
}

/// What has been seen of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamSeen {
    /// The stream.
    pub stream_id: StreamId,
    /// The project it belongs to.
    pub project: String,
    /// Its process event as it was first sent, without its line feed.
    pub process_line: String,
    /// Its seqs, ascending, disjoint.
    pub seen: Vec<SeqRange>,
}
