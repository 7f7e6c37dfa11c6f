//! Why a store refuses or fails.

use std::path::PathBuf;

use queryscope_protocol::{QueryId, StreamId};
use thiserror::Error;

/// Why a store refuses or fails; one kind for each way a caller reacts.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The stream belongs to another project; nothing of the batch is stored.
    #[error("stream {0} belongs to another project")]
    ForeignStream(StreamId),
    /// The query was first reported by another stream; nothing of the batch is stored.
    #[error("query {0} belongs to another stream")]
    ForeignQuery(QueryId),
    /// The work could not be done now, and nothing of it is stored; or nobody knows whether it was, because the
    /// connection to the store was lost meanwhile. Trying again later is safe and may succeed.
    #[error("the store is unavailable")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// There is no room on its disk, and nothing of the work is stored. Trying again succeeds once there is.
    #[error("the disk of the store is full")]
    Full(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// What the store has open is no longer what a later start would find: it was deleted, moved or replaced. Nothing
    /// of the work is stored. Unless it comes back at once, the process must end.
    #[error("{0} was deleted, moved or replaced")]
    Displaced(PathBuf),
    /// The store can no longer tell what is durable, or its data is damaged: the process must end.
    #[error("the store can not go on")]
    Fatal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl StoreError {
    /// An [`StoreError::Unavailable`] for a cause that is only a sentence.
    pub fn unavailable(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Unavailable(cause.into())
    }

    /// Whether nothing of the work is stored, whatever it was: the store itself failed.
    pub fn is_failure(&self) -> bool {
        !matches!(self, Self::ForeignStream(_) | Self::ForeignQuery(_))
    }
}
