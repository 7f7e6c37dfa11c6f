use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::migrate::{open_reader, open_writer};

const MIB: u64 = 1 << 20;

/// A database whose log is moved, and how often it was.
struct Moved {
    folder: tempfile::TempDir,
    checkpointer: Checkpointer,
    db: Connection,
    passes: Arc<AtomicUsize>,
}

impl Moved {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let db = open_writer(&folder.path().join("a.db"), true).expect("a new database");
        db.execute_batch("CREATE TABLE bytes (bytes)").expect("a table");
        let passes = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&passes);
        let checkpointer = Checkpointer::new(Box::new(move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
        }));
        Self { folder, checkpointer, db, passes }
    }

    /// Commits so many MiB, one at a time; the largest the log was.
    fn write(&mut self, mib: u64) -> u64 {
        let mut largest = 0;
        for _ in 0..mib {
            self.db.execute("INSERT INTO bytes VALUES (zeroblob(?1))", [MIB]).expect("committed");
            self.checkpointer.run(&self.db).expect("moved");
            let log = std::fs::metadata(self.folder.path().join("a.db-wal")).expect("a log").len();
            largest = largest.max(log);
        }
        largest
    }

    fn passes(&self) -> usize {
        self.passes.load(Ordering::Relaxed)
    }
}

#[test]
fn the_log_is_moved_before_it_grows_large_and_begins_anew() {
    let mut moved = Moved::new();
    moved.write(15);
    assert_eq!(moved.passes(), 0, "there is little to be moved");
    let largest = moved.write(185);
    assert!(largest < 26 * MIB, "{largest}");
    assert_eq!(moved.passes(), 12, "each is told of");
}

#[test]
fn what_a_reader_needs_stays_in_the_log_until_it_has_gone() {
    let mut moved = Moved::new();
    let reader = open_reader(&moved.folder.path().join("a.db")).expect("opens");
    reader.execute_batch("BEGIN; SELECT count(*) FROM bytes").expect("reads");
    assert!(moved.write(40) > 40 * MIB);
    reader.execute_batch("COMMIT").expect("ended");
    moved.write(40);
    assert!(moved.write(40) < 64 * MIB, "it began anew");
}
