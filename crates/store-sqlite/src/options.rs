//! Settings of the embedded store.

use std::fmt;
use std::time::Duration;

/// One group commit, as its observer sees it.
#[derive(Debug, Clone, Copy)]
pub struct CommitGroup {
    /// Requests in the group.
    pub requests: usize,
    /// From the begin of the transaction until it was durable.
    pub took: Duration,
}

/// Settings of the embedded store.
pub struct SqliteOptions {
    /// Connections for readers.
    pub readers: usize,
    /// Whether a database of an earlier version is brought up to date, or refused.
    pub upgrade: bool,
    /// Is told of every group commit, on the writer's thread.
    pub on_commit: Box<dyn Fn(CommitGroup) + Send>,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self { readers: 4, upgrade: true, on_commit: Box::new(|_| {}) }
    }
}

impl fmt::Debug for SqliteOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteOptions")
            .field("readers", &self.readers)
            .field("upgrade", &self.upgrade)
            .finish_non_exhaustive()
    }
}
