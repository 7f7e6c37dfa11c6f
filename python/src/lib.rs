//! The native half of the Python package `queryscope`.
//!
//! Problem: Python programs run queries in several engines, and each must be followed without slowing it down or
//! making it fail. Mechanism: the sending library `queryscope-client` does all work on its own threads; this crate
//! gives Python a [`telemetry::Telemetry`] to begin queries on, and turns what an adapter knows of a query into the
//! library's plan and counters. Adapters are Python modules; what they must do fast, such as decoding the counters of
//! Polars, is done here without Python's lock.

mod active;
mod memory;
mod nodes;
mod options;
mod polars;
mod source;
mod telemetry;
mod user_code;
mod warnings;

use pyo3::prelude::*;

/// `queryscope._native`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::active::ActiveQuery;
    #[pymodule_export]
    use crate::polars::PolarsQuery;
    #[pymodule_export]
    use crate::telemetry::Telemetry;
    #[pymodule_export]
    use crate::user_code::{Timed, UserCode};
}
