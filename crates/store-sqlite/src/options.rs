//! Settings of the embedded store.

use std::fmt;
use std::time::Duration;

use queryscope_store::{CommitGroup, FileIdentity};

/// Settings of the embedded store.
pub struct SqliteOptions {
    /// Connections for readers.
    pub readers: usize,
    /// Whether answers over many queries are given (groups, versions, overviews, facets): for those all queries
    /// are held in memory, 23 to 35 bytes each. A store that is written to gives them.
    pub answers: bool,
    /// Whether a database of an earlier version is brought up to date, or refused. A store that may not do that is one
    /// that is looked at: it is not prepared for the next start either.
    pub upgrade: bool,
    /// Files beside the database's own that must stay where they are, such as the lock of the folder. Where one of all
    /// these was deleted, moved or replaced, nothing is written any more.
    pub held: Vec<FileIdentity>,
    /// Is told of every group commit, on the writer's thread.
    pub on_commit: Box<dyn Fn(CommitGroup) + Send>,
    /// Is told how long the writer moved its log into the database, during which nothing is committed.
    pub on_checkpoint: Box<dyn Fn(Duration) + Send>,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self {
            readers: 4,
            answers: true,
            upgrade: true,
            held: Vec::new(),
            on_commit: Box::new(|_| {}),
            on_checkpoint: Box::new(|_| {}),
        }
    }
}

impl fmt::Debug for SqliteOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteOptions")
            .field("readers", &self.readers)
            .field("answers", &self.answers)
            .field("upgrade", &self.upgrade)
            .field("held", &self.held)
            .finish_non_exhaustive()
    }
}
