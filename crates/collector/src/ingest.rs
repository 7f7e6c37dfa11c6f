//! `POST /v1/events`: from a request to a committed batch.
//!
//! In the order of the steps: the token, the headers, the body within its budget and deadline, the admission,
//! the inflated text, the checked events, the packed batch, the commit.

mod admission;
mod body;
mod budget;
mod conflicts;
mod decode;
mod events;
mod health;
mod heard;
mod pack;

pub(crate) use admission::Admission;
pub(crate) use body::spent;
pub(crate) use budget::{Budget, Share};
pub(crate) use conflicts::Conflicts;
pub(crate) use decode::{Coding, Decoders, inflated};
pub(crate) use events::{__path_events, EVENTS, accept, events};
pub(crate) use health::{__path_health, health};
pub(crate) use heard::Heard;
