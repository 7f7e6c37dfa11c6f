//! A bound on the requests that are worked on at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::ApiError;

/// With so many at work, a request that is admitted gives way to those that have arrived: they are admitted, or
/// turned away at once, before any of them is worked on. Fewer are worked on as they come, which costs less.
const GIVE_WAY_FROM: usize = 64;
/// How long after a request was turned away the service counts as overloaded.
const OVERLOADED_FOR: Duration = Duration::from_secs(10);
/// Stands for "no request was turned away".
const NEVER: i64 = i64::MIN;

/// Admits requests whose bodies have come, up to a number of them.
#[derive(Debug)]
pub(crate) struct Admission {
    slots: Arc<Semaphore>,
    total: usize,
    turned_away_unix_ms: AtomicI64,
}

impl Admission {
    pub(crate) fn new(requests: usize) -> Self {
        Self {
            slots: Arc::new(Semaphore::new(requests)),
            total: requests,
            turned_away_unix_ms: AtomicI64::new(NEVER),
        }
    }

    /// Admits a request until the permit is dropped.
    ///
    /// # Errors
    /// 503 at once when as many as there may be are at work.
    pub(crate) async fn admit(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        let slot = Arc::clone(&self.slots)
            .try_acquire_owned()
            .map_err(|_| ApiError::overloaded("too many requests are in flight, try again"))?;
        if self.taken() > GIVE_WAY_FROM {
            tokio::task::yield_now().await;
        }
        Ok(slot)
    }

    /// Requests at work.
    pub(crate) fn taken(&self) -> usize {
        self.total - self.slots.available_permits()
    }

    /// Notes that a request was turned away for others.
    pub(crate) fn turned_away(&self, now_unix_ms: i64) {
        self.turned_away_unix_ms.store(now_unix_ms, Ordering::Relaxed);
    }

    /// Whether more has come lately than could be taken.
    pub(crate) fn is_overloaded(&self, now_unix_ms: i64) -> bool {
        let last = self.turned_away_unix_ms.load(Ordering::Relaxed);
        last != NEVER && now_unix_ms.abs_diff(last) < OVERLOADED_FOR.as_millis() as u64
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::Poll;

    use futures_util::poll;

    use super::*;

    #[tokio::test]
    async fn one_more_than_there_may_be_is_turned_away_at_once() {
        let admission = Admission::new(2);
        let first = admission.admit().await.expect("room");
        let _second = admission.admit().await.expect("room");
        let error = admission.admit().await.expect_err("no room");
        assert_eq!((error.status().as_u16(), error.is_overload(), admission.taken()), (503, true, 2));
        drop(first);
        assert!(admission.admit().await.is_ok());
    }

    #[tokio::test]
    async fn where_many_are_at_work_an_admitted_one_lets_others_arrive_first() {
        let admission = Admission::new(GIVE_WAY_FROM + 2);
        let mut at_work = Vec::new();
        for _ in 0..GIVE_WAY_FROM {
            let Poll::Ready(slot) = poll!(pin!(admission.admit())) else { panic!("few are at work") };
            at_work.push(slot.expect("room"));
        }
        let mut next = pin!(admission.admit());
        assert!(poll!(&mut next).is_pending(), "it has its slot and gives way");
        assert_eq!(admission.taken(), GIVE_WAY_FROM + 1);
        assert!(next.await.is_ok());
    }

    #[test]
    fn it_counts_as_overloaded_for_a_while() {
        let admission = Admission::new(1);
        assert!(!admission.is_overloaded(0));
        admission.turned_away(50_000);
        assert!(admission.is_overloaded(50_000) && admission.is_overloaded(59_999));
        assert!(admission.is_overloaded(49_000), "the clock was set back a little");
        assert!(!admission.is_overloaded(60_000));
    }
}
