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
