//! How much of a core the evaluation takes.
//!
//! The detectors work for half a millisecond and then rest, so that a commit waits no longer for a core than for other
//! work in the background (ADR 23). What is read for them, and the transactions that store what they found, is rested
//! for afterwards. The rest is so long that all of it together stays within its share of a core, and the share becomes
//! smaller while more runs end than it could evaluate anyway.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use queryscope_store::{CpuMeter, thread_time};

/// Part of a core that evaluation takes at most while runs end.
const SHARE: f64 = 0.25;
/// The same while none do.
const SHARE_IDLE: f64 = 0.5;
/// From so many runs a second on the share becomes smaller: a quarter at twice as many.
const RUNS_A_SECOND: f64 = 2_000.0;
/// The least share.
const SHARE_MIN: f64 = 0.01;
/// Work between two rests.
const STRETCH: Duration = Duration::from_micros(500);
/// The longest rest after a stretch.
const REST_MAX: Duration = Duration::from_millis(400);
/// How often it is counted how many runs end.
const COUNT_EVERY: Duration = Duration::from_millis(500);

/// How many runs end here, and the share that follows.
#[derive(Debug)]
pub(crate) struct Pace {
    /// CPU time of the evaluation, on all threads.
    pub(crate) meter: Arc<CpuMeter>,
    /// Nanoseconds of it that were rested for.
    rested_ns: AtomicU64,
    ended: AtomicU64,
    counted: Mutex<Counted>,
}

#[derive(Debug)]
struct Counted {
    at: Instant,
    ended: u64,
    share: f64,
}

/// Work of one thread.
pub(super) struct Work<'p> {
    pace: &'p Pace,
    since: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        let counted = Counted { at: queryscope_store::now(), ended: 0, share: SHARE };
        Self {
            meter: Arc::default(),
            rested_ns: AtomicU64::new(0),
            ended: AtomicU64::new(0),
            counted: Mutex::new(counted),
        }
    }
}

impl Pace {
    /// Notes that so many runs have ended.
    pub(crate) fn ended(&self, runs: u64) {
        self.ended.fetch_add(runs, Ordering::Relaxed);
    }

    /// Runs that have ended here.
    pub(super) fn count(&self) -> u64 {
        self.ended.load(Ordering::Relaxed)
    }

    /// A thread begins to work.
    pub(super) fn begin(&self) -> Work<'_> {
        Work { pace: self, since: thread_time() }
    }

    /// Rests for the work so far that was not rested for. The share may change meanwhile.
    pub(super) async fn rest(&self) {
        let rested = Duration::from_nanos(self.rested_ns.load(Ordering::Relaxed));
        let mut owed = self.meter.spent().saturating_sub(rested);
        if owed < STRETCH {
            return;
        }
        self.rested_for(owed);
        while !owed.is_zero() {
            let share = self.share();
            let piece = owed.min(work_of(REST_MAX, share));
            tokio::time::sleep(rest(piece, share)).await;
            owed -= piece;
        }
    }

    fn rested_for(&self, worked: Duration) {
        self.rested_ns.fetch_add(u64::try_from(worked.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    fn share(&self) -> f64 {
        let mut counted = self.counted.lock();
        let passed = counted.at.elapsed();
        if passed >= COUNT_EVERY {
            let ended = self.ended.load(Ordering::Relaxed);
            let share = share((ended - counted.ended) as f64 / passed.as_secs_f64());
            *counted = Counted { at: queryscope_store::now(), ended, share };
        }
        counted.share
    }
}

impl Work<'_> {
    /// Is called after each piece of work, and rests when it is time to.
    pub(super) fn pass(&mut self) {
        let worked = thread_time().saturating_sub(self.since);
        if worked >= STRETCH {
            sleep(rest(worked, self.pace.share()).min(REST_MAX));
            self.pace.rested_for(worked);
            self.since = thread_time();
        }
    }
}

fn share(runs_a_second: f64) -> f64 {
    if runs_a_second < 1.0 {
        return SHARE_IDLE;
    }
    (SHARE * (RUNS_A_SECOND / runs_a_second).min(1.0).powi(2)).max(SHARE_MIN)
}

/// How long to rest after work that took so long.
fn rest(worked: Duration, share: f64) -> Duration {
    worked.mul_f64(1.0 / share - 1.0)
}

/// The work that so long a rest is for.
fn work_of(rest: Duration, share: f64) -> Duration {
    rest.mul_f64(share / (1.0 - share))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_follows_the_load() {
        for (rate, expected) in
            [(0.0, SHARE_IDLE), (1.0, SHARE), (2_000.0, SHARE), (4_000.0, SHARE / 4.0), (1e9, SHARE_MIN)]
        {
            assert!((share(rate) - expected).abs() < 1e-9, "{rate} runs a second");
        }
        let work = Duration::from_millis(1);
        assert_eq!(rest(work, 0.25), work * 3);
        assert_eq!(rest(work, 0.5), work);
        assert_eq!(work_of(work * 3, 0.25), work);
    }

    fn work_for(time: Duration) {
        let begun = thread_time();
        while thread_time().saturating_sub(begun) < time {}
    }

    #[test]
    fn work_rests_once_it_has_worked_for_a_while() {
        let pace = Pace::default();
        let mut work = pace.begin();
        work_for(STRETCH * 2);
        let passing = queryscope_store::now();
        work.pass();
        assert!(passing.elapsed() >= STRETCH * 2, "three times the work at a share of a quarter");
    }

    #[tokio::test]
    async fn all_work_is_rested_for_once() {
        let pace = Pace::default();
        let elsewhere = || tokio::task::spawn_blocking(queryscope_store::carry(|| work_for(STRETCH * 4)));
        pace.meter.meter(async { elsewhere().await.expect("no panic") }).await;
        let resting = queryscope_store::now();
        pace.rest().await;
        assert!(resting.elapsed() >= STRETCH * 4 * 3 / 2, "as long as the work, or three times as long");
        let rested = pace.rested_ns.load(Ordering::Relaxed);
        assert!(rested >= 4 * STRETCH.as_nanos() as u64);
        pace.rest().await;
        assert_eq!(pace.rested_ns.load(Ordering::Relaxed), rested);
    }
}
