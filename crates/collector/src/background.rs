//! The threads for work that gives way to ingest: answers over many runs, and recordings.
//!
//! They have the priority of all others, so that they get their share of a machine that other programs keep busy.
//! They give way between chunks of their work: answers by what the store says of the commits under way
//! ([`YieldPoint`](queryscope_store::YieldPoint)), recordings between rounds (`jobs/sealing/pace.rs`).
//! ADR 23 says why.

use crate::threads::{StandBack, Threads};

/// Reading what is stored: an analysis of each kind, recordings that are read and written at the same time, and
/// the evaluation of ended runs.
const BLOCKING_MAX: usize = 3 + 8 + 1;

/// Starts the threads.
pub(crate) fn threads() -> Threads {
    let threads = std::thread::available_parallelism().map_or(2, usize::from).clamp(2, 4);
    Threads::start("background", threads, BLOCKING_MAX, StandBack::None)
}
