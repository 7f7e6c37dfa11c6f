//! The read API.

mod apart;
mod conditional;
mod cursor;
mod facets;
mod groups;
mod list;
mod metrics;
mod overview;
mod params;
mod query;
mod recording;
mod summary;
mod versions;

pub(crate) use apart::{analyse_apart, threads};
pub(crate) use conditional::validate;
pub(crate) use facets::{__path_facets, facets};
pub(crate) use groups::{__path_groups, groups};
pub(crate) use list::{__path_list, list};
pub(crate) use metrics::metrics;
pub(crate) use overview::{__path_overview, overview};
pub(crate) use params::{Params, ProjectFilter, SourceFilters, source_filter};
pub(crate) use query::{__path_query, parse, query, text, unknown};
pub(crate) use recording::{__path_recording, recording};
pub(crate) use summary::QuerySummary;
pub(crate) use versions::{__path_versions, versions};
