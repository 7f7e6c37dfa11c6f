//! What all handlers and jobs share.

use std::sync::Arc;

use queryscope_recordings::Recordings;
use queryscope_store::{Store, StoreError};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::away::Needed;
use crate::clock::Clock;
use crate::ingest::{Admission, Budget, Conflicts, Decoders};
use crate::live::Live;
use crate::metrics::Metrics;
use crate::read::Answers;
use crate::settings::Settings;
use crate::threads::Threads;
use crate::tokens::Tokens;

pub(crate) struct App {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) recordings: Recordings,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) settings: Settings,
    pub(crate) tokens: Tokens,
    pub(crate) metrics: Metrics,
    pub(crate) budget: Budget,
    pub(crate) admission: Admission,
    pub(crate) decoders: Arc<Decoders>,
    pub(crate) conflicts: Conflicts,
    pub(crate) live: Live,
    pub(crate) store_needed: Needed,
    pub(crate) recordings_needed: Needed,
    pub(crate) answers: Answers,
    /// Where work is done that gives way to ingest.
    pub(crate) background: Threads,
    /// Wakes the sealer when a query may have ended.
    pub(crate) committed: Notify,
    /// Wakes the sealer when recordings can be reached again.
    pub(crate) reached: Notify,
    /// Cancelled by the first fatal error of the store: the service ends.
    pub(crate) failed: CancellationToken,
}

impl App {
    /// Ends the service if an error of the store is fatal.
    pub(crate) fn watch(&self, error: &StoreError) {
        if matches!(error, StoreError::Fatal(_)) {
            self.failed.cancel();
        }
    }
}
