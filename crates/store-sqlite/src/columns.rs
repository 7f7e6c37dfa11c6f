//! Every query in memory, in columns, for reads over many queries.
//!
//! Groups, facets, versions and the overview read every query of the time they cover. Where a query ran
//! (project, service, environment, host) and what it ran (label, fingerprint, rules) repeat, so each
//! combination is numbered once; a query is then 25 bytes: two numbers, its start, its wall time and its
//! status. A filter is decided once for each combination, not for each query.
//!
//! Most answers are given label by label, so the rows of a segment that has settled lie by label.
//!
//! The columns say what the committed rows say. They are filled when the store is opened, in the background,
//! and moved on by the writer after each commit. Readers take a snapshot, which costs a few pointers, and
//! never hold up the writer.

mod apply;
mod clusters;
mod dictionary;
mod load;
mod segment;
mod select;

pub(crate) use apply::Columns;
pub(crate) use clusters::Clusters;
pub(crate) use dictionary::Plan;
pub(crate) use load::{LoadedColumns, read};
pub(crate) use segment::Row;
pub(crate) use select::{Selection, Snapshot, keeps};
