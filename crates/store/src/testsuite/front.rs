//! A store in front of another.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use queryscope_history::Version;
use queryscope_issues::{Issue, Note};
use queryscope_protocol::QueryId;
use tokio::sync::Semaphore;

use crate::{
    AccessStore, ChangesRequest, CommitFeed, Commits, Committed, Deleted, DeployStore, Evaluation, Facets,
    GroupsAnswer, GroupsRequest, IssueCount, IssueMoved, IssueRecord, IssueStep, IssuesRequest, ListRequest,
    Listed, NoteAdded, NoteStore, OutboxStore, OverviewAnswer, OverviewRequest, OwnerOf, Pack, PendingRun,
    Places, Query, QueryFilter, QueryHistory, QueryKey, RecordingParts, Sealed, Series, SeriesRequest, Store,
    StoreError, StoreStats, StoredChange, StreamBatch, TokenRecord, ViewStore,
};

/// Does what the store behind it does, for tests of what a collector does when a store fails or forgets.
pub struct Front<S> {
    /// The store behind.
    pub store: S,
    /// Asked before every call; its error is the answer.
    pub check: Box<dyn Fn() -> Result<(), StoreError> + Send + Sync>,
    /// Turns that commits wait for, and do not give back; without it none waits.
    pub turns: Option<Arc<Semaphore>>,
    /// What followers hear instead of the commits of the store behind.
    pub feed: Option<CommitFeed>,
    /// Whether it is of the format before the diagnosis: while set, no batch appends to the inbox, and nothing is
    /// brought forward.
    pub is_old: Arc<AtomicBool>,
    /// Queries that were stored while it was: their runs are not in its inbox.
    pub stored_before: Arc<Mutex<HashSet<QueryId>>>,
}

impl<S> Front<S> {
    fn hidden(&self) -> MutexGuard<'_, HashSet<QueryId>> {
        self.stored_before.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

macro_rules! delegate {
    ($($name:ident($($arg:ident: $type:ty),*) -> $answer:ty;)*) => {
        #[async_trait]
        impl<S: Store> Store for Front<S> {
            $(async fn $name(&self, $($arg: $type),*) -> Result<$answer, StoreError> {
                (self.check)()?;
                self.store.$name($($arg),*).await
            })*

            async fn commit(&self, batch: StreamBatch) -> Result<Committed, StoreError> {
                (self.check)()?;
                if self.is_old.load(Ordering::SeqCst) {
                    self.hidden().extend(batch.parts.iter().map(|part| part.query_id));
                }
                if let Some(turns) = &self.turns {
                    turns.acquire().await.map_err(StoreError::unavailable)?.forget();
                }
                self.store.commit(batch).await
            }

            fn commits(&self) -> Commits {
                self.feed.as_ref().map_or_else(|| self.store.commits(), CommitFeed::follow)
            }

            async fn pending_runs(&self, after: Option<i64>, limit: usize) -> Result<Vec<PendingRun>, StoreError> {
                (self.check)()?;
                let mut runs = self.store.pending_runs(after, limit).await?;
                runs.retain(|run| !self.hidden().contains(&run.query_id));
                Ok(runs)
            }

            async fn is_brought_forward(&self) -> Result<bool, StoreError> {
                (self.check)()?;
                Ok(!self.is_old.load(Ordering::SeqCst) && self.store.is_brought_forward().await?)
            }

            async fn mark_brought_forward(&self) -> Result<(), StoreError> {
                (self.check)()?;
                self.store.mark_brought_forward().await?;
                self.is_old.store(false, Ordering::SeqCst);
                Ok(())
            }

            fn access(&self) -> &dyn AccessStore {
                self.store.access()
            }

            fn deploys(&self) -> &dyn DeployStore {
                self.store.deploys()
            }

            fn notes(&self) -> &dyn NoteStore {
                self.store.notes()
            }

            fn views(&self) -> &dyn ViewStore {
                self.store.views()
            }

            fn outbox(&self) -> &dyn OutboxStore {
                self.store.outbox()
            }

            async fn close(&self) -> Result<(), StoreError> {
                self.store.close().await
            }
        }
    };
}

delegate! {
    end_silent(heard_before_unix_ms: i64) -> u64;
    refresh_running(now_unix_ms: i64) -> ();
    query(id: QueryId) -> Option<Query>;
    queries(request: ListRequest) -> Vec<Listed>;
    facets(filter: QueryFilter) -> Facets;
    groups(request: GroupsRequest) -> GroupsAnswer;
    versions(filter: QueryFilter) -> Vec<Version>;
    overview(request: OverviewRequest) -> OverviewAnswer;
    series(request: SeriesRequest) -> Series;
    place_totals(filter: QueryFilter, owner_of: Option<OwnerOf>) -> Places;
    engines() -> Vec<String>;
    recording(id: QueryId) -> Option<RecordingParts>;
    recordings(ids: &[QueryId]) -> Vec<Option<RecordingParts>>;
    chunks(ids: Vec<i64>) -> Vec<Option<Vec<u8>>>;
    unsealed(limit: usize) -> Vec<QueryId>;
    seal(sealed: Vec<Sealed>) -> Vec<String>;
    packs(day: i64) -> Vec<Pack>;
    give_up_pack(pack: Pack) -> bool;
    delete_before(started_unix_ns: i64, limit: usize) -> Deleted;
    probe() -> ();
    evaluation_lease(holder: &str, ttl: Duration) -> bool;
    record_evaluation(evaluation: Evaluation) -> bool;
    query_history(key: &QueryKey) -> Option<QueryHistory>;
    forget_evaluation(holder: &str, key: &QueryKey) -> bool;
    evaluated_queries(after: Option<QueryKey>, limit: usize) -> Vec<QueryKey>;
    changes(request: ChangesRequest) -> Vec<StoredChange>;
    change(id: &str) -> Option<StoredChange>;
    issues(request: IssuesRequest) -> Vec<Issue>;
    issue(id: &str) -> Option<IssueRecord>;
    move_issue(id: &str, step: IssueStep, unix_ns: i64) -> IssueMoved;
    note_issue(id: &str, note: Note) -> NoteAdded;
    mutes_due(unix_ns: i64, limit: usize) -> Vec<String>;
    issue_counts() -> Vec<IssueCount>;
    tokens() -> Vec<TokenRecord>;
    add_token(token: TokenRecord) -> bool;
    revoke_token(name: &str) -> bool;
    stats() -> StoreStats;
}
