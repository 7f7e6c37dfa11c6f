//! Moving the write-ahead log into the database, at moments of our own choosing.

mod mover;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use self::mover::Mover;

/// Pages in the log at which it is moved: 16 MiB at 4 KiB a page.
const PAGES: i64 = 4096;
/// Pages in the log at which commits wait until it has been moved.
const PAGES_MAX: i64 = 4 * PAGES;
/// Transactions between two looks at the log.
const LOOK_EVERY: u32 = 8;

/// Decides when the log is moved.
///
/// Most of it is moved by a thread of its own while the writer goes on: at ten million queries 16 MiB of log are pages
/// all over the database, and the disk takes up to half a second for them. What was appended meanwhile is moved by the
/// writer, between two groups: nothing is appended then, so the whole log has been moved, unless a reader still needs a
/// part of it, and the next group writes from the log's beginning again.
pub(crate) struct Checkpointer {
    path: PathBuf,
    since_look: u32,
    mover: Option<Mover>,
    on_checkpoint: Box<dyn Fn(Duration) + Send>,
}

impl Checkpointer {
    /// Of the database at a path; tells for how long each pass kept the writer.
    pub(crate) fn new(path: &Path, on_checkpoint: Box<dyn Fn(Duration) + Send>) -> Self {
        Self { path: path.to_owned(), since_look: 0, mover: None, on_checkpoint }
    }

    /// Has the log moved if it has grown enough.
    pub(crate) fn run(&mut self, db: &Connection) -> rusqlite::Result<()> {
        if let Some(moved) = self.mover.as_mut().and_then(Mover::moved) {
            moved?;
            return self.finish(db, Instant::now());
        }
        self.since_look += 1;
        if self.since_look < LOOK_EVERY {
            return Ok(());
        }
        self.since_look = 0;
        let pages = pages(db)?;
        match &mut self.mover {
            Some(mover) if mover.is_moving() => {
                if pages >= PAGES_MAX {
                    let begun = Instant::now();
                    mover.wait()?;
                    self.finish(db, begun)?;
                }
            }
            _ if pages < PAGES => {}
            Some(mover) => mover.begin(),
            None => match Mover::start(&self.path) {
                Ok(mover) => self.mover.insert(mover).begin(),
                Err(error) => {
                    tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        "the writer moves the log itself"
                    );
                    self.finish(db, Instant::now())?;
                }
            },
        }
        Ok(())
    }

    fn finish(&self, db: &Connection, begun: Instant) -> rusqlite::Result<()> {
        pass(db)?;
        (self.on_checkpoint)(begun.elapsed());
        Ok(())
    }
}

/// Pages of the log that are not in the database yet.
fn pages(db: &Connection) -> rusqlite::Result<i64> {
    db.prepare_cached("PRAGMA wal_checkpoint(NOOP)")?
        .query_row([], |row| Ok(row.get::<_, i64>(1)? - row.get::<_, i64>(2)?))
}

/// Moves what no reader needs.
fn pass(db: &Connection) -> rusqlite::Result<()> {
    db.prepare_cached("PRAGMA wal_checkpoint(PASSIVE)")?.query_row([], |_| Ok(()))
}

#[cfg(test)]
mod tests;
