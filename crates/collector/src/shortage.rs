//! A disk that is full: what was refused last for want of room, and until when that counts.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// Stands for "nothing was refused".
const NEVER: i64 = i64::MIN;

/// Whether there is room.
#[derive(Debug)]
pub(crate) struct Shortage {
    refused_ms: AtomicI64,
}

impl Default for Shortage {
    fn default() -> Self {
        Self { refused_ms: AtomicI64::new(NEVER) }
    }
}

impl Shortage {
    /// Notes that something did not fit; whether that is new.
    pub(crate) fn refused(&self, now_ms: i64) -> bool {
        self.refused_ms.swap(now_ms, Ordering::Relaxed) == NEVER
    }

    /// Notes that there is room; whether there was none before.
    pub(crate) fn is_over(&self) -> bool {
        // Read first: this is asked after every commit.
        self.is_full() && self.refused_ms.swap(NEVER, Ordering::Relaxed) != NEVER
    }

    /// Whether nothing has fitted since something did not.
    pub(crate) fn is_full(&self) -> bool {
        self.refused_ms.load(Ordering::Relaxed) != NEVER
    }

    /// Whether something did not fit a moment ago.
    pub(crate) fn is_within(&self, time: Duration, now_ms: i64) -> bool {
        let last = self.refused_ms.load(Ordering::Relaxed);
        last != NEVER && u128::from(now_ms.abs_diff(last)) < time.as_millis()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_full_from_the_first_refusal_until_something_fits() {
        let disk = Shortage::default();
        assert!(!disk.is_full() && !disk.is_over());
        assert!(disk.refused(1_000));
        assert!(!disk.refused(2_000), "it is known");
        assert!(disk.is_full());
        let second = Duration::from_secs(1);
        assert!(disk.is_within(second, 2_999) && !disk.is_within(second, 3_000));
        assert!(disk.is_within(second, 1_500), "the clock was set back a little");
        assert!(disk.is_over() && !disk.is_over(), "once");
        assert!(!disk.is_full() && !disk.is_within(second, 2_000));
        assert!(disk.refused(9_000), "once more");
    }
}
