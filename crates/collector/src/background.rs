//! The threads for work that gives way to ingest: answers over many runs, and recordings.
//!
//! They have the priority of all others, so that they get their share of a machine that other programs keep busy.
//! They give way between chunks of their work: answers by what the store says of the commits under way
//! ([`YieldPoint`](queryscope_store::YieldPoint)), recordings between rounds (`jobs/sealing/pace.rs`).
//! ADR 23 says why.
//!
//! Answers have threads of their own. What an answer took stays with the thread that made it for a while, and work of
//! recordings would have all its threads take turns with answers: 150 MB more at 1,000,000 runs.

use crate::threads::{StandBack, Threads};

/// Reading what is stored for answers: an analysis of each kind, and recordings that are read at the same time.
const ANSWERS_BLOCKING_MAX: usize = 3 + 8;
/// Recordings that are read and written at the same time, and the evaluation of ended runs.
const JOBS_BLOCKING_MAX: usize = 8 + 1;

/// The threads.
#[derive(Debug)]
pub(crate) struct Background {
    /// For answers over many runs and recordings that are read.
    pub(crate) answers: Threads,
    /// For recordings that are written, and the evaluation.
    pub(crate) jobs: Threads,
}

impl Background {
    /// Starts the threads.
    pub(crate) fn start() -> Self {
        let threads = std::thread::available_parallelism().map_or(2, usize::from).clamp(2, 4);
        let start = |name, blocking_max| Threads::start(name, threads, blocking_max, StandBack::None);
        Self { answers: start("answers", ANSWERS_BLOCKING_MAX), jobs: start("background", JOBS_BLOCKING_MAX) }
    }
}
