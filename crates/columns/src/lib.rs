//! Every run in memory, in columns, and the answers over many runs that are made from them.
//!
//! Groups, facets, versions and the overview read every run of the time they cover. Where a run ran
//! (project, service, environment, host) and what it ran (label, fingerprint, rules, engine version) repeat, so each
//! combination is numbered once; a run is then 21 bytes: two numbers, its start, its wall time and its status. Other
//! figures take two bytes each where the runs of a segment differ by them. A filter is decided once for each
//! combination, not for each run.
//!
//! Most answers are given label by label, so the rows of a segment that has settled lie by label.
//!
//! The columns say what the rows of a store say. The store fills them ([`Index::fill`]) and moves them on
//! after each commit ([`Index::apply`]). Readers take a [`Snapshot`], which costs a few pointers, and never
//! hold up the writer.

mod apply;
mod clusters;
mod copy;
mod dictionary;
mod facets;
mod figures;
mod first;
mod groups;
mod index;
mod names;
mod overview;
mod page;
mod places;
mod point;
mod rounded;
mod rules;
mod segment;
mod select;
mod series;
mod sought;
mod state;
mod stretches;
mod tallies;
mod versions;
mod words;

pub use apply::{Columns, QueryState, RowState};
pub use copy::SegmentCopy;
pub use dictionary::{Origin, Plan};
pub use facets::facets;
pub use figures::Figures;
pub use groups::groups;
pub use index::{Index, Segments, Source, parts};
pub use names::Names;
pub use overview::overview;
pub use page::{Found, find_page, finds_page, page};
pub use places::places;
pub use segment::ROWS;
pub use select::{Selection, Snapshot};
pub use series::series;
pub use state::state_of;
pub use versions::versions;
