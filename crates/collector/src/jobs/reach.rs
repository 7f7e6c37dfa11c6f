//! Looks whether recordings can be reached, so that this is known before a reader or the sealer finds out.

use std::sync::Arc;
use std::time::Duration;

use queryscope_recordings::RecordingError;
use tokio_util::sync::CancellationToken;

use super::pause;
use crate::app::App;

/// A request for a page of names each time: 2,880 a day.
const LOOK_EVERY: Duration = Duration::from_secs(30);
/// How often while they can not be reached.
const LOOK_AGAIN: Duration = Duration::from_secs(2);

pub(crate) async fn run(app: Arc<App>, stop: CancellationToken) {
    let mut every = Duration::ZERO;
    while pause(every, &stop).await {
        let reached = tokio::select! {
            () = stop.cancelled() => return,
            reached = app.recordings.reach() => reached,
        };
        every = if reached.is_ok() { LOOK_EVERY } else { LOOK_AGAIN };
        note(&app, reached.as_ref().err());
    }
}

/// Notes whether recordings could be reached, and says so when that has changed.
pub(super) fn note(app: &App, error: Option<&RecordingError>) {
    let now = app.clock.steady_ms();
    match error {
        None => {
            if let Some(away) = app.recordings_needed.reached(now) {
                tracing::info!(away_s = away.as_secs(), "the recordings can be reached again");
                app.reached.notify_one();
            }
        }
        Some(error) => {
            app.metrics.recordings_failed("reach");
            if app.recordings_needed.failed(now) {
                let error = error as &dyn std::error::Error;
                tracing::warn!(
                    error,
                    "the recordings can not be reached; events are kept in the store until they can"
                );
            }
        }
    }
}
