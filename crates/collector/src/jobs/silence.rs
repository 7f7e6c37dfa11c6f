//! Ends queries of which nothing has been heard for too long.
//!
//! It writes at least once a second, so it is also what finds out whether the store can be reached.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::pause;
use crate::app::App;

const LOOK_EVERY_MAX: Duration = Duration::from_secs(1);
const LOOK_EVERY_MIN: Duration = Duration::from_millis(50);

pub(crate) async fn run(app: Arc<App>, stop: CancellationToken) {
    let silent_after = app.settings.silent_after;
    let silent_after_ms = i64::try_from(silent_after.as_millis()).unwrap_or(i64::MAX);
    let look_every = (silent_after / 8).clamp(LOOK_EVERY_MIN, LOOK_EVERY_MAX);
    while pause(look_every, &stop).await {
        let ended = app.store.end_silent(app.clock.unix_ms().saturating_sub(silent_after_ms)).await;
        let now = app.clock.unix_ms();
        if ended.is_ok()
            && let Some(away) = app.store_needed.reached(now)
        {
            tracing::info!(away_s = away.as_secs(), "the store can be reached again");
        }
        match ended {
            Ok(0) => {}
            Ok(ended) => {
                tracing::info!(ended, "queries fell silent and are unfinished");
                app.committed.notify_one();
            }
            Err(error) => {
                app.watch(&error);
                if app.store_needed.failed(now) {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(error, "silent queries could not be ended: the store can not be reached");
                }
            }
        }
    }
}
