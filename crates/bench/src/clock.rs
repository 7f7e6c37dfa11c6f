//! The one place of the generator that reads the wall clock.

use std::time::{SystemTime, UNIX_EPOCH};

/// The time now, in Unix nanoseconds.
#[expect(clippy::disallowed_methods, reason = "the generator's one clock: its events are of today")]
pub(crate) fn unix_ns() -> i64 {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since_epoch.as_nanos()).unwrap_or(i64::MAX)
}
