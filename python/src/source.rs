//! A query of an adapter written in Python.

use pyo3::prelude::*;
use queryscope_client::protocol::Plan;
use queryscope_client::{QuerySource, Readings, Totals};
use serde::de::DeserializeOwned;

use crate::nodes::{PlanJson, ReadingJson, TotalsJson};

/// Calls a Python object that has `plan()`, `sample()` and `totals()`, each of which returns JSON or `None`, and may
/// have `final_plan()`, which does as well.
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
        self.ask(method).unwrap_or_default()
    }

    /// What a method returns; `None` where it returns that.
    ///
    /// # Panics
    /// As [`call`](Self::call).
    fn ask<T: DeserializeOwned>(&self, method: &str) -> Option<T> {
        let text = Python::attach(|python| {
            let answer = self.0.bind(python).call_method0(method)?;
            if answer.is_none() { Ok(None) } else { answer.extract::<String>().map(Some) }
        });
        match text {
            Ok(None) => None,
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

    fn final_plan(&self) -> Option<Plan<'static>> {
        let has_it = Python::attach(|python| self.0.bind(python).hasattr("final_plan").unwrap_or(false));
        if !has_it {
            return None;
        }
        self.ask::<PlanJson>("final_plan").map(Into::into)
    }

    fn totals(&self) -> Totals {
        self.call::<TotalsJson>("totals").into()
    }
}
