//! Seeded histories of runs with known changes, and how the detector does on them.
//!
//! [`generate`] makes the runs of one query: a random plan with the counters of Polars or DataFusion, noise of
//! a [`Noise`] kind, and at most one [`Change`] of known kind, size and moment. [`evaluate`] feeds many of them
//! to the detector in the order of time and counts what it said. `queryscope-bench diagnosis` prints the table.

mod evaluate;
mod generate;
mod model;
mod month;
mod posted;
mod report;
mod schedule;
#[cfg(test)]
mod tests;

pub use evaluate::{Options, Outcome, evaluate, evaluate_some};
pub use generate::{Change, Factor, History, Kind, Noise, Spec, generate, generate_month};
pub use month::{Label, Month, MonthOptions, month};
pub use posted::Poster;
pub use queryscope_diagnosis::RunFeatures as Run;
pub use report::report;
