//! A telemetry: what a program starts, and adapters register queries with.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use queryscope_protocol::Plan;
use queryscope_protocol::limits::SENDER_QUEUE_BYTES;

use crate::active::ActiveQuery;
use crate::core::{Core, Settings};
use crate::exporter::{Exporter, StartError};
use crate::host::{System, millis};
use crate::query::Query;
use crate::readings::Readings;
use crate::redaction::Redaction;
use crate::source::{QuerySource, Totals};
use crate::stats::Stats;

/// Follows queries and exports what they do. Clones are handles to the same one.
///
/// When the last handle is dropped, what waits is sent for at most two seconds. A child that the process forks
/// is a stream of its own, which begins with its first query.
#[derive(Clone)]
pub struct Telemetry {
    inner: Arc<Inner>,
}

struct Inner(Core);

/// The environment variable with the version of the program.
const PROGRAM_VERSION_VARIABLE: &str = "QUERYSCOPE_PROGRAM_VERSION";

/// Starts a [`Telemetry`].
#[must_use = "nothing happens before `start`"]
pub struct TelemetryBuilder {
    settings: Settings,
}

impl Telemetry {
    /// Begins to say what to follow and where to send it.
    pub fn builder() -> TelemetryBuilder {
        TelemetryBuilder {
            settings: Settings {
                engine: None,
                engine_version: None,
                service: None,
                environment: None,
                program_version: None,
                redaction: Redaction::none(),
                max_queue_bytes: SENDER_QUEUE_BYTES,
                exporters: Vec::new(),
            },
        }
    }

    /// Registers a query that begins to run. Takes about a microsecond, never blocks and never fails.
    pub fn begin(&self, query: Query, source: Arc<dyn QuerySource>) -> ActiveQuery {
        let core = &self.inner.0;
        ActiveQuery::new(match core.current() {
            Some(core) => core.begin(query, source),
            None => core.unfollowed(query, source),
        })
    }

    /// Reports a query that failed while it was planned, since [`Query::started`].
    pub fn failed(&self, query: Query, error: impl Into<String>) {
        let planning = query.started.map(|started| started.elapsed());
        self.begin(query, Arc::new(Unplanned { planning })).fail(error);
    }

    /// Counts of what became of the events of this process.
    pub fn stats(&self) -> Stats {
        self.inner.0.existing().map_or_else(Stats::default, Core::stats)
    }

    /// Ends: sends what waits for at most two seconds, and counts the rest as dropped. Queries that still run are
    /// reported no more.
    pub fn shutdown(&self) {
        self.inner.shutdown();
    }
}

impl fmt::Debug for Telemetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Telemetry").field("stats", &self.stats()).finish_non_exhaustive()
    }
}

impl Inner {
    fn shutdown(&self) {
        if let Some(core) = self.0.existing() {
            core.shutdown();
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.shutdown();
    }
}

impl TelemetryBuilder {
    /// Names the engine whose queries are followed, as `[a-z][a-z0-9-]*`, and its version: the name is the brand
    /// in the names of the formats.
    pub fn engine(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        (self.settings.engine, self.settings.engine_version) = (Some(name.into()), Some(version.into()));
        self
    }

    /// Says what the process is.
    pub fn service(mut self, service: impl Into<String>) -> Self {
        self.settings.service = Some(service.into());
        self
    }

    /// Says where the process runs, such as `prod`.
    pub fn environment(mut self, environment: impl Into<String>) -> Self {
        self.settings.environment = Some(environment.into());
        self
    }

    /// Says which version of the program it is, such as a release or a commit: without this, the environment variable
    /// `QUERYSCOPE_PROGRAM_VERSION`.
    pub fn program_version(mut self, version: impl Into<String>) -> Self {
        self.settings.program_version = Some(version.into());
        self
    }

    /// Masks for all exporters.
    pub fn redaction(mut self, redaction: Redaction) -> Self {
        self.settings.redaction = self.settings.redaction.and(redaction);
        self
    }

    /// Bytes of events that may wait for each exporter; 16 MiB when left out. Beyond it events are dropped,
    /// samples first.
    pub fn max_queue_bytes(mut self, bytes: usize) -> Self {
        self.settings.max_queue_bytes = bytes;
        self
    }

    /// Adds a place that events go to. Each has its own queue and thread: none waits for another.
    pub fn exporter(mut self, exporter: impl Exporter) -> Self {
        self.settings.exporters.push(Box::new(exporter));
        self
    }

    /// Starts the background threads: one that samples, and one that sends for each exporter.
    ///
    /// # Errors
    /// When there is no exporter, or one cannot start.
    pub fn start(mut self) -> Result<Telemetry, StartError> {
        if self.settings.exporters.is_empty() {
            return Err(StartError::NoExporter);
        }
        let named = || std::env::var(PROGRAM_VERSION_VARIABLE).ok().filter(|version| !version.is_empty());
        self.settings.program_version = self.settings.program_version.or_else(named);
        let core = Core::start(Arc::new(self.settings), Arc::new(System), false)?;
        Ok(Telemetry { inner: Arc::new(Inner(core)) })
    }
}

/// A query that has no plan.
struct Unplanned {
    planning: Option<Duration>,
}

impl QuerySource for Unplanned {
    fn plan(&self) -> Plan<'static> {
        Plan::default()
    }

    fn sample(&self, _readings: &mut Readings) {}

    fn totals(&self) -> Totals {
        Totals { planning_ms: self.planning.map(millis), ..Totals::default() }
    }
}
