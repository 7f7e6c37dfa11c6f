//! A query that runs.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use queryscope_protocol::QueryId;

use crate::query::Query;
use crate::source::QuerySource;

/// A query that runs. Say how it ends; one that is dropped was cancelled.
#[must_use = "a query is cancelled when this is dropped"]
pub struct ActiveQuery {
    shared: Arc<Shared>,
}

/// How a query ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    Finished,
    Failed(String),
    Cancelled,
}

/// What the query's thread and the sampler share.
pub(crate) struct Shared {
    pub(crate) id: QueryId,
    pub(crate) query: Query,
    pub(crate) started: Instant,
    pub(crate) started_unix_ns: i64,
    pub(crate) source: Arc<dyn QuerySource>,
    pub(crate) ended: OnceLock<(Instant, Outcome)>,
}

impl ActiveQuery {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// Identity of this run, by which the collector finds it.
    pub fn id(&self) -> QueryId {
        self.shared.id
    }

    /// The query ran to its end.
    pub fn finish(self) {
        self.finish_at(crate::now());
    }

    /// The query ran to its end, at a moment that has passed: where an adapter learns later that nothing more was read.
    pub fn finish_at(self, ended: Instant) {
        self.shared.end(ended, Outcome::Finished);
    }

    /// The query failed, with the engine's error text.
    pub fn fail(self, error: impl Into<String>) {
        self.shared.end(crate::now(), Outcome::Failed(error.into()));
    }
}

impl Drop for ActiveQuery {
    fn drop(&mut self) {
        self.shared.end(crate::now(), Outcome::Cancelled);
    }
}

impl fmt::Debug for ActiveQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ActiveQuery").field("id", &self.shared.id).finish_non_exhaustive()
    }
}

impl Shared {
    /// Notes when and how the query ended; only the first end counts, and none is before the start.
    fn end(&self, ended: Instant, outcome: Outcome) {
        let _ = self.ended.set((ended.max(self.started), outcome));
    }
}
