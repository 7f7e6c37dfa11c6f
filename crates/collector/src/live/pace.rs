//! When messages go out: writing to thousands of readers takes time that ingest needs, too.

use std::time::Duration;

use tokio::time::Instant;

/// Least time between two rounds of writing, for each reader: a write costs some 10 us, so rounds take no more
/// than about half of one core.
const PER_READER: Duration = Duration::from_micros(25);
const GAP_MAX: Duration = Duration::from_millis(500);
/// The same for rounds that only tell of queries nobody saw running.
const UNSEEN_PER_READER: Duration = Duration::from_micros(200);
const UNSEEN_GAP_MAX: Duration = Duration::from_secs(2);
/// Queries that ended before they were seen running, told a second to all readers together.
const UNSEEN_PER_SECOND: f64 = 100_000.0;
/// The same, to one reader: at most, and at least.
const UNSEEN_MAX: f64 = 10_000.0;
const UNSEEN_MIN: f64 = 5.0;

/// Decides when the next round is due, and how many unseen queries are told.
#[derive(Debug)]
pub(super) struct Pace {
    last: Instant,
    due: Option<Instant>,
    allowance: f64,
    counted: Instant,
}

impl Pace {
    pub(super) fn new(now: Instant) -> Self {
        Self { last: now, due: None, allowance: UNSEEN_MAX, counted: now }
    }

    /// When the next round is due.
    pub(super) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Notes that something waits to be told.
    pub(super) fn seen(&mut self, readers: usize) {
        self.wait(gap(PER_READER, readers, GAP_MAX));
    }

    /// Asks to tell of a query that ended before it was seen running; it waits then, too.
    pub(super) fn unseen(&mut self, now: Instant, readers: usize) -> bool {
        let rate = (UNSEEN_PER_SECOND / readers.max(1) as f64).clamp(UNSEEN_MIN, UNSEEN_MAX);
        let earned = rate * now.duration_since(self.counted).as_secs_f64();
        self.allowance = (self.allowance + earned).min(rate);
        self.counted = now;
        if self.allowance < 1.0 {
            return false;
        }
        self.allowance -= 1.0;
        self.wait(gap(UNSEEN_PER_READER, readers, UNSEEN_GAP_MAX));
        true
    }

    /// Notes that a round has begun.
    pub(super) fn flushed(&mut self, now: Instant) {
        self.last = now;
        self.due = None;
    }

    fn wait(&mut self, gap: Duration) {
        let due = self.last + gap;
        self.due = Some(self.due.map_or(due, |other| other.min(due)));
    }
}

fn gap(per_reader: Duration, readers: usize, most: Duration) -> Duration {
    per_reader.saturating_mul(u32::try_from(readers).unwrap_or(u32::MAX)).min(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_readers_do_not_wait_and_many_do() {
        let now = Instant::now();
        let mut pace = Pace::new(now);
        pace.seen(1);
        assert_eq!(pace.due(), Some(now + PER_READER));
        pace.flushed(now);
        assert_eq!(pace.due(), None);
        assert!(pace.unseen(now, 10_000));
        assert_eq!(pace.due(), Some(now + Duration::from_secs(2)));
        pace.seen(10_000);
        assert_eq!(pace.due(), Some(now + Duration::from_millis(250)));
    }

    #[test]
    fn unseen_queries_are_told_up_to_a_rate() {
        let now = Instant::now();
        let mut pace = Pace::new(now);
        let told = |pace: &mut Pace, at, readers| (0..20_000).filter(|_| pace.unseen(at, readers)).count();
        assert_eq!(told(&mut pace, now, 1), 10_000);
        assert_eq!(told(&mut pace, now + Duration::from_millis(100), 1), 1_000);
        assert_eq!(told(&mut pace, now + Duration::from_mins(1), 1_000), 100);
        assert_eq!(told(&mut pace, now + Duration::from_mins(2), 100_000), 5);
    }
}
