//! Answers over many queries: facets, groups, versions, the overview.

mod facets;
mod groups;
mod keys;
mod overview;
mod point;
mod rules;
mod tallies;
mod versions;

pub(crate) use facets::facets;
pub(crate) use groups::groups;
pub(crate) use overview::overview;
pub(crate) use versions::versions;
