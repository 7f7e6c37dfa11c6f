//! The read API.

mod answers;
mod asked;
mod changes;
mod compare;
mod conditional;
pub(crate) mod cursor;
mod delivery;
mod diagnosed;
mod differences;
mod export;
mod facets;
mod groups;
mod insights;
mod issues;
mod list;
mod metrics;
mod offload;
mod overview;
mod params;
mod part;
mod pieces;
mod places;
mod progress;
mod query;
mod recording;
mod senders;
mod series;
mod stored;
mod stream;
mod summary;
mod unreadable;
mod usual;
mod versions;

pub(crate) use answers::Answers;
pub(crate) use asked::Asked;
#[cfg(test)]
pub(crate) use asked::read;
pub(crate) use changes::{__path_change, __path_changes, change, changes};
pub(crate) use compare::{__path_compare, compare};
pub(crate) use conditional::validate;
pub(crate) use delivery::{__path_owners, __path_routes, owners, routes};
pub(crate) use diagnosed::Detectors;
pub(crate) use differences::{__path_differences, differences};
pub(crate) use export::{
    __path_exported_issues, __path_findings, __path_nodes, __path_runs, EXPORTS_MAX, exported_issues,
    findings, nodes, runs,
};
pub(crate) use facets::{__path_facets, facets};
pub(crate) use groups::{__path_groups, groups};
pub(crate) use insights::{__path_insights, insights};
pub(crate) use issues::{
    __path_issue, __path_issues, IssueDetail, deploys_of, detail, issue, issue_id, issues, no_issue,
};
pub(crate) use list::{__path_list, list};
pub(crate) use metrics::metrics;
pub(crate) use offload::offload;
pub(crate) use overview::{__path_overview, overview};
pub(crate) use params::{PROJECT_DEFAULT, ProjectFilter, SourceFilters, WrittenIn, limit, unix_ns};
pub(crate) use places::{__path_places, places};
pub(crate) use progress::{__path_progress, progress, rows_factor};
pub(crate) use query::{__path_query, QueryPath, find, query};
pub(crate) use recording::{__path_recording, recording};
pub(crate) use senders::{__path_senders, senders};
pub(crate) use series::{__path_series, series};
pub(crate) use stored::Stored;
pub(crate) use summary::QuerySummary;
pub(crate) use unreadable::unreadable;
pub(crate) use usual::{Alike, earlier};
pub(crate) use versions::{__path_versions, versions};
