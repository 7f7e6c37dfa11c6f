//! A collector of a test's own.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Request, StatusCode, header};
use axum::response::Response;
use flate2::bufread::GzDecoder;
use http_body_util::BodyExt;
use queryscope_collector::{Access, Clock, Collector, CommitMetrics, Routes, Settings, hash_token};
use queryscope_protocol::QueryId;
use queryscope_recordings::Recordings;
use queryscope_store::Store;
use queryscope_store::testsuite::Front;
use queryscope_store_sqlite::{SqliteOptions, SqliteStore};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::events::{NOW_NS, query};
use crate::faulty::Faults;

/// The token of the project `default`.
pub(crate) const TOKEN: &str = "qs_default";
/// The token of the project `etl`.
pub(crate) const OTHER_TOKEN: &str = "qs_etl";

/// How long [`eventually`] waits.
const DEADLINE: Duration = Duration::from_mins(1);

/// Time that moves when a test says so.
#[derive(Debug)]
pub(crate) struct TestClock {
    unix_ns: AtomicI64,
    /// By how much steps have moved it, and how many there were.
    stepped_ns: AtomicI64,
    steps: AtomicU64,
}

impl TestClock {
    fn new(unix_ns: i64) -> Self {
        Self { unix_ns: unix_ns.into(), stepped_ns: 0.into(), steps: 0.into() }
    }

    /// Sets the clock of the system, which no time passes by.
    pub(crate) fn step(&self, by_ns: i64) {
        self.unix_ns.fetch_add(by_ns, Ordering::SeqCst);
        self.stepped_ns.fetch_add(by_ns, Ordering::SeqCst);
        self.steps.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn advance(&self, by: Duration) {
        self.unix_ns.fetch_add(i64::try_from(by.as_nanos()).expect("a short time"), Ordering::SeqCst);
    }

    pub(crate) fn rewind(&self, by: Duration) {
        self.unix_ns.fetch_sub(i64::try_from(by.as_nanos()).expect("a short time"), Ordering::SeqCst);
    }
}

impl Clock for TestClock {
    fn unix_ns(&self) -> i64 {
        self.unix_ns.load(Ordering::SeqCst)
    }

    fn steady_ms(&self) -> i64 {
        (self.unix_ns() - self.stepped_ns.load(Ordering::SeqCst)) / 1_000_000
    }

    fn steps(&self) -> u64 {
        self.steps.load(Ordering::SeqCst)
    }
}

/// What a test chooses of its collector.
pub(crate) struct Setup {
    settings: Settings,
    faults: Faults,
    turns: Option<Arc<Semaphore>>,
    folder: TempDir,
    now_unix_ns: i64,
    is_old: Arc<AtomicBool>,
    stored_before: Arc<Mutex<HashSet<QueryId>>>,
}

impl Default for Setup {
    /// The default settings, with a token for each of two projects.
    fn default() -> Self {
        let access = |token, project: &str| Access { hash: hash_token(token), project: project.into() };
        let tokens = vec![access(TOKEN, "default"), access(OTHER_TOKEN, "etl")];
        Self {
            settings: Settings { tokens, seal_within: Duration::ZERO, ..Settings::default() },
            faults: Faults::default(),
            turns: None,
            folder: tempfile::tempdir().expect("a folder"),
            now_unix_ns: NOW_NS,
            is_old: Arc::default(),
            stored_before: Arc::default(),
        }
    }
}

impl Setup {
    pub(crate) fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let mut setup = Self::default();
        change(&mut setup.settings);
        setup
    }

    /// With a store of the format before the diagnosis, until `is_old` is taken back or it is brought forward.
    pub(crate) fn old(self, is_old: &Arc<AtomicBool>) -> Self {
        Self { is_old: Arc::clone(is_old), ..self }
    }

    /// With a store that commits when it gets a turn.
    pub(crate) fn turns(self, turns: &Arc<Semaphore>) -> Self {
        Self { turns: Some(Arc::clone(turns)), ..self }
    }

    pub(crate) async fn start(self) -> TestApp {
        let commits = CommitMetrics::default();
        let observed = commits.clone();
        let options = SqliteOptions {
            readers: 2,
            on_commit: Box::new(move |group| observed.observe(group.requests, group.took)),
            ..SqliteOptions::default()
        };
        let store = SqliteStore::open(&self.folder.path().join("store.db"), options).expect("a store");
        let faults = self.faults.clone();
        let check = Box::new(move || faults.check());
        let (turns, is_old) = (self.turns.clone(), Arc::clone(&self.is_old));
        let stored_before = Arc::clone(&self.stored_before);
        let store: Arc<dyn Store> =
            Arc::new(Front { store, check, turns, feed: None, is_old, stored_before });
        let recordings = Recordings::local(&self.folder.path().join("recordings")).expect("a folder");
        let clock = Arc::new(TestClock::new(self.now_unix_ns));
        let shared: Arc<dyn Clock> = Arc::<TestClock>::clone(&clock);
        let collector = Collector::start(Arc::clone(&store), recordings, shared, commits, self.settings)
            .await
            .expect("a collector");
        TestApp {
            routes: collector.routes(),
            collector,
            store,
            faults: self.faults,
            clock,
            folder: self.folder,
            is_old: self.is_old,
            stored_before: self.stored_before,
        }
    }
}

pub(crate) struct TestApp {
    pub(crate) collector: Collector,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) faults: Faults,
    pub(crate) clock: Arc<TestClock>,
    routes: Routes,
    folder: TempDir,
    is_old: Arc<AtomicBool>,
    stored_before: Arc<Mutex<HashSet<QueryId>>>,
}

/// Jobs that run until this is dropped.
pub(crate) struct Jobs {
    _jobs: JoinSet<()>,
}

impl TestApp {
    pub(crate) async fn new() -> Self {
        Setup::default().start().await
    }

    /// Stops, and starts again over the same folder at the time the clock shows.
    pub(crate) async fn restarted(self) -> Self {
        self.restarted_with(|_| {}).await
    }

    /// The same, with other settings.
    pub(crate) async fn restarted_with(self, change: impl FnOnce(&mut Settings)) -> Self {
        self.collector.close().await.expect("closed");
        let mut settings = self.collector.settings().clone();
        change(&mut settings);
        let (now_unix_ns, is_old, stored_before) = (self.clock.unix_ns(), self.is_old, self.stored_before);
        let (folder, faults) = (self.folder, self.faults);
        Setup { settings, folder, now_unix_ns, faults, turns: None, is_old, stored_before }.start().await
    }

    pub(crate) fn start_jobs(&self) -> Jobs {
        Jobs { _jobs: self.collector.start_jobs(&CancellationToken::new()) }
    }

    /// Sends a request through its routes, and reads nothing of the answer.
    pub(crate) async fn open(&self, request: Request<Body>) -> Response {
        self.routes.clone().oneshot(request).await.expect("never fails")
    }

    /// Sends a request through its routes.
    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.routes.clone().oneshot(request).await.expect("never fails");
        let (head, mut body) = response.into_parts();
        let mut read = Vec::new();
        // As a socket does it: more of a long answer is made once pieces of it are let go of.
        while let Some(frame) = body.frame().await {
            if let Ok(piece) = frame.expect("a whole body").into_data() {
                read.extend_from_slice(&piece);
            }
        }
        Answer { status: head.status, headers: head.headers, body: read.into() }
    }

    /// Sends a request without a body to the read side.
    pub(crate) async fn call(&self, method: &str, path: &str) -> Answer {
        let request = Request::builder().method(method).uri(path).header(header::HOST, "localhost");
        self.send(request.body(Body::empty()).expect("a request")).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.call("GET", path).await
    }

    /// Posts a plain batch with the token of the project `default`.
    pub(crate) async fn post(&self, body: impl Into<Body>) -> Answer {
        self.send(post(body)).await
    }

    pub(crate) async fn post_as(&self, token: &str, body: impl Into<Body>) -> Answer {
        self.send(with_header(post(body), "authorization", &format!("Bearer {token}"))).await
    }

    pub(crate) async fn post_gzip(&self, body: impl Into<Body>) -> Answer {
        self.send(with_header(post(body), "content-encoding", "gzip")).await
    }

    /// Posts a batch that must be stored whole.
    pub(crate) async fn store(&self, batch: impl Into<Body>) {
        let answer = self.post(batch).await;
        assert_eq!(answer.status, 202, "{answer:?}");
        assert_eq!(answer.json()["duplicates"], 0, "{answer:?}");
    }

    /// The queries of a list with such parameters.
    pub(crate) async fn list(&self, params: &str) -> Vec<Value> {
        let answer = self.get(&format!("/api/queries?{params}")).await;
        assert_eq!(answer.status, 200, "{params}: {answer:?}");
        serde_json::from_slice(&answer.body).expect("a bare array")
    }

    /// The ids of a list with such parameters.
    pub(crate) async fn ids(&self, params: &str) -> Vec<String> {
        let id = |summary: &Value| summary["query_id"].as_str().expect("a string").to_owned();
        self.list(params).await.iter().map(id).collect()
    }

    /// The n-th query's summary.
    pub(crate) async fn summary(&self, n: u64) -> Value {
        let answer = self.get(&format!("/api/queries/{}", query(n))).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()
    }

    pub(crate) async fn status(&self, n: u64) -> String {
        self.summary(n).await["status"].as_str().expect("a string").to_owned()
    }

    /// Waits until the n-th query has a status.
    pub(crate) async fn until_status(&self, n: u64, status: &str) {
        eventually(status, async || (self.status(n).await == status).then_some(())).await;
    }

    /// Waits until every ended run is evaluated; needs the jobs.
    pub(crate) async fn until_all_evaluated(&self) {
        eventually("all ended runs to be evaluated", async || {
            let waiting = self.store.pending_runs(None, 1).await.expect("a store");
            let brought = self.store.is_brought_forward().await.expect("a store");
            (waiting.is_empty() && brought).then_some(())
        })
        .await;
    }

    /// The changes with such parameters.
    pub(crate) async fn changes(&self, params: &str) -> Vec<Value> {
        let answer = self.get(&format!("/api/changes?{params}")).await;
        assert_eq!(answer.status, 200, "{params}: {answer:?}");
        answer.json()["changes"].as_array().expect("an array").clone()
    }

    /// Waits until every query that does not run is sealed; needs the jobs.
    pub(crate) async fn until_all_sealed(&self) {
        eventually("all recordings to be sealed", async || {
            self.store.unsealed(1).await.expect("a store").is_empty().then_some(())
        })
        .await;
    }

    /// Seals every query that does not run, without the jobs.
    pub(crate) async fn seal(&self) {
        let recordings = Recordings::local(&self.folder.path().join("recordings")).expect("a folder");
        let round = recordings.seal_round(&self.store, 1000, 4, &HashSet::new()).await.expect("a round");
        assert!(round.failed.is_empty() && round.left.is_empty(), "{round:?}");
    }

    pub(crate) async fn recording(&self, n: u64) -> Answer {
        self.get(&format!("/api/queries/{}/recording", query(n))).await
    }

    /// The lines of the n-th query's recording.
    pub(crate) async fn recorded(&self, n: u64) -> Vec<String> {
        let answer = self.recording(n).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.lines()
    }

    /// The value of one metric that counts something, by its name and labels.
    pub(crate) async fn metric(&self, name: &str) -> u64 {
        let text = self.get("/metrics").await.text();
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        let value = line.unwrap_or_else(|| panic!("{name} is shown: {text}"));
        value.parse::<f64>().expect("a number") as u64
    }

    /// The file of the n-th query's recording.
    pub(crate) async fn recording_file(&self, n: u64) -> PathBuf {
        let path = self.summary(n).await["recording"].as_str().expect("a path").to_owned();
        self.folder.path().join("recordings").join(path)
    }

    /// Takes the file of the n-th query's recording away.
    pub(crate) async fn remove_recording(&self, n: u64) {
        std::fs::remove_file(self.recording_file(n).await).expect("there");
    }

    /// Relative paths of all files and folders under the recordings' root, sorted.
    pub(crate) fn recording_files(&self) -> Vec<String> {
        let root = self.folder.path().join("recordings");
        let mut found = Vec::new();
        let mut folders: Vec<PathBuf> = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                found.push(path.strip_prefix(&root).expect("under it").display().to_string());
                if path.is_dir() {
                    folders.push(path);
                }
            }
        }
        found.sort();
        found
    }
}

/// Adds a header, or puts it in the place of another.
pub(crate) fn with_header(mut request: Request<Body>, name: &'static str, value: &str) -> Request<Body> {
    request.headers_mut().insert(name, value.parse().expect("a header"));
    request
}

/// A post of a plain batch with the token of the project `default`.
pub(crate) fn post(body: impl Into<Body>) -> Request<Body> {
    let request = Request::post("/v1/events")
        .header(header::AUTHORIZATION, format!("Bearer {TOKEN}"))
        .header(header::CONTENT_TYPE, "application/x-ndjson");
    request.body(body.into()).expect("a request")
}

/// An answer, read whole.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().expect("text"))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.to_vec()).expect("text")
    }

    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.header("content-type"), Some("application/json"), "{self:?}");
        serde_json::from_slice(&self.body).expect("JSON")
    }

    /// The reason of an error.
    pub(crate) fn error(&self) -> String {
        self.json()["error"].as_str().expect("an error has a reason").to_owned()
    }

    /// The lines of a body in gzip.
    pub(crate) fn lines(&self) -> Vec<String> {
        // As browsers do: they stop after the first member.
        let mut decoder = GzDecoder::new(&self.body[..]);
        let text = std::io::read_to_string(&mut decoder).expect("gzip");
        assert_eq!(decoder.into_inner().len(), 0, "it is one member");
        assert!(text.ends_with('\n'), "every line is ended");
        text.lines().map(Into::into).collect()
    }
}

impl std::fmt::Debug for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {:?} {}", self.status, self.headers, String::from_utf8_lossy(&self.body))
    }
}

/// Asks again and again until there is an answer; fails when there is none for long.
pub(crate) async fn eventually<T>(what: &str, mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let asking = async {
        loop {
            if let Some(answer) = ask().await {
                return answer;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(DEADLINE, asking).await.unwrap_or_else(|_| panic!("waited too long for {what}"))
}
