//! What a profile says of itself, and of another.
//!
//! - [`findings`]: what is wrong with a query, by rules that hold for any engine.
//! - [`fingerprint`]: which runs have one plan.
//!
//! Everything is a pure function over [profiles](queryscope_protocol::Profile); counters and properties are
//! found by the names of the [`vocabulary`].

mod finding;
mod fingerprint;
mod graph;
mod properties;
mod query;
mod rules;
mod say;
mod table;
#[cfg(test)]
mod testing;
pub mod vocabulary;
mod words;

pub use fingerprint::{Fingerprint, fingerprint};
pub use rules::findings;
