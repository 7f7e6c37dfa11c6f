//! The live streams: `/api/live` and `/api/live/{id}`.
//!
//! One task, the hub, follows the store's commits while anybody reads a stream, and only then. It owns what is
//! known of the running queries, makes every message once, and hands it to all readers through bounded queues;
//! a reader whose queue is full is cut off. Nothing is shown before the store has committed it. Hub and streams run
//! on threads of their own, which stand back behind those of ingest.

mod apart;
mod board;
mod digest;
mod filter;
mod history;
mod hub;
mod journal;
mod load;
mod message;
mod one;
mod pace;
mod progress;
mod reader;
mod running;
mod snapshot;
mod subscriber;
mod topic;

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures_util::Stream;
use parking_lot::Mutex;
use queryscope_protocol::QueryId;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::error::ApiError;
use crate::threads::{StandBack, Threads};

pub(crate) use apart::{Apart, move_apart};
pub(crate) use hub::run;
pub(crate) use one::{__path_one, one};
pub(crate) use progress::Pulse;
pub(crate) use running::{__path_running, running};
pub(crate) use snapshot::Snapshot;
pub(crate) use subscriber::Cut;

use board::Opening;
use journal::Place;
use subscriber::Subscriber;

/// Threads of the hub and the streams: one may write to readers while the hub has the other.
const THREADS: usize = 2;
/// Further ones for reading what is stored.
const BLOCKING_MAX: usize = 16;
/// Capacity of the queue of readers that wait to be let in. Where it is full, callers wait for room.
const WAITING_MAX: usize = 1024;
/// How long a reader waits to be let in before it is told to try again.
const LET_IN_WAIT: Duration = Duration::from_secs(30);
/// Begins every stream: how long a reader waits before it connects again, in milliseconds.
const RETRY: Bytes = Bytes::from_static(b"retry: 2000\n\n");

/// What readers ask of the hub.
enum Command {
    /// Subscribes to the stream of all running queries.
    All { resume: Option<Place>, subscriber: Subscriber<message::Sent>, opening: oneshot::Sender<Opening> },
    /// Subscribes to the stream of one query.
    One { query_id: QueryId, subscriber: Subscriber<topic::Update>, subscribed: oneshot::Sender<()> },
}

/// The hub, as handlers see it.
pub(crate) struct Live {
    commands: mpsc::Sender<Command>,
    inbox: Mutex<Option<mpsc::Receiver<Command>>>,
    /// Told when a reader has left.
    left: Notify,
    /// Cancelled when the service stops: all streams end.
    stopped: CancellationToken,
    /// Where the hub and the streams run.
    pub(crate) threads: Threads,
}

impl Live {
    pub(crate) fn new() -> Self {
        let (commands, inbox) = mpsc::channel(WAITING_MAX);
        Self {
            commands,
            inbox: Mutex::new(Some(inbox)),
            left: Notify::new(),
            stopped: CancellationToken::new(),
            threads: Threads::start("live", THREADS, BLOCKING_MAX, StandBack::Nice),
        }
    }

    /// What readers ask; the first hub that starts takes it.
    fn take_inbox(&self) -> Option<mpsc::Receiver<Command>> {
        self.inbox.lock().take()
    }

    /// Asks the hub and waits for its answer.
    async fn ask<T>(&self, command: Command, answer: oneshot::Receiver<T>) -> Result<T, ApiError> {
        let asked = async {
            self.commands.send(command).await.ok()?;
            answer.await.ok()
        };
        tokio::time::timeout(LET_IN_WAIT, asked)
            .await
            .ok()
            .flatten()
            .ok_or_else(|| ApiError::unavailable("the live streams are not available now, try again"))
    }
}

/// The answer that carries a stream.
fn answer<S>(stream: Option<S>) -> Response
where
    S: Stream<Item = Result<Bytes, std::convert::Infallible>> + Send + 'static,
{
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    (headers, stream.map_or_else(Body::empty, Body::from_stream)).into_response()
}

/// The `Last-Event-ID` of a request.
fn last_event_id(headers: &axum::http::HeaderMap) -> Option<&str> {
    headers.get("last-event-id").and_then(|id| id.to_str().ok())
}
