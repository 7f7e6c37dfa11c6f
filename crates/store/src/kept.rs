//! What a store keeps of a query, for whoever judges or moves it.

use crate::recording::RecordingParts;

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
