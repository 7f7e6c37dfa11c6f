//! Which of SQLite's errors mean what.

use std::path::PathBuf;

use queryscope_store::StoreError;
use rusqlite::ffi;
use thiserror::Error;

/// Why a store could not be opened.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The SQLite in use has the WAL-reset bug, which can damage a database.
    #[error("SQLite {0} can damage databases in WAL mode, 3.51.3 or later is needed")]
    SqliteTooOld(&'static str),
    /// The database was written by a later version.
    #[error("{path} has format {found}, this version knows up to {known}: use a newer queryscope")]
    TooNew {
        /// The database.
        path: PathBuf,
        /// Its format version.
        found: usize,
        /// The latest format version this version reads.
        known: usize,
    },
    /// The database was written by an earlier version and is to stay as it is.
    #[error(
        "{path} has format {found}, this version has {known}: start its service once, which brings it up to date"
    )]
    TooOld {
        /// The database.
        path: PathBuf,
        /// Its format version.
        found: usize,
        /// The format version of this version.
        known: usize,
    },
    /// The database could not be opened or brought up to date.
    #[error("{path} could not be opened")]
    Database {
        /// The database.
        path: PathBuf,
        /// What SQLite says.
        #[source]
        source: rusqlite::Error,
    },
    /// A copy could not be made durable.
    #[error("{path} could not be written")]
    Copy {
        /// The copy.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
    /// The writer's thread could not be started.
    #[error("the writer's thread could not be started")]
    Thread(#[source] std::io::Error),
}

impl OpenError {
    /// Whether what is there is no sound database: a copy of it must be restored.
    pub fn is_damage(&self) -> bool {
        let Self::Database { source: rusqlite::Error::SqliteFailure(code, _), .. } = self else {
            return false;
        };
        matches!(code.code, ffi::ErrorCode::DatabaseCorrupt | ffi::ErrorCode::NotADatabase)
    }
}

/// Sorts an error by what the caller must do: try again, or end.
///
/// After a failed fsync the kernel may have dropped the pages and let the next fsync succeed, so nothing may
/// be acknowledged any more.
pub(crate) fn store_error(error: rusqlite::Error) -> StoreError {
    let fatal = match &error {
        rusqlite::Error::SqliteFailure(code, _) => matches!(
            (code.extended_code, code.extended_code & 0xff),
            (ffi::SQLITE_IOERR_FSYNC | ffi::SQLITE_IOERR_DIR_FSYNC, _)
                | (_, ffi::SQLITE_CORRUPT | ffi::SQLITE_NOTADB)
        ),
        _ => false,
    };
    let full = error.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull);
    match (fatal, full) {
        (true, _) => StoreError::Fatal(error.into()),
        (_, true) => StoreError::Full(error.into()),
        _ => StoreError::unavailable(error),
    }
}

/// A value in the database that this version could not have written.
pub(crate) fn damaged(column: usize, what: &'static str) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Null, what.into())
}
