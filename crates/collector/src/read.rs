//! The read API.

mod apart;
mod compare;
mod conditional;
mod cursor;
mod facets;
mod groups;
mod insights;
mod list;
mod metrics;
mod overview;
mod params;
mod pieces;
mod progress;
mod query;
mod recording;
mod stored;
mod summary;
mod unreadable;
mod usual;
mod versions;

pub(crate) use apart::{analyse_apart, threads};
pub(crate) use compare::{__path_compare, compare};
pub(crate) use conditional::validate;
pub(crate) use facets::{__path_facets, facets};
pub(crate) use groups::{__path_groups, groups};
pub(crate) use insights::{__path_insights, insights};
pub(crate) use list::{__path_list, list};
pub(crate) use metrics::metrics;
pub(crate) use overview::{__path_overview, overview};
pub(crate) use params::{Params, ProjectFilter, SourceFilters, source_filter};
pub(crate) use progress::{__path_progress, progress};
pub(crate) use query::{__path_query, parse, query, text, unknown};
pub(crate) use recording::{__path_recording, recording};
pub(crate) use summary::QuerySummary;
pub(crate) use unreadable::unreadable;
pub(crate) use versions::{__path_versions, versions};
