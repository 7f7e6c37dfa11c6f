//! Moving the write-ahead log into the database, at moments of our own choosing.

use std::time::Duration;

use rusqlite::Connection;

/// Pages in the log at which it is moved: 16 MiB at 4 KiB a page.
const PAGES: i64 = 4096;
/// Transactions between two looks at the log.
const LOOK_EVERY: u32 = 8;

/// Decides when the writer moves the log.
///
/// The writer does it itself, between groups: nothing is appended meanwhile, so a pass moves the whole log
/// unless a reader still needs a part of it, and the next group writes from the log's beginning again.
pub(crate) struct Checkpointer {
    since_look: u32,
    on_checkpoint: Box<dyn Fn(Duration) + Send>,
}

impl Checkpointer {
    /// Tells how long each pass took.
    pub(crate) fn new(on_checkpoint: Box<dyn Fn(Duration) + Send>) -> Self {
        Self { since_look: 0, on_checkpoint }
    }

    /// Moves the log if it has grown enough.
    pub(crate) fn run(&mut self, db: &Connection) -> rusqlite::Result<()> {
        self.since_look += 1;
        if self.since_look < LOOK_EVERY {
            return Ok(());
        }
        self.since_look = 0;
        let (pages, moved): (i64, i64) = db
            .prepare_cached("PRAGMA wal_checkpoint(NOOP)")?
            .query_row([], |row| Ok((row.get(1)?, row.get(2)?)))?;
        if pages - moved >= PAGES {
            let begun = queryscope_store::now();
            db.prepare_cached("PRAGMA wal_checkpoint(PASSIVE)")?.query_row([], |_| Ok(()))?;
            (self.on_checkpoint)(begun.elapsed());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
