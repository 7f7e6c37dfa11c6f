//! Group commit: batches that wait while others are committed are committed together.
//!
//! Writers (one by default) take groups from one queue. `commit.rs` stores a group in one transaction, under the locks
//! of the rows of its streams. Once it is durable, the writer waits until the follower has seen the commit, up to a
//! second, and replies to the senders. ADR 10 has the reasons.

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::Pool;
use queryscope_store::{CommitGroup, Committed, StoreError, StreamBatch};
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::commit::{self, Results};
use crate::conflict::Conflicts;
use crate::connect::said;
use crate::error::DbError;
use crate::follow::Follower;
use crate::format::Format;
use crate::hints::Hints;
use crate::terms::TermIds;

/// Work that may wait for the writers; beyond it new work is refused at once.
const QUEUE_MAX: usize = 4096;
/// Requests in one group commit.
const GROUP_REQUESTS_MAX: usize = 256;
/// Packed bytes in one group commit: bounds how long a group takes.
const GROUP_BYTES_MAX: usize = 16 << 20;
/// How long an answer waits for its commit to be looked at here; it is durable.
pub(crate) const LOOK_WAIT: Duration = Duration::from_secs(1);

type Waiting = (Box<StreamBatch>, oneshot::Sender<Result<Committed, StoreError>>);

/// A handle to the writers.
#[derive(Debug)]
pub(crate) struct Writer {
    queue: mpsc::Sender<Waiting>,
    closing: CancellationToken,
    workers: Mutex<JoinSet<()>>,
}

/// What writers share.
pub(crate) struct Writing {
    pub(crate) pool: Pool,
    pub(crate) format: Format,
    pub(crate) terms: Arc<TermIds>,
    pub(crate) follower: Arc<Follower>,
    pub(crate) hints: Hints,
    pub(crate) timeout: Duration,
    pub(crate) on_commit: Box<dyn Fn(CommitGroup) + Send + Sync>,
}

impl Writer {
    pub(crate) fn start(count: usize, writing: Writing) -> Self {
        let (queue, waiting) = mpsc::channel(QUEUE_MAX);
        let (waiting, writing) = (Arc::new(Mutex::new(waiting)), Arc::new(writing));
        let closing = CancellationToken::new();
        let mut workers = JoinSet::new();
        for _ in 0..count.max(1) {
            workers.spawn(run(Arc::clone(&waiting), Arc::clone(&writing), closing.clone()));
        }
        Self { queue, closing, workers: Mutex::new(workers) }
    }

    /// Commits a batch with others of its time.
    pub(crate) async fn commit(&self, batch: StreamBatch) -> Result<Committed, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.queue.try_send((Box::new(batch), reply)).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => StoreError::unavailable("too much waits to be written"),
            mpsc::error::TrySendError::Closed(_) => closed(),
        })?;
        answer.await.map_err(|_| closed())?
    }

    /// Batches that wait.
    pub(crate) fn queued(&self) -> usize {
        self.queue.max_capacity() - self.queue.capacity()
    }

    /// Takes nothing more, and waits until what has been taken is committed.
    pub(crate) async fn finish(&self) {
        self.closing.cancel();
        let mut workers = self.workers.lock().await;
        while workers.join_next().await.is_some() {}
    }
}

fn closed() -> StoreError {
    StoreError::unavailable("the store is closed")
}

async fn run(
    waiting: Arc<Mutex<mpsc::Receiver<Waiting>>>,
    writing: Arc<Writing>,
    closing: CancellationToken,
) {
    loop {
        let group = next_group(&mut *waiting.lock().await, &closing).await;
        if group.is_empty() {
            return;
        }
        let begun = Instant::now();
        let (batches, replies): (Vec<_>, Vec<_>) = group.into_iter().unzip();
        let batches: Vec<&StreamBatch> = batches.iter().map(|batch| &**batch).collect();
        let results = writing.commit(&batches).await;
        if results.iter().any(Result::is_ok) {
            writing.hints.committed();
            // Before the replies, so that a sender finds its runs in every read, if the database still answers.
            let _ = tokio::time::timeout(LOOK_WAIT, writing.follower.catch_up()).await;
            (writing.on_commit)(CommitGroup { requests: replies.len(), took: begun.elapsed() });
        }
        for (reply, result) in replies.into_iter().zip(results) {
            // The sender may have gone; the batch is stored all the same.
            let _ = reply.send(result);
        }
    }
}

/// What waits now, or the next to come; nothing at the end.
async fn next_group(waiting: &mut mpsc::Receiver<Waiting>, closing: &CancellationToken) -> Vec<Waiting> {
    let first = tokio::select! {
        first = waiting.recv() => first,
        () = closing.cancelled() => {
            waiting.close();
            waiting.recv().await
        }
    };
    let Some(first) = first else { return Vec::new() };
    let bytes_of = |(batch, _): &Waiting| batch.parts.iter().map(|part| part.gzip.len()).sum::<usize>();
    let mut bytes = bytes_of(&first);
    let mut group = vec![first];
    while group.len() < GROUP_REQUESTS_MAX && bytes < GROUP_BYTES_MAX {
        let Ok(next) = waiting.try_recv() else { break };
        bytes += bytes_of(&next);
        group.push(next);
    }
    group
}

impl Writing {
    async fn commit(&self, batches: &[&StreamBatch]) -> Results {
        match self.try_commit(batches).await {
            Ok(Some(results)) => results,
            // One batch must not cost the others their answer.
            Ok(None) => self.one_by_one(batches).await,
            Err(error) if batches.len() > 1 && is_of_a_batch(&error) => self.one_by_one(batches).await,
            Err(error) => {
                let (reason, full) = (said(&error), error.is_full());
                let failed = || {
                    let reason = reason.clone().into();
                    if full { StoreError::Full(reason) } else { StoreError::Unavailable(reason) }
                };
                batches.iter().map(|_| Err(failed())).collect()
            }
        }
    }

    async fn one_by_one(&self, batches: &[&StreamBatch]) -> Results {
        let mut results = Vec::with_capacity(batches.len());
        for batch in batches {
            results.push(match self.try_commit(&[batch]).await {
                Ok(Some(mut one)) if one.len() == 1 => one.remove(0),
                Ok(_) => Err(StoreError::unavailable("a batch alone cannot be split")),
                Err(error) => Err(error.into()),
            });
        }
        results
    }

    async fn try_commit(&self, batches: &[&StreamBatch]) -> Result<Option<Results>, DbError> {
        let mut conflicts = Conflicts::default();
        loop {
            let commit = commit::commit(&self.pool, self.format, &self.terms, batches);
            match tokio::time::timeout(self.timeout, commit).await {
                Err(_) => return Err(DbError::TimedOut),
                Ok(Err(error)) if conflicts.allow(&error) => {}
                Ok(result) => return result,
            }
        }
    }
}

/// Whether an error may be one batch's, not the database's: of its values, of a rule they break, or of a size.
fn is_of_a_batch(error: &DbError) -> bool {
    match error {
        DbError::Chunk(_) | DbError::Damaged(_) => true,
        DbError::Database(error) => {
            error.code().is_some_and(|state| ["22", "23", "54"].contains(&&state.code()[..2]))
        }
        DbError::Pool(_) | DbError::TimedOut | DbError::TooNew { .. } => false,
    }
}
