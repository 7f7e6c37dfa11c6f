//! Settings of the shared store.

use std::fmt;
use std::time::Duration;

use queryscope_store::CommitGroup;

/// Settings of the shared store.
pub struct PostgresOptions {
    /// Connections for readers.
    pub readers: usize,
    /// Groups of batches that are committed at the same time, each on a connection of its own.
    pub writers: usize,
    /// Whether answers over many queries are given (groups, versions, overviews, facets): for those all queries
    /// are held in memory, 23 to 35 bytes each.
    pub answers: bool,
    /// Whether a database without tables or of an earlier version is brought up to date, or refused.
    pub upgrade: bool,
    /// How long the database may work on one statement, and the store wait for one answer.
    pub statement_timeout: Duration,
    /// How often to look for commits of other collectors when nobody tells of any.
    pub poll_every: Duration,
    /// How long queries stay as they are before they are copied for the next start; and how often that is looked
    /// at. A store that is not brought up to date copies none.
    pub copy_every: Duration,
    /// Is told of every group commit.
    pub on_commit: Box<dyn Fn(CommitGroup) + Send + Sync>,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self {
            readers: 8,
            writers: 1,
            answers: true,
            upgrade: true,
            statement_timeout: Duration::from_secs(30),
            poll_every: Duration::from_secs(1),
            copy_every: Duration::from_mins(1),
            on_commit: Box::new(|_| {}),
        }
    }
}

impl fmt::Debug for PostgresOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresOptions")
            .field("readers", &self.readers)
            .field("writers", &self.writers)
            .field("answers", &self.answers)
            .field("upgrade", &self.upgrade)
            .field("statement_timeout", &self.statement_timeout)
            .field("poll_every", &self.poll_every)
            .field("copy_every", &self.copy_every)
            .finish_non_exhaustive()
    }
}
