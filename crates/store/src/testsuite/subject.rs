//! The store under test, and what cases ask of it.

use std::sync::Arc;

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, TestRunner};
use tokio::runtime::{Builder, Runtime};

use super::batch::{BatchBuilder, query_id};
use super::{Harness, Snapshot};
use crate::audit::StoreAudit;
use crate::chunk::{lines_of, unpack};
use crate::error::StoreError;
use crate::filter::{ListRequest, Order, QueryFilter};
use crate::query::{Query, Status};
use crate::recording::RecordingParts;
use crate::store::{Committed, Listed, Store};

/// More than any case stores.
pub(super) const ALL: usize = 10_000;

/// Makes a harness with an empty store.
type Make = fn() -> Box<dyn Harness>;

/// Runs a case on a runtime of its own.
pub(super) fn run(case: fn(&Subjects), make: Make) {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    case(&Subjects { runtime: runtime.expect("a runtime"), make });
}

/// Makes subjects.
pub(super) struct Subjects {
    runtime: Runtime,
    make: Make,
}

impl Subjects {
    /// Tries one subject.
    pub(super) fn one(&self, case: impl AsyncFnOnce(&mut Subject)) {
        self.runtime.block_on(async {
            let mut subject = Subject::open((self.make)()).await;
            case(&mut subject).await;
        });
    }

    /// Tries a fresh subject with each of several random values.
    pub(super) fn any<S: Strategy>(&self, values: S, case: &impl AsyncFn(&mut Subject, S::Value)) {
        let mut config = Config { failure_persistence: None, ..Config::default() };
        if std::env::var_os("PROPTEST_CASES").is_none() {
            config.cases = (self.make)().worlds();
        }
        let tried = TestRunner::new(config).run(&values, |value| {
            self.one(async |subject| case(subject, value).await);
            Ok(())
        });
        if let Err(error) = tried {
            panic!("{error}");
        }
    }
}

/// A store and the harness that opened it.
pub(super) struct Subject {
    harness: Box<dyn Harness>,
    pub(super) store: Arc<dyn StoreAudit>,
}

impl Subject {
    async fn open(harness: Box<dyn Harness>) -> Self {
        let store = harness.open().await;
        Self { harness, store }
    }

    /// Whether other processes may open it at the same time.
    pub(super) fn is_shared(&self) -> bool {
        self.harness.is_shared()
    }

    /// Closes the store and opens it again.
    pub(super) async fn reopen(&mut self) {
        self.store.close().await.expect("closed");
        self.store = self.harness.open().await;
    }

    /// Stores a batch: how many events were accepted, and how many were duplicates.
    pub(super) async fn commit(&self, batch: BatchBuilder) -> (u64, u64) {
        let Committed { accepted, duplicates, .. } = self.try_commit(batch).await.expect("stored");
        (accepted, duplicates)
    }

    pub(super) async fn try_commit(&self, batch: BatchBuilder) -> Result<Committed, StoreError> {
        self.store.commit(batch.build()).await
    }

    pub(super) async fn find(&self, query: u64) -> Option<Query> {
        self.store.query(query_id(query)).await.expect("a store")
    }

    pub(super) async fn query(&self, query: u64) -> Query {
        self.find(query).await.expect("a query")
    }

    pub(super) async fn status(&self, query: u64) -> Status {
        self.query(query).await.status
    }

    pub(super) async fn end_silent(&self, heard_before_unix_ms: i64) -> u64 {
        self.store.end_silent(heard_before_unix_ms).await.expect("a store")
    }

    pub(super) async fn parts(&self, query: u64) -> RecordingParts {
        self.store.recording(query_id(query)).await.expect("a store").expect("a query")
    }

    /// Ids of the chunks of a query, by first seq.
    pub(super) async fn chunk_ids(&self, query: u64) -> Vec<i64> {
        self.parts(query).await.chunks.iter().map(|chunk| chunk.id).collect()
    }

    /// The lines of each chunk of a query; checks that they are what the chunk says it holds.
    pub(super) async fn chunks(&self, query: u64) -> Vec<Vec<String>> {
        chunks_of(&*self.store, &self.parts(query).await).await
    }

    /// Numbers of the queries of a list.
    pub(super) async fn list(&self, filter: QueryFilter) -> Vec<u64> {
        numbers(&self.page(&request(filter)).await)
    }

    pub(super) async fn page(&self, request: &ListRequest) -> Vec<Listed> {
        self.store.queries(request.clone()).await.expect("a store")
    }

    pub(super) async fn snapshot(&self) -> Snapshot {
        Snapshot::of(&*self.store).await
    }
}

/// All queries of a filter, the newest first.
pub(super) fn request(filter: QueryFilter) -> ListRequest {
    ListRequest { filter, sort: None, order: Order::Newest, after: None, offset: 0, limit: ALL }
}

/// The numbers that `query_id` was given.
pub(super) fn numbers(listed: &[Listed]) -> Vec<u64> {
    listed.iter().map(|listed| number(&listed.query)).collect()
}

pub(super) fn number(query: &Query) -> u64 {
    query.query_id.uuid().as_u64_pair().1 & (u64::MAX >> 1)
}

/// The lines of each chunk of a recording.
pub(super) async fn chunks_of(store: &dyn Store, parts: &RecordingParts) -> Vec<Vec<String>> {
    let ids = parts.chunks.iter().map(|chunk| chunk.id).collect();
    let read = store.chunks(ids).await.expect("a store");
    let mut chunks = Vec::new();
    for (info, gzip) in parts.chunks.iter().zip(read) {
        let gzip = gzip.expect("a chunk that is listed");
        assert_eq!(gzip.len() as u64, info.bytes);
        let lines = unpack(&gzip).expect("sound");
        chunks.push(lines_of(&lines).map(|line| String::from_utf8(line.into()).expect("UTF-8")).collect());
    }
    chunks
}
