//! What the service asks of the machine it runs on: for how long something took, and a number nobody has.
//!
//! Points in time that are stored or compared with stored ones come from the collector's `Clock`, which is passed in.

use std::time::Instant;

use uuid::Uuid;

/// This moment by the monotonic clock, to measure a duration with.
#[expect(clippy::disallowed_methods, reason = "the service's one place that reads this clock")]
pub fn now() -> Instant {
    Instant::now()
}

/// A random id.
#[expect(clippy::disallowed_methods, reason = "the service's one place that makes ids")]
pub fn random_id() -> Uuid {
    Uuid::new_v4()
}
