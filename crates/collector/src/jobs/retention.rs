//! Deletes runs that are too old, with their recordings.

use std::sync::Arc;
use std::time::Duration;

use queryscope_recordings::RecordingError;
use tokio_util::sync::CancellationToken;

use super::pause;
use super::recordings_lock::RecordingsLock;
use crate::app::App;
use crate::clock::{Steps, nanos};

const LOOK_EVERY: Duration = Duration::from_mins(10);
/// Nothing is deleted for so long after a step of the clock: a wrong date may be set right again.
const AFTER_STEP: Duration = Duration::from_hours(1);
/// Queries deleted in one transaction; between two of them ingest goes on.
const ROUND: usize = 256;
/// Recordings nothing points to are looked for in days that ended so long before the oldest kept one: what
/// was written then is no longer on its way into the store.
const SWEEP_MARGIN: Duration = Duration::from_hours(24);

pub(crate) async fn run(app: Arc<App>, stop: CancellationToken, lock: Arc<RecordingsLock>) {
    let Some(keep) = app.settings.keep else { return };
    let mut steps = Steps::default();
    loop {
        if stepped(&app, &mut steps) {
            tracing::info!("the clock has stepped: for an hour no old runs are deleted");
        } else if let Err(error) = delete_old(&app, &stop, &lock, keep).await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "old runs, or recordings of deleted ones, could not be deleted; it is tried again later"
            );
        }
        if !pause(LOOK_EVERY, &stop).await {
            return;
        }
    }
}

/// Whether the clock, asked now, has stepped lately.
fn stepped(app: &App, steps: &mut Steps) -> bool {
    app.clock.unix_ns();
    steps.within(&*app.clock, AFTER_STEP)
}

async fn delete_old(
    app: &App,
    stop: &CancellationToken,
    lock: &RecordingsLock,
    keep: Duration,
) -> Result<(), RecordingError> {
    let before = app.clock.unix_ns().saturating_sub(nanos(keep));
    let counted = app.metrics.deleted.get();
    let outcome = delete_before(app, stop, lock, before).await;
    let total = app.metrics.deleted.get() - counted;
    if total > 0 {
        tracing::info!(total, "old runs deleted");
    }
    outcome?;
    let Some(_guard) = lock.take(stop).await else { return Ok(()) };
    app.recordings.sweep(app.store.as_ref(), before.saturating_sub(nanos(SWEEP_MARGIN))).await?;
    Ok(())
}

async fn delete_before(
    app: &App,
    stop: &CancellationToken,
    lock: &RecordingsLock,
    before: i64,
) -> Result<(), RecordingError> {
    while !stop.is_cancelled() {
        let Some(_guard) = lock.take(stop).await else { break };
        let deleted = app.store.delete_before(before, ROUND).await.inspect_err(|error| app.watch(error))?;
        // They are gone whatever becomes of their recordings, which a later sweep finds.
        app.metrics.deleted.inc_by(deleted.queries.len() as u64);
        for path in &deleted.orphans {
            app.recordings.delete(path).await?;
        }
        if deleted.queries.len() < ROUND {
            break;
        }
    }
    Ok(())
}
