//! Bounds of history: those of the specification in nanoseconds, and those it leaves to the service.

use std::time::Duration;

pub use queryscope_protocol::limits::{
    GROUP_RECENT_RUNS, LATELY_RUNS_MIN, LATELY_WINDOW, NEW_RULE_WINDOW, OVERVIEW_DAYS_MAX, USUAL_WINDOW,
    VERDICT_PROBABILITY, VERDICT_RATIO,
};

/// A usual time, and a usual plan, is known from so many finished runs on.
pub const USUAL_RUNS_MIN: usize = 5;
/// The median of times says little where their upper quartile is so many times the lower one, as of two plans.
pub const SPREAD_RATIO: f64 = 4.0;
/// A verdict needs so many finished runs lately.
pub const VERDICT_RUNS_MIN: usize = 3;
/// A warning can be new only where so many runs came before the stretch in which it would be.
pub const NEW_RULE_EARLIER_RUNS_MIN: u64 = 5;
/// Slices of a day of 24 hours of which an overview gives the median time.
pub const SLICES_A_DAY: u32 = 4;
/// Largest distance of local time from UTC, in minutes, either way.
pub const UTC_OFFSET_MAX_MINUTES: i32 = 24 * 60;

/// A run counts in an overview that starts so far ahead of the service's clock, by that of its sender.
pub const AHEAD_WINDOW: Duration = Duration::from_hours(24);

pub(crate) const SECOND_NS: i64 = nanos(Duration::from_secs(1));
pub(crate) const MINUTE_NS: i64 = nanos(Duration::from_mins(1));
pub(crate) const DAY_NS: i64 = nanos(Duration::from_hours(24));
pub(crate) const SLICE_NS: i64 = DAY_NS / SLICES_A_DAY as i64;
pub(crate) const AHEAD_NS: i64 = nanos(AHEAD_WINDOW);
pub(crate) const LATELY_NS: i64 = nanos(LATELY_WINDOW);
pub(crate) const USUAL_NS: i64 = nanos(USUAL_WINDOW);
pub(crate) const NEW_RULE_NS: i64 = nanos(NEW_RULE_WINDOW);

const fn nanos(window: Duration) -> i64 {
    window.as_nanos() as i64
}
