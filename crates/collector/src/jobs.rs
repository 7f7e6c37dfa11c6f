//! The background jobs of the service, started and stopped together.
//!
//! Sealing, gathering, retention and sweeping change recordings: they take turns by `recordings_lock.rs`.

mod gathering;
mod mutes;
pub(crate) mod reach;
mod recordings_lock;
mod retention;
mod sealing;
mod silence;
mod sweeping;
mod tokens;

use std::sync::Arc;

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::app::App;
use crate::trace::job;
use crate::{delivery, deploys, evaluation, live};
use recordings_lock::RecordingsLock;

/// Starts all jobs; they end soon after `stop` is cancelled.
pub(crate) fn start(app: &Arc<App>, stop: &CancellationToken) -> JoinSet<()> {
    let mut jobs = JoinSet::new();
    let lock = RecordingsLock::new(app.settings.recordings_lock.clone());
    let lock = Arc::new(lock.in_folder(app.settings.recordings_folder.clone()));
    jobs.spawn_on(
        live::run(Arc::clone(app), stop.clone()).instrument(job("live")),
        app.live.threads.handle(),
    );
    let evaluation = evaluation::run(Arc::clone(app), stop.clone()).instrument(job("evaluation"));
    jobs.spawn_on(evaluation, app.background.jobs.handle());
    jobs.spawn(delivery::run(Arc::clone(app), stop.clone()).instrument(job("delivery")));
    jobs.spawn(silence::run(Arc::clone(app), stop.clone()).instrument(job("silence")));
    jobs.spawn(deploys::run(Arc::clone(app), stop.clone()).instrument(job("deploys")));
    jobs.spawn(mutes::run(Arc::clone(app), stop.clone()).instrument(job("mutes")));
    jobs.spawn(tokens::run(Arc::clone(app), stop.clone()).instrument(job("tokens")));
    jobs.spawn(sealing::run(Arc::clone(app), stop.clone(), Arc::clone(&lock)).instrument(job("sealing")));
    jobs.spawn(reach::run(Arc::clone(app), stop.clone()).instrument(job("reach")));
    let sweeping = sweeping::run(Arc::clone(app), stop.clone(), Arc::clone(&lock), sweeping::FIRST_AFTER);
    jobs.spawn(sweeping.instrument(job("sweeping")));
    let gathering = gathering::run(Arc::clone(app), stop.clone(), Arc::clone(&lock), gathering::FIRST_AFTER);
    jobs.spawn_on(gathering.instrument(job("gathering")), app.background.jobs.handle());
    jobs.spawn(retention::run(Arc::clone(app), stop.clone(), lock).instrument(job("retention")));
    jobs
}

/// Waits; `false` when it is time to stop instead.
async fn pause(duration: std::time::Duration, stop: &CancellationToken) -> bool {
    tokio::select! {
        () = stop.cancelled() => false,
        () = tokio::time::sleep(duration) => true,
    }
}
