//! A bound on the requests that are worked on at once, and the line of those that wait for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::error::ApiError;

/// With so many at work, a request that is admitted gives way to those that have arrived: they are admitted, or
/// turned away at once, before any of them is worked on. Fewer are worked on as they come, which costs less.
const GIVE_WAY_FROM: usize = 64;
/// So many of the line are admitted for each that is turned away.
const ADMITTED_FOR_EACH_TURNED_AWAY: usize = 4;
/// How long after a request was turned away the service counts as overloaded.
const OVERLOADED_FOR: Duration = Duration::from_secs(10);
/// Stands for "no request was turned away".
const NEVER: i64 = i64::MIN;

/// Admits requests whose bodies have come, up to a number of them; the others wait in line.
///
/// To turn a request away costs a quarter of storing its batch or more. Were each one told at once, a service that is
/// offered several times what it takes would do little else. So for every four requests of the line that are admitted
/// one is turned away, and whoever has waited to the deadline: what is stored hardly suffers, and a sender that
/// waits sends nothing.
#[derive(Debug)]
pub(crate) struct Admission {
    slots: Arc<Semaphore>,
    total: usize,
    deadline: Duration,
    next_in_line: Notify,
    admitted_from_line: AtomicUsize,
    turned_away_ms: AtomicI64,
}

impl Admission {
    pub(crate) fn new(requests: usize, deadline: Duration) -> Self {
        Self {
            slots: Arc::new(Semaphore::new(requests)),
            total: requests,
            deadline,
            next_in_line: Notify::new(),
            admitted_from_line: AtomicUsize::new(0),
            turned_away_ms: AtomicI64::new(NEVER),
        }
    }

    /// Admits a request until the permit is dropped.
    ///
    /// # Errors
    /// 503 when as many as there may be are at work, and its turn in line is to be turned away.
    pub(crate) async fn admit(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        let slot = match Arc::clone(&self.slots).try_acquire_owned() {
            Ok(slot) => slot,
            Err(_) => self
                .wait_in_line()
                .await
                .ok_or_else(|| ApiError::overloaded("too many requests are in flight, try again"))?,
        };
        if self.taken() > GIVE_WAY_FROM {
            tokio::task::yield_now().await;
        }
        Ok(slot)
    }

    async fn wait_in_line(&self) -> Option<OwnedSemaphorePermit> {
        let slot = timeout(self.deadline, Arc::clone(&self.slots).acquire_owned());
        tokio::select! {
            biased;
            slot = slot => {
                let slot = slot.ok()?.ok()?;
                let before = self.admitted_from_line.fetch_add(1, Ordering::Relaxed);
                if before.is_multiple_of(ADMITTED_FOR_EACH_TURNED_AWAY) {
                    // Where none waits, the next one that does is told at once.
                    self.next_in_line.notify_one();
                }
                Some(slot)
            }
            () = self.next_in_line.notified() => None,
        }
    }

    /// Requests at work.
    pub(crate) fn taken(&self) -> usize {
        self.total - self.slots.available_permits()
    }

    /// Notes that a request was turned away for others.
    pub(crate) fn turned_away(&self, now_ms: i64) {
        self.turned_away_ms.store(now_ms, Ordering::Relaxed);
    }

    /// Whether more has come lately than could be taken.
    pub(crate) fn is_overloaded(&self, now_ms: i64) -> bool {
        let last = self.turned_away_ms.load(Ordering::Relaxed);
        last != NEVER && now_ms.abs_diff(last) < OVERLOADED_FOR.as_millis() as u64
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::Poll;

    use futures_util::poll;

    use super::*;

    const NONE: Duration = Duration::ZERO;
    const LONG: Duration = Duration::from_hours(1);

    #[tokio::test]
    async fn one_more_than_there_may_be_is_turned_away_at_its_deadline() {
        let admission = Admission::new(2, NONE);
        let first = admission.admit().await.expect("room");
        let _second = admission.admit().await.expect("room");
        let error = admission.admit().await.expect_err("no room");
        assert_eq!((error.status().as_u16(), error.is_overload(), admission.taken()), (503, true, 2));
        drop(first);
        assert!(admission.admit().await.is_ok());
    }

    #[tokio::test]
    async fn of_those_in_line_one_is_turned_away_for_every_four_admitted() {
        let admission = Admission::new(1, LONG);
        let mut slot = Some(admission.admit().await.expect("room"));
        let mut line: Vec<_> = (0..7).map(|_| Box::pin(admission.admit())).collect();
        for waiting in &mut line {
            assert!(poll!(waiting).is_pending(), "nobody is told before a slot is free");
        }
        let mut admitted = Vec::new();
        for waiting in &mut line {
            let mut outcome = poll!(&mut *waiting);
            if outcome.is_pending() {
                drop(slot.take());
                outcome = poll!(waiting);
            }
            let Poll::Ready(outcome) = outcome else { panic!("the slot is free") };
            admitted.push(outcome.is_ok());
            slot = outcome.inspect_err(|error| assert_eq!(error.status().as_u16(), 503)).ok().or(slot);
        }
        assert_eq!(admitted, [true, false, true, true, true, true, false]);
        assert_eq!(admission.taken(), 1);
    }

    #[tokio::test]
    async fn who_leaves_the_line_takes_nobody_s_slot() {
        let admission = Admission::new(1, LONG);
        let slot = admission.admit().await.expect("room");
        let mut gone = Box::pin(admission.admit());
        let mut next = Box::pin(admission.admit());
        assert!(poll!(&mut gone).is_pending() && poll!(&mut next).is_pending());
        drop(gone);
        drop(slot);
        let Poll::Ready(slot) = poll!(&mut next) else { panic!("the slot is free") };
        assert!(slot.is_ok());
    }

    #[tokio::test]
    async fn where_many_are_at_work_an_admitted_one_lets_others_arrive_first() {
        let admission = Admission::new(GIVE_WAY_FROM + 2, NONE);
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
        let admission = Admission::new(1, NONE);
        assert!(!admission.is_overloaded(0));
        admission.turned_away(50_000);
        assert!(admission.is_overloaded(50_000) && admission.is_overloaded(59_999));
        assert!(!admission.is_overloaded(60_000));
    }
}
