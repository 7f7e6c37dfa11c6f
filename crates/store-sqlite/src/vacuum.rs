//! Giving free pages back to the file system.
//!
//! Problem: chunks of runs that wait to be sealed take pages, which a burst leaves free: half of the database after a
//! fill of 1,000,000 runs. Later chunks use them again, but that many may never wait again.
//!
//! Mechanism: pages that were free at each look of a minute are given back by SQLite's incremental vacuum, some at a
//! time, while nothing waits for the writer. It moves the last pages of the file to free ones, and cuts the file. It
//! needs a map of pages (`auto_vacuum`), which a database has from its beginning: those of earlier versions keep their
//! free pages.

use std::time::{Duration, Instant};

use rusqlite::Connection;

/// Between two looks at how many pages are free.
const LOOK_EVERY: Duration = Duration::from_secs(10);
/// Looks at which pages have to be free.
const LOOKS: usize = 6;
/// Pages of one step, for which other work waits some milliseconds.
const STEP_PAGES: i64 = 256;
/// Free pages that are kept: 4 MiB at 4 KiB a page.
const KEPT_PAGES: i64 = 1024;
/// Less than this share of all pages is not worth moving others for.
const FREE_SHARE: i64 = 8;

/// Decides when the writer gives pages back.
#[derive(Debug)]
pub(crate) struct Vacuum {
    looked: Instant,
    /// Free pages at the last looks; 0 where there was none yet.
    free: [i64; LOOKS],
    /// Pages that are still to be given back.
    left: i64,
}

impl Vacuum {
    /// `None` where the database has no map of pages.
    pub(crate) fn new(db: &Connection, now: Instant) -> rusqlite::Result<Option<Self>> {
        let mode: i64 = db.pragma_query_value(None, "auto_vacuum", |row| row.get(0))?;
        Ok((mode != 0).then_some(Self { looked: now, free: [0; LOOKS], left: 0 }))
    }

    /// Gives some pages back if many were free for long; whether it did.
    pub(crate) fn run(&mut self, db: &Connection, now: Instant) -> rusqlite::Result<bool> {
        if self.left == 0 && now.duration_since(self.looked) >= LOOK_EVERY {
            self.looked = now;
            self.look(db)?;
        }
        if self.left == 0 {
            return Ok(false);
        }
        let step = STEP_PAGES.min(self.left);
        // Where a step fails, the next looks tell whether it is tried again.
        let left = std::mem::take(&mut self.left) - step;
        let mut statement = db.prepare(&format!("PRAGMA incremental_vacuum({step})"))?;
        let mut pages = statement.query([])?;
        while pages.next()?.is_some() {}
        self.left = left;
        Ok(true)
    }

    fn look(&mut self, db: &Connection) -> rusqlite::Result<()> {
        let count = |pragma| db.prepare_cached(pragma)?.query_row([], |row| row.get::<_, i64>(0));
        self.free.rotate_left(1);
        self.free[LOOKS - 1] = count("PRAGMA freelist_count")?;
        let free = self.free.into_iter().min().unwrap_or_default();
        if free > (2 * KEPT_PAGES).max(count("PRAGMA page_count")? / FREE_SHARE) {
            self.left = free - KEPT_PAGES;
            self.free = [0; LOOKS];
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::migrate::open_writer;

    const MIB: i64 = 1 << 20;

    #[test]
    fn pages_that_stay_free_are_given_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.db");
        let db = open_writer(&path, true).expect("a new database");
        let bytes = || {
            db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).expect("moved");
            std::fs::metadata(&path).expect("a file").len() as i64
        };
        db.execute_batch("CREATE TABLE bytes (id INTEGER PRIMARY KEY, bytes BLOB)").expect("a table");
        for _ in 0..60 {
            db.execute("INSERT INTO bytes (bytes) VALUES (zeroblob(?1))", [MIB]).expect("stored");
        }
        let begun = queryscope_store::now();
        let after = |seconds| begun + Duration::from_secs(seconds);
        let mut vacuum = Vacuum::new(&db, begun).expect("asked").expect("it has a map of pages");
        let run = |vacuum: &mut Vacuum, seconds| vacuum.run(&db, after(seconds)).expect("a step");

        // The last row, which lies at the end, stays.
        let delete = |first, last| {
            db.execute("DELETE FROM bytes WHERE id BETWEEN ?1 AND ?2", [first, last]).expect("deleted");
        };
        let looks = |vacuum: &mut Vacuum, mut seconds: std::ops::Range<u64>| {
            seconds.any(|second| run(vacuum, second))
        };
        delete(1, 7);
        assert!(!looks(&mut vacuum, 0..100), "few pages are free");
        delete(8, 59);
        assert!(!looks(&mut vacuum, 100..150), "many were free for less than a minute");
        assert!(bytes() > 60 * MIB);

        let steps = (0..1000).take_while(|_| run(&mut vacuum, 155)).count();
        assert_eq!(steps, 56, "of 59 MiB and the pages that name them, 4 MiB are kept");
        assert!(bytes() < 6 * MIB, "{}", bytes());
        let kept: bool =
            db.query_row("SELECT bytes = zeroblob(1048576) FROM bytes", [], |row| row.get(0)).expect("a row");
        assert!(kept);
        assert_eq!(
            db.pragma_query_value(None, "integrity_check", |row| row.get::<_, String>(0)).as_deref(),
            Ok("ok")
        );
    }

    #[test]
    fn a_database_without_a_map_of_pages_is_left_as_it_is() {
        let db = Connection::open_in_memory().expect("a database");
        assert!(Vacuum::new(&db, queryscope_store::now()).expect("asked").is_none());
    }
}
