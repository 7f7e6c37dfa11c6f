use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::migrate::{open_reader, open_writer};

const MIB: u64 = 1 << 20;

struct Moved {
    folder: tempfile::TempDir,
    checkpointer: Checkpointer,
    db: Connection,
    passes: Arc<AtomicUsize>,
}

impl Moved {
    /// A database whose log is moved by the writer and, if it can open that path, by a mover.
    fn new(path_of_mover: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let db = open_writer(&folder.path().join("a.db"), true).expect("a new database");
        db.execute_batch("CREATE TABLE bytes (bytes)").expect("a table");
        let passes = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&passes);
        let count = Box::new(move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
        });
        let checkpointer = Checkpointer::new(&folder.path().join(path_of_mover), count);
        Self { folder, checkpointer, db, passes }
    }

    /// Commits so many MiB, one at a time; the largest the log was.
    fn write(&mut self, mib: u64) -> u64 {
        let mut largest = 0;
        for _ in 0..mib {
            self.db.execute("INSERT INTO bytes VALUES (zeroblob(?1))", [MIB]).expect("committed");
            self.checkpointer.run(&self.db).expect("moved");
            largest = largest.max(self.log());
        }
        largest
    }

    fn log(&self) -> u64 {
        std::fs::metadata(self.folder.path().join("a.db-wal")).map_or(0, |file| file.len())
    }

    fn passes(&self) -> usize {
        self.passes.load(Ordering::Relaxed)
    }
}

#[test]
fn the_log_is_moved_before_it_grows_large_and_begins_anew() {
    let mut moved = Moved::new("a.db");
    moved.write(15);
    assert!(moved.checkpointer.mover.is_none(), "there is nothing to be moved yet");
    let largest = moved.write(300);
    assert!(moved.checkpointer.mover.is_some() && moved.passes() > 2, "{} passes", moved.passes());
    assert!(largest < (PAGES_MAX as u64 * 4096) + 16 * MIB, "{largest}");
    let Moved { folder, checkpointer, db, .. } = moved;
    drop(checkpointer);
    db.close().expect("closed");
    assert!(!folder.path().join("a.db-wal").exists(), "nobody else has it open");
}

#[test]
fn without_a_mover_the_writer_moves_the_log() {
    let mut moved = Moved::new("missing/a.db");
    let largest = moved.write(100);
    assert!(moved.checkpointer.mover.is_none() && moved.passes() > 2);
    assert!(largest < (PAGES as u64 * 4096) + 16 * MIB, "{largest}");
}

#[test]
fn what_a_reader_needs_stays_in_the_log_until_it_has_gone() {
    let mut moved = Moved::new("a.db");
    let reader = open_reader(&moved.folder.path().join("a.db")).expect("opens");
    reader.execute_batch("BEGIN; SELECT count(*) FROM bytes").expect("reads");
    let held = moved.write(100);
    assert!(held > 100 * MIB, "{held}");
    reader.execute_batch("COMMIT").expect("ended");
    moved.write(100);
    assert!(pages(&moved.db).expect("looked at") <= PAGES_MAX);
    assert!(moved.log() <= held, "it began anew");
}
