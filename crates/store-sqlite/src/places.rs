//! Whether a later start will find what is written now.
//!
//! The database's files stay open while the service runs, so writes to them succeed after they were deleted, moved or
//! replaced. Their paths are compared with what was opened, a few times a second at most: one `stat` a file. What is
//! acknowledged between such a change and the next look cannot be told from what is safe.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use queryscope_store::FileIdentity;

/// How old the last look may be.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// The files that must stay where they are.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    files: Vec<FileIdentity>,
    /// When all were last seen in place.
    seen: Option<Instant>,
}

impl Places {
    /// Those of a database that is open, and others its service holds.
    pub(crate) fn of(database: &Path, held: Vec<FileIdentity>) -> Self {
        let mut files = Vec::new();
        for end in ["", "-wal", "-shm"] {
            let mut path = database.as_os_str().to_owned();
            path.push(end);
            // A database that is only read may have no log yet.
            files.extend(FileIdentity::of(Path::new(&path)).ok());
        }
        files.extend(held);
        Self { files, seen: None }
    }

    /// The first file that is no longer in place, as of a moment ago; once one is missing, as of now.
    pub(crate) fn displaced(&mut self, now: Instant) -> Option<PathBuf> {
        if self.seen.is_some_and(|seen| now.saturating_duration_since(seen) < LOOK_EVERY) {
            return None;
        }
        self.displaced_now(now)
    }

    /// The same as of now.
    pub(crate) fn displaced_now(&mut self, now: Instant) -> Option<PathBuf> {
        let missing = self.files.iter().find(|file| !file.is_in_place());
        self.seen = missing.is_none().then_some(now);
        missing.map(|file| file.path().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_that_is_gone_is_noticed_at_the_next_look_until_it_is_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let [database, log, held, away] =
            ["a.db", "a.db-wal", "lock", "away"].map(|name| folder.path().join(name));
        for path in [&database, &log, &held] {
            fs::write(path, "x").expect("written");
        }
        let held_file = FileIdentity::of(&held).expect("there");
        let mut places = Places::of(&database, vec![held_file]);
        let mut now = queryscope_store::now();
        for path in [&database, &log, &held] {
            assert_eq!(places.displaced(now), None);
            fs::rename(path, &away).expect("renamed");
            assert_eq!(places.displaced(now + LOOK_EVERY / 2), None, "it is not looked at all the time");
            assert_eq!(places.clone().displaced_now(now).as_deref(), Some(&**path));
            now += LOOK_EVERY;
            assert_eq!(places.displaced(now).as_deref(), Some(&**path));
            assert_eq!(places.displaced(now).as_deref(), Some(&**path));
            fs::rename(&away, path).expect("renamed");
            assert_eq!(places.displaced(now), None, "at once");
        }
    }
}
