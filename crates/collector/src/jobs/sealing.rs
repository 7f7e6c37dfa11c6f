//! Seals ended runs: joins the chunks of each into a recording, and deletes the chunks.
//!
//! Problem: chunks must not pile up, but to write a recording durably takes syncs and CPU that ingest needs, too. No
//! reader waits for it: until then a recording is read from its chunks.
//!
//! Mechanism: the sealer works in rounds of up to 1,024 recordings or 8 MiB, which share a pack. Where fewer runs are
//! left than the round before took, they wait for others, up to a minute (`--seal-within`) or until a round is full.
//! A round begins when nothing has been committed for half a second, or when the pause of `pace.rs` is over. The pause
//! shrinks while more are left than a round takes, until sealing works half of the time. While batches are refused,
//! the sealer waits, for a minute in all. When the bucket or folder of the recordings is away, the chunks stay in the
//! store: the next round comes after 2 s, 4 s … 60 s, or as soon as `reach.rs` reaches the recordings again. Reasons:
//! ADRs 14 and 32.

mod pace;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use queryscope_protocol::QueryId;
use queryscope_recordings::{RecordingError, SealRound};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use self::pace::Pace;
use super::recordings_lock::RecordingsLock;
use super::{pause, reach};
use crate::app::App;

/// Recordings of one round, and of these written at the same time.
const ROUND: usize = 1024;
const CONCURRENCY: usize = 8;
/// Ingest counts as quiet after this long without a commit.
const QUIET: Duration = Duration::from_millis(500);
/// Pause after a failure of the store or of the place for recordings; the next is twice as long.
const FAILURE_PAUSE: Duration = Duration::from_secs(2);
const FAILURE_PAUSE_MAX: Duration = Duration::from_mins(1);
/// Queries that are passed over at most; then all are tried again.
const SKIPPED_MAX: usize = 1024;

pub(crate) async fn run(app: Arc<App>, stop: CancellationToken, lock: Arc<RecordingsLock>) {
    let mut skip = Skip::default();
    let mut failure_pause = FAILURE_PAUSE;
    let mut pace = Pace::default();
    // What an earlier run of the service left.
    app.committed.notify_one();
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = app.committed.notified() => {}
        }
        while let Some((round, ended, took)) = wait_and_seal(&app, &stop, &lock, &mut pace, &skip).await {
            let (sealed, full) = round.as_ref().map_or((0, false), |round| (round.sealed, round.full));
            let is_done = note(&app, round, &mut skip);
            let wait_since = match pace.wait_since {
                _ if !full => Some(ended),
                Some(_) => wait_since(&app, &skip, sealed).await,
                None => None,
            };
            pace.after(wait_since, took);
            if is_done {
                failure_pause = FAILURE_PAUSE;
                // The others are done: what could not be reached is tried again.
                if full || skip.take_unreached() {
                    continue;
                }
                break;
            }
            if !pause_unless_reached(&app, failure_pause, &stop).await {
                return;
            }
            failure_pause = (failure_pause * 2).min(FAILURE_PAUSE_MAX);
            if !full {
                skip = Skip::default();
            }
        }
    }
}

/// Queries that the next rounds pass over, so that others come to their turn.
#[derive(Debug, Default)]
struct Skip {
    ids: HashSet<QueryId>,
    /// Whether some of them are whole, and their place could not be reached.
    has_unreached: bool,
}

impl Skip {
    fn add(&mut self, id: QueryId, is_unreached: bool) {
        if self.ids.len() >= SKIPPED_MAX {
            self.ids.clear();
        }
        self.ids.insert(id);
        self.has_unreached |= is_unreached;
    }

    /// Passes over none any more where some could not be reached; whether that is so.
    fn take_unreached(&mut self) -> bool {
        let has_unreached = self.has_unreached;
        if has_unreached {
            *self = Self::default();
        }
        has_unreached
    }
}

/// Since how many had ended runs wait for others after a full round, which sealed so many; `None` when the next may be
/// as full.
async fn wait_since(app: &App, skip: &Skip, sealed: usize) -> Option<u64> {
    let ended = app.evaluation.ended_count();
    let ids = app.store.unsealed(ROUND + skip.ids.len()).await.ok()?;
    let waiting = ids.iter().filter(|id| !skip.ids.contains(id)).count();
    (waiting < sealed).then(|| ended.wrapping_sub(waiting as u64))
}

/// Waits after a failure, no longer than until recordings can be reached again; `false` when it is time to stop.
async fn pause_unless_reached(app: &App, duration: Duration, stop: &CancellationToken) -> bool {
    tokio::select! {
        go_on = pause(duration, stop) => go_on,
        () = app.reached.notified() => true,
    }
}

/// Seals one round at a moment that suits ingest, after the pause at the latest; how many runs had ended when it began,
/// and how long it took. `None` when it is time to stop.
async fn wait_and_seal(
    app: &Arc<App>,
    stop: &CancellationToken,
    lock: &RecordingsLock,
    pace: &mut Pace,
    skip: &Skip,
) -> Option<(Result<SealRound, RecordingError>, u64, Duration)> {
    let begun = queryscope_store::now();
    let gather = if pace.wait_since.is_some() { app.settings.seal_within } else { Duration::ZERO };
    let since = pace.wait_since.unwrap_or_else(|| app.evaluation.ended_count());
    let is_full = || app.evaluation.ended_count().wrapping_sub(since) >= ROUND as u64;
    while begun.elapsed() < gather + pace.pause && !is_full() {
        let rest = gather.saturating_sub(begun.elapsed());
        let quiet = if rest.is_zero() { QUIET.min(pace.pause) } else { rest };
        tokio::select! {
            () = stop.cancelled() => return None,
            () = app.committed.notified() => {}
            () = tokio::time::sleep(quiet) => if rest.is_zero() { break },
        }
    }
    while let Some(rest) = pace.stand_back(app.admission.is_overloaded(app.clock.steady_ms())) {
        if !pause(rest, stop).await {
            return None;
        }
    }
    let _guard = lock.take(stop).await?;
    let begun = queryscope_store::now();
    let ended = app.evaluation.ended_count();
    let threads = app.background.jobs.handle().clone();
    let (app, skip) = (Arc::clone(app), skip.ids.clone());
    let round = async move { app.recordings.seal_round(&app.store, ROUND, CONCURRENCY, &skip).await };
    let round = AbortOnDropHandle::new(threads.spawn(round)).await;
    Some((round.expect("a round does not panic and is not aborted"), ended, begun.elapsed()))
}

/// Notes what a round did; `false` when it has to be tried again after a pause.
fn note(app: &App, round: Result<SealRound, RecordingError>, skip: &mut Skip) -> bool {
    let round = match round {
        Ok(round) => round,
        Err(error) => {
            app.metrics.recordings_failed("seal");
            if let RecordingError::Store(error) = &error {
                app.watch(error);
            }
            tracing::warn!(error = &error as &dyn std::error::Error, "recordings could not be sealed");
            return false;
        }
    };
    app.metrics.sealed.inc_by(round.sealed as u64);
    tracing::debug!(
        sealed = round.sealed,
        failed = round.failed.len(),
        full = round.full,
        "a round was sealed"
    );
    let unavailable = |error: &RecordingError| matches!(error, RecordingError::Unavailable(_));
    let away = round.failed.iter().map(|(_, error)| error).find(|error| unavailable(error));
    let away = away.filter(|_| round.sealed == 0);
    if round.sealed > 0 || away.is_some() {
        reach::note(app, away);
    }
    for (query_id, error) in &round.failed {
        app.metrics.recordings_failed("seal");
        // Why the recordings cannot be reached has been said once.
        if away.is_none() || !unavailable(error) {
            let error = error as &dyn std::error::Error;
            tracing::warn!(%query_id, error, "a recording could not be sealed");
        }
        skip.add(*query_id, unavailable(error));
    }
    for (path, error) in &round.left {
        tracing::warn!(
            path,
            error = error as &dyn std::error::Error,
            "an old recording could not be deleted"
        );
    }
    !round.failed.iter().any(|(_, error)| unavailable(error))
}

#[cfg(test)]
mod tests;
