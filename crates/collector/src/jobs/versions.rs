//! Deletes versions of recordings that others took the place of, where several services share them.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::pause;
use super::recordings_lock::RecordingsLock;
use crate::app::App;
use crate::clock::nanos;

/// So long after its start a service looks first, so that one that is restarted all the time looks, too, and
/// services that were started together have done what matters.
pub(super) const FIRST_AFTER: Duration = Duration::from_mins(20);
const LOOK_EVERY: Duration = Duration::from_hours(24);
/// How long a version stays at least.
const KEPT: Duration = Duration::from_hours(24);
/// Queries that began in this time before are looked at: one that is sealed anew is hardly ever older.
const LOOK_BACK: Duration = Duration::from_hours(8 * 24);

pub(super) async fn run(
    app: Arc<App>,
    stop: CancellationToken,
    lock: Arc<RecordingsLock>,
    first_after: Duration,
) {
    if !app.recordings.is_shared() {
        return;
    }
    let mut every = first_after;
    while pause(every, &stop).await {
        every = LOOK_EVERY;
        let Some(_guard) = lock.take(&stop).await else { return };
        let now = app.clock.unix_ns();
        let ago = |time: Duration| now.saturating_sub(nanos(time));
        let sweep = app.recordings.sweep_versions(app.store.as_ref(), ago(LOOK_BACK)..=now, ago(KEPT));
        let swept = tokio::select! {
            () = stop.cancelled() => return,
            swept = sweep => swept,
        };
        match swept {
            Ok(swept) => {
                tracing::info!(
                    recordings = swept.recordings,
                    bytes = swept.bytes,
                    "old versions of recordings deleted"
                )
            }
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, "old versions of recordings could not be deleted");
            }
        }
    }
}

#[cfg(test)]
mod tests;
