//! Turns the chunks of ended queries into recordings.
//!
//! Nobody waits for it: until then a recording is read from its chunks. So it gives way to ingest: it starts
//! once nothing has been committed for a moment, or once it has put this off for long enough, and while
//! requests keep coming it works a small part of the time.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use queryscope_protocol::QueryId;
use queryscope_recordings::SealRound;
use tokio_util::sync::CancellationToken;

use super::pause;
use super::turn::Turns;
use crate::app::App;

/// Recordings written in one round, and at the same time.
const ROUND: usize = 64;
const CONCURRENCY: usize = 8;
/// Ingest counts as quiet after this long without a commit.
const QUIET: Duration = Duration::from_millis(500);
/// Under steady ingest a round starts this long after the one before ended.
const BUSY_PAUSE: Duration = Duration::from_secs(5);
/// Pause after a failure, and how many rounds a query that failed is passed over for.
const FAILURE_PAUSE: Duration = Duration::from_secs(10);
/// Queries that are passed over at most; then all are tried again.
const SKIPPED_MAX: usize = 1024;

pub(crate) async fn run(app: Arc<App>, stop: CancellationToken, turns: Arc<Turns>) {
    let mut skip = HashSet::new();
    // What an earlier run of the service left.
    app.committed.notify_one();
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = app.committed.notified() => {}
        }
        while let Some(round) = wait_and_seal(&app, &stop, &turns, &skip).await {
            match round {
                Ok(round) => {
                    let more = round.full;
                    note(&app, round, &mut skip);
                    if !more {
                        break;
                    }
                }
                Err(error) => {
                    tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        "recordings could not be sealed"
                    );
                    if !pause(FAILURE_PAUSE, &stop).await {
                        return;
                    }
                    skip.clear();
                }
            }
        }
    }
}

/// Seals one round at a moment that suits ingest; `None` when it is time to stop.
async fn wait_and_seal(
    app: &Arc<App>,
    stop: &CancellationToken,
    turns: &Turns,
    skip: &HashSet<QueryId>,
) -> Option<Result<SealRound, queryscope_recordings::RecordingError>> {
    let begun = Instant::now();
    while begun.elapsed() < BUSY_PAUSE {
        tokio::select! {
            () = stop.cancelled() => return None,
            () = app.committed.notified() => {}
            () = tokio::time::sleep(QUIET) => break,
        }
    }
    let _turn = turns.take(stop).await?;
    Some(app.recordings.seal_round(&app.store, ROUND, CONCURRENCY, skip).await)
}

fn note(app: &App, round: SealRound, skip: &mut HashSet<QueryId>) {
    app.metrics.sealed.inc_by(round.sealed as u64);
    for (query_id, error) in round.failed {
        tracing::warn!(%query_id, error = &error as &dyn std::error::Error, "a recording could not be sealed");
        if skip.len() >= SKIPPED_MAX {
            skip.clear();
        }
        skip.insert(query_id);
    }
    for (path, error) in round.left {
        tracing::warn!(
            path,
            error = &error as &dyn std::error::Error,
            "an old recording could not be deleted"
        );
    }
}
