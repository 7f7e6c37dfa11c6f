//! Issues: what changed for the worse in a query, with a state that people and the service move.
//!
//! The problem: a change of a query is a statistic. Somebody must be told once, be able to say "I know" or "not now",
//! and be told again when it comes back. The mechanism: an [`Issue`] for each query and kind, a state machine, and a
//! [`Transition`] for each move. [`Issue::act`] takes what a person asks for; [`observe`] takes what an evaluation of
//! ended runs saw. Prior art: the issue states of Sentry, the hysteresis of Grafana's alerts.
//!
//! Everything is pure: no clock, no store, no IO. A store applies these functions in the transaction that writes what
//! they give back, so that two who move an issue at once never overwrite each other.

mod act;
mod audit;
mod finding;
mod issue;
mod late;
pub mod limits;
mod missing;
mod mute;
mod notice;
mod observe;
mod seen;
mod signal;
mod transition;
mod words;

pub use act::{Action, Person, Refusal};
pub use audit::problems;
pub use finding::{NewFindings, WarnedRun, is_settled, new_findings};
pub use issue::{Issue, Kind, State, Unreadable};
pub use late::{Late, late};
pub use missing::{Rhythm, is_missing, rhythm};
pub use mute::{Condition, Mute, Version};
pub use notice::{Direction, Notice};
pub use observe::{Moved, observe};
pub use seen::{Observed, Outcome, SeenChange, SeenRun, SeenSignal, Signal};
pub use transition::{Actor, Note, Transition};
pub use words::duration;
