//! A copy of a database that is in use.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use crate::error::OpenError;

/// How long another process may keep the copy from being made.
const BUSY_WAIT: Duration = Duration::from_secs(30);

/// Copies a database as it is at one moment, durably, to a path where there is none. It may be in use: its service
/// goes on, and its log grows meanwhile.
///
/// # Errors
/// When the one cannot be read or the other not be written.
pub fn copy(from: &Path, to: &Path) -> Result<(), OpenError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| OpenError::Database { path, source }
    };
    let source =
        Connection::open_with_flags(from, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(failed(from))?;
    source.busy_timeout(BUSY_WAIT).map_err(failed(from))?;
    let mut target = Connection::open(to).map_err(failed(to))?;
    {
        let backup = Backup::new(&source, &mut target).map_err(failed(from))?;
        // All pages in one step are those of one moment.
        while backup.step(-1).map_err(failed(to))? != StepResult::Done {
            std::thread::sleep(Duration::from_millis(50));
        }
    }
    // What is in a log of the copy moves into it.
    target.close().map_err(|(_, source)| failed(to)(source))?;
    let synced = File::open(to).and_then(|file| file.sync_all());
    synced.map_err(|source| OpenError::Copy { path: to.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_whole_and_its_source_goes_on() {
        let folder = tempfile::tempdir().expect("a folder");
        let (from, to) = (folder.path().join("a"), folder.path().join("b"));
        let db = Connection::open(&from).expect("opened");
        db.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (n); INSERT INTO t VALUES (1), (2);")
            .expect("written");
        // Begun before the copy, and not committed when it is made.
        db.execute_batch("BEGIN; INSERT INTO t VALUES (3);").expect("written");
        copy(&from, &to).expect("copied");
        db.execute_batch("COMMIT").expect("committed");
        let count = |path: &Path| {
            let db = Connection::open(path).expect("opened");
            db.query_row("SELECT count(*) FROM t", [], |row| row.get::<_, i64>(0)).expect("a count")
        };
        assert_eq!((count(&from), count(&to)), (3, 2));
        let left: Vec<_> = std::fs::read_dir(folder.path()).expect("a folder").collect();
        assert_eq!(left.iter().flatten().filter(|file| file.file_name() == "b-wal").count(), 0);
    }

    #[test]
    fn what_is_not_there_is_not_copied() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = copy(&folder.path().join("a"), &folder.path().join("b")).expect_err("nothing there");
        assert!(error.to_string().ends_with("a could not be opened"), "{error}");
        assert!(!folder.path().join("b").exists());
    }
}
