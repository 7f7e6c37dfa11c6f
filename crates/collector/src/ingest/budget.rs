//! A bound on memory: that of request bodies in flight, and that of answers being written.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

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
    permit: OwnedSemaphorePermit,
}

impl Share {
    /// Grows to at least `bytes`; `false` when so much is not left.
    pub(crate) fn grow(&mut self, budget: &Budget, bytes: usize) -> bool {
        let missing = bytes.saturating_sub(self.permit.num_permits() * PAGE_BYTES);
        match budget.take(missing) {
            Some(more) => {
                self.permit.merge(more.permit);
                true
            }
            None => false,
        }
    }
}

impl Budget {
    pub(crate) fn new(bytes: usize) -> Self {
        let total = bytes / PAGE_BYTES;
        Self { pages: Arc::new(Semaphore::new(total)), total }
    }

    /// Takes a share, if so much is left.
    pub(crate) fn take(&self, bytes: usize) -> Option<Share> {
        let pages = u32::try_from(bytes.div_ceil(PAGE_BYTES)).ok()?;
        Arc::clone(&self.pages).try_acquire_many_owned(pages).ok().map(|permit| Share { permit })
    }

    /// Takes a share as soon as so much is left; `None` when it is not in this time.
    pub(crate) async fn take_within(&self, bytes: usize, time: Duration) -> Option<Share> {
        let pages = u32::try_from(bytes.div_ceil(PAGE_BYTES)).ok()?.min(u32::try_from(self.total).ok()?);
        let permit = timeout(time, Arc::clone(&self.pages).acquire_many_owned(pages)).await.ok()?.ok()?;
        Some(Share { permit })
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
    fn a_share_grows_while_there_is_some_left() {
        let budget = Budget::new(4 * PAGE_BYTES);
        let mut share = budget.take(1).expect("one page");
        assert!(share.grow(&budget, 2 * PAGE_BYTES) && share.grow(&budget, PAGE_BYTES));
        assert_eq!(budget.taken(), 2 * PAGE_BYTES);
        assert!(!share.grow(&budget, 5 * PAGE_BYTES));
        drop(share);
        assert_eq!(budget.taken(), 0);
    }

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
