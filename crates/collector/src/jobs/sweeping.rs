//! Deletes recordings that nothing points to, where several services share them: versions that others took the place
//! of, and packs that were written and never made known.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use queryscope_recordings::{RecordingError, Swept};
use tokio_util::sync::CancellationToken;

use super::pause;
use super::recordings_lock::RecordingsLock;
use crate::app::App;
use crate::clock::nanos;

/// So long after its start a service looks first, so that one that is restarted all the time looks, too, and
/// services that were started together have done what matters.
pub(super) const FIRST_AFTER: Duration = Duration::from_mins(20);
const LOOK_EVERY: Duration = Duration::from_hours(24);
/// How long they stay at least.
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
        let (days, before) = (ago(LOOK_BACK)..=now, ago(KEPT));
        let swept = tokio::select! {
            () = stop.cancelled() => return,
            swept = sweep(&app, days, before) => swept,
        };
        match swept {
            Ok(Swept { recordings, bytes }) => {
                tracing::info!(recordings, bytes, "recordings that nothing points to deleted");
            }
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, "recordings that nothing points to could not be deleted");
            }
        }
    }
}

async fn sweep(app: &App, days: RangeInclusive<i64>, before: i64) -> Result<Swept, RecordingError> {
    let store = app.store.as_ref();
    let packs = app.recordings.sweep_packs(store, days.clone(), before).await?;
    let versions = app.recordings.sweep_versions(store, days, before).await?;
    Ok(packs + versions)
}

#[cfg(test)]
mod tests;
