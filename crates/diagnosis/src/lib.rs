//! What changed in the runs of a query, since when, and why.
//!
//! - [`RunFeatures`]: what is kept of an ended run, from its profile, in a few hundred bytes.
//! - [`Detector`]: takes the runs of one query one after the other and keeps its [`Change`]s.
//! - [`remaining`]: how long a running query may still take.
//! - [`stats`]: the statistics these rest on.
//!
//! Everything is pure: no clock, no store, no IO; the same runs in the same order give the same changes. The
//! design, its sources and its measured error rates are in `docs/internals/diagnosis.md`.

#![cfg_attr(test, expect(clippy::float_cmp, reason = "what is defined exactly is compared exactly"))]

mod adjust;
mod cause;
mod change;
mod detector;
mod differences;
mod extract;
mod failing;
mod features;
mod growth;
mod layer;
pub mod limits;
mod machine;
mod marks;
mod packed;
mod plan;
mod remaining;
#[cfg(feature = "serde")]
mod saved;
mod scan;
mod search;
mod series;
pub mod stats;
mod two_levels;
mod watching;

pub use cause::{Account, AccountPart};
pub use change::{
    Cause, CauseKind, Change, Cost, Dimension, Examples, Figure, Kind, NodeRef, Side, State, Transition,
};
pub use detector::{Detector, Workspace};
pub use differences::{Contrast, Groups, RUNS_MIN as CONTRAST_RUNS_MIN, TimeJudgement, Trait};
pub use extract::{Context, counted};
pub use features::{NodeFeatures, RunFeatures, Status};
pub use packed::{NODES_MAX, PackedError};
pub use plan::{Difference, Matching, Plan, PlanNode};
pub use queryscope_history::Quantity;
pub use remaining::{Judged, Remaining, Running, judged, remaining};
#[cfg(feature = "serde")]
pub use saved::{Replayed, Saved};
pub use watching::{Watching, seen_change, seen_run};
