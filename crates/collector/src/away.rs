//! Since when a dependency (the store, or the place of the recordings) cannot be reached.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// Stands for "it can be reached".
const THERE: i64 = i64::MIN;

/// Something the service needs: its store, or where recordings lie. Times are those of
/// [`Clock::steady_ms`](crate::Clock::steady_ms).
#[derive(Debug)]
pub(crate) struct DependencyHealth {
    away_since_ms: AtomicI64,
}

impl Default for DependencyHealth {
    fn default() -> Self {
        Self { away_since_ms: AtomicI64::new(THERE) }
    }
}

impl DependencyHealth {
    /// Notes that it could not be reached; whether it could before.
    pub(crate) fn failed(&self, now_ms: i64) -> bool {
        let order = Ordering::Relaxed;
        self.away_since_ms.compare_exchange(THERE, now_ms, order, order).is_ok()
    }

    /// Notes that it was reached; for how long it could not be, if it could not.
    pub(crate) fn reached(&self, now_ms: i64) -> Option<Duration> {
        let since = self.away_since_ms.swap(THERE, Ordering::Relaxed);
        (since != THERE).then(|| time_since(since, now_ms))
    }

    /// For how long it cannot be reached by now.
    pub(crate) fn away(&self, now_ms: i64) -> Option<Duration> {
        let since = self.away_since_ms.load(Ordering::Relaxed);
        (since != THERE).then(|| time_since(since, now_ms))
    }
}

fn time_since(since_ms: i64, now_ms: i64) -> Duration {
    Duration::from_millis(u64::try_from(now_ms - since_ms).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_away_from_the_first_failure_until_it_is_reached() {
        let health = DependencyHealth::default();
        assert_eq!((health.away(5), health.reached(5)), (None, None));
        assert!(health.failed(1_000));
        assert!(!health.failed(2_000), "it is known");
        assert_eq!(health.away(4_000), Some(Duration::from_secs(3)));
        assert_eq!(health.away(0), Some(Duration::ZERO));
        assert_eq!(health.reached(5_000), Some(Duration::from_secs(4)));
        assert_eq!(health.away(6_000), None);
        assert!(health.failed(7_000), "once more");
    }
}
