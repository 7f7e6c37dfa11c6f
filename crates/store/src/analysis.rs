//! Answers over many queries. Those of one start stand in the order they were first stored, as in the list.

use std::cmp::Reverse;

use queryscope_history::{Day, Group, Median, Overview, Verdict, Version, Window};
use queryscope_protocol::QueryId;
use serde::{Deserialize, Serialize};

use crate::filter::QueryFilter;
use crate::packed::{self, Entry, Packed};

/// A value of a field, and how many queries have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FacetValue {
    /// The value; `None` is that of queries without the field.
    pub value: Option<String>,
    /// Queries that have it.
    pub runs: u64,
}

/// Counts of four fields, each under the filters on the other fields; the most frequent value first, then by
/// name.
///
/// A value that occurs under the filters on project, label and time is listed also when it has no queries under
/// the others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facets {
    /// What the sending processes are.
    pub service: Vec<FacetValue>,
    /// Where they run.
    pub environment: Vec<FacetValue>,
    /// Their machines.
    pub host: Vec<FacetValue>,
    /// States of the queries.
    pub status: Vec<FacetValue>,
}

/// What queries are grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
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
    pub entries: Packed<GroupEntry>,
    /// The place of the last one, where others follow.
    pub next: Option<GroupPlace>,
}

/// The queries of one label or one plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupEntry {
    /// The label or the fingerprint.
    #[serde(skip)]
    pub key: String,
    /// Queries, of every state.
    pub runs: u64,
    /// Those of them that failed.
    pub failed: u64,
    /// When the last of them started, in Unix nanoseconds.
    pub last_started_unix_ns: i64,
    /// Wall time of those that finished, together, in milliseconds.
    pub total_wall_ms: f64,
    /// Median wall time of those that finished, in milliseconds.
    pub usual_wall_ms: Option<f64>,
    /// Rules that warned in any of them, by name.
    pub rules: Vec<String>,
    /// Wall times of the last that finished, the oldest first, in milliseconds.
    pub recent_wall_ms: Vec<f64>,
}

impl GroupEntry {
    /// The answer for a key.
    pub fn of(key: &str, group: Group<'_>) -> Self {
        Self {
            key: key.to_owned(),
            runs: group.runs,
            failed: group.failed,
            last_started_unix_ns: group.last_started_unix_ns,
            total_wall_ms: group.total_wall_ms,
            usual_wall_ms: group.usual_wall_ms,
            rules: owned(&group.rules),
            recent_wall_ms: group.recent_wall_ms,
        }
    }

    /// Where it stands in the answer.
    pub fn place(&self) -> GroupPlace {
        GroupPlace { last_started_unix_ns: Reverse(self.last_started_unix_ns), key: self.key.clone() }
    }
}

impl Entry for GroupEntry {
    fn name(&self) -> &str {
        &self.key
    }

    fn named(self, key: String) -> Self {
        Self { key, ..self }
    }
}

/// The queries of a label with one plan.
#[derive(Debug, Clone, PartialEq)]
pub struct VersionEntry {
    /// Hash of the plan.
    pub fingerprint: String,
    /// Queries, of every state.
    pub runs: u64,
    /// Those of them that failed.
    pub failed: u64,
    /// When the first of them started, in Unix nanoseconds.
    pub first_started_unix_ns: i64,
    /// When the last of them started, in Unix nanoseconds.
    pub last_started_unix_ns: i64,
    /// Median wall time of those that finished, in milliseconds.
    pub usual_wall_ms: f64,
    /// Rules that warned in any of them, by name.
    pub rules: Vec<String>,
    /// The last of them, whatever its state.
    pub latest_query_id: QueryId,
}

impl VersionEntry {
    /// The answer for a plan; the run that is its latest is this query.
    pub fn of(version: &Version<'_>, latest_query_id: QueryId) -> Self {
        Self {
            fingerprint: version.fingerprint.to_owned(),
            runs: version.runs,
            failed: version.failed,
            first_started_unix_ns: version.first_started_unix_ns,
            last_started_unix_ns: version.last_started_unix_ns,
            usual_wall_ms: version.usual_wall_ms,
            rules: owned(&version.rules),
            latest_query_id,
        }
    }
}

/// In which order an overview lists labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OverviewOrder {
    /// The label that took the most time first.
    #[default]
    Time,
    /// Labels with news first ([`Overview::has_news`]), then by time.
    News,
}

/// What an entry of an overview is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OverviewSplit {
    /// A label.
    #[default]
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

/// All entries of an overview together, whatever its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OverviewTotals {
    /// Entries: labels, or labels in one service each.
    pub labels: u64,
    /// Runs in the range, of every state.
    pub runs: u64,
    /// Those of them that failed.
    pub failed: u64,
    /// Wall time of those of them that finished, together, in nanoseconds: a sum that no order of adding changes.
    pub total_wall_ns: u128,
    /// Entries that are slower than usual.
    pub slower: u64,
    /// Entries that are faster than usual.
    pub faster: u64,
}

impl OverviewTotals {
    /// Adds an entry.
    pub fn add(&mut self, overview: &Overview<'_>) {
        self.labels += 1;
        self.runs += overview.runs;
        self.failed += overview.failed;
        self.total_wall_ns += (overview.total_wall_ms * 1e6).round() as u128;
        self.slower += u64::from(overview.times.verdict == Some(Verdict::Slower));
        self.faster += u64::from(overview.times.verdict == Some(Verdict::Faster));
    }

    /// Adds other entries.
    pub fn merge(&mut self, other: &Self) {
        self.labels += other.labels;
        self.runs += other.runs;
        self.failed += other.failed;
        self.total_wall_ns += other.total_wall_ns;
        self.slower += other.slower;
        self.faster += other.faster;
    }

    /// Wall time of the runs that finished, together, in milliseconds.
    pub fn total_wall_ms(&self) -> f64 {
        self.total_wall_ns as f64 / 1e6
    }
}

/// Some entries of an overview, in their order.
#[derive(Debug, Clone, Default)]
pub struct OverviewAnswer {
    /// All entries together, also those that are left out.
    pub totals: OverviewTotals,
    /// The entries.
    pub entries: Packed<OverviewEntry>,
    /// The place of the last one, where others follow.
    pub next: Option<OverviewPlace>,
}

/// How a label is doing; [`Overview`] says what the fields are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each field is documented where it is computed, in Overview and Comparison")]
pub struct OverviewEntry {
    #[serde(skip)]
    pub label: String,
    pub service: Option<String>,
    pub services: u64,
    pub runs: u64,
    pub failed: u64,
    pub total_wall_ms: f64,
    pub usual_wall_ms: Option<f64>,
    pub usual_band_ms: Option<[f64; 2]>,
    pub recent_wall_ms: Option<f64>,
    pub ratio: Option<f64>,
    #[serde(with = "packed::verdict")]
    pub verdict: Option<Verdict>,
    pub recent_runs: u64,
    pub recent_failed: u64,
    pub failed_before: u64,
    pub rules: Vec<String>,
    pub new_rules: Vec<String>,
    pub plan_changed_unix_ns: Option<i64>,
    #[serde(with = "packed::bins")]
    pub bins: Vec<Median>,
    #[serde(with = "packed::days")]
    pub days: Vec<Day>,
}

impl OverviewEntry {
    /// The answer for a label.
    pub fn of(label: &str, overview: Overview<'_>) -> Self {
        Self {
            label: label.to_owned(),
            service: overview.service.map(Into::into),
            services: overview.services,
            runs: overview.runs,
            failed: overview.failed,
            total_wall_ms: overview.total_wall_ms,
            usual_wall_ms: overview.times.usual_wall_ms,
            usual_band_ms: overview.times.usual_band_ms,
            recent_wall_ms: overview.times.recent_wall_ms,
            ratio: overview.times.ratio,
            verdict: overview.times.verdict,
            recent_runs: overview.recent_runs,
            recent_failed: overview.recent_failed,
            failed_before: overview.failed_before,
            rules: owned(&overview.rules),
            new_rules: owned(&overview.new_rules),
            plan_changed_unix_ns: overview.plan_changed_unix_ns,
            bins: overview.bins,
            days: overview.days,
        }
    }

    /// Its rank in an order.
    pub fn rank(&self, order: OverviewOrder) -> OverviewRank {
        let has_news = self.verdict.is_some()
            || self.recent_failed > 0
            || !self.new_rules.is_empty()
            || self.plan_changed_unix_ns.is_some();
        rank(order, has_news, self.total_wall_ms)
    }

    /// Where it stands in the answer.
    pub fn place(&self, order: OverviewOrder, split: OverviewSplit) -> OverviewPlace {
        let service = self.service.clone().filter(|_| split == OverviewSplit::Service);
        OverviewPlace { rank: self.rank(order), label: self.label.clone(), service }
    }
}

impl Entry for OverviewEntry {
    fn name(&self) -> &str {
        &self.label
    }

    fn named(self, label: String) -> Self {
        Self { label, ..self }
    }
}

/// The rank of an entry: times are at least 0, and so in the order of their bits.
pub fn rank(order: OverviewOrder, has_news: bool, total_wall_ms: f64) -> OverviewRank {
    (Reverse(has_news && order == OverviewOrder::News), Reverse(total_wall_ms.to_bits()))
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}
