//! How many readers are answered at once.
//!
//! Reading needs no token, and whoever reads may take as long as it likes: a live stream has no end. So readers may
//! not take every connection. The rest is for senders.

use std::sync::Arc;

use axum::http::request::Request;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::ApiError;
use crate::metrics::Metrics;
use crate::rarely::Rarely;

/// A bound on readers of one kind.
pub(crate) struct Readers {
    kind: &'static str,
    reason: &'static str,
    places: Arc<Semaphore>,
    max: usize,
    refused: Rarely,
}

impl Readers {
    /// All but those of [`is_always_answered`].
    pub(crate) fn all(max: usize) -> Self {
        Self::new("all", "as many readers are answered as may be, try again", max)
    }

    /// Those of live streams.
    pub(crate) fn live(max: usize) -> Self {
        Self::new("live", "there are as many live readers as may be, try again", max)
    }

    fn new(kind: &'static str, reason: &'static str, max: usize) -> Self {
        Self { kind, reason, places: Arc::new(Semaphore::new(max)), max, refused: Rarely::default() }
    }

    /// Lets a reader in until the place is dropped.
    ///
    /// # Errors
    /// 503 when there are as many as may be.
    pub(crate) fn let_in(&self, metrics: &Metrics) -> Result<OwnedSemaphorePermit, ApiError> {
        Arc::clone(&self.places).try_acquire_owned().map_err(|_| {
            metrics.reader_refused(self.kind);
            if let Some(times) = self.refused.due() {
                let (kind, max) = (self.kind, self.max);
                tracing::warn!(kind, max, times, "readers are answered 503: there are as many as may be");
            }
            ApiError::full(self.reason)
        })
    }

    /// How many there are.
    pub(crate) fn taken(&self) -> usize {
        self.max - self.places.available_permits()
    }
}

/// Whether a request is answered however many readers there are: senders, and operators who look what goes on.
/// These answers are small, so nobody holds a connection by not reading them.
pub(crate) fn is_always_answered<B>(request: &Request<B>) -> bool {
    let path = request.uri().path();
    path == "/metrics" || path.starts_with("/v1/")
}
