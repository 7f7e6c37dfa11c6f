//! The floor of the live stream and of an overload: a service that stores nothing, answers each batch and tells its
//! readers of it at once, with the HTTP server the collector is built on, in a process of its own as the collector is.

use std::convert::Infallible;
use std::io::{BufRead, BufReader, Read, stdin};
use std::net::Ipv4Addr;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result};
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::sse::{Event, Sse};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures_util::stream::{self, Stream, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::sync::broadcast;

use crate::http::Target;

/// As many as the collector writes its streams with.
const THREADS: usize = 2;
/// Pulses that may wait for a reader.
const WAITING_MAX: usize = 256;

/// A running source; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Bare {
    child: Child,
    /// Where it listens.
    pub(crate) target: Target,
}

impl Bare {
    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Starts a source whose pulses have some `bytes`.
    ///
    /// # Errors
    /// When it does not start.
    pub(crate) fn start(bytes: usize) -> Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["bare", "--bytes", &bytes.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut url = String::new();
        BufReader::new(child.stdout.take().context("no output")?).read_line(&mut url)?;
        Ok(Self { child, target: Target::parse(url.trim(), "")? })
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        // Its input is at its end with this, or when this process ends.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

#[derive(Debug)]
struct Source {
    /// Batches that were posted: the first starts the query, each other one is a sample.
    posted: AtomicUsize,
    pulses: broadcast::Sender<Arc<str>>,
    padding: String,
}

/// Is a source until standard input ends; says on standard output where it listens.
///
/// # Errors
/// When it cannot listen.
pub(crate) fn serve(bytes: usize) -> Result<()> {
    let runtime = Builder::new_multi_thread().worker_threads(THREADS).enable_all().build()?;
    let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))?;
    println!("http://{}", listener.local_addr()?);
    let source = Source {
        posted: AtomicUsize::new(0),
        pulses: broadcast::Sender::new(WAITING_MAX),
        padding: "x".repeat(bytes),
    };
    let router = Router::new()
        .route("/v1/events", post(take))
        .route("/api/live", get(tell))
        .with_state(Arc::new(source));
    runtime.spawn(async move { axum::serve(listener, router).await });
    stdin().read_to_end(&mut Vec::new())?;
    runtime.shutdown_background();
    Ok(())
}

async fn take(State(source): State<Arc<Source>>, _batch: Bytes) -> (StatusCode, Json<Value>) {
    let number = source.posted.fetch_add(1, Ordering::Relaxed);
    if number > 0 {
        let pulse = format!(r#"{{"elapsed_ms":{number}000.0,"padding":"{}"}}"#, source.padding);
        // Without readers it is told to nobody.
        let _ = source.pulses.send(pulse.into());
    }
    (StatusCode::ACCEPTED, Json(json!({"accepted": 1, "duplicates": 0})))
}

async fn tell(State(source): State<Arc<Source>>) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let snapshot = stream::iter([Ok(Event::default().event("snapshot").data("{}"))]);
    let pulses = stream::unfold(source.pulses.subscribe(), async |mut pulses| {
        let pulse = pulses.recv().await.ok()?;
        Some((Ok(Event::default().event("pulse").data(&*pulse)), pulses))
    });
    Sse::new(snapshot.chain(pulses))
}
