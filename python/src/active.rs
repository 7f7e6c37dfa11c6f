//! A query that runs, as Python holds it.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use queryscope_client as client;

/// A query that runs. It ends once: by `finish`, `fail` or `cancel`; dropped, it was cancelled.
#[pyclass(frozen, module = "queryscope._native")]
pub(crate) struct ActiveQuery {
    id: String,
    query: Mutex<Option<client::ActiveQuery>>,
}

impl ActiveQuery {
    pub(crate) fn new(query: client::ActiveQuery) -> Self {
        Self { id: query.id().to_string(), query: Mutex::new(Some(query)) }
    }

    fn take(&self) -> Option<client::ActiveQuery> {
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

    /// The query ran to its end.
    fn finish(&self) {
        if let Some(query) = self.take() {
            query.finish();
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
