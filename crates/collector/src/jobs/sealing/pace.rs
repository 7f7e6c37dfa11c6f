//! When the next round may begin.

use std::time::Duration;

/// Under steady ingest a round starts this long after the one before ended, as long as it keeps up.
const BUSY_PAUSE: Duration = Duration::from_secs(5);
/// How long rounds stand back, in all, while batches are refused; anew once a round was not full, so that nothing
/// waits.
const STAND_BACK_MAX: Duration = Duration::from_mins(1);
/// How often to look whether batches are still refused.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// How rounds give way to ingest.
#[derive(Debug)]
pub(super) struct Pace {
    /// Under steady ingest the next round starts after this.
    pub(super) pause: Duration,
    /// How many runs had ended here before those that wait for others; `None` where more may wait than a round takes,
    /// at first what an earlier run of the service left.
    pub(super) wait_since: Option<u64>,
    /// What is left of [`STAND_BACK_MAX`].
    patience: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self { pause: BUSY_PAUSE, wait_since: None, patience: STAND_BACK_MAX }
    }
}

impl Pace {
    /// After a round that took so long. Some 40 s in which each leaves more than a round takes make the pause short.
    pub(super) fn after(&mut self, wait_since: Option<u64>, took: Duration) {
        let next = if wait_since.is_none() { (self.pause * 7 / 8).max(took) } else { self.pause * 2 };
        self.pause = next.min(BUSY_PAUSE);
        self.wait_since = wait_since;
        if wait_since.is_some() {
            self.patience = STAND_BACK_MAX;
        }
    }

    /// How long to stand back until the next look; `None` when a round may begin.
    pub(super) fn stand_back(&mut self, overloaded: bool) -> Option<Duration> {
        let rest = LOOK_EVERY.min(self.patience);
        if !overloaded || rest.is_zero() {
            return None;
        }
        self.patience -= rest;
        Some(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pauses, in milliseconds, after rounds that left more than a round takes, or not, and took so long.
    fn check(rounds: &[(bool, u64)], pauses_ms: &[u128]) {
        let mut pace = Pace::default();
        let pauses = rounds.iter().map(|(full, took)| {
            pace.after((!full).then_some(9), Duration::from_millis(*took));
            pace.pause.as_millis()
        });
        assert_eq!(pauses.collect::<Vec<_>>(), pauses_ms);
    }

    #[test]
    fn the_longer_it_falls_behind_the_more_it_works() {
        check(&[(false, 9); 3], &[5_000; 3]);
        check(
            &[(true, 90), (true, 90), (true, 90), (false, 9), (false, 9)],
            &[4_375, 3_828, 3_349, 5_000, 5_000],
        );
        check(&[(true, 4_900), (true, 4_900), (true, 90_000)], &[4_900, 4_900, 5_000]);
    }

    #[test]
    fn steady_ingest_is_caught_up_with_within_a_minute_and_gets_half_of_the_time() {
        let took = Duration::from_millis(100);
        let (mut pace, mut waited) = (Pace::default(), Duration::ZERO);
        while pace.pause > took {
            waited += pace.pause + took;
            pace.after(None, took);
        }
        assert_eq!((pace.pause, waited.as_secs()), (took, 42));
    }

    fn stands_back(pace: &mut Pace) -> Duration {
        std::iter::from_fn(|| pace.stand_back(true)).take(1_000).sum()
    }

    #[test]
    fn it_stands_back_for_a_minute_in_all_until_it_has_caught_up() {
        let mut pace = Pace::default();
        assert_eq!(pace.stand_back(false), None);
        assert_eq!(pace.stand_back(true), Some(LOOK_EVERY));
        pace.after(None, Duration::ZERO);
        assert_eq!(stands_back(&mut pace) + LOOK_EVERY, STAND_BACK_MAX, "one overload after another");
        assert_eq!(stands_back(&mut pace), Duration::ZERO);
        pace.after(Some(0), Duration::ZERO);
        assert_eq!(stands_back(&mut pace), STAND_BACK_MAX);
    }
}
