//! A query that runs, as Python holds it.

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
