//! A collector of a test's own behind a real socket.

use std::fmt::Display;
use std::io::Read;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use flate2::read::MultiGzDecoder;
use queryscope_collector::{
    Access, Clock, Collector, CommitMetrics, ServeError, Settings, SystemClock, hash_token, serve,
};
use queryscope_recordings::Recordings;
use queryscope_store::testsuite::Front;
use queryscope_store::{CommitFeed, Commits, Store, StoreError};
use queryscope_store_postgres::{PostgresOptions, PostgresStore};
use queryscope_store_sqlite::{SqliteOptions, SqliteStore};
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::client::Stream;
use crate::events::query;

/// How long anything may take before a test gives up on it.
const PATIENCE: Duration = Duration::from_mins(1);

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    folder: TempDir,
    settings: Settings,
    clock: Arc<TestClock>,
    stop: CancellationToken,
    task: JoinHandle<Result<(), ServeError>>,
}

/// The time of the system, and ahead of it once a test says so.
#[derive(Default)]
struct TestClock {
    system: SystemClock,
    ahead_ns: AtomicI64,
}

impl Clock for TestClock {
    fn unix_ns(&self) -> i64 {
        self.system.unix_ns() + self.ahead_ns.load(Ordering::SeqCst)
    }
}

impl Server {
    pub(crate) async fn new() -> Self {
        Self::with(|_| {}).await
    }

    pub(crate) async fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = settings();
        change(&mut settings);
        Self::over(tempfile::tempdir().expect("a folder"), settings).await
    }

    /// Over a store whose followers hear what a test has them hear of its commits, and which is away when it says so.
    pub(crate) async fn heard_through(
        feed: impl FnOnce(Commits) -> CommitFeed,
        is_away: &Arc<AtomicBool>,
    ) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let store = open(&folder);
        let feed = Some(feed(store.commits()));
        let is_away = Arc::clone(is_away);
        let check = move || {
            let away = is_away.load(Ordering::SeqCst);
            if away { Err(StoreError::unavailable("a test has it so")) } else { Ok(()) }
        };
        let front = Front {
            store,
            check: Box::new(check),
            turns: None,
            feed,
            is_old: Arc::default(),
            stored_before: Arc::default(),
        };
        let recordings = recordings(folder.path());
        Self::of(Arc::new(front), recordings, folder, settings()).await
    }

    /// Two on one database, which share their recordings: those of the first.
    pub(crate) async fn two(database: &str) -> [Self; 2] {
        let folders = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
        let shared = folders[0].path().to_owned();
        let [one, other] = folders;
        [Self::on(database, &shared, one).await, Self::on(database, &shared, other).await]
    }

    async fn on(database: &str, shared: &Path, folder: TempDir) -> Self {
        let store = PostgresStore::open(database, PostgresOptions::default()).await.expect("a store");
        Self::of(Arc::new(store), recordings(shared).shared(), folder, settings()).await
    }

    async fn over(folder: TempDir, settings: Settings) -> Self {
        Self::of(Arc::new(open(&folder)), recordings(folder.path()), folder, settings).await
    }

    async fn of(store: Arc<dyn Store>, recordings: Recordings, folder: TempDir, settings: Settings) -> Self {
        let clock = Arc::new(TestClock::default());
        let collector = Collector::start(
            store,
            recordings,
            Arc::clone(&clock) as Arc<dyn Clock>,
            CommitMetrics::default(),
            settings.clone(),
        )
        .await
        .expect("a collector");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("bound");
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let task = tokio::spawn(async move { serve(&collector, listener, None, stopped).await });
        Self { address, folder, settings, clock, stop, task }
    }

    /// Stops, which must come to an end.
    pub(crate) async fn stop(self) {
        self.stop_and_keep().await;
    }

    /// Stops, and starts again over the same data.
    pub(crate) async fn restarted(self) -> Self {
        let (folder, settings) = self.stop_and_keep().await;
        Self::over(folder, settings).await
    }

    async fn stop_and_keep(self) -> (TempDir, Settings) {
        self.stop.cancel();
        patiently("the service to end", self.task).await.expect("no panic").expect("a clean end");
        (self.folder, self.settings)
    }

    /// Lets more time pass than queries may be silent for.
    pub(crate) fn let_queries_fall_silent(&self) {
        let silent_after_ns = i64::try_from(self.settings.silent_after.as_nanos()).expect("a short time");
        self.clock.ahead_ns.fetch_add(silent_after_ns + 1_000_000, Ordering::SeqCst);
    }

    /// Posts a batch that must be stored.
    pub(crate) async fn post(&self, batch: impl AsRef<[u8]>) {
        self.post_as("default", "identity", batch.as_ref()).await;
    }

    pub(crate) async fn post_as(&self, token: &str, coding: &str, body: &[u8]) {
        let head = format!(
            "POST /v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\
             Content-Encoding: {coding}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        let answer = self.exchange(&[head.as_bytes(), body].concat()).await;
        assert!(answer.starts_with("HTTP/1.1 202 "), "{answer}");
    }

    /// The whole answer to a request without a body.
    pub(crate) async fn ask(&self, method: &str, path: &str) -> String {
        let head = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        self.exchange(head.as_bytes()).await
    }

    /// The summary of the n-th query.
    pub(crate) async fn summary(&self, n: u64) -> Value {
        let answer = self.ask("GET", &format!("/api/queries/{}", query(n))).await;
        let body = answer.split_once("\r\n\r\n").expect("a body").1;
        serde_json::from_str(body).expect(body)
    }

    /// The value of a metric.
    pub(crate) async fn metric(&self, name: &str) -> u64 {
        let answer = self.ask("GET", "/metrics").await;
        let line = answer.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.expect(name).parse().expect("a number")
    }

    async fn exchange(&self, request: &[u8]) -> String {
        let exchange = async {
            let mut tcp = TcpStream::connect(self.address).await.expect("accepted");
            tcp.write_all(request).await.expect("taken");
            let mut answer = Vec::new();
            tcp.read_to_end(&mut answer).await.expect("an answer");
            String::from_utf8(answer).expect("text")
        };
        patiently("an answer", exchange).await
    }

    /// The events of an ended query.
    pub(crate) async fn recording(&self, id: impl Display) -> String {
        let path = format!("/api/queries/{id}/recording");
        inflate(&Stream::open(self.address, &path, None).await.body().await)
    }

    /// Opens a live stream.
    pub(crate) async fn live(&self, path: &str) -> Stream {
        Stream::open(self.address, path, None).await
    }

    pub(crate) async fn live_after(&self, path: &str, id: &str) -> Stream {
        Stream::open(self.address, path, Some(id)).await
    }

    /// Opens the stream of the n-th query.
    pub(crate) async fn follow(&self, n: u64) -> Stream {
        self.live(&path(n)).await
    }
}

pub(crate) fn inflate(gzip: &[u8]) -> String {
    let mut text = String::new();
    MultiGzDecoder::new(gzip).read_to_string(&mut text).expect("gzip of text");
    text
}

/// The default settings, with a token for each of two projects.
fn settings() -> Settings {
    let access = |project: &str| Access { hash: hash_token(project), project: project.into() };
    Settings {
        tokens: vec![access("default"), access("etl")],
        seal_within: Duration::ZERO,
        ..Settings::default()
    }
}

fn recordings(folder: &Path) -> Recordings {
    Recordings::local(&folder.join("recordings")).expect("a folder")
}

fn open(folder: &TempDir) -> SqliteStore {
    SqliteStore::open(&folder.path().join("store.db"), SqliteOptions::default()).expect("a store")
}

/// The path of the stream of the n-th query.
pub(crate) fn path(n: u64) -> String {
    format!("/api/live/{}", query(n))
}

pub(crate) async fn patiently<T>(what: &str, work: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, work).await.unwrap_or_else(|_| panic!("waited too long for {what}"))
}
