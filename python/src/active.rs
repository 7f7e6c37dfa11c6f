//! A query that runs, as Python holds it, and its end as Polars tells it.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use queryscope_client as client;

use crate::polars::PolarsQuery;

/// A query that runs. It ends once: by `finish`, `fail` or `cancel`; dropped, it was cancelled.
#[pyclass(frozen, weakref, module = "queryscope._native")]
pub(crate) struct ActiveQuery {
    id: String,
    query: Mutex<Option<client::ActiveQuery>>,
    /// Where the query is one of Polars: its figures of user code are taken at its end, not when it is described.
    polars: Option<Py<PolarsQuery>>,
}

impl ActiveQuery {
    pub(crate) fn new(query: client::ActiveQuery, polars: Option<Py<PolarsQuery>>) -> Self {
        Self { id: query.id().to_string(), query: Mutex::new(Some(query)), polars }
    }

    fn take(&self) -> Option<client::ActiveQuery> {
        if let Some(polars) = &self.polars {
            polars.get().end();
        }
        self.query.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

#[pymethods]
impl ActiveQuery {
    /// Identity of this run, by which the service finds it.
    #[getter]
    fn id(&self) -> &str {
        &self.id
    }

    /// The query ran to its end, so many seconds ago.
    #[pyo3(signature = (ended_ago=0.0))]
    fn finish(&self, ended_ago: f64) {
        if let Some(query) = self.take() {
            let ago = Duration::try_from_secs_f64(ended_ago).unwrap_or_default();
            let now = client::now();
            query.finish_at(now.checked_sub(ago).unwrap_or(now));
        }
    }

    /// The query failed, with the engine's error text.
    fn fail(&self, error: String) {
        if let Some(query) = self.take() {
            query.fail(error);
        }
    }

    /// The query was cancelled.
    fn cancel(&self) {
        drop(self.take());
    }
}

/// What Polars holds of a query that runs, and closes at its end.
///
/// Native, since Python delivers an interrupt at the first instruction that it executes: a method written in Python
/// would raise before it ends the query, which then ran for ever.
#[pyclass(frozen, module = "queryscope._native")]
pub(crate) struct Guard {
    query: Option<Py<ActiveQuery>>,
    /// The guard of a real `polars_cloud`.
    real: Option<Py<PyAny>>,
}

#[pymethods]
impl Guard {
    #[new]
    fn new(query: Option<Py<ActiveQuery>>, real: Option<Py<PyAny>>) -> Self {
        Self { query, real }
    }

    /// The query ended: by an interrupt if one waits to be delivered. Polars raises that by itself.
    fn close(&self, python: Python<'_>) {
        let is_interrupted = python.check_signals().is_err();
        if let Some(query) = &self.query {
            if is_interrupted {
                query.get().cancel();
            } else {
                query.get().finish(0.0);
            }
        }
        if let Some(real) = &self.real
            && let Err(error) = real.call_method0(python, "close")
        {
            log::warn!(target: "queryscope", "the guard of polars_cloud failed: {error}");
        }
    }
}
