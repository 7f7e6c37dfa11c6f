//! The writer's thread: group commit, and all other work that writes.
//!
//! Problem: a durable commit costs a sync, and SQLite takes one writer at a time. A commit for each batch would bound
//! ingest by the syncs of the disk.
//!
//! Mechanism: one thread owns the writing connection and takes work from a bounded queue. `commit_group` commits the
//! batches that wait in one transaction, brings the columns up to date, publishes the changes, and replies to the
//! senders, in this order: a sender that has its reply finds the batch in every read. If the transaction fails, each
//! batch is committed alone. After a failed sync nothing is written any more.
//!
//! Prior art: group commit of PostgreSQL (`commit_delay`) and of InnoDB. ADR 1 has the reasons.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;

use queryscope_columns::{Index, QueryState, RowState};
use queryscope_issues::Issue;
use queryscope_store::{
    Carrier, Change, CommitFeed, CommitGroup, Commits, Committed, StoreError, StoredChange, StreamBatch,
};
use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::{mpsc, oneshot};

use crate::checkpoint::Checkpointer;
use crate::commit::Committer;
use crate::error::{OpenError, store_error};
use crate::load;
use crate::migrate::open_writer;
use crate::options::SqliteOptions;
use crate::pace::Pace;
use crate::places::Places;
use crate::segments::Copier;
use crate::touched::Touched;
use crate::vacuum::Vacuum;

/// Work that may wait for the writer; beyond it new work is refused at once.
const QUEUE_MAX: usize = 4096;
/// Requests in one group commit.
const GROUP_REQUESTS_MAX: usize = 256;
/// Packed bytes in one group commit: bounds how long a group takes.
const GROUP_BYTES_MAX: usize = 16 << 20;

type Reply<T> = oneshot::Sender<Result<T, StoreError>>;

/// Work that is not a batch.
type Work = Box<dyn FnOnce(Result<&mut Connection, StoreError>) -> WorkEnd + Send>;

/// What is left to do once work is done.
struct WorkEnd {
    /// Whether it found that the store cannot go on.
    failed: bool,
    /// Tells followers what it changed, and who asked that it is done.
    tell: Box<dyn FnOnce() + Send>,
}

enum Job {
    Commit(Box<StreamBatch>, Reply<Committed>),
    Write(Work),
    Close(oneshot::Sender<()>),
}

/// A handle to the writer's thread.
#[derive(Debug)]
pub(crate) struct Writer {
    jobs: mpsc::Sender<Job>,
    feed: CommitFeed,
}

impl Writer {
    /// Opens the database and starts the thread.
    pub(crate) fn start(
        path: &Path,
        options: SqliteOptions,
        index: Arc<Index>,
    ) -> Result<(Self, JoinHandle<()>), OpenError> {
        let mut db = open_writer(path, options.upgrade)?;
        let failed = |source| OpenError::Database { path: path.to_owned(), source };
        let committer = Committer::new(&db).map_err(failed)?;
        let touched = Touched::watch(&mut db).map_err(failed)?;
        let (sender, jobs) = mpsc::channel(QUEUE_MAX);
        let feed = CommitFeed::new();
        let copies = options.upgrade && options.answers;
        let now = queryscope_store::now();
        let copier = copies.then(|| Copier::new(&db, now)).transpose().map_err(failed)?;
        let vacuum = if copies { Vacuum::new(&db, now).map_err(failed)? } else { None };
        let worker = Worker {
            places: Places::of(path, options.held),
            db,
            committer,
            checkpointer: Checkpointer::new(options.on_checkpoint),
            copier,
            vacuum,
            feed: feed.clone(),
            touched,
            index,
            on_commit: options.on_commit,
            failed: false,
        };
        let thread = std::thread::Builder::new()
            .name("store-writer".into())
            .spawn(move || worker.run(jobs))
            .map_err(OpenError::Thread)?;
        Ok((Self { jobs: sender, feed }, thread))
    }

    /// Commits a batch with others of its time.
    pub(crate) async fn commit(&self, batch: StreamBatch) -> Result<Committed, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.send(Job::Commit(Box::new(batch), reply))?;
        answer.await.map_err(|_| closed())?
    }

    /// Follows the commits from now on.
    pub(crate) fn follow(&self) -> Commits {
        self.feed.follow()
    }

    /// Tells followers of changes of queries that are committed.
    pub(crate) fn tell_found(&self, found: Vec<StoredChange>) {
        self.feed.publish_found(found);
    }

    /// Tells followers of issues whose transitions are committed.
    pub(crate) fn tell_issues(&self, issues: Vec<Issue>) {
        self.feed.publish_issues(issues);
    }

    /// Runs work in a transaction of its own.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.write_and_tell(|db| Ok((work(db)?, Vec::new()))).await
    }

    /// Runs work in a transaction of its own and tells followers what it changed.
    pub(crate) async fn write_and_tell<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<(T, Vec<Change>)> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (feed, carrier) = (self.feed.clone(), Carrier::current());
        let (reply, answer) = oneshot::channel();
        self.send(Job::Write(Box::new(move |db| {
            let result = db.and_then(|db| {
                carrier.run(|| {
                    let transaction =
                        db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(store_error)?;
                    let done = work(&transaction).map_err(store_error)?;
                    transaction.commit().map_err(store_error)?;
                    Ok(done)
                })
            });
            let failed = matches!(result, Err(StoreError::Fatal(_)));
            let tell = Box::new(move || {
                let result = result.map(|(done, changes)| {
                    feed.publish(changes);
                    done
                });
                // The caller may have gone; the work is done all the same.
                let _ = reply.send(result);
            });
            WorkEnd { failed, tell }
        })))?;
        answer.await.map_err(|_| closed())?
    }

    /// Finishes what waits and ends the thread.
    pub(crate) async fn close(&self) {
        let (done, closed) = oneshot::channel();
        if self.jobs.send(Job::Close(done)).await.is_ok() {
            let _ = closed.await;
        }
    }

    /// Work that waits.
    pub(crate) fn queued(&self) -> usize {
        self.jobs.max_capacity() - self.jobs.capacity()
    }

    fn send(&self, job: Job) -> Result<(), StoreError> {
        self.jobs.try_send(job).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => StoreError::unavailable("too much waits to be written"),
            mpsc::error::TrySendError::Closed(_) => closed(),
        })
    }
}

fn closed() -> StoreError {
    StoreError::unavailable("the store is closed")
}

struct Worker {
    places: Places,
    db: Connection,
    committer: Committer,
    checkpointer: Checkpointer,
    /// None where the columns are empty, or nothing is written that nobody asked for.
    copier: Option<Copier>,
    /// None where the database has no map of pages, or nothing is written that nobody asked for.
    vacuum: Option<Vacuum>,
    feed: CommitFeed,
    touched: Touched,
    index: Arc<Index>,
    on_commit: Box<dyn Fn(CommitGroup) + Send>,
    /// Set by the first fatal error: from then on everything is refused.
    failed: bool,
}

impl Worker {
    fn run(mut self, mut jobs: mpsc::Receiver<Job>) {
        let (mut group, mut pace) = (Vec::<(Box<StreamBatch>, _)>::new(), Pace::default());
        let mut next = jobs.blocking_recv();
        while let Some(job) = next.take() {
            match job {
                Job::Commit(batch, reply) => {
                    std::thread::sleep(pace.wait(batch.process.id, queryscope_store::now()));
                    group.push((batch, reply));
                    next = fill(&mut group, &mut jobs);
                    pace.begin(queryscope_store::now(), group.iter().map(|(batch, _)| batch.process.id));
                    self.commit_group(&mut group);
                }
                Job::Write(work) => self.write(work),
                Job::Close(done) => {
                    jobs.close();
                    while let Some(job) = jobs.blocking_recv() {
                        match job {
                            Job::Commit(batch, reply) => self.commit_group(&mut vec![(batch, reply)]),
                            Job::Write(work) => self.write(work),
                            Job::Close(_) => {}
                        }
                    }
                    self.close();
                    let _ = done.send(());
                    return;
                }
            }
            self.checkpoint();
            // One at most while somebody waits.
            while self.copy_segment() && next.is_none() && jobs.is_empty() {
                self.checkpoint();
            }
            while next.is_none() && jobs.is_empty() && self.vacuum() {
                self.checkpoint();
            }
            next = next.or_else(|| jobs.blocking_recv());
        }
        self.close();
    }

    /// Closes the database. The last connection to do so moves what is left of the log, and deletes the log by its
    /// name: where another database has taken the place, that would be the other's.
    fn close(mut self) {
        if self.places.displaced_now(queryscope_store::now()).is_some() {
            std::mem::forget(self.db);
        }
    }

    /// Whether something may be written.
    fn may_write(&mut self) -> Result<(), StoreError> {
        if self.failed {
            return Err(spent());
        }
        self.places.displaced(queryscope_store::now()).map_or(Ok(()), |path| Err(StoreError::Displaced(path)))
    }

    fn write(&mut self, work: Work) {
        let may = self.may_write();
        let end = work(may.map(|()| &mut self.db));
        self.failed |= end.failed;
        // Before the followers and the caller hear of it, so that every read of theirs shows it.
        self.move_columns();
        (end.tell)();
    }

    /// Brings the columns up to what has been committed, or left as it was.
    fn move_columns(&mut self) {
        let touched = self.touched.take();
        match rows_now(&mut self.db, &touched, self.committer.take_inserted()) {
            Ok(rows) => self.index.apply(rows),
            Err(error) => {
                self.touched.note(touched);
                tracing::error!(error = &error as &dyn std::error::Error, "answers over many runs lag");
            }
        }
    }

    fn commit_group(&mut self, group: &mut Vec<(Box<StreamBatch>, Reply<Committed>)>) {
        let begun = queryscope_store::now();
        let mut results = self.try_commit(group);
        if results.is_err() && !self.failed && group.len() > 1 {
            // One batch must not cost the others their answer.
            for one in group.drain(..) {
                self.commit_group(&mut vec![one]);
            }
            return;
        }
        // Before the replies, so that a sender that has its reply finds its runs in every read.
        self.move_columns();
        // Before the replies, so that a sender that begins to follow after its reply hears only of later commits.
        if results.is_ok() {
            match self.committer.take_changes() {
                Some(changes) => self.feed.publish(changes),
                None => self.feed.publish_unnoted(),
            }
        }
        let requests = group.len();
        for (at, (_, reply)) in group.drain(..).enumerate() {
            let result = match &mut results {
                Ok(results) => std::mem::replace(&mut results[at], Err(spent())),
                Err(error) => Err(Self::explain(error)),
            };
            // The sender may have gone; the batch is stored all the same.
            let _ = reply.send(result);
        }
        if results.is_ok() {
            (self.on_commit)(CommitGroup { requests, took: begun.elapsed() });
        }
    }

    /// Commits all batches in one transaction: a result each, or the error that undid them all.
    fn try_commit(
        &mut self,
        group: &[(Box<StreamBatch>, Reply<Committed>)],
    ) -> Result<Vec<Result<Committed, StoreError>>, StoreError> {
        self.may_write()?;
        self.committer.begin(self.feed.is_followed());
        let result = commit_all(&mut self.db, &mut self.committer, group);
        if let Err(error) = &result {
            self.committer.forget();
            if matches!(error, StoreError::Fatal(_)) {
                tracing::error!(error = error as &dyn std::error::Error, "the store cannot go on");
                self.failed = true;
            }
        }
        result
    }

    /// An error for each of several who wait on the same work.
    fn explain(error: &StoreError) -> StoreError {
        match error {
            StoreError::Fatal(cause) => StoreError::Fatal(cause.to_string().into()),
            StoreError::Full(cause) => StoreError::Full(cause.to_string().into()),
            StoreError::Displaced(path) => StoreError::Displaced(path.clone()),
            StoreError::Unavailable(cause) => StoreError::unavailable(cause.to_string()),
            other => StoreError::unavailable(other.to_string()),
        }
    }

    /// Copies a segment if one is due: whether it did.
    fn copy_segment(&mut self) -> bool {
        // Columns that lag would be copied as they were.
        let may = !self.failed && self.touched.is_empty();
        let Some(copier) = self.copier.as_mut().filter(|_| may) else { return false };
        copier.run(&mut self.db, &self.index, queryscope_store::now()).map_err(store_error).unwrap_or_else(
            |error| {
                let cause = &error as &dyn std::error::Error;
                tracing::warn!(error = cause, "runs could not be copied for the next start");
                self.failed = matches!(error, StoreError::Fatal(_));
                false
            },
        )
    }

    /// Gives free pages back if it is time: whether it did.
    fn vacuum(&mut self) -> bool {
        let Some(vacuum) = self.vacuum.as_mut().filter(|_| !self.failed) else { return false };
        vacuum.run(&self.db, queryscope_store::now()).map_err(store_error).unwrap_or_else(|error| {
            let cause = &error as &dyn std::error::Error;
            tracing::warn!(error = cause, "free pages of the database could not be given back");
            self.failed = matches!(error, StoreError::Fatal(_));
            false
        })
    }

    fn checkpoint(&mut self) {
        if self.failed {
            return;
        }
        if let Err(error) = self.checkpointer.run(&self.db).map_err(store_error) {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "the log could not be moved into the database"
            );
            self.failed = matches!(error, StoreError::Fatal(_));
        }
    }
}

/// Takes the commits that wait into the group; gives back the first other job.
fn fill(
    group: &mut Vec<(Box<StreamBatch>, Reply<Committed>)>,
    jobs: &mut mpsc::Receiver<Job>,
) -> Option<Job> {
    let bytes_of = |batch: &StreamBatch| -> usize { batch.parts.iter().map(|part| part.gzip.len()).sum() };
    let mut bytes: usize = group.iter().map(|(batch, _)| bytes_of(batch)).sum();
    while group.len() < GROUP_REQUESTS_MAX && bytes < GROUP_BYTES_MAX {
        match jobs.try_recv() {
            Ok(Job::Commit(batch, reply)) => {
                bytes += bytes_of(&batch);
                group.push((batch, reply));
            }
            Ok(other) => return Some(other),
            Err(_) => break,
        }
    }
    None
}

fn commit_all(
    db: &mut Connection,
    committer: &mut Committer,
    group: &[(Box<StreamBatch>, Reply<Committed>)],
) -> Result<Vec<Result<Committed, StoreError>>, StoreError> {
    let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(store_error)?;
    committer.begin_transaction(&transaction).map_err(store_error)?;
    let mut results = Vec::with_capacity(group.len());
    for (batch, _) in group {
        results.push(match committer.commit(&transaction, batch) {
            Err(error) if error.is_failure() => return Err(error),
            result => result,
        });
    }
    transaction.commit().map_err(store_error)?;
    Ok(results)
}

/// What touched rows are now. Those that a group put in are known, the others are read, all at one moment: for each
/// read of its own SQLite would lock the log anew.
fn rows_now(
    db: &mut Connection,
    touched: &[i64],
    mut inserted: HashMap<i64, QueryState>,
) -> rusqlite::Result<Vec<RowState>> {
    let (known, unknown): (Vec<i64>, Vec<i64>) = touched.iter().partition(|row| inserted.contains_key(row));
    let mut rows = Vec::with_capacity(touched.len());
    rows.extend(known.into_iter().map(|row| RowState { row, query: inserted.remove(&row) }));
    if !unknown.is_empty() {
        let snapshot = db.transaction()?;
        for row in unknown {
            rows.push(load::read(&snapshot, row)?);
        }
    }
    Ok(rows)
}

fn spent() -> StoreError {
    StoreError::Fatal("an earlier error ended writing".into())
}
