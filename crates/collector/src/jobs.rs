//! What goes on in the background while the service runs.

pub(crate) mod reach;
mod retention;
mod sealing;
mod silence;
mod tokens;
mod turn;
mod versions;

use std::sync::Arc;

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::live;
use turn::Turns;

/// Starts all jobs; they end soon after `stop` is cancelled.
pub(crate) fn start(app: &Arc<App>, stop: &CancellationToken) -> JoinSet<()> {
    let mut jobs = JoinSet::new();
    let turns = Turns::new(app.settings.recordings_lock.clone());
    let turns = Arc::new(turns.in_folder(app.settings.recordings_folder.clone()));
    jobs.spawn_on(live::run(Arc::clone(app), stop.clone()), app.live.threads.handle());
    jobs.spawn(silence::run(Arc::clone(app), stop.clone()));
    jobs.spawn(tokens::run(Arc::clone(app), stop.clone()));
    jobs.spawn(sealing::run(Arc::clone(app), stop.clone(), Arc::clone(&turns)));
    jobs.spawn(reach::run(Arc::clone(app), stop.clone()));
    jobs.spawn(versions::run(Arc::clone(app), stop.clone(), Arc::clone(&turns), versions::FIRST_AFTER));
    jobs.spawn(retention::run(Arc::clone(app), stop.clone(), turns));
    jobs
}

/// Waits; `false` when it is time to stop instead.
async fn pause(duration: std::time::Duration, stop: &CancellationToken) -> bool {
    tokio::select! {
        () = stop.cancelled() => false,
        () = tokio::time::sleep(duration) => true,
    }
}
