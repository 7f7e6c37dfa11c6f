//! What can go wrong with a database that others run.

use std::io;

use deadpool_postgres::PoolError;
use queryscope_store::StoreError;
use thiserror::Error;
use tokio_postgres::error::SqlState;

/// Why a store could not be opened.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The address is not a valid PostgreSQL URL.
    #[error("no address of a PostgreSQL database: {0}")]
    Address(String),
    /// The certificates to trust could not be read.
    #[error("the certificates to trust cannot be read: {0}")]
    Certificates(String),
    /// The server is too old.
    #[error("PostgreSQL {0} is too old: 15 or later is needed")]
    TooOld(String),
    /// The database was written by a later version, and what it holds is no longer what this one knows.
    #[error("the database has format {found}, this version knows up to {known}: use a newer queryscope")]
    TooNew {
        /// The database's format version.
        found: i32,
        /// The latest format version this version reads.
        known: i32,
    },
    /// No collector has used the database, and it is to stay as it is.
    #[error("the database holds nothing of queryscope: is it the right one, and the right schema?")]
    Empty,
    /// The database was written by an earlier version and is to stay as it is.
    #[error(
        "the database has format {found}, this version has {known}: start a collector once, which brings it up to date"
    )]
    Earlier {
        /// The database's format version.
        found: i32,
        /// The format version of this version.
        known: i32,
    },
    /// The server is not proved to be the one that was asked for: waiting does not help.
    #[error("the certificate of the database's server is not trusted")]
    Untrusted(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The database could not be reached or brought up to date.
    #[error("the database cannot be used")]
    Database(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Why work on the database failed.
#[derive(Debug, Error)]
pub(crate) enum DbError {
    #[error("the database failed")]
    Database(#[from] tokio_postgres::Error),
    #[error("the database cannot be reached")]
    Pool(#[from] PoolError),
    #[error("the database did not answer in time")]
    TimedOut,
    #[error("the database has format {found}, this version knows up to {known}: use a newer queryscope")]
    TooNew { found: i32, known: i32 },
    #[error("the database holds {0}")]
    Damaged(&'static str),
    #[error("a chunk is damaged")]
    Chunk(#[from] queryscope_store::ChunkError),
}

impl DbError {
    /// Whether there is no room on the database's disk.
    pub(crate) fn is_full(&self) -> bool {
        matches!(self, Self::Database(error) if error.code() == Some(&SqlState::DISK_FULL))
    }

    /// Whether somebody else was faster: trying again at once may succeed.
    pub(crate) fn is_conflict(&self) -> bool {
        let Self::Database(error) = self else { return false };
        let conflicts = [
            SqlState::UNIQUE_VIOLATION,
            SqlState::T_R_DEADLOCK_DETECTED,
            SqlState::T_R_SERIALIZATION_FAILURE,
        ];
        error.code().is_some_and(|code| conflicts.contains(code))
    }
}

/// Nothing ends the process: the database is another's, and other collectors may reach it.
impl From<DbError> for StoreError {
    fn from(error: DbError) -> Self {
        if error.is_full() { Self::Full(error.into()) } else { Self::unavailable(error) }
    }
}

impl From<DbError> for OpenError {
    fn from(error: DbError) -> Self {
        match error {
            DbError::TooNew { found, known } => Self::TooNew { found, known },
            error if is_untrusted(&error) => Self::Untrusted(error.into()),
            error => Self::Database(error.into()),
        }
    }
}

/// Whether a server's certificate was refused.
fn is_untrusted(error: &(dyn std::error::Error + 'static)) -> bool {
    let handshake = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    let refused = handshake.and_then(|error| error.downcast_ref::<rustls::Error>());
    matches!(refused, Some(rustls::Error::InvalidCertificate(_))) || error.source().is_some_and(is_untrusted)
}
