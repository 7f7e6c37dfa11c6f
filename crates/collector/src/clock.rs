//! The one place that asks what time it is.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Tells the time.
pub trait Clock: Send + Sync + 'static {
    /// Nanoseconds since 1970-01-01 UTC.
    fn unix_ns(&self) -> i64;

    /// Milliseconds since 1970-01-01 UTC.
    fn unix_ms(&self) -> i64 {
        self.unix_ns() / 1_000_000
    }
}

/// The time of the system at the start of the process, moved on by the monotonic clock: a step of the
/// system's clock neither ends running queries nor keeps silent ones.
#[derive(Debug)]
pub struct SystemClock {
    start: Instant,
    start_unix: Duration,
}

impl SystemClock {
    /// Reads the system's clock once.
    #[expect(clippy::disallowed_methods, reason = "this is the clock that is passed in everywhere else")]
    pub fn new() -> Self {
        let start_unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { start: Instant::now(), start_unix }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn unix_ns(&self) -> i64 {
        i64::try_from((self.start_unix + self.start.elapsed()).as_nanos()).unwrap_or(i64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_hours(1);

    #[test]
    #[expect(clippy::disallowed_methods, reason = "this is what the clock has to begin with")]
    fn it_begins_with_the_time_of_the_system() {
        let system = || SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
        let before = system();
        let clock = SystemClock::new();
        assert!(before <= clock.start_unix && clock.start_unix <= system(), "{before:?} {clock:?}");
    }

    #[test]
    fn from_then_on_it_moves_with_the_monotonic_clock_alone() {
        let start = Instant::now().checked_sub(HOUR).expect("a time that can be told");
        let clock = SystemClock { start, start_unix: 100 * HOUR };
        let hours = Duration::from_nanos(clock.unix_ns().unsigned_abs()).as_secs() / HOUR.as_secs();
        assert_eq!(hours, 101);
        assert_eq!(clock.unix_ms() / 3_600_000, 101);
    }
}
