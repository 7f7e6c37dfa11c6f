//! A store in front of another.

use std::sync::Arc;

use async_trait::async_trait;
use queryscope_protocol::{QueryId, StreamId};
use tokio::sync::Semaphore;

use crate::{
    CommitFeed, Commits, Committed, Deleted, Facets, GroupsAnswer, GroupsRequest, ListRequest, Listed, Loss,
    OverviewAnswer, OverviewRequest, Query, QueryFilter, RecordingParts, Sealed, Store, StoreError,
    StoreStats, StreamBatch, StreamSeen, TokenRecord, VersionEntry,
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
                if let Some(turns) = &self.turns {
                    turns.acquire().await.map_err(StoreError::unavailable)?.forget();
                }
                self.store.commit(batch).await
            }

            fn commits(&self) -> Commits {
                self.feed.as_ref().map_or_else(|| self.store.commits(), CommitFeed::follow)
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
    versions(filter: QueryFilter) -> Vec<VersionEntry>;
    overview(request: OverviewRequest) -> OverviewAnswer;
    engines() -> Vec<String>;
    recording(id: QueryId) -> Option<RecordingParts>;
    chunks(ids: Vec<i64>) -> Vec<Option<Vec<u8>>>;
    unsealed(limit: usize) -> Vec<QueryId>;
    seal(sealed: Vec<Sealed>) -> Vec<String>;
    delete_before(started_unix_ns: i64, limit: usize) -> Vec<Deleted>;
    scan(after: Option<i64>, limit: usize) -> Vec<Listed>;
    losses(id: StreamId) -> Vec<Loss>;
    record_losses(losses: Vec<Loss>) -> ();
    probe() -> ();
    streams(after: Option<StreamId>, limit: usize) -> Vec<StreamSeen>;
    tokens() -> Vec<TokenRecord>;
    add_token(token: TokenRecord) -> bool;
    revoke_token(name: &str) -> bool;
    verify() -> Vec<String>;
    stats() -> StoreStats;
}
