//! Which range of time does an overview cover, and into which days and slices is it divided?

use thiserror::Error;

use crate::limits::{
    AHEAD_NS, DAY_NS, LATELY_NS, MINUTE_NS, NEW_RULE_NS, OVERVIEW_DAYS_MAX, SECOND_NS, SLICE_NS,
    SLICES_A_DAY, USUAL_NS, UTC_OFFSET_MAX_MINUTES,
};

/// A range that an overview cannot cover.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum WindowError {
    /// `days` is not 1 to [`OVERVIEW_DAYS_MAX`].
    #[error("days is {0}, expected 1 to {OVERVIEW_DAYS_MAX}")]
    Days(u32),
    /// `utc_offset` is not -[`UTC_OFFSET_MAX_MINUTES`] to [`UTC_OFFSET_MAX_MINUTES`].
    #[error("utc_offset is {0} minutes, expected -{UTC_OFFSET_MAX_MINUTES} to {UTC_OFFSET_MAX_MINUTES}")]
    UtcOffset(i32),
    /// The start is not before the end, or more than [`OVERVIEW_DAYS_MAX`] times 24 hours before it.
    #[error(
        "since is {since_unix_ns}, expected a time before {until_unix_ns}, by {OVERVIEW_DAYS_MAX} days at most"
    )]
    Range {
        /// The start, in Unix nanoseconds.
        since_unix_ns: i64,
        /// The end, in Unix nanoseconds.
        until_unix_ns: i64,
    },
}

/// The last so many times 24 hours, or the time between two moments, both ends included, and the local days it
/// touches.
///
/// Clocks of senders may be ahead: of a range that ends now, runs that start up to 24 hours after the end are
/// counted as if they started there. A range that ended earlier has no part in what started after it.
///
/// A local day is 24 hours from local midnight, at one offset from UTC for all days: a change to or from summer
/// time within the range does not show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    now_unix_ns: i64,
    since_unix_ns: i64,
    /// How far after the end a run may start.
    ahead_ns: i64,
    /// Length of a slice.
    slice_ns: i64,
    slice_count: u32,
    /// Start of the first local day.
    first_day_unix_ns: i64,
    /// How many local days.
    day_count: u32,
}

impl Window {
    /// The last `days` times 24 hours until now, whose local time is so many minutes ahead of UTC.
    ///
    /// # Errors
    /// When the days are none or more than [`OVERVIEW_DAYS_MAX`], or the offset is larger than
    /// [`UTC_OFFSET_MAX_MINUTES`] either way.
    pub fn new(now_unix_ns: i64, days: u32, utc_offset_minutes: i32) -> Result<Self, WindowError> {
        if !(1..=OVERVIEW_DAYS_MAX).contains(&days) {
            return Err(WindowError::Days(days));
        }
        if !(-UTC_OFFSET_MAX_MINUTES..=UTC_OFFSET_MAX_MINUTES).contains(&utc_offset_minutes) {
            return Err(WindowError::UtcOffset(utc_offset_minutes));
        }
        let since_unix_ns = now_unix_ns.saturating_sub(i64::from(days) * DAY_NS);
        let slices = (SLICE_NS, days * SLICES_A_DAY);
        Ok(Self::with_slices(since_unix_ns, now_unix_ns, utc_offset_minutes, slices).ending_now())
    }

    /// The time from one moment to another, in local time that is so many minutes ahead of UTC. Its slices are of one
    /// of [`SLICES_NS`]: the shortest of which it has at most [`SLICES_MAX`].
    ///
    /// # Errors
    /// When the start is not before the end, or more than [`OVERVIEW_DAYS_MAX`] days before it, and where the
    /// offset is larger than [`UTC_OFFSET_MAX_MINUTES`] either way.
    pub fn between(
        since_unix_ns: i64,
        until_unix_ns: i64,
        utc_offset_minutes: i32,
    ) -> Result<Self, WindowError> {
        let length_ns = i128::from(until_unix_ns) - i128::from(since_unix_ns);
        if !(1..=i128::from(OVERVIEW_DAYS_MAX) * i128::from(DAY_NS)).contains(&length_ns) {
            return Err(WindowError::Range { since_unix_ns, until_unix_ns });
        }
        if !(-UTC_OFFSET_MAX_MINUTES..=UTC_OFFSET_MAX_MINUTES).contains(&utc_offset_minutes) {
            return Err(WindowError::UtcOffset(utc_offset_minutes));
        }
        let count = |slice_ns: i64| (length_ns as i64 - 1) / slice_ns + 1;
        let slice_ns = SLICES_NS.into_iter().find(|slice_ns| count(*slice_ns) <= SLICES_MAX);
        let slice_ns = slice_ns.unwrap_or(DAY_NS);
        let slices = (slice_ns, count(slice_ns) as u32);
        Ok(Self::with_slices(since_unix_ns, until_unix_ns, utc_offset_minutes, slices))
    }

    /// The same range, which ends now: the clock of a sender may be ahead of it.
    #[must_use]
    pub const fn ending_now(self) -> Self {
        Self { ahead_ns: AHEAD_NS, ..self }
    }

    fn with_slices(
        since_unix_ns: i64,
        now_unix_ns: i64,
        utc_offset_minutes: i32,
        (slice_ns, slice_count): (i64, u32),
    ) -> Self {
        let ahead_ns = i64::from(utc_offset_minutes) * MINUTE_NS;
        let (first, last) = (local_day(since_unix_ns, ahead_ns), local_day(now_unix_ns, ahead_ns));
        let first_day_ns = first * i128::from(DAY_NS) - i128::from(ahead_ns);
        Self {
            now_unix_ns,
            since_unix_ns,
            ahead_ns: 0,
            slice_ns,
            slice_count,
            first_day_unix_ns: first_day_ns.clamp(i64::MIN.into(), i64::MAX.into()) as i64,
            day_count: (last - first) as u32 + 1,
        }
    }

    /// The end of the range.
    pub const fn now_unix_ns(&self) -> i64 {
        self.now_unix_ns
    }

    /// The last start that counts: runs that start later have no part in anything.
    pub const fn until_unix_ns(&self) -> i64 {
        self.now_unix_ns.saturating_add(self.ahead_ns)
    }

    /// The start of the range.
    pub const fn since_unix_ns(&self) -> i64 {
        self.since_unix_ns
    }

    /// From when on an overview looks at each run of a label, which is before the range when that is short.
    ///
    /// Where fewer than [`LATELY_RUNS_MIN`](crate::limits::LATELY_RUNS_MIN) of a label's runs started in the
    /// last 24 hours, it looks at its last so many runs and the 14 days before the first of them, too.
    pub fn runs_since_unix_ns(&self) -> i64 {
        let usual = self.lately_since_unix_ns().saturating_sub(USUAL_NS);
        self.since_unix_ns().min(usual).min(self.new_rules_since_unix_ns())
    }

    /// The start of the last 24 hours.
    pub fn lately_since_unix_ns(&self) -> i64 {
        self.now_unix_ns.saturating_sub(LATELY_NS)
    }

    /// The start of the stretch in which a warning is new.
    pub(crate) fn new_rules_since_unix_ns(&self) -> i64 {
        self.now_unix_ns.saturating_sub(NEW_RULE_NS)
    }

    /// Start of each local day the range touches, in Unix nanoseconds; the first may lie before the range.
    pub fn days(&self) -> Vec<i64> {
        (0..self.day_count()).map(|day| self.day_begin(day)).collect()
    }

    /// Start of one of those days.
    pub(crate) fn day_begin(&self, day: usize) -> i64 {
        self.first_day_unix_ns.saturating_add(day as i64 * DAY_NS)
    }

    /// How many local days the range touches.
    pub const fn day_count(&self) -> usize {
        self.day_count as usize
    }

    /// Which of those days a run in the range started on; one that is ahead, on the last.
    pub fn day_of(&self, started_unix_ns: i64) -> usize {
        place(started_unix_ns, self.first_day_unix_ns, DAY_NS, self.day_count())
    }

    /// How many slices the range has, of 6 hours where it is so many days; they are counted from its start, not from
    /// midnight.
    pub const fn slice_count(&self) -> usize {
        self.slice_count as usize
    }

    /// Length of a slice, in nanoseconds; the last one may be shorter.
    pub const fn slice_ns(&self) -> i64 {
        self.slice_ns
    }

    /// The first and the last moment of one of those slices.
    pub(crate) fn slice(&self, slice: usize) -> (i64, i64) {
        let first = self.since_unix_ns.saturating_add(slice as i64 * self.slice_ns);
        let last = first.saturating_add(self.slice_ns - 1);
        (first, if slice + 1 == self.slice_count() { self.now_unix_ns.max(first) } else { last })
    }

    /// Which of those slices a run in the range started in. A slice ends where the next one starts; the last
    /// holds its end, too, and what is ahead of it.
    pub fn slice_of(&self, started_unix_ns: i64) -> usize {
        place(started_unix_ns, self.since_unix_ns, self.slice_ns, self.slice_count())
    }
}

/// Lengths of slices: 1, 5 and 15 seconds, as many minutes, an hour, 6 hours, a day. None is longer than a day: a slice
/// touches two local days at most.
pub const SLICES_NS: [i64; 9] = [
    SECOND_NS,
    5 * SECOND_NS,
    15 * SECOND_NS,
    MINUTE_NS,
    5 * MINUTE_NS,
    15 * MINUTE_NS,
    60 * MINUTE_NS,
    SLICE_NS,
    DAY_NS,
];

/// So many slices at most of a range between two moments.
pub const SLICES_MAX: i64 = 96;

/// Number of the local day of a moment, from that of the epoch on. It is rounded down, not towards 0: before
/// 1970, and west of Greenwich, days begin at negative times.
fn local_day(unix_ns: i64, ahead_ns: i64) -> i128 {
    (i128::from(unix_ns) + i128::from(ahead_ns)).div_euclid(i128::from(DAY_NS))
}

/// In which of `count` parts of one length a moment lies, or the nearest one.
fn place(unix_ns: i64, first_unix_ns: i64, length_ns: i64, count: usize) -> usize {
    let part = unix_ns.saturating_sub(first_unix_ns) / length_ns;
    (part.max(0) as usize).min(count - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR_NS: i64 = DAY_NS / 24;

    fn window(now_unix_ns: i64, days: u32, utc_offset_minutes: i32) -> Window {
        Window::new(now_unix_ns, days, utc_offset_minutes).expect("a window")
    }

    #[test]
    fn bounds_are_checked() {
        for (days, offset) in [(1, 1440), (90, -1440)] {
            assert!(Window::new(0, days, offset).is_ok());
        }
        assert_eq!(Window::new(0, 0, 0), Err(WindowError::Days(0)));
        assert_eq!(Window::new(0, 91, 0), Err(WindowError::Days(91)));
        assert_eq!(Window::new(0, 1, 1441), Err(WindowError::UtcOffset(1441)));
        assert_eq!(Window::new(0, 1, -1441), Err(WindowError::UtcOffset(-1441)));
    }

    #[test]
    fn a_range_from_noon_touches_one_day_more() {
        let noon = 10 * DAY_NS + 12 * HOUR_NS;
        assert_eq!(window(noon, 2, 0).days(), [8, 9, 10].map(|day| day * DAY_NS));
    }

    #[test]
    fn a_range_until_midnight_touches_the_day_that_begins() {
        let midnight = window(10 * DAY_NS, 1, 0);
        assert_eq!(midnight.days(), [9, 10].map(|day| day * DAY_NS));
        assert_eq!(midnight.day_of(10 * DAY_NS - 1), 0);
        assert_eq!(midnight.day_of(10 * DAY_NS), 1);
        assert_eq!(window(10 * DAY_NS - 1, 1, 0).days(), [8, 9].map(|day| day * DAY_NS));
    }

    #[test]
    fn local_days_begin_at_local_midnight() {
        let noon = 10 * DAY_NS + 12 * HOUR_NS;
        // 19:00 in a place 7 hours ahead, whose days begin at 17:00 UTC.
        assert_eq!(window(noon, 1, 7 * 60).days(), [8, 9].map(|day| day * DAY_NS + 17 * HOUR_NS));
        // 05:00 in a place 7 hours behind.
        assert_eq!(window(noon, 1, -7 * 60).days(), [9, 10].map(|day| day * DAY_NS + 7 * HOUR_NS));
        assert_eq!(window(noon, 1, 345).days()[0], 9 * DAY_NS - 345 * MINUTE_NS, "Nepal");
    }

    #[test]
    fn a_whole_day_ahead_or_behind_has_the_days_of_utc() {
        for now in [-5, 0, 7 * HOUR_NS, 10 * DAY_NS] {
            for offset in [-1440, 1440] {
                assert_eq!(window(now, 3, offset).days(), window(now, 3, 0).days(), "{now} {offset}");
            }
        }
    }

    #[test]
    fn days_before_1970() {
        assert_eq!(window(-1, 1, 0).days(), [-2 * DAY_NS, -DAY_NS]);
        assert_eq!(window(0, 1, -60).days(), [-2 * DAY_NS + HOUR_NS, -DAY_NS + HOUR_NS]);
    }

    #[test]
    fn slices_are_6_hours_from_the_start() {
        let week = window(10 * DAY_NS + 7, 7, 60);
        let since = week.since_unix_ns();
        assert_eq!((since, week.slice_count()), (3 * DAY_NS + 7, 28));
        for (after_ns, slice) in [(0, 0), (6 * HOUR_NS - 1, 0), (6 * HOUR_NS, 1), (7 * DAY_NS - 1, 27)] {
            assert_eq!(week.slice_of(since + after_ns), slice, "{after_ns}");
        }
        assert_eq!(week.slice_of(week.now_unix_ns()), 27, "the end belongs to the last");
    }

    #[test]
    fn a_range_between_two_moments_has_slices_to_its_length() {
        let between = |length_ns: i64| {
            let window = Window::between(DAY_NS, DAY_NS + length_ns, 0).expect("a window");
            (window.slice_ns() / SECOND_NS, window.slice_count())
        };
        assert_eq!(between(1), (1, 1));
        assert_eq!(between(96 * SECOND_NS), (1, 96));
        assert_eq!(between(3 * MINUTE_NS), (5, 36));
        assert_eq!(between(15 * MINUTE_NS), (15, 60));
        assert_eq!(between(HOUR_NS), (60, 60));
        assert_eq!(between(6 * HOUR_NS), (5 * 60, 72));
        assert_eq!(between(DAY_NS), (15 * 60, 96));
        assert_eq!(between(DAY_NS + 1), (3_600, 25));
        assert_eq!(between(14 * DAY_NS), (6 * 3_600, 56));
        assert_eq!(between(90 * DAY_NS), (24 * 3_600, 90));
    }

    #[test]
    fn a_range_that_ended_has_no_part_in_what_started_after_it() {
        let past = Window::between(8 * DAY_NS, 9 * DAY_NS, 0).expect("a window");
        assert_eq!((past.since_unix_ns(), past.now_unix_ns()), (8 * DAY_NS, 9 * DAY_NS));
        assert_eq!(past.until_unix_ns(), 9 * DAY_NS);
        assert_eq!(past.ending_now().until_unix_ns(), 10 * DAY_NS);
        assert_eq!(past.days(), [8, 9].map(|day| day * DAY_NS));
    }

    #[test]
    fn a_range_begins_before_it_ends_and_is_not_too_long() {
        let range = |since_unix_ns, until_unix_ns| Err(WindowError::Range { since_unix_ns, until_unix_ns });
        for (since, until) in [(5, 5), (6, 5), (0, 90 * DAY_NS + 1), (i64::MIN, i64::MAX)] {
            assert_eq!(Window::between(since, until, 0), range(since, until));
        }
        assert!(Window::between(0, 90 * DAY_NS, 1440).is_ok());
        assert_eq!(Window::between(0, 5, 1441), Err(WindowError::UtcOffset(1441)));
    }

    #[test]
    fn a_short_range_looks_at_runs_before_it() {
        assert_eq!(window(100 * DAY_NS, 1, 0).runs_since_unix_ns(), 85 * DAY_NS);
        assert_eq!(window(100 * DAY_NS, 30, 0).runs_since_unix_ns(), 70 * DAY_NS);
    }

    #[test]
    fn the_ends_of_time_do_not_overflow() {
        for now in [i64::MIN, i64::MAX] {
            for offset in [-1440, 1440] {
                let window = window(now, 90, offset);
                assert!(window.runs_since_unix_ns() <= window.since_unix_ns());
                assert_eq!(window.days().len(), window.day_count());
                for started in [i64::MIN, i64::MAX] {
                    assert!(window.slice_of(started) < window.slice_count());
                    assert!(window.day_of(started) < window.day_count());
                }
            }
        }
    }
}
