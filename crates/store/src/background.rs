//! Work that gives way to commits.
//!
//! Problem: an answer over many queries takes every core for tens of milliseconds, and so does a backlog of
//! recordings. A batch that arrives meanwhile waits for a core. An idle class of the kernel (`SCHED_IDLE`) does not
//! help: any other program of the machine then starves the answers.
//!
//! Mechanism: the store counts the commits that are under way ([`Foreground`]). Background work runs at normal
//! priority and passes a [`YieldPoint`] between chunks of its work. While a commit is under way, it sleeps there
//! three times as long as it has worked: it gets a quarter of its time at least, and a commit waits for half a
//! millisecond at most. While nothing is committed it does not sleep.
//!
//! Prior art: cooperative background work in RocksDB (`RateLimiter`) and the yield points of ScyllaDB's Seastar,
//! whose shares are likewise the service's own and not the kernel's.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A thread works so long between two looks at the commits under way.
const CHUNK: Duration = Duration::from_micros(500);
/// How long a pause is for each stretch of work while commits are under way. The one knob: at 1 background work
/// gets half of the time of its threads beside ingest, at 3 a quarter.
const PAUSE_PER_WORK: u32 = 3;
/// A pause is no longer than this, even where the thread was kept from its core meanwhile.
const PAUSE_MAX: Duration = Duration::from_millis(4);
/// Of short work so much is done between two looks at the clock.
const ELEMENTS: usize = 16;

/// The commits that are under way.
#[derive(Debug, Default)]
pub struct Foreground(AtomicUsize);

impl Foreground {
    /// Counts a commit until the guard is dropped.
    pub fn enter(self: &Arc<Self>) -> Commit {
        self.0.fetch_add(1, Ordering::Relaxed);
        Commit(Arc::clone(self))
    }

    /// Whether a commit is under way.
    pub fn is_busy(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }

    /// How long work that took so long is to pause now.
    pub fn pause_after(&self, worked: Duration) -> Duration {
        if self.is_busy() { (worked * PAUSE_PER_WORK).min(PAUSE_MAX) } else { Duration::ZERO }
    }
}

/// A commit that is under way.
#[derive(Debug)]
pub struct Commit(Arc<Foreground>);

impl Drop for Commit {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Where background work of one thread gives way.
#[derive(Debug)]
pub struct YieldPoint<'f> {
    foreground: &'f Foreground,
    since: Cell<Instant>,
}

impl<'f> YieldPoint<'f> {
    /// Of a thread that begins to work now.
    pub fn new(foreground: &'f Foreground) -> Self {
        Self { foreground, since: Cell::new(crate::now()) }
    }

    /// Pauses if this thread has worked for a while and a commit is under way. Work calls this every few
    /// microseconds or more seldom.
    pub fn pass(&self) {
        let worked = self.since.get().elapsed();
        if worked < CHUNK {
            return;
        }
        let pause = self.foreground.pause_after(worked);
        if !pause.is_zero() {
            sleep(pause);
        }
        self.since.set(crate::now());
    }

    /// Has the work on the elements of an iterator [`pass`](Self::pass), where each takes about a microsecond.
    pub fn over<T>(&self, elements: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
        elements.into_iter().enumerate().map(|(number, element)| {
            if number % ELEMENTS == 0 {
                self.pass();
            }
            element
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Works for a while; how long the yield point after it took.
    fn pass_after_work(point: &YieldPoint<'_>) -> Duration {
        let begun = crate::now();
        while begun.elapsed() < CHUNK * 2 {}
        let passing = crate::now();
        point.pass();
        passing.elapsed()
    }

    #[test]
    fn work_pauses_by_the_time_it_took_while_a_commit_is_under_way() {
        let foreground = Arc::new(Foreground::default());
        let point = YieldPoint::new(&foreground);
        assert_eq!(foreground.pause_after(CHUNK), Duration::ZERO);
        let commit = foreground.enter();
        assert_eq!(foreground.pause_after(CHUNK), CHUNK * PAUSE_PER_WORK);
        assert_eq!(foreground.pause_after(Duration::from_secs(9)), PAUSE_MAX, "it always goes on");
        assert!(pass_after_work(&point) >= CHUNK);
        drop(commit);
        assert!(!foreground.is_busy());
        // Another thread may take the core meanwhile, but not every time.
        assert!((0..20).any(|_| pass_after_work(&point) < CHUNK));
    }

    #[test]
    fn work_that_has_just_begun_does_not_pause() {
        let foreground = Arc::new(Foreground::default());
        let _commit = foreground.enter();
        assert!((0..20).any(|_| {
            let point = YieldPoint::new(&foreground);
            let passing = crate::now();
            point.pass();
            passing.elapsed() < CHUNK
        }));
    }

    #[test]
    fn all_elements_are_worked_on() {
        let foreground = Foreground::default();
        assert!(YieldPoint::new(&foreground).over(0..100).eq(0..100));
    }
}
