//! Ends running runs as unfinished when nothing has been heard of them for too long.
//!
//! It asks the store to write at least once a second, so it is also what finds out, while nobody sends, whether the
//! store can be reached, has room, and is where it was.
//!
//! When a query was last heard of is stored as wall-clock time, which collectors of one database share. A step of the
//! clock neither ends running queries nor keeps silent ones: for some seconds after it, all that run are noted as
//! heard of now, as at a start. That covers batches whose time was taken before the step.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use queryscope_store::StoreError;
use tokio_util::sync::CancellationToken;

use super::pause;
use crate::app::App;
use crate::clock::Steps;

const LOOK_EVERY_MAX: Duration = Duration::from_secs(1);
const LOOK_EVERY_MIN: Duration = Duration::from_millis(50);
/// A store whose files are elsewhere has so many looks to have them back.
const DISPLACED_LOOKS: u32 = 2;
/// Whether a full disk has room is looked at once nothing has been refused for so long: what was refused may be larger
/// than what is tried.
const ROOM_AFTER: Duration = Duration::from_secs(5);
/// How long a batch may take from its arrival to its commit.
const IN_FLIGHT_MAX: Duration = Duration::from_secs(5);

pub(crate) async fn run(app: Arc<App>, stop: CancellationToken) {
    let silent_after = app.settings.silent_after;
    let silent_after_ms = i64::try_from(silent_after.as_millis()).unwrap_or(i64::MAX);
    let look_every = (silent_after / 8).clamp(LOOK_EVERY_MIN, LOOK_EVERY_MAX);
    let mut displaced = 0;
    let mut steps = Steps::default();
    while pause(look_every, &stop).await {
        let now_unix_ms = app.clock.unix_ms();
        let stepped = steps.within(&*app.clock, IN_FLIGHT_MAX);
        let ended = if stepped {
            app.store.refresh_running(now_unix_ms).await.map(|()| 0)
        } else {
            app.store.end_silent(now_unix_ms.saturating_sub(silent_after_ms)).await
        };
        let now = app.clock.steady_ms();
        if ended.is_ok()
            && let Some(away) = app.store_health.reached(now)
        {
            tracing::info!(away_s = away.as_secs(), "the store can be reached again");
        }
        displaced = match &ended {
            Err(StoreError::Displaced(_)) => displaced + 1,
            _ => 0,
        };
        if ended.is_ok() {
            if app.displaced.swap(false, Ordering::Relaxed) {
                tracing::info!("the data folder is back: batches are stored again");
            }
            look_for_room(&app, now).await;
        }
        match ended {
            Ok(0) => {}
            Ok(ended) => {
                tracing::info!(ended, "runs fell silent and are unfinished");
                app.committed.notify_one();
            }
            Err(error) => {
                if stepped {
                    steps.hold_again(&*app.clock);
                }
                app.watch(&error);
                if displaced >= DISPLACED_LOOKS {
                    tracing::error!(
                        "the service ends; what it acknowledged since the data folder went may be lost"
                    );
                    app.failed.cancel();
                }
                let is_told = matches!(error, StoreError::Displaced(_) | StoreError::Full(_));
                if !is_told && app.store_health.failed(now) {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(error, "silent runs could not be ended: the store cannot be reached");
                }
            }
        }
    }
}

/// Finds out that a full disk has room again while nobody sends.
async fn look_for_room(app: &App, now_ms: i64) {
    if !app.store_room.is_full() || app.store_room.is_within(ROOM_AFTER, now_ms) {
        return;
    }
    if app.store.probe().await.is_ok() {
        app.has_room();
    }
}
