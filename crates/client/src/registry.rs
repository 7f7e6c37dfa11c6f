//! Queries on their way from their threads to the sampler.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::active::Shared;

/// Hands queries from their threads to the sampler, up to so many at a time; further ones are counted and run
/// unfollowed.
pub(crate) struct Registry {
    followed_max: u64,
    waiting: Mutex<Waiting>,
    followed: AtomicU64,
    unfollowed: AtomicU64,
}

#[derive(Default)]
struct Waiting {
    queries: Vec<Arc<Shared>>,
    closed: bool,
}

impl Registry {
    pub(crate) fn new(followed_max: u64) -> Self {
        Self {
            followed_max,
            waiting: Mutex::default(),
            followed: AtomicU64::new(0),
            unfollowed: AtomicU64::new(0),
        }
    }

    /// Hands a query to the sampler, unless there are too many.
    pub(crate) fn register(&self, query: &Arc<Shared>) {
        let mut waiting = self.lock();
        if waiting.closed || self.followed.load(Ordering::Relaxed) >= self.followed_max {
            drop(waiting);
            self.unfollowed.fetch_add(1, Ordering::Relaxed);
            return;
        }
        self.followed.fetch_add(1, Ordering::Relaxed);
        waiting.queries.push(Arc::clone(query));
    }

    /// The queries that were registered since.
    pub(crate) fn take(&self) -> Vec<Arc<Shared>> {
        std::mem::take(&mut self.lock().queries)
    }

    /// Notes that everything is told of a query, whose place another may take.
    pub(crate) fn note_ended(&self) {
        self.followed.fetch_sub(1, Ordering::Relaxed);
    }

    /// Takes no more queries.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
    }

    /// Queries that nothing was reported of.
    pub(crate) fn unfollowed(&self) -> u64 {
        self.unfollowed.load(Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
