//! Why a store refuses or fails.

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
    /// The store can no longer tell what is durable, or its data is damaged: the process must end.
    #[error("the store can not go on")]
    Fatal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl StoreError {
    /// An [`StoreError::Unavailable`] for a cause that is only a sentence.
    pub fn unavailable(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Unavailable(cause.into())
    }
}
