//! A store that fails when a test says so.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use async_trait::async_trait;
use queryscope_history::Window;
use queryscope_protocol::{QueryId, StreamId};
use queryscope_store::{
    Commits, Committed, Deleted, Facets, GroupBy, GroupEntry, ListRequest, Listed, OverviewEntry, Query,
    QueryFilter, RecordingParts, Sealed, Store, StoreError, StoreStats, StreamBatch, StreamSeen, TokenRecord,
    VersionEntry,
};
use queryscope_store_sqlite::SqliteStore;

/// How a store fails from now on.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fault {
    /// Not at all.
    None,
    /// Everything is refused as [`StoreError::Unavailable`].
    Unavailable,
    /// Everything is refused as [`StoreError::Fatal`].
    Fatal,
}

/// Says how a [`Faulty`] store fails; not at all at first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Faults(Arc<AtomicU8>);

impl Faults {
    pub(crate) fn set(&self, fault: Fault) {
        self.0.store(fault as u8, Ordering::SeqCst);
    }

    fn check(&self) -> Result<(), StoreError> {
        match self.0.load(Ordering::SeqCst) {
            0 => Ok(()),
            1 => Err(StoreError::unavailable("the disk /secret/path is full")),
            _ => Err(StoreError::Fatal("the sync of /secret/path failed".into())),
        }
    }
}

/// Does what the real store does, unless it fails.
pub(crate) struct Faulty {
    pub(crate) store: SqliteStore,
    pub(crate) faults: Faults,
}

macro_rules! delegate {
    ($($name:ident($($arg:ident: $type:ty),*) -> $answer:ty;)*) => {
        #[async_trait]
        impl Store for Faulty {
            $(async fn $name(&self, $($arg: $type),*) -> Result<$answer, StoreError> {
                self.faults.check()?;
                self.store.$name($($arg),*).await
            })*

            fn commits(&self) -> Commits {
                self.store.commits()
            }

            async fn close(&self) -> Result<(), StoreError> {
                self.store.close().await
            }
        }
    };
}

delegate! {
    commit(batch: StreamBatch) -> Committed;
    end_silent(heard_before_unix_ms: i64) -> u64;
    refresh_running(now_unix_ms: i64) -> ();
    query(id: QueryId) -> Option<Query>;
    queries(request: ListRequest) -> Vec<Listed>;
    facets(filter: QueryFilter) -> Facets;
    groups(filter: QueryFilter, by: GroupBy) -> Vec<GroupEntry>;
    versions(filter: QueryFilter) -> Vec<VersionEntry>;
    overview(filter: QueryFilter, window: Window) -> Vec<OverviewEntry>;
    engines() -> Vec<String>;
    recording(id: QueryId) -> Option<RecordingParts>;
    chunks(ids: Vec<i64>) -> Vec<Option<Vec<u8>>>;
    unsealed(limit: usize) -> Vec<QueryId>;
    seal(sealed: Vec<Sealed>) -> Vec<String>;
    delete_before(started_unix_ns: i64, limit: usize) -> Vec<Deleted>;
    scan(after: Option<i64>, limit: usize) -> Vec<Listed>;
    streams(after: Option<StreamId>, limit: usize) -> Vec<StreamSeen>;
    tokens() -> Vec<TokenRecord>;
    add_token(token: TokenRecord) -> bool;
    revoke_token(name: &str) -> bool;
    verify() -> Vec<String>;
    stats() -> StoreStats;
}
