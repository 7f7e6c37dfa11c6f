//! A collector in memory, asked through its router.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Request, StatusCode, header};
use futures_util::StreamExt;
use http_body_util::BodyExt;
use object_store::memory::InMemory;
use queryscope_collector::{Access, Clock, Collector, CommitMetrics, Reading, Routes, Settings, hash_token};
use queryscope_protocol::QueryId;
use queryscope_recordings::{LineReader, Recordings};
use queryscope_store::Store;
use queryscope_store::testsuite::MemoryStore;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

pub(crate) const TOKEN: &str = "fuzz";
/// How long one answer may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Where it stands, in Unix milliseconds.
pub(crate) const NOW_MS: i64 = 1_795_206_683_000;

/// A clock that stands still.
struct Stopped;

impl Clock for Stopped {
    fn unix_ns(&self) -> i64 {
        NOW_MS * 1_000_000
    }
}

pub(crate) struct Service {
    routes: Routes,
    recordings: Recordings,
    pub(crate) store: Arc<dyn Store>,
    stop: CancellationToken,
    _jobs: JoinSet<()>,
    /// Dropped last: the rest runs on it.
    runtime: Runtime,
}

/// An answer, read whole.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Service {
    /// One for senders and readers.
    pub(crate) fn start() -> Self {
        Self::with(Collector::routes, MemoryStore::default(), Settings::default())
    }

    /// One whose readers must say who they are, over a store that knows some.
    pub(crate) fn with_login(store: MemoryStore) -> Self {
        let reading = Reading { login: true, ..Reading::default() };
        Self::with(Collector::routes, store, Settings { reading, ..Settings::default() })
    }

    /// One for senders alone, which is much sooner there.
    pub(crate) fn for_senders() -> Self {
        Self::with(Collector::ingest_routes, MemoryStore::default(), Settings::default())
    }

    fn with(routes: fn(&Collector) -> Routes, store: MemoryStore, settings: Settings) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let store: Arc<dyn Store> = Arc::new(store);
        let recordings = Recordings::new(Arc::new(InMemory::new()));
        let tokens = vec![Access { hash: hash_token(TOKEN), project: "default".into() }];
        let settings = Settings { tokens, ..settings };
        let stop = CancellationToken::new();
        let (collector, jobs) = runtime.block_on(async {
            let (store, recordings) = (Arc::clone(&store), recordings.clone());
            let metrics = CommitMetrics::default();
            let started = Collector::start(store, recordings, Arc::new(Stopped), metrics, settings).await;
            let collector = started.expect("a store in memory");
            let jobs = collector.start_jobs(&stop);
            (collector, jobs)
        });
        Self { routes: routes(&collector), recordings, store, stop, _jobs: jobs, runtime }
    }

    /// Sends a request and reads its answer whole.
    pub(crate) fn ask(&self, request: Request<Body>) -> Answer {
        self.wait(async {
            let response = self.routes.clone().oneshot(request).await.expect("never fails");
            let (head, body) = response.into_parts();
            let body = body.collect().await.expect("a whole body").to_bytes();
            Answer { status: head.status, headers: head.headers, body }
        })
    }

    /// Sends a request and reads so many pieces of its answer at most.
    pub(crate) fn ask_begin(&self, request: Request<Body>, pieces: usize) -> Answer {
        self.wait(async {
            let response = self.routes.clone().oneshot(request).await.expect("never fails");
            let (head, body) = response.into_parts();
            let read: Vec<Bytes> =
                body.into_data_stream().take(pieces).map(|piece| piece.expect("a piece")).collect().await;
            Answer { status: head.status, headers: head.headers, body: read.concat().into() }
        })
    }

    /// The lines of a query's recording, the process event first; `None` when there is no such query.
    pub(crate) fn recorded(&self, id: QueryId) -> Option<Vec<String>> {
        self.wait(async {
            let parts = self.store.recording(id).await.expect("a store")?;
            let content = self.recordings.read(&self.store, parts).await.expect("readable");
            let mut reader = LineReader::new(id, content.bytes);
            let mut lines = Vec::new();
            while let Some(line) = reader.next_text().await.expect("a sound recording") {
                lines.push(String::from_utf8(line).expect("text"));
            }
            Some(lines)
        })
    }

    /// Waits for something, for so long at most.
    pub(crate) fn wait<T>(&self, what: impl Future<Output = T>) -> T {
        let waited = self.runtime.block_on(async { tokio::time::timeout(PATIENCE, what).await });
        waited.expect("an answer in time")
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl Answer {
    /// What every error must be.
    pub(crate) fn check_error(&self) {
        assert_eq!(self.headers.get(header::CONTENT_TYPE).expect("a type"), "application/json");
        let body: serde_json::Value = serde_json::from_slice(&self.body).expect("JSON");
        assert!(body["error"].as_str().is_some_and(|reason| !reason.is_empty()), "{body}");
    }
}
