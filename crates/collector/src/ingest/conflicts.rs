//! Events that come again with other bytes.
//!
//! The first one stays, and the answer tells of a duplicate. Whether its bytes were others is found out afterwards, for
//! batches that had duplicates alone, one at a time, by the threads that stand back: every line is compared with
//! the stored one of its seq.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;
use queryscope_protocol::{Seq, StreamId, seq_of};
use queryscope_recordings::{LineReader, RecordingError};
use queryscope_store::{QueryPart, lines_of, unpack};
use tokio::sync::Semaphore;

use super::budget::Budget;
use super::decode::{Coding, Decoders};
use crate::app::App;

/// Bytes of bodies that may wait to be compared; those beyond are not compared.
const WAITING_BYTES_MAX: usize = 16 << 20;
/// Queries of a batch that are compared at most.
const QUERIES_MAX: usize = 256;
/// Lines after which others get their turn.
const LINES_AT_ONCE: usize = 256;
/// Streams that are known to have been told of; then all are told of again.
const TOLD_MAX: usize = 1024;

/// Finds conflicts in batches that had duplicates.
#[derive(Debug)]
pub(crate) struct Conflicts {
    waiting: Budget,
    turn: Semaphore,
    /// Apart from those of ingest, which must not wait for threads that stand back.
    decoders: Arc<Decoders>,
    told: Mutex<HashSet<StreamId>>,
}

impl Conflicts {
    pub(crate) fn new() -> Self {
        Self {
            waiting: Budget::new(WAITING_BYTES_MAX),
            turn: Semaphore::new(1),
            decoders: Arc::new(Decoders::new(1)),
            told: Mutex::default(),
        }
    }

    /// Whether a stream has not been told of yet.
    fn is_news(&self, stream: StreamId) -> bool {
        let mut told = self.told.lock();
        if told.len() >= TOLD_MAX {
            told.clear();
        }
        told.insert(stream)
    }
}

/// Compares a batch that was accepted, later; what does not fit what may wait is counted and let go.
pub(crate) fn compare(app: &Arc<App>, body: Bytes, coding: Coding) {
    let Some(waiting) = app.conflicts.waiting.take(body.len()) else {
        app.metrics.not_compared.inc();
        return;
    };
    let app = Arc::clone(app);
    app.background.jobs.handle().clone().spawn(async move {
        let Ok(_turn) = app.conflicts.turn.acquire().await else { return };
        if !compare_all(&app, body, coding).await {
            app.metrics.not_compared.inc();
        }
        drop(waiting);
    });
}

/// `false` when not all of it could be compared.
async fn compare_all(app: &Arc<App>, body: Bytes, coding: Coding) -> bool {
    let Ok(packed) = app.conflicts.decoders.decode(body, coding, app.clock.unix_ns()).await else {
        return false;
    };
    let mut all = packed.parts.len() <= QUERIES_MAX;
    let mut conflicting = packed.conflicting;
    for part in packed.parts.iter().take(QUERIES_MAX) {
        match conflicts_of(app, part).await {
            Ok(seqs) => conflicting.extend(seqs),
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::debug!(error, "events that came again could not be compared");
                all = false;
            }
        }
    }
    let Some(first) = conflicting.iter().min() else { return all };
    app.metrics.conflicting.inc_by(conflicting.len() as u64);
    let stream = packed.process.id;
    if app.conflicts.is_news(stream) {
        tracing::warn!(
            %stream,
            seq = first.get(),
            "an event came again with other bytes: the first one stays; said once for a stream"
        );
    }
    all
}

/// The seqs of a part whose stored lines are others; none when the query has been deleted.
async fn conflicts_of(app: &App, part: &QueryPart) -> Result<Vec<Seq>, RecordingError> {
    let Some(parts) = app.store.recording(part.query_id).await? else { return Ok(Vec::new()) };
    let Ok(lines) = unpack(&part.gzip) else { return Ok(Vec::new()) };
    let sent: HashMap<Seq, &[u8]> = part.seqs.iter().copied().zip(lines_of(&lines)).collect();
    let mut stored = LineReader::new(part.query_id, app.recordings.read(&app.store, parts).await?.bytes);
    // What the batch began with is no event of a query.
    stored.next_text().await?;
    let mut conflicts = Vec::new();
    let mut read = 0;
    while let Some(line) = stored.next_text().await? {
        let Some(seq) = seq_of(&line) else { continue };
        if part.seqs.last().is_none_or(|last| seq > *last) {
            break;
        }
        if sent.get(&seq).is_some_and(|sent| *sent != line) {
            conflicts.push(seq);
        }
        read += 1;
        if read % LINES_AT_ONCE == 0 {
            tokio::task::yield_now().await;
        }
    }
    Ok(conflicts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_told_of_once() {
        let conflicts = Conflicts::new();
        let stream = |n: u128| StreamId::new(uuid::Uuid::from_u128(n));
        assert!(conflicts.is_news(stream(1)) && conflicts.is_news(stream(2)));
        assert!(!conflicts.is_news(stream(1)));
        for n in 0..TOLD_MAX as u128 {
            conflicts.is_news(stream(n));
        }
        assert!(conflicts.told.lock().len() <= TOLD_MAX);
    }
}
