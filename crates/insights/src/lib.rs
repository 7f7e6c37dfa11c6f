//! What a profile says of itself, and of another.
//!
//! - [`findings`]: what is wrong with a query, by rules that hold for any engine.
//! - [`fingerprint`]: which runs have one plan.
//! - [`compare`]: what is different between two runs, and what the difference in time is made of.
//! - [`progress`]: how long a running query may still take.
//! - [`portable`]: what two runs differ in whatever machines they ran on.
//!
//! Everything is a pure function over [profiles](queryscope_protocol::Profile); counters and properties are
//! found by the names of the [`vocabulary`].

mod compare;
mod condition;
mod finding;
mod fingerprint;
mod graph;
mod outline;
pub mod portable;
mod progress;
mod properties;
mod query;
mod rules;
mod running;
mod say;
mod table;
#[cfg(test)]
mod testing;
mod wildcard;
mod words;

pub use compare::{Change, Comparison, Delta, Difference, Fate, Figures, NodePair, compare};
pub use condition::{columns_of, on_columns};
pub use fingerprint::{Fingerprint, fingerprint, physical_fingerprint};
pub use outline::{Outline, OutlineCounters, OutlineNode, Outlines, outline};
pub use progress::{MIN_RUNS, Progress, progress};
pub use queryscope_protocol::vocabulary;
pub use rules::user_code::user_code;
pub use rules::{findings, rules_checked};
pub use running::Latest;
