//! Pauses in long work, for who waits for the core.

use std::cell::Cell;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A thread works about so long without a pause.
const WORK: Duration = Duration::from_millis(1);
/// Linux adds 50 microseconds to it (`PR_SET_TIMERSLACK`). A pause without them does not help.
const PAUSE: Duration = Duration::from_micros(1);
/// Of short work so much is done between two looks at the clock.
const ELEMENTS: usize = 16;

thread_local! {
    static PAUSED: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Pauses for a moment if this thread has not paused for a while. Work on many queries calls it as it goes on, every few
/// microseconds or more seldom.
///
/// A thread of the policy `SCHED_IDLE` alone does not make room at once for one that wakes up: since 6.6 Linux picks who is
/// owed time ([EEVDF](https://docs.kernel.org/scheduler/sched-eevdf.html)), and who has just worked more than its share was seen
/// to wait for the next tick, some milliseconds. One that sleeps is not waited for.
pub fn breathe() {
    PAUSED.with(|paused| {
        if paused.get().is_none_or(|at| at.elapsed() >= WORK) {
            sleep(PAUSE);
            paused.set(Some(Instant::now()));
        }
    });
}

/// Has the work on the elements of an iterator [`breathe`], where each takes about a microsecond.
pub fn breathing<T>(elements: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
    elements.into_iter().enumerate().map(|(number, element)| {
        if number % ELEMENTS == 0 {
            breathe();
        }
        element
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paused() -> Option<Instant> {
        PAUSED.get()
    }

    #[test]
    fn only_who_has_worked_for_a_while_pauses() {
        breathe();
        let first = paused();
        assert!(first.is_some());
        while first.is_some_and(|at| at.elapsed() < WORK) {}
        breathe();
        let second = paused();
        assert!(second > first);
        breathe();
        // Another thread may have taken the core for a while.
        assert!(paused() == second || second.is_some_and(|at| at.elapsed() >= WORK));
    }

    #[test]
    fn all_elements_are_worked_on() {
        assert!(breathing(0..100).eq(0..100));
        assert!(paused().is_some());
    }
}
