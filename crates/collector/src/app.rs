//! What all handlers and jobs share.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use queryscope_issues::Issue;
use queryscope_recordings::Recordings;
use queryscope_store::{Store, StoreError};
use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::access::Access;
use crate::away::DependencyHealth;
use crate::background::Background;
use crate::clock::Clock;
use crate::delivery::DeliveryMetrics;
use crate::deploys::SeenVersions;
use crate::ended::EndedFeed;
use crate::evaluation::Gauges;
use crate::ingest::{Admission, Budget, Conflicts, Decoders};
use crate::live::Live;
use crate::metrics::Metrics;
use crate::read::{Answers, Detectors};
use crate::readers::Readers;
use crate::senders::Senders;
use crate::settings::Settings;
use crate::shortage::Shortage;
use crate::tokens::Tokens;

pub(crate) struct App {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) recordings: Recordings,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) settings: Settings,
    pub(crate) tokens: Tokens,
    /// Sessions and attempts to log in.
    pub(crate) access: Access,
    pub(crate) metrics: Metrics,
    pub(crate) budget: Budget,
    pub(crate) admission: Admission,
    pub(crate) decoders: Arc<Decoders>,
    pub(crate) conflicts: Conflicts,
    pub(crate) live: Live,
    /// Tells of the runs that commits of this collector ended.
    pub(crate) ended: EndedFeed,
    /// What the evaluation of ended runs tells of itself, and what wakes it.
    pub(crate) evaluation: Gauges,
    /// What deliveries are counted into.
    pub(crate) delivery: DeliveryMetrics,
    /// What was heard of senders.
    pub(crate) senders: Senders,
    /// Versions that senders named.
    pub(crate) versions: SeenVersions,
    /// Requests of readers that are answered.
    pub(crate) readers: Readers,
    /// Live streams, which are among these.
    pub(crate) live_readers: Readers,
    pub(crate) store_health: DependencyHealth,
    pub(crate) recordings_health: DependencyHealth,
    /// Whether batches are refused for want of room.
    pub(crate) store_room: Shortage,
    /// Whether recordings cannot be written for want of room.
    pub(crate) recordings_room: Shortage,
    /// Whether the store's files are not where a later start would look for them.
    pub(crate) displaced: AtomicBool,
    pub(crate) answers: Answers,
    /// Tables that may be made at once.
    pub(crate) exports: Arc<Semaphore>,
    /// Detectors of queries that readers asked for.
    pub(crate) detectors: Detectors,
    /// Where work is done that gives way to ingest.
    pub(crate) background: Background,
    /// Wakes the sealer when a query may have ended.
    pub(crate) committed: Notify,
    /// Wakes the sealer when recordings can be reached again.
    pub(crate) reached: Notify,
    /// Cancelled by the first fatal error of the store: the service ends.
    pub(crate) failed: CancellationToken,
}

impl App {
    /// Names the owner of the query of an issue.
    pub(crate) fn own(&self, mut issue: Issue) -> Issue {
        let config = self.settings.delivery.as_ref();
        issue.owner = config.and_then(|config| config.owner_of(&issue)).map(ToOwned::to_owned);
        issue
    }

    /// Notes an error of the store that says something of what comes next, and ends the service if it is fatal.
    pub(crate) fn watch(&self, error: &StoreError) {
        match error {
            StoreError::Fatal(_) => self.failed.cancel(),
            StoreError::Full(_) => self.refused(error),
            StoreError::Displaced(path) => self.displaced(path),
            _ => {}
        }
    }

    fn refused(&self, error: &StoreError) {
        if self.store_room.refused(self.clock.steady_ms()) {
            let error = error as &dyn std::error::Error;
            tracing::warn!(error, "batches are refused until there is room again");
        }
    }

    fn displaced(&self, path: &Path) {
        if !self.displaced.swap(true, Ordering::Relaxed) {
            let path = path.display();
            tracing::error!(
                %path,
                "the data folder, or a file of it, was deleted, moved or replaced: batches are refused"
            );
        }
    }

    /// Notes that something was written to the store.
    pub(crate) fn has_room(&self) {
        if self.store_room.is_over() {
            tracing::info!("there is room for batches again");
            // For recordings, too, where they are on the same disk.
            self.reached.notify_one();
        }
    }
}
