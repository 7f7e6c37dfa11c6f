//! The one place that asks what time it is.
//!
//! Two times are needed. Points in time (when a batch came, where an overview ends) follow the system's clock, also
//! when an operator sets it or the machine wakes from sleep. Durations (for how long the store is away) follow the
//! monotonic clock, which no step moves. Wall-clock time is the monotonic clock plus an offset. The offset is taken
//! anew when the system's clock is found more than [`STEP`] away; each time counts as a step, after which jobs that
//! compare stored points in time hold back.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A difference from the system's clock beyond which its time is taken; NTP slews smaller ones.
const STEP: Duration = Duration::from_secs(2);
/// Both clocks are read within so much time, or again: a thread may lose its core in between.
const READ_WITHIN: Duration = Duration::from_millis(100);
/// How often they are read at most.
const READS_MAX: usize = 3;

/// Tells the time.
pub trait Clock: Send + Sync + 'static {
    /// Nanoseconds since 1970-01-01 UTC.
    fn unix_ns(&self) -> i64;

    /// Milliseconds since 1970-01-01 UTC.
    fn unix_ms(&self) -> i64 {
        self.unix_ns() / 1_000_000
    }

    /// Milliseconds since a moment in the past; only differences mean something. No step of the system's clock moves
    /// it.
    fn steady_ms(&self) -> i64 {
        self.unix_ms()
    }

    /// How often wall-clock time has stepped so far.
    fn steps(&self) -> u64 {
        0
    }
}

/// The system's clocks.
#[derive(Debug)]
pub struct SystemClock {
    begun: Instant,
    /// Where `steady_ms` begins.
    begun_unix_ns: i64,
    wall: Wall,
}

impl SystemClock {
    /// Begins with the time of the system.
    pub fn new() -> Self {
        let begun = queryscope_store::now();
        let begun_unix_ns = system_unix_ns();
        Self { begun, begun_unix_ns, wall: Wall::new(begun_unix_ns) }
    }

    /// Nanoseconds by the monotonic clock.
    fn monotonic_ns(&self) -> i64 {
        nanos(self.begun.elapsed())
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn unix_ns(&self) -> i64 {
        for _ in 0..READS_MAX {
            let offset_ns = self.wall.offset_ns();
            let monotonic_ns = self.monotonic_ns();
            let system_ns = system_unix_ns();
            if self.monotonic_ns() - monotonic_ns <= nanos(READ_WITHIN) {
                return self.wall.follow(offset_ns, monotonic_ns, system_ns);
            }
        }
        self.monotonic_ns().saturating_add(self.wall.offset_ns())
    }

    fn steady_ms(&self) -> i64 {
        self.begun_unix_ns.saturating_add(self.monotonic_ns()) / 1_000_000
    }

    fn steps(&self) -> u64 {
        self.wall.steps.load(Ordering::Relaxed)
    }
}

/// What the monotonic clock lacks of wall-clock time.
#[derive(Debug)]
struct Wall {
    offset_ns: AtomicI64,
    steps: AtomicU64,
}

impl Wall {
    fn new(offset_ns: i64) -> Self {
        Self { offset_ns: AtomicI64::new(offset_ns), steps: AtomicU64::new(0) }
    }

    fn offset_ns(&self) -> i64 {
        self.offset_ns.load(Ordering::Acquire)
    }

    /// Wall-clock time at a reading of both clocks, made after the offset was loaded. Of threads that find a step at
    /// the same time one takes it.
    fn follow(&self, offset_ns: i64, monotonic_ns: i64, system_ns: i64) -> i64 {
        let wall_ns = monotonic_ns.saturating_add(offset_ns);
        if system_ns.abs_diff(wall_ns) <= STEP.as_nanos() as u64 {
            return wall_ns;
        }
        let taken = system_ns.saturating_sub(monotonic_ns);
        let order = Ordering::AcqRel;
        if self.offset_ns.compare_exchange(offset_ns, taken, order, Ordering::Relaxed).is_ok() {
            self.steps.fetch_add(1, Ordering::Relaxed);
            let by_s = system_ns.saturating_sub(wall_ns) / 1_000_000_000;
            tracing::warn!(by_s, "the system's clock was set, or the machine slept: its time is taken");
        }
        monotonic_ns.saturating_add(self.offset_ns())
    }
}

/// Whether wall-clock time has stepped lately, as one job sees it.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    seen: u64,
    seen_at_ms: Option<i64>,
}

impl Steps {
    /// Whether a step was first seen less than `hold` ago.
    pub(crate) fn within(&mut self, clock: &dyn Clock, hold: Duration) -> bool {
        let (steps, now_ms) = (clock.steps(), clock.steady_ms());
        if steps != self.seen {
            *self = Self { seen: steps, seen_at_ms: Some(now_ms) };
        }
        self.seen_at_ms.is_some_and(|seen_at_ms| now_ms - seen_at_ms < nanos(hold) / 1_000_000)
    }

    /// Counts the time from now on again: what was to be done meanwhile could not be.
    pub(crate) fn hold_again(&mut self, clock: &dyn Clock) {
        self.seen_at_ms = Some(clock.steady_ms());
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the clock that is passed in everywhere else")]
fn system_unix_ns() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, nanos)
}

/// A time in nanoseconds, as moments are counted.
pub(crate) fn nanos(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;
    const HOUR: i64 = 3_600 * SECOND;

    /// Wall-clock time at a reading of both clocks.
    fn read(wall: &Wall, monotonic_ns: i64, system_ns: i64) -> i64 {
        wall.follow(wall.offset_ns(), monotonic_ns, system_ns)
    }

    #[test]
    fn it_begins_with_the_time_of_the_system_and_moves_on() {
        let before = system_unix_ns();
        let clock = SystemClock::new();
        let (first, steady_ms) = (clock.unix_ns(), clock.steady_ms());
        assert!(before <= first && first <= system_unix_ns() + nanos(STEP), "{before} {clock:?}");
        let begun = queryscope_store::now();
        while begun.elapsed() < Duration::from_millis(2) {}
        assert!(clock.unix_ns() >= first + 2_000_000 && clock.steady_ms() > steady_ms);
        assert_eq!(clock.steps(), 0);
    }

    #[test]
    fn a_step_of_the_system_is_followed_either_way() {
        for step in [HOUR, -24 * HOUR, 3 * SECOND, -3 * SECOND] {
            let wall = Wall::new(100 * HOUR);
            assert_eq!(read(&wall, SECOND, 100 * HOUR + SECOND), 100 * HOUR + SECOND);
            let system = |monotonic| 100 * HOUR + step + monotonic;
            assert_eq!(read(&wall, 2 * SECOND, system(2 * SECOND)), system(2 * SECOND), "by {step}");
            assert_eq!(read(&wall, 3 * SECOND, system(3 * SECOND)), system(3 * SECOND));
            assert_eq!(wall.steps.load(Ordering::Relaxed), 1, "once");
        }
    }

    #[test]
    fn what_is_no_step_does_not_move_it() {
        let wall = Wall::new(100 * HOUR);
        for off in [0, 2 * SECOND, -2 * SECOND] {
            assert_eq!(read(&wall, HOUR, 101 * HOUR + off), 101 * HOUR, "{off}");
        }
        assert_eq!(wall.steps.load(Ordering::Relaxed), 0);
        assert_eq!(read(&wall, HOUR, 101 * HOUR + 2 * SECOND + 1), 101 * HOUR + 2 * SECOND + 1);
    }

    #[test]
    fn a_reading_from_before_a_step_does_not_take_it_back() {
        let wall = Wall::new(100 * HOUR);
        let offset = wall.offset_ns();
        read(&wall, 2 * SECOND, 101 * HOUR);
        // Another thread loaded the offset and read both clocks before, and comes only now.
        wall.follow(offset, SECOND, 100 * HOUR + 30 * SECOND);
        assert_eq!(wall.steps.load(Ordering::Relaxed), 1);
        assert_eq!(read(&wall, 2 * SECOND, 101 * HOUR), 101 * HOUR);
    }

    struct Stepping(AtomicI64, AtomicU64);

    impl Clock for Stepping {
        fn unix_ns(&self) -> i64 {
            self.0.load(Ordering::Relaxed)
        }

        fn steps(&self) -> u64 {
            self.1.load(Ordering::Relaxed)
        }
    }

    #[test]
    fn a_job_holds_back_for_some_time_after_each_step() {
        let (clock, mut steps) = (Stepping(AtomicI64::new(0), AtomicU64::new(0)), Steps::default());
        let hold = Duration::from_secs(10);
        let mut within = |at: i64, stepped: u64| {
            clock.0.store(at * SECOND, Ordering::Relaxed);
            clock.1.store(stepped, Ordering::Relaxed);
            steps.within(&clock, hold)
        };
        assert!(!within(0, 0));
        assert!(within(100, 1), "however long ago it was");
        assert!(within(109, 1) && !within(110, 1));
        assert!(within(111, 2) && within(120, 2) && !within(121, 2));
        steps.hold_again(&clock);
        assert!(steps.within(&clock, hold));
    }
}
