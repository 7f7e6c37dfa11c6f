//! Why a recording can not be read or written.

use queryscope_protocol::QueryId;
use queryscope_store::StoreError;
use thiserror::Error;

/// Why a recording can not be read or written; one kind for each way a caller reacts.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// There is no such query or file, or no more: it may have been deleted while it was read.
    #[error("the recording is gone")]
    Gone,
    /// The store knows the query and where its recording is, and nothing is there.
    #[error("the recording of query {query_id} is missing")]
    Missing {
        /// The query.
        query_id: QueryId,
    },
    /// What is stored of the query is damaged or can not be put in order; trying again does not help.
    #[error("the recording of query {query_id} is damaged: {reason}")]
    Damaged {
        /// The query.
        query_id: QueryId,
        /// What is wrong.
        reason: String,
    },
    /// The store failed.
    #[error("the store failed")]
    Store(#[from] StoreError),
    /// The folder or bucket failed; trying again later may succeed.
    #[error("the recordings are unavailable")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl From<object_store::Error> for RecordingError {
    fn from(error: object_store::Error) -> Self {
        match error {
            object_store::Error::NotFound { .. } => Self::Gone,
            other => Self::Unavailable(other.into()),
        }
    }
}

impl From<std::io::Error> for RecordingError {
    fn from(error: std::io::Error) -> Self {
        Self::Unavailable(error.into())
    }
}

/// Why reading what a store said to be there ended early.
#[derive(Debug)]
pub(crate) enum Interrupted {
    /// A chunk or file has been replaced since the store was asked where it is.
    Moved,
    /// Reading failed.
    Failed(RecordingError),
}

impl<E: Into<RecordingError>> From<E> for Interrupted {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}
