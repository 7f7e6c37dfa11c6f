//! The read API.

mod cursor;
mod list;
mod metrics;
mod params;
mod query;
mod recording;
mod summary;

pub(crate) use list::{__path_list, list};
pub(crate) use metrics::metrics;
pub(crate) use query::{__path_query, query};
pub(crate) use recording::{__path_recording, recording};
