//! The connections of one address: how many there are, and which of them is closed when there is no room for another.
//!
//! A client that opens connections and asks nothing would otherwise keep senders out. A connection is idle while no
//! request of it is worked on and no answer waits to be written: before the first request, between two, while a head
//! arrives. When all places are taken and a further connection comes, the connections that have been idle for longest
//! are closed, and no others. Web servers do the same with the connections they keep alive (nginx:
//! `worker_connections` and `reusable` connections).

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::response::Response;
use http_body_util::BodyExt;
use hyper::body::Body as _;
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::held::{self, Held};
use crate::live::Cut;
use crate::metrics::ConnectionMetrics;
use crate::rarely::Rarely;

/// Of the connections, one in so many is closed when there is no room: looking for them takes a millisecond.
const CLOSED_AT_ONCE: usize = 256;
/// A body of so many bytes is there at once.
const WHOLE: u64 = 64 << 10;
/// How long a connection waits for a place before idle ones are looked for again.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// A request is worked on.
const BUSY: u64 = u64::MAX;
/// Its answer has been made and not all been written.
const ANSWERED: u64 = u64::MAX - 1;
/// The connection has been told to close.
const CLOSING: u64 = u64::MAX - 2;

pub(super) struct Connections {
    places: Arc<Semaphore>,
    max: usize,
    open: Mutex<Open>,
    metrics: ConnectionMetrics,
    closed: Rarely,
    full: Rarely,
}

#[derive(Default)]
struct Open {
    next: u64,
    connections: HashMap<u64, Connection>,
}

/// An open connection, as its requests and the search for idle ones see it.
#[derive(Clone)]
pub(super) struct Connection(Arc<State>);

struct State {
    opened: Instant,
    /// Microseconds from `opened` until it became idle, or [`BUSY`], [`ANSWERED`] or [`CLOSING`].
    idle_from: AtomicU64,
    /// What answers that have not all been written keep.
    held: Mutex<Option<Held>>,
    cut: Cut,
}

/// A connection's place; the next has it once this is dropped.
pub(super) struct Place {
    connections: Arc<Connections>,
    number: u64,
    connection: Connection,
    _permit: OwnedSemaphorePermit,
}

/// A request is worked on until this is dropped. Its answer is, from then until all of it has been written.
pub(super) struct Busy {
    connection: Connection,
    held: Option<Held>,
}

impl Connections {
    pub(super) fn new(max: usize, metrics: ConnectionMetrics) -> Arc<Self> {
        Arc::new(Self {
            places: Arc::new(Semaphore::new(max)),
            max,
            open: Mutex::default(),
            metrics,
            closed: Rarely::default(),
            full: Rarely::default(),
        })
    }

    /// Waits for a place, and closes idle connections while there is none.
    pub(super) async fn place(self: &Arc<Self>) -> Place {
        loop {
            if let Ok(permit) = Arc::clone(&self.places).try_acquire_owned() {
                return self.open(permit);
            }
            self.close_idle();
            let free = Arc::clone(&self.places).acquire_owned();
            if let Ok(Ok(permit)) = tokio::time::timeout(LOOK_AGAIN, free).await {
                return self.open(permit);
            }
        }
    }

    fn open(self: &Arc<Self>, permit: OwnedSemaphorePermit) -> Place {
        let opened = queryscope_store::now();
        let idle_from = AtomicU64::new(0);
        let state = State { opened, idle_from, held: Mutex::default(), cut: Cut::default() };
        let connection = Connection(Arc::new(state));
        let mut open = self.open.lock();
        let number = open.next;
        open.next += 1;
        open.connections.insert(number, connection.clone());
        self.metrics.open.inc();
        Place { connections: Arc::clone(self), number, connection, _permit: permit }
    }

    fn close_idle(&self) {
        let open = self.open.lock();
        let mut idle: Vec<(Instant, u64, &Connection)> =
            open.connections.values().filter_map(Connection::idle_since).collect();
        let wanted = self.max.div_ceil(CLOSED_AT_ONCE);
        if idle.len() > wanted {
            idle.select_nth_unstable_by_key(wanted, |(since, ..)| *since);
            idle.truncate(wanted);
        }
        let closed = idle.into_iter().filter(|(_, seen, connection)| connection.close(*seen)).count();
        drop(open);
        self.metrics.full.inc_by(closed as u64);
        if closed > 0
            && let Some(times) = self.closed.due()
        {
            let max = self.max;
            tracing::warn!(max, times, "the address has no room: connections idle for longest are closed");
        } else if closed == 0
            && let Some(times) = self.full.due()
        {
            let max = self.max;
            tracing::warn!(
                max,
                times,
                "the address has no room, and no connection is idle: further ones wait"
            );
        }
    }
}

impl Connection {
    /// Marks it as worked on.
    pub(super) fn begin(&self) -> Busy {
        self.0.idle_from.store(BUSY, Ordering::Release);
        Busy { connection: self.clone(), held: None }
    }

    /// Marks it as idle if a request has been answered: nothing is left to be written.
    pub(super) fn flushed(&self) {
        if self.0.idle_from.load(Ordering::Acquire) != ANSWERED {
            return;
        }
        self.0.held.lock().take();
        let micros = u64::try_from(self.0.opened.elapsed().as_micros()).unwrap_or(0);
        // Another thread may have begun with the next request.
        let _ = self.0.idle_from.compare_exchange(ANSWERED, micros, Ordering::AcqRel, Ordering::Relaxed);
    }

    /// What closes it.
    pub(super) fn cut(&self) -> Cut {
        self.0.cut.clone()
    }

    /// Since when it is idle, and the mark that says so.
    fn idle_since(&self) -> Option<(Instant, u64, &Self)> {
        let mark = self.0.idle_from.load(Ordering::Acquire);
        (mark < CLOSING).then(|| (self.0.opened + Duration::from_micros(mark), mark, self))
    }

    /// Closes it, unless it has been worked on since it had this mark.
    fn close(&self, mark: u64) -> bool {
        let is_idle =
            self.0.idle_from.compare_exchange(mark, CLOSING, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        if is_idle {
            self.0.cut.0.cancel();
        }
        is_idle
    }
}

impl Busy {
    /// Ends with the body of an answer.
    pub(super) fn until_made(mut self, mut response: Response) -> Response {
        self.held = held::take(&mut response);
        if response.body().size_hint().exact().is_some_and(|bytes| bytes <= WHOLE) {
            return response;
        }
        response.map(|body| {
            Body::new(body.map_err(move |error| {
                // The closure owns it, and is dropped with the body.
                let _ = &self;
                error
            }))
        })
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let state = &self.connection.0;
        if let Some(held) = self.held.take() {
            let mut kept = state.held.lock();
            kept.get_or_insert_default().join(held);
        }
        state.idle_from.store(ANSWERED, Ordering::Release);
    }
}

impl Place {
    pub(super) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Waits until the connection has been told to close.
    pub(super) async fn closed(&self) {
        self.connection.0.cut.0.cancelled().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.connections.metrics.open.dec();
        let mut open = self.connections.open.lock();
        open.connections.remove(&self.number);
    }
}
