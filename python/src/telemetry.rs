//! The telemetry of one engine in this process.

use std::sync::Arc;
use std::time::Duration;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use queryscope_client as client;
use queryscope_client::QuerySource;

use crate::active::ActiveQuery;
use crate::memory::Memory;
use crate::options::{ExporterChoice, ExporterOption, redaction};
use crate::polars::{PolarsQuery, PolarsSource};
use crate::source::PythonSource;
use crate::warnings;

/// Follows the queries of one engine and sends what they do.
#[pyclass(frozen, module = "queryscope._native")]
pub(crate) struct Telemetry {
    telemetry: client::Telemetry,
    memory: Memory,
}

#[pymethods]
impl Telemetry {
    /// Starts the background threads. Raises `ValueError` for an option that is invalid, `RuntimeError` where the
    /// telemetry cannot start.
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    #[new]
    #[pyo3(signature = (engine, engine_version, *, exporters, service=None, environment=None,
        program_version=None, redact=vec![], max_queue_bytes=None))]
    fn new(
        engine: String,
        engine_version: String,
        exporters: Vec<ExporterOption>,
        service: Option<String>,
        environment: Option<String>,
        program_version: Option<String>,
        redact: Vec<String>,
        max_queue_bytes: Option<usize>,
    ) -> PyResult<Self> {
        warnings::collect();
        let memory = Memory::default();
        let mut builder = client::Telemetry::builder()
            .engine(engine, engine_version)
            .redaction(redaction(&redact)?)
            .exporter(memory.clone());
        for option in exporters {
            builder = match ExporterChoice::try_from(option)? {
                ExporterChoice::Http(exporter) => builder.exporter(exporter),
                ExporterChoice::Events(exporter) => builder.exporter(exporter),
                ExporterChoice::Profiles(exporter) => builder.exporter(exporter),
                ExporterChoice::Console(exporter) => builder.exporter(exporter),
            };
        }
        if let Some(service) = service {
            builder = builder.service(service);
        }
        if let Some(environment) = environment {
            builder = builder.environment(environment);
        }
        if let Some(program_version) = program_version {
            builder = builder.program_version(program_version);
        }
        if let Some(bytes) = max_queue_bytes {
            builder = builder.max_queue_bytes(bytes);
        }
        let telemetry = builder.start().map_err(|error| match error {
            client::StartError::NoToken | client::StartError::Token | client::StartError::Url { .. } => {
                PyValueError::new_err(error.to_string())
            }
            error => PyRuntimeError::new_err(with_source(&error)),
        })?;
        Ok(Self { telemetry, memory })
    }

    /// Registers a query that begins to run. `source` has `plan()`, `sample()` and `totals()`, or is a `PolarsQuery`;
    /// `call_site` is file, line and function; `started_ago` is in seconds.
    #[pyo3(signature = (source, *, label=None, call_site=None, trace_id=None, span_id=None, started_ago=0.0))]
    fn begin(
        &self,
        source: Bound<'_, PyAny>,
        label: Option<String>,
        call_site: Option<(String, u32, String)>,
        trace_id: Option<&str>,
        span_id: Option<&str>,
        started_ago: f64,
    ) -> ActiveQuery {
        warnings::log_waiting(source.py());
        let mut query = client::Query::new();
        if let Some(label) = label {
            query = query.label(label);
        }
        if let Some((file, line, function)) = call_site {
            query = query.call_site(file, line, function);
        }
        if let Some(id) = trace_id.and_then(|text| text.parse().ok()) {
            query = query.trace_id(id);
        }
        if let Some(id) = span_id.and_then(|text| text.parse().ok()) {
            query = query.span_id(id);
        }
        let ago = Duration::try_from_secs_f64(started_ago).unwrap_or_default();
        if let Some(started) = queryscope_client::now().checked_sub(ago).filter(|_| !ago.is_zero()) {
            query = query.started(started);
        }
        let polars = source.cast::<PolarsQuery>().ok().map(|polars| polars.clone().unbind());
        let source: Arc<dyn QuerySource> = match &polars {
            Some(polars) => Arc::new(PolarsSource(polars.clone_ref(source.py()))),
            None => Arc::new(PythonSource(source.unbind())),
        };
        ActiveQuery::new(self.telemetry.begin(query, source), polars)
    }

    /// What became of the events that were sent, as a dictionary; what `last` keeps is not counted.
    fn stats<'py>(&self, python: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        warnings::log_waiting(python);
        let stats = self.telemetry.stats();
        let dropped = PyDict::new(python);
        dropped.set_item("overflow", stats.dropped.overflow)?;
        dropped.set_item("expired", stats.dropped.expired)?;
        dropped.set_item("too_large", stats.dropped.too_large)?;
        dropped.set_item("refused", stats.dropped.refused)?;
        dropped.set_item("forbidden", stats.dropped.forbidden)?;
        dropped.set_item("unwritable", stats.dropped.unwritable)?;
        dropped.set_item("exit", stats.dropped.exit)?;
        let all = PyDict::new(python);
        all.set_item("enqueued", stats.enqueued)?;
        all.set_item("sent", stats.sent)?;
        all.set_item("queued", stats.queued)?;
        all.set_item("queued_bytes", stats.queued_bytes)?;
        all.set_item("dropped", dropped)?;
        all.set_item("errors", stats.errors)?;
        all.set_item("unfollowed", stats.unfollowed)?;
        Ok(all)
    }

    /// The profile of the query that ended last, as JSON, or `None`.
    fn last(&self) -> Option<String> {
        self.memory.last()
    }

    /// Sends what waits, for at most two seconds, and ends.
    fn shutdown(&self, python: Python<'_>) {
        python.detach(|| self.telemetry.shutdown());
        warnings::log_waiting(python);
    }
}

/// An error and what caused it, in one line.
fn with_source(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", with_source(source)),
        None => error.to_string(),
    }
}
