//! The named bounds of issues.

/// Runs in a row within [`CALM_FACTOR`] after which an issue is resolved once its change is over; also runs of any
/// time after the end of its change.
pub const CALM_RUNS: u64 = 5;
/// A run is as before when it takes at most this times the median of before.
pub const CALM_FACTOR: f64 = 1.1;
/// Runs as bad as before, since an issue was resolved, after which it is regressed although its change began earlier.
pub const BAD_RUNS: u64 = 5;
/// An acknowledged issue is told of again with a further change that is this times as bad as when it was acknowledged.
pub const WORSE_FACTOR: f64 = 1.5;
/// Least wall time at stake a day for an issue of time to open or to come back, in milliseconds. Failures have none.
pub const STAKE_MS_A_DAY_MIN: f64 = 1_000.0;
/// Earlier runs from which on a running one can be late.
pub const LATE_RUNS_MIN: usize = 8;
/// A late run has run longer than all earlier ones, and this times as long as nine tenths of them took.
pub const LATE_FACTOR: f64 = 1.5;
/// Least time by which a late run is past nine tenths of the earlier ones, in milliseconds.
pub const LATE_MS_MIN: f64 = 10_000.0;
/// An issue about one run is told of it again when that is so many times as bad.
pub const GROWN_FACTOR: f64 = 1.25;
/// Last finished runs that are looked at for findings that are new.
pub const FINDING_RUNS: usize = 60;
/// A finding is new from so many runs in a row on.
pub const FINDING_RUNS_MIN: usize = 3;
/// And with so many before that do not have it.
pub const FINDING_BEFORE_RUNS_MIN: usize = 5;
/// Characters of a person's name.
pub const NAME_CHARS_MAX: usize = 200;
/// Characters of a comment on a transition, and of a note.
pub const TEXT_CHARS_MAX: usize = 10_000;
/// Notes an issue may have.
pub const NOTES_MAX: usize = 1_000;
/// The largest factor a mute may wait for.
pub const TIMES_WORSE_MAX: f64 = 1_000.0;
/// Runs from which on a query has a rhythm.
pub const MISSING_RUNS_MIN: usize = 12;
/// Last runs that a rhythm is of.
pub const MISSING_RUNS: usize = 60;
/// Of its gaps so many parts of a whole must be between a half and three halves of their median.
pub const MISSING_ALIKE_PARTS: (usize, usize) = (3, 4);
/// A query is overdue after this times the gap that nine tenths of the regular ones do not exceed.
pub const MISSING_TOLERANCE: f64 = 1.25;
/// And so much later, in nanoseconds.
pub const MISSING_SLACK_NS: i64 = 300_000_000_000;
/// Of the six days before, those of the same sort on which it did not run in the same hours either.
pub const MISSING_DAYS_LACKING_MAX: usize = 1;
