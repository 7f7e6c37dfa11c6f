//! The runs that this collector's commits ended, for whoever sends them on.
//!
//! A commit says which runs it ended, whichever collector of a shared store makes it, so each run is told once and by
//! one collector. What is told is the batch as it came: reading it is left to the follower. The queue is bounded by
//! batches and bytes, and never waited for: what does not fit is counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use parking_lot::Mutex;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;
use queryscope_protocol::QueryId;
use queryscope_protocol::limits::MAX_BATCH_BYTES;
use tokio::sync::mpsc;

use crate::ingest::{Coding, inflated};
use crate::metrics::Reason;

/// Batches that may wait.
const BATCHES_MAX: usize = 4096;
/// Bytes of their bodies, as they came.
const BYTES_MAX: usize = 32 << 20;
/// Why a run is not sent on: the queue was full, the receiver refused it or did not take it in time, its events could
/// not be read, or the service stopped.
const REASONS: [&str; 5] = ["full", "refused", "expired", "unreadable", "stopped"];

/// What became of the runs.
#[derive(Debug, Clone, Default)]
pub struct EndedCounts {
    sent: Counter,
    dropped: Family<Reason, Counter>,
}

impl EndedCounts {
    /// So many runs arrived.
    pub fn sent(&self, runs: u64) {
        self.sent.inc_by(runs);
    }

    /// So many runs were dropped, for one of the documented reasons.
    pub fn dropped(&self, reason: &'static str, runs: u64) {
        self.dropped.get_or_create(&Reason { reason }).inc_by(runs);
    }

    pub(crate) fn register(&self, registry: &mut Registry) {
        registry.register("otlp_runs_sent", "Ended runs sent as spans", self.sent.clone());
        for reason in REASONS {
            let _ = self.dropped.get_or_create(&Reason { reason });
        }
        registry.register(
            "otlp_runs_dropped",
            "Ended runs that were not sent as spans, by reason",
            self.dropped.clone(),
        );
    }
}

/// A batch that ended runs.
#[derive(Debug)]
pub struct EndedBatch {
    /// The project of the batch.
    pub project: String,
    /// The runs that it ended.
    pub ended: Vec<QueryId>,
    body: Bytes,
    coding: Coding,
    bytes: Arc<AtomicUsize>,
}

impl EndedBatch {
    /// The batch as text; `None` where it cannot be read any more, which a batch that was stored can. Takes as long as
    /// inflating does.
    pub fn text(&self) -> Option<String> {
        let bytes = match self.coding {
            Coding::Plain => self.body.to_vec(),
            Coding::Gzip => inflated(&self.body, MAX_BATCH_BYTES)?,
        };
        String::from_utf8(bytes).ok()
    }
}

impl Drop for EndedBatch {
    fn drop(&mut self) {
        self.bytes.fetch_sub(self.body.len(), Ordering::Relaxed);
    }
}

/// Follows the runs that end.
#[derive(Debug)]
pub struct EndedRuns {
    batches: mpsc::Receiver<EndedBatch>,
    counts: EndedCounts,
}

impl EndedRuns {
    /// The next batch that ended runs; `None` once the collector is gone. Cancel safe.
    pub async fn next(&mut self) -> Option<EndedBatch> {
        self.batches.recv().await
    }

    /// One that waits already.
    pub fn try_next(&mut self) -> Option<EndedBatch> {
        self.batches.try_recv().ok()
    }

    /// What the follower counts into.
    pub fn counts(&self) -> &EndedCounts {
        &self.counts
    }
}

/// The collector's end.
#[derive(Debug, Default)]
pub(crate) struct EndedFeed {
    sender: Mutex<Option<mpsc::Sender<EndedBatch>>>,
    bytes: Arc<AtomicUsize>,
    pub(crate) counts: EndedCounts,
}

impl EndedFeed {
    /// Begins to tell of runs that end, to one follower: the one before hears no more.
    pub(crate) fn follow(&self) -> EndedRuns {
        let (sender, batches) = mpsc::channel(BATCHES_MAX);
        *self.sender.lock() = Some(sender);
        EndedRuns { batches, counts: self.counts.clone() }
    }

    /// Whether anybody follows.
    pub(crate) fn is_followed(&self) -> bool {
        self.sender.lock().is_some()
    }

    /// Tells of a batch that ended runs, where anybody follows. Never waits.
    pub(crate) fn tell(&self, project: String, body: Bytes, coding: Coding, ended: Vec<QueryId>) {
        let Some(sender) = self.sender.lock().clone() else { return };
        let runs = ended.len() as u64;
        if self.bytes.fetch_add(body.len(), Ordering::Relaxed) + body.len() > BYTES_MAX {
            self.bytes.fetch_sub(body.len(), Ordering::Relaxed);
            self.counts.dropped("full", runs);
            return;
        }
        // One that is refused gives its bytes back as it is dropped.
        let batch = EndedBatch { project, ended, body, coding, bytes: Arc::clone(&self.bytes) };
        if sender.try_send(batch).is_err() {
            self.counts.dropped("full", runs);
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn tell(feed: &EndedFeed, bytes: usize) {
        let ended = vec![QueryId::new(Uuid::from_u128(7))];
        feed.tell("p".into(), Bytes::from(vec![b'x'; bytes]), Coding::Plain, ended);
    }

    fn full(feed: &EndedFeed) -> u64 {
        feed.counts.dropped.get_or_create(&Reason { reason: "full" }).get()
    }

    #[test]
    fn the_queue_is_bounded_by_bytes_and_by_batches() {
        let feed = EndedFeed::default();
        tell(&feed, BYTES_MAX + 1);
        assert_eq!(full(&feed), 0, "nobody follows");
        let mut runs = feed.follow();
        tell(&feed, BYTES_MAX - 1);
        tell(&feed, 2);
        assert_eq!(full(&feed), 1);
        assert_eq!(
            runs.try_next().and_then(|batch| batch.text()).map(|text| text.len()),
            Some(BYTES_MAX - 1)
        );
        for _ in 0..=BATCHES_MAX {
            tell(&feed, 2);
        }
        assert_eq!(full(&feed), 2);
        while runs.try_next().is_some() {}
        tell(&feed, BYTES_MAX);
        assert_eq!((full(&feed), runs.try_next().is_some()), (2, true));
        drop(runs);
        tell(&feed, 2);
        assert_eq!(full(&feed), 3, "the follower has gone");
        assert_eq!(feed.bytes.load(Ordering::Relaxed), 0);
    }
}
