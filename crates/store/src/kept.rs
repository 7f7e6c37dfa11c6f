//! What a store keeps of a query, for whoever judges or moves it.

use std::io;

use queryscope_protocol::QueryId;

use crate::error::StoreError;
use crate::recording::RecordingParts;
use crate::store::Store;

/// How often a query that is written to while it is read is read again.
const MOVES_MAX: usize = 16;

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

/// Reads what two calls tell: of one moment when nothing was counted between them.
pub(crate) async fn at_one_moment(
    store: &(impl Store + ?Sized),
    id: QueryId,
) -> Result<Option<Kept>, StoreError> {
    let mut account = store.account(id).await?;
    for _ in 0..MOVES_MAX {
        let Some(parts) = store.recording(id).await? else { return Ok(None) };
        let now = store.account(id).await?;
        if now == account {
            return Ok(Some(Kept { parts, account }));
        }
        account = now;
    }
    Err(StoreError::unavailable(io::Error::other("a query is written to all the time")))
}
