//! The header by which a server asks a sender to wait.

use std::time::{Duration, SystemTime};

/// Reads a `Retry-After`.
///
/// # Panics
/// When seconds are not what they say, or a wait is not the time until a date.
pub fn retry_after(bytes: &[u8]) {
    let Ok(value) = str::from_utf8(bytes) else { return };
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
    let asked = queryscope_client::retry_after(value, now);
    if let Ok(seconds) = value.trim().parse::<u64>()
        && !value.contains('+')
    {
        assert_eq!(asked, Some(Duration::from_secs(seconds)));
    }
    // A later now never makes a wait longer.
    let later = queryscope_client::retry_after(value, now + Duration::from_secs(10));
    assert!(later <= asked, "{later:?} {asked:?}");
}
