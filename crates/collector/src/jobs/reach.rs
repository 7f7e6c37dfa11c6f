//! Whether the recordings (a bucket or a folder) can be reached.
//!
//! Problem: a bucket that is away would be noticed by the next reader or by the sealer alone.
//!
//! Mechanism: the job asks for a page of names every 30 s, and every 2 s while that fails. What the rounds of the
//! sealer show counts, too ([`note`]). The state is in `App::recordings_health`: health and metrics tell it, the log
//! tells its changes, and the sealer is woken when the recordings are back.

use std::error::Error;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use queryscope_recordings::RecordingError;
use queryscope_store::StoreError;
use tokio_util::sync::CancellationToken;

use super::{pause, recordings_lock};
use crate::app::App;

/// What this machine decides is looked at so often: it costs two calls of the system.
const LOOK_HERE_EVERY: Duration = Duration::from_secs(1);
/// A request for a page of names each time: 2,880 a day.
const ASK_EVERY: Duration = Duration::from_secs(30);
/// How often while they cannot be reached.
const ASK_AGAIN: Duration = Duration::from_secs(2);
/// How long recordings that did not fit count as such: longer than the sealer waits before it tries again.
pub(crate) const FULL_FOR: Duration = Duration::from_mins(2);

pub(crate) async fn run(app: Arc<App>, stop: CancellationToken) {
    let mut asked = None::<Instant>;
    loop {
        let away = app.recordings_health.away(app.clock.steady_ms()).is_some();
        let every = if away { ASK_AGAIN } else { ASK_EVERY };
        if let Err(error) = recordings_lock::possible(&app.settings) {
            failed(&app, &error.into());
            asked = None;
        } else if asked.is_none_or(|at| at.elapsed() >= every) {
            let reached = tokio::select! {
                () = stop.cancelled() => return,
                reached = app.recordings.reach() => reached,
            };
            asked = Some(queryscope_store::now());
            reached.map_or_else(|error| failed(&app, &error), |()| self::reached(&app));
        }
        if !pause(LOOK_HERE_EVERY, &stop).await {
            return;
        }
    }
}

/// Notes whether recordings could be written, and says so when that has changed.
pub(super) fn note(app: &App, error: Option<&RecordingError>) {
    match error {
        None => {
            if app.recordings_room.is_over() {
                tracing::info!("there is room for recordings again");
            }
            reached(app);
        }
        Some(error) => failed(app, error),
    }
}

fn reached(app: &App) {
    if let Some(away) = app.recordings_health.reached(app.clock.steady_ms()) {
        tracing::info!(away_s = away.as_secs(), "the recordings can be reached again");
        app.reached.notify_one();
    }
}

fn failed(app: &App, error: &RecordingError) {
    let now = app.clock.steady_ms();
    app.metrics.recordings_failed("reach");
    let cause = error as &dyn Error;
    if is_full(cause) {
        if app.recordings_room.refused(now) {
            tracing::warn!(error = cause, "there is no room for recordings; events are kept in the store");
        }
    } else if app.recordings_health.failed(now) {
        tracing::warn!(
            error = cause,
            "the recordings cannot be reached; events are kept in the store until they can"
        );
    }
}

/// Whether an error says that a disk is full.
fn is_full(error: &(dyn Error + 'static)) -> bool {
    let no_room = |kind| matches!(kind, ErrorKind::StorageFull | ErrorKind::QuotaExceeded);
    error.downcast_ref::<io::Error>().is_some_and(|error| no_room(error.kind()))
        || matches!(error.downcast_ref(), Some(StoreError::Full(_)))
        || error.source().is_some_and(is_full)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_from_one_that_is_away() {
        let of = |kind| RecordingError::from(io::Error::from(kind));
        assert!(is_full(&of(ErrorKind::StorageFull)) && is_full(&of(ErrorKind::QuotaExceeded)));
        assert!(!is_full(&of(ErrorKind::NotFound)) && !is_full(&RecordingError::Gone));
        assert!(is_full(&RecordingError::Store(StoreError::Full("full".into()))));
        assert!(!is_full(&RecordingError::Store(StoreError::unavailable("away"))));
    }
}
