//! Answers over many runs. Those of one start stand in the order they were first stored, as in the list.

use std::cmp::Reverse;
use std::sync::Arc;

use queryscope_history::{Group, LabelOverview, Place, SeriesGroup, Totals, Window};
use serde::{Deserialize, Serialize};

use crate::filter::QueryFilter;
use crate::packed::Packed;

/// A value and how many queries have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FacetValue {
    /// The value; null is that of queries without the field.
    pub value: Option<String>,
    /// Queries that have it.
    pub runs: u64,
    /// Of a version of an engine: the engines that were seen with it, by name; null is one that its events do not name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub engines: Vec<Option<String>>,
}

/// How many queries each value of a field has.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(example = json!({
    "service": [{"value": "orders-etl", "runs": 40}, {"value": null, "runs": 0}],
    "environment": [{"value": "prod", "runs": 40}],
    "host": [{"value": "worker-1", "runs": 40}],
    "engine_version": [{"value": "1.35.2", "runs": 40, "engines": ["polars"]}],
    "program_version": [{"value": "2026.11.3", "runs": 40}],
    "status": [{"value": "finished", "runs": 39}, {"value": "failed", "runs": 1}],
    "cancelled": 0
})))]
pub struct Facets {
    /// What the sending processes are.
    pub service: Vec<FacetValue>,
    /// Where they run.
    pub environment: Vec<FacetValue>,
    /// Their machines.
    pub host: Vec<FacetValue>,
    /// Versions of their engines; null where it is not known.
    pub engine_version: Vec<FacetValue>,
    /// Versions of the programs; null where they do not say it.
    pub program_version: Vec<FacetValue>,
    /// States of the queries.
    pub status: Vec<FacetValue>,
    /// Of the queries counted as `failed` there, those that a person or the program stopped.
    pub cancelled: u64,
}

// What queries are grouped by.
#[expect(
    missing_docs,
    reason = "a parameter of the API takes it, and its description is that of the parameter"
)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum GroupBy {
    /// Their label.
    #[default]
    Label,
    /// Their plan.
    Fingerprint,
}

/// Which groups are asked for.
#[derive(Debug, Clone, Default)]
pub struct GroupsRequest {
    /// The queries that are grouped.
    pub filter: QueryFilter,
    /// What they are grouped by.
    pub by: GroupBy,
    /// Groups after this place alone.
    pub after: Option<GroupPlace>,
    /// So many groups at most; all where it is left out.
    pub limit: Option<usize>,
}

/// Where a group stands: the one whose query started last first, then by key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields of a group")]
pub struct GroupPlace {
    pub last_started_unix_ns: Reverse<i64>,
    pub key: String,
}

/// Some groups of an answer, in their order.
#[derive(Debug, Clone, Default)]
pub struct GroupsAnswer {
    /// The groups.
    pub entries: Packed<Group<'static>>,
    /// The place of the last one, where others follow.
    pub next: Option<GroupPlace>,
}

// What the runs of a series are divided by.
#[expect(
    missing_docs,
    reason = "a parameter of the API takes it, and its description is that of the parameter"
)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum SeriesBy {
    Fingerprint,
    Host,
    Service,
    Environment,
    EngineVersion,
    ProgramVersion,
}

/// Which runs a series is of.
#[derive(Debug, Clone)]
pub struct SeriesRequest {
    /// The runs; its times and search have no say. It [asks for no texts](QueryFilter::asks_for_texts) that rows alone
    /// have, and its conditions on figures but wall time are of figures rounded to 11 binary digits.
    pub filter: QueryFilter,
    /// The range, and with it the slices.
    pub window: Window,
    /// What they are divided by; not at all where it is left out.
    pub by: Option<SeriesBy>,
    /// So many groups at most.
    pub most: usize,
}

/// Names the owner of the queries of a label; `None` where nobody owns them.
pub type OwnerOf = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// What ran where, and whose it was: the place of the most wall time first, then by name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Places {
    /// What the sending processes are.
    pub service: Vec<Place>,
    /// Where they run.
    pub environment: Vec<Place>,
    /// Their machines.
    pub host: Vec<Place>,
    /// Owners of the labels of the runs; empty where nothing names owners.
    pub owner: Vec<Place>,
}

/// The groups of a series, in their order.
pub type Series = Vec<SeriesGroup>;

/// Puts places in their order.
pub fn in_place_order(mut places: Vec<Place>) -> Vec<Place> {
    places.sort_by(|a, b| b.total_wall_ms.total_cmp(&a.total_wall_ms).then_with(|| a.value.cmp(&b.value)));
    places
}

// In which order an overview lists labels.
#[expect(
    missing_docs,
    reason = "a parameter of the API takes it, and its description is that of the parameter"
)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum OverviewOrder {
    /// The label that took the most time first.
    #[default]
    Time,
    /// Labels with news first ([`LabelOverview::has_news`]), then by time.
    News,
}

// What an entry of an overview is of.
#[expect(
    missing_docs,
    reason = "a parameter of the API takes it, and its description is that of the parameter"
)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum OverviewSplit {
    /// A label. It is asked for by leaving the parameter out.
    #[default]
    #[serde(skip)]
    Label,
    /// A label in one service. Runs without a service are together, too.
    Service,
}

/// What an overview is to cover.
#[derive(Debug, Clone)]
pub struct OverviewRequest {
    /// The queries it looks at; its times and search have no say.
    pub filter: QueryFilter,
    /// The range.
    pub window: Window,
    /// Which entries come first.
    pub order: OverviewOrder,
    /// What an entry is of.
    pub split: OverviewSplit,
    /// Entries after this place alone.
    pub after: Option<OverviewPlace>,
    /// So many entries at most; all where it is left out.
    pub limit: Option<usize>,
}

impl OverviewRequest {
    /// Every label, the one that took the most time first.
    pub fn whole(filter: QueryFilter, window: Window) -> Self {
        Self {
            filter,
            window,
            order: OverviewOrder::default(),
            split: OverviewSplit::default(),
            after: None,
            limit: None,
        }
    }
}

/// How far to the front an entry belongs: what it tells and how long it took. Of two of one rank names decide.
pub type OverviewRank = (Reverse<bool>, Reverse<u64>);

/// Where an entry of an overview stands, in the order of the request.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields of an entry")]
pub struct OverviewPlace {
    pub rank: OverviewRank,
    pub label: String,
    /// Where entries are split by service.
    pub service: Option<String>,
}

/// Some entries of an overview, in their order.
#[derive(Debug, Clone, Default)]
pub struct OverviewAnswer {
    /// All entries together, also those that are left out.
    pub totals: Totals,
    /// The entries.
    pub entries: Packed<LabelOverview<'static>>,
    /// The place of the last one, where others follow.
    pub next: Option<OverviewPlace>,
}

/// The rank of an entry: times are at least 0, and so in the order of their bits.
pub fn rank(order: OverviewOrder, has_news: bool, total_wall_ms: f64) -> OverviewRank {
    (Reverse(has_news && order == OverviewOrder::News), Reverse(total_wall_ms.to_bits()))
}
