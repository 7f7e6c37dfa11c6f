//! What the evaluation tells of itself.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use tokio::sync::Notify;

use super::pace::Pace;
use crate::metrics::Reason;
use crate::rarely::Rarely;

/// What all parts of the evaluation share.
#[derive(Debug, Default)]
pub(crate) struct Gauges {
    /// Told when a run may have ended.
    pub(crate) noted: Notify,
    pub(crate) pace: Pace,
    pub(crate) pending: Gauge,
    pub(crate) evaluated: Counter,
    pub(crate) skipped: Family<Reason, Counter>,
    pub(crate) cpu_seconds: Counter<f64, AtomicU64>,
    pub(super) failures: Rarely,
    pub(super) unreadable: Rarely,
    /// Whether this collector evaluates.
    evaluates: AtomicBool,
    /// Since when runs may wait; `None` while none does.
    waiting_since: Mutex<Option<Instant>>,
}

impl Gauges {
    /// Notes that a batch ended so many runs.
    pub(crate) fn ended(&self, runs: u64) {
        self.pace.ended(runs);
        let mut since = self.waiting_since.lock();
        since.get_or_insert_with(queryscope_store::now);
        drop(since);
        self.noted.notify_one();
    }

    /// Runs that have ended here.
    pub(crate) fn ended_count(&self) -> u64 {
        self.pace.count()
    }

    /// For how long the run that has waited longest has waited, at most; none where another collector evaluates.
    pub(crate) fn lag(&self) -> Duration {
        if !self.evaluates.load(Ordering::Relaxed) {
            return Duration::ZERO;
        }
        let since = self.waiting_since.lock();
        since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// A look that began then found so many runs, beside those that were evaluated.
    pub(super) fn looked(&self, began: Instant, found: usize) {
        self.evaluates.store(true, Ordering::Relaxed);
        self.pending.set(i64::try_from(found).unwrap_or(i64::MAX));
        if found > 0 {
            let mut since = self.waiting_since.lock();
            since.get_or_insert(began);
        }
    }

    /// All runs that a look found are evaluated: it began then, when so many had ended here.
    pub(super) fn caught_up(&self, began: Instant, ended: u64) {
        self.pending.set(0);
        let mut since = self.waiting_since.lock();
        *since = (self.pace.count() != ended).then_some(began);
    }

    /// Another collector evaluates.
    pub(super) fn stand_by(&self) {
        self.evaluates.store(false, Ordering::Relaxed);
        self.pending.set(0);
        *self.waiting_since.lock() = None;
    }

    /// Rests for the work so far, and shows how much there was.
    pub(super) async fn rest(&self) {
        self.cpu_seconds.inc_by(self.pace.meter.spent().as_secs_f64() - self.cpu_seconds.get());
        self.pace.rest().await;
    }

    pub(super) fn skipped(&self, reason: &'static str, runs: usize) {
        if runs > 0 {
            self.skipped.get_or_create(&Reason { reason }).inc_by(runs as u64);
        }
    }
}
