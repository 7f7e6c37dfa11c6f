//! The streams the writer knows.
//!
//! A sender sends many batches on one stream. Its row does not change, and the last range of its seqs changes by this
//! connection alone, so that both are read once and held. What another process commits is noticed by SQLite's
//! `data_version`, and all is forgotten; so it is when a transaction is rolled back.

use std::collections::HashMap;

use queryscope_protocol::StreamId;
use queryscope_store::{StreamBatch, StreamProcess};
use rusqlite::{Connection, OptionalExtension, params};

use crate::seen::{self, LastRange};
use crate::segments::commits_of_others;

/// Streams held in memory; beyond it the cache starts anew.
const HELD_MAX: usize = 4_096;
/// Streams whose process event is longer are read each time.
const HELD_LINE_BYTES_MAX: usize = 2 << 10;

/// A stream as it is stored.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) row: i64,
    pub(crate) project: i64,
    process_line: String,
    pub(crate) last: LastRange,
}

impl Stream {
    /// The process as the stream's first batch had it, where a batch has it in other words.
    pub(crate) fn process_other_than(&self, sent: &StreamProcess) -> Option<StreamProcess> {
        match sent.as_first_sent(&self.process_line) {
            std::borrow::Cow::Borrowed(_) => None,
            std::borrow::Cow::Owned(first) => Some(first),
        }
    }
}

/// Streams by id.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    held: HashMap<StreamId, Stream>,
    /// What SQLite counts of commits on other connections.
    others: Option<i64>,
}

impl Streams {
    /// A transaction has begun.
    pub(crate) fn begin(&mut self, db: &Connection) -> rusqlite::Result<()> {
        let others = commits_of_others(db)?;
        if self.others.replace(others) != Some(others) {
            self.held.clear();
        }
        Ok(())
    }

    /// Forgets what a transaction that was rolled back may have stored.
    pub(crate) fn forget(&mut self) {
        self.held.clear();
    }

    /// The stream of a batch, if it is stored. It is taken out: [`Self::hold`] puts it back.
    pub(crate) fn take(&mut self, db: &Connection, id: StreamId) -> rusqlite::Result<Option<Stream>> {
        match self.held.remove(&id) {
            Some(stream) => Ok(Some(stream)),
            None => find(db, id),
        }
    }

    /// Holds a stream as it is now.
    pub(crate) fn hold(&mut self, id: StreamId, stream: Stream) {
        if stream.process_line.len() <= HELD_LINE_BYTES_MAX {
            if self.held.len() >= HELD_MAX {
                self.held.clear();
            }
            self.held.insert(id, stream);
        }
    }
}

fn find(db: &Connection, id: StreamId) -> rusqlite::Result<Option<Stream>> {
    let found = db
        .prepare_cached("SELECT id, project, process_line FROM stream WHERE stream_id = ?1")?
        .query_row([id.uuid().as_bytes()], |row| {
            Ok(Stream { row: row.get(0)?, project: row.get(1)?, process_line: row.get(2)?, last: None })
        })
        .optional()?;
    found.map(|stream| Ok(Stream { last: seen::last(db, stream.row)?, ..stream })).transpose()
}

/// Stores the stream of a batch.
pub(crate) fn insert(db: &Connection, batch: &StreamBatch, project: i64) -> rusqlite::Result<Stream> {
    let process_line = batch.process.line.clone();
    db.prepare_cached(
        "INSERT INTO stream (stream_id, project, process_line, unkept) VALUES (?1, ?2, ?3, 0)",
    )?
    .execute(params![batch.process.id.uuid().as_bytes(), project, process_line])?;
    let row = db.last_insert_rowid();
    // A repair may have left ranges of a row that is gone.
    Ok(Stream { row, project, process_line, last: seen::last(db, row)? })
}
