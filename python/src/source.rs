//! A query of an adapter written in Python.

use pyo3::prelude::*;
use queryscope_client::protocol::Plan;
use queryscope_client::{QuerySource, Readings, Totals};
use serde::de::DeserializeOwned;

use crate::nodes::{PlanJson, ReadingJson, TotalsJson};

/// Calls a Python object that has `plan()`, `sample()` and `totals()`, each of which returns JSON or `None`.
///
/// The methods are called on a background thread, which takes Python's lock for the call alone. A method that raises
/// costs the query what it would have told, and is logged once by the library.
pub(crate) struct PythonSource(pub(crate) Py<PyAny>);

impl PythonSource {
    /// What a method returns.
    ///
    /// # Panics
    /// When the method raises, or returns something else than JSON of this shape: the library logs it, and goes on.
    fn call<T: DeserializeOwned + Default>(&self, method: &str) -> T {
        let text = Python::attach(|python| {
            let answer = self.0.bind(python).call_method0(method)?;
            if answer.is_none() { Ok(None) } else { answer.extract::<String>().map(Some) }
        });
        match text {
            Ok(None) => T::default(),
            Ok(Some(text)) => serde_json::from_str(&text)
                .unwrap_or_else(|error| panic!("{method}() of an adapter returned no valid JSON: {error}")),
            Err(error) => panic!("{method}() of an adapter failed: {error}"),
        }
    }
}

impl QuerySource for PythonSource {
    fn plan(&self) -> Plan<'static> {
        self.call::<PlanJson>("plan").into()
    }

    fn sample(&self, readings: &mut Readings) {
        for reading in self.call::<Vec<ReadingJson>>("sample") {
            reading.read_into(readings);
        }
    }

    fn totals(&self) -> Totals {
        self.call::<TotalsJson>("totals").into()
    }
}
