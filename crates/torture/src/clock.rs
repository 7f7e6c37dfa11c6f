//! The time of acknowledgements and of system calls, on one clock.

use rustix::time::{ClockId, clock_gettime};

/// Microseconds since 1970-01-01 UTC.
pub(crate) fn unix_us() -> i64 {
    let now = clock_gettime(ClockId::Realtime);
    now.tv_sec * 1_000_000 + now.tv_nsec / 1000
}
