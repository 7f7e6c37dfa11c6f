//! A bound on the memory of request bodies in flight.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The budget is kept in pages, so that it fits a semaphore's count.
const PAGE_BYTES: usize = 1024;

/// Bytes that request bodies may take together.
#[derive(Debug)]
pub(crate) struct Budget {
    pages: Arc<Semaphore>,
    total: usize,
}

/// A part of the budget, given back when dropped.
#[derive(Debug)]
pub(crate) struct Share {
    _permit: OwnedSemaphorePermit,
}

impl Budget {
    pub(crate) fn new(bytes: usize) -> Self {
        let total = bytes / PAGE_BYTES;
        Self { pages: Arc::new(Semaphore::new(total)), total }
    }

    /// Takes a share, if so much is left.
    pub(crate) fn take(&self, bytes: usize) -> Option<Share> {
        let pages = u32::try_from(bytes.div_ceil(PAGE_BYTES)).ok()?;
        Arc::clone(&self.pages).try_acquire_many_owned(pages).ok().map(|permit| Share { _permit: permit })
    }

    /// Bytes that are taken.
    pub(crate) fn taken(&self) -> usize {
        (self.total - self.pages.available_permits()) * PAGE_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_comes_back() {
        let budget = Budget::new(10 * PAGE_BYTES);
        let share = budget.take(9 * PAGE_BYTES + 1).expect("all of it");
        assert_eq!(budget.taken(), 10 * PAGE_BYTES);
        assert!(budget.take(1).is_none());
        drop(share);
        assert_eq!(budget.taken(), 0);
        assert!(budget.take(1).is_some());
    }
}
