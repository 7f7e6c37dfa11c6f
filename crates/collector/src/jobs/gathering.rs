//! Moves recordings that have a file of their own into packs: those of versions before packs, and of runs that ended
//! alone. Days are looked at once a day, a day after they ended. After each pack it rests for as long as that took.

use std::sync::Arc;
use std::time::Duration;

use queryscope_recordings::{Loose, RecordingError};
use tokio_util::sync::CancellationToken;

use super::pause;
use super::recordings_lock::RecordingsLock;
use crate::app::App;
use crate::clock::nanos;

/// So long after its start a service looks first: by then it has done what matters.
pub(super) const FIRST_AFTER: Duration = Duration::from_mins(5);
const LOOK_EVERY: Duration = Duration::from_hours(24);
/// Only days are looked at that ended so long ago.
const REST: Duration = Duration::from_hours(24);
/// Recordings of one pack.
const PACKED: usize = 1024;
/// How long to wait while batches are refused.
const STAND_BACK: Duration = Duration::from_secs(10);

pub(crate) async fn run(
    app: Arc<App>,
    stop: CancellationToken,
    lock: Arc<RecordingsLock>,
    first_after: Duration,
) {
    let mut every = first_after;
    while pause(every, &stop).await {
        every = LOOK_EVERY;
        match gather(&app, &stop, &lock).await {
            Ok(0) => {}
            Ok(moved) => tracing::info!(moved, "recordings were moved into packs"),
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, "recordings could not be moved into packs; it is tried again tomorrow");
            }
        }
    }
}

async fn gather(app: &App, stop: &CancellationToken, lock: &RecordingsLock) -> Result<usize, RecordingError> {
    let mut moved = 0;
    for mut loose in app.recordings.loose(app.clock.unix_ns().saturating_sub(nanos(REST))).await? {
        while !loose.is_empty() {
            let Some((more, took)) = one_pack(app, stop, lock, &mut loose).await? else { return Ok(moved) };
            moved += more;
            if !pause(took, stop).await {
                return Ok(moved);
            }
        }
    }
    Ok(moved)
}

/// Fills one pack, and says how long that took; `None` when it is time to stop.
async fn one_pack(
    app: &App,
    stop: &CancellationToken,
    lock: &RecordingsLock,
    loose: &mut Loose,
) -> Result<Option<(usize, Duration)>, RecordingError> {
    while app.admission.is_overloaded(app.clock.steady_ms()) {
        if !pause(STAND_BACK, stop).await {
            return Ok(None);
        }
    }
    let Some(_guard) = lock.take(stop).await else { return Ok(None) };
    let begun = queryscope_store::now();
    let moved = app.recordings.gather(app.store.as_ref(), loose, PACKED).await?;
    Ok(Some((moved, begun.elapsed())))
}
