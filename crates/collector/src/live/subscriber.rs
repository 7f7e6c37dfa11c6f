//! Readers: a bounded queue each, and the end of those who do not keep up.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::error::ApiError;

/// What may wait for one reader. It is shared with all others, so a place costs a pointer.
const QUEUE_MAX: usize = 256;

/// Closes the connection a request came on, whatever is still to be written to it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cut(pub(crate) CancellationToken);

/// The hub's end of a reader.
#[derive(Debug)]
pub(super) struct Subscriber<T> {
    queue: mpsc::Sender<T>,
    cut: Cut,
}

/// Counts a reader for as long as it reads, and tells the hub when it leaves.
pub(super) struct Presence {
    app: Arc<App>,
    _place: OwnedSemaphorePermit,
}

impl Presence {
    /// # Errors
    /// 503 when there are as many live readers as may be.
    pub(super) fn new(app: &Arc<App>) -> Result<Self, ApiError> {
        let place = app.live_readers.let_in(&app.metrics)?;
        app.metrics.live_subscribers.inc();
        Ok(Self { app: Arc::clone(app), _place: place })
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        self.app.metrics.live_subscribers.dec();
        self.app.live.left.notify_one();
    }
}

impl<T> Subscriber<T> {
    /// A subscriber, and the queue of its reader.
    pub(super) fn new(cut: Cut) -> (Self, mpsc::Receiver<T>) {
        let (queue, waiting) = mpsc::channel(QUEUE_MAX);
        (Self { queue, cut }, waiting)
    }
}

/// Readers of one stream.
#[derive(Debug)]
pub(super) struct Subscribers<T>(Vec<Subscriber<T>>);

impl<T> Default for Subscribers<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Clone> Subscribers<T> {
    pub(super) fn add(&mut self, subscriber: Subscriber<T>) {
        self.0.push(subscriber);
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Hands an item to all. Who has no room for it is cut off: its connection is closed at once.
    pub(super) fn send(&mut self, app: &App, item: &T) {
        let before = self.0.len();
        let mut slow = 0;
        self.0.retain(|subscriber| match subscriber.queue.try_send(item.clone()) {
            Ok(()) => true,
            Err(mpsc::error::TrySendError::Closed(_)) => false,
            Err(mpsc::error::TrySendError::Full(_)) => {
                subscriber.cut.0.cancel();
                slow += 1;
                false
            }
        });
        if slow > 0 {
            app.metrics.live_cut_off.inc_by(slow);
            tracing::warn!(
                readers = slow,
                of = before,
                waiting = QUEUE_MAX,
                "live readers do not keep up and are cut off"
            );
        }
    }

    /// Takes out those who have left.
    pub(super) fn sweep(&mut self) {
        self.0.retain(|subscriber| !subscriber.queue.is_closed());
    }

    /// Closes the queues; gives back what closes the connections.
    pub(super) fn close(self) -> Vec<Cut> {
        self.0.into_iter().map(|subscriber| subscriber.cut).collect()
    }
}
