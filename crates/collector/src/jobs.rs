//! What goes on in the background while the service runs.

mod retention;
mod sealing;
mod silence;
mod tokens;

use std::sync::Arc;

use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::live;

/// Starts all jobs; they end soon after `stop` is cancelled.
pub(crate) fn start(app: &Arc<App>, stop: &CancellationToken) -> JoinSet<()> {
    let mut jobs = JoinSet::new();
    // Who writes recordings and who deletes them take turns.
    let turn = Arc::new(Mutex::new(()));
    jobs.spawn_on(live::run(Arc::clone(app), stop.clone()), app.live.threads.handle());
    jobs.spawn(silence::run(Arc::clone(app), stop.clone()));
    jobs.spawn(tokens::run(Arc::clone(app), stop.clone()));
    jobs.spawn(sealing::run(Arc::clone(app), stop.clone(), Arc::clone(&turn)));
    jobs.spawn(retention::run(Arc::clone(app), stop.clone(), turn));
    jobs
}

/// Waits; `false` when it is time to stop instead.
async fn pause(duration: std::time::Duration, stop: &CancellationToken) -> bool {
    tokio::select! {
        () = stop.cancelled() => false,
        () = tokio::time::sleep(duration) => true,
    }
}
