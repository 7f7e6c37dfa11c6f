//! Following the commits of all collectors: the columns and the followers in this one hear of them from here alone.
//!
//! A batch is answered after its commit was seen here: its runs are then in every read, and a subscriber that comes
//! after the answer hears only of later commits.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use deadpool_postgres::{Client, Pool};
use queryscope_columns::{Index, Snapshot};
use queryscope_store::{CommitFeed, Commits, StoreError};
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

use crate::connect::said;
use crate::error::DbError;
use crate::format::Format;
use crate::names::TermTexts;
use crate::options::PostgresOptions;
use crate::{change, columns, segments};

/// How long changes are kept for collectors that follow them; how long one may not have looked before it reads
/// everything anew.
const KEPT: Duration = Duration::from_mins(10);
const UNSEEN_MAX: Duration = Duration::from_mins(5);
/// How often old changes are forgotten.
const FORGET_EVERY: Duration = Duration::from_mins(1);
/// Pause after a look or a load that failed.
const FAILURE_PAUSE: Duration = Duration::from_millis(500);

/// What the last look came to.
#[derive(Debug, Clone, Default)]
struct Looked {
    /// The last turn that is answered.
    turn: u64,
    /// Why it could not be, when it could not.
    failed: Option<Arc<str>>,
}

/// The follower, as the rest of the store sees it.
#[derive(Debug)]
pub(crate) struct Follower {
    shared: Arc<Shared>,
    task: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug)]
struct Shared {
    pool: Pool,
    format: Format,
    terms: Arc<TermTexts>,
    /// How often segments are copied, if they are.
    copy_every: Option<Duration>,
    index: Index,
    feed: CommitFeed,
    /// Looks that were asked for.
    asked: AtomicU64,
    wake: Notify,
    looked: watch::Sender<Looked>,
}

impl Follower {
    /// Begins to follow and, where answers over many queries are to be given, to fill the columns.
    pub(crate) fn start(
        pool: Pool,
        format: Format,
        terms: Arc<TermTexts>,
        options: &PostgresOptions,
    ) -> Self {
        let shared = Arc::new(Shared {
            pool,
            format,
            terms,
            copy_every: options.upgrade.then_some(options.copy_every),
            index: Index::new(options.answers),
            feed: CommitFeed::new(),
            asked: AtomicU64::new(0),
            wake: Notify::new(),
            looked: watch::Sender::default(),
        });
        let task = tokio::spawn(run(Arc::clone(&shared), options.poll_every));
        Self { shared, task: Mutex::new(Some(task)) }
    }

    /// Follows the commits from now on.
    pub(crate) fn follow(&self) -> Commits {
        self.shared.feed.follow()
    }

    /// Has it look soon: somebody says that there is something new.
    pub(crate) fn hint(&self) {
        self.shared.wake.notify_one();
    }

    /// Waits until everything that is committed now has been looked at.
    pub(crate) async fn catch_up(&self) -> Result<(), StoreError> {
        let mut looked = self.shared.looked.subscribe();
        let turn = self.shared.asked.fetch_add(1, Ordering::SeqCst) + 1;
        self.shared.wake.notify_one();
        let result = looked.wait_for(|looked| looked.turn >= turn).await;
        match result.map(|looked| looked.failed.clone()) {
            Ok(None) => Ok(()),
            Ok(Some(reason)) => Err(StoreError::unavailable(reason.to_string())),
            Err(_) => Err(closed()),
        }
    }

    /// The columns as they are now; waits while they are being filled.
    pub(crate) async fn snapshot(&self) -> Result<Snapshot, StoreError> {
        self.catch_up().await?;
        self.shared.index.snapshot().await
    }

    /// The columns with everything that is committed now; `None` while they are being filled, or cannot follow.
    pub(crate) async fn snapshot_now(&self) -> Option<Snapshot> {
        self.catch_up().await.ok()?;
        self.shared.index.snapshot_now()
    }

    /// Follows no longer.
    pub(crate) async fn stop(&self) {
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(task) = task {
            task.abort();
            let _ = task.await;
        }
        let turn = u64::MAX;
        self.shared.looked.send_replace(Looked { turn, failed: Some("the store is closed".into()) });
    }
}

fn closed() -> StoreError {
    StoreError::unavailable("the store is closed")
}

async fn run(shared: Arc<Shared>, look_every: Duration) {
    loop {
        if let Err(error) = follow(&shared, look_every).await {
            let reason = said(&error);
            tracing::warn!(reason, "commits cannot be followed");
            let turn = shared.asked.load(Ordering::SeqCst);
            shared.looked.send_replace(Looked { turn, failed: Some(reason.into()) });
            tokio::time::sleep(FAILURE_PAUSE).await;
        }
    }
}

/// Follows from now on, until it has not looked for too long or the connection is lost: then everything must be read
/// anew. A server that crashed may give the number of a transaction again that changed nothing, so a snapshot says
/// what is new only for as long as one connection lives.
async fn follow(shared: &Arc<Shared>, look_every: Duration) -> Result<(), DbError> {
    let mut client = shared.pool.get().await?;
    let mut since = change::now(&client).await?;
    shared.index.empty();
    shared.feed.publish_unnoted();
    let load = || AbortOnDropHandle::new(tokio::spawn(load(Arc::clone(shared))));
    let _loading = (!shared.index.is_left_out()).then(load);
    let mut past: VecDeque<(Instant, String)> = VecDeque::new();
    let mut seen_at = Instant::now();
    while seen_at.elapsed() < UNSEEN_MAX {
        let turn = shared.asked.load(Ordering::SeqCst);
        since = look(shared, &mut client, &since).await?;
        seen_at = Instant::now();
        shared.looked.send_replace(Looked { turn, failed: None });
        if past.back().is_none_or(|(at, _)| at.elapsed() > FORGET_EVERY) {
            past.push_back((Instant::now(), since.clone()));
            forget(shared, &mut past).await;
        }
        if shared.asked.load(Ordering::SeqCst) == turn {
            let _ = tokio::time::timeout(look_every, shared.wake.notified()).await;
        }
    }
    Ok(())
}

async fn look(shared: &Shared, client: &mut Client, since: &str) -> Result<String, DbError> {
    let told = shared.feed.is_followed();
    let mut look = change::look(client, shared.format, &shared.terms, since, told).await?;
    if look.changes.is_none() && shared.feed.is_followed() {
        // Some of it may have been committed after they began to follow.
        look = change::look(client, shared.format, &shared.terms, since, true).await?;
    }
    if !look.rows.is_empty() && !shared.index.is_left_out() {
        shared.terms.learn(client, &mut look.rows).await?;
        // Before the changes are published, so that every read of a follower shows them.
        shared.index.apply(look.rows);
    }
    match look.changes {
        Some(changes) => shared.feed.publish(changes),
        None => shared.feed.publish_unnoted(),
    }
    shared.feed.publish_found(look.found);
    shared.feed.publish_issues(look.issues);
    Ok(look.snapshot)
}

/// Forgets changes that are older than any collector still asks for.
async fn forget(shared: &Shared, past: &mut VecDeque<(Instant, String)>) {
    let Some((at, snapshot)) = past.front() else { return };
    if at.elapsed() <= KEPT {
        return;
    }
    let forgotten = async { change::forget_before(&shared.pool.get().await?, snapshot).await }.await;
    if let Err(error) = forgotten {
        tracing::warn!(error = &error as &dyn std::error::Error, "old changes could not be forgotten");
    }
    past.pop_front();
}

/// Fills the columns; copies them for the next start from then on.
async fn load(shared: Arc<Shared>) {
    while let Err(error) = columns::load(&shared.pool, &shared.terms, &shared.index).await {
        tracing::warn!(error = &error as &dyn std::error::Error, "the runs could not be loaded");
        tokio::time::sleep(FAILURE_PAUSE).await;
    }
    let Some(pause) = shared.copy_every else { return };
    loop {
        tokio::time::sleep(pause).await;
        if let Err(error) = segments::copy_settled(&shared.pool, shared.format, &shared.index).await {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, "runs could not be copied for the next start");
        }
    }
}
