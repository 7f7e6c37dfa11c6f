//! Answers over many queries. Those of one start stand in the order they were first stored, as in the list.

use queryscope_history::{Day, Group, Median, Overview, Verdict, Version};
use queryscope_protocol::QueryId;

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

/// The queries of one label or one plan.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupEntry {
    /// The label or the fingerprint.
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

/// How a label is doing; [`Overview`] says what the fields are.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "each field is documented where it is computed, in Overview and Comparison")]
pub struct OverviewEntry {
    pub label: String,
    pub service: Option<String>,
    pub runs: u64,
    pub failed: u64,
    pub total_wall_ms: f64,
    pub usual_wall_ms: Option<f64>,
    pub usual_band_ms: Option<[f64; 2]>,
    pub recent_wall_ms: Option<f64>,
    pub ratio: Option<f64>,
    pub verdict: Option<Verdict>,
    pub recent_runs: u64,
    pub recent_failed: u64,
    pub failed_before: u64,
    pub rules: Vec<String>,
    pub new_rules: Vec<String>,
    pub plan_changed_unix_ns: Option<i64>,
    pub bins: Vec<Median>,
    pub days: Vec<Day>,
}

impl OverviewEntry {
    /// The answer for a label.
    pub fn of(label: &str, overview: Overview<'_>) -> Self {
        Self {
            label: label.to_owned(),
            service: overview.service.map(Into::into),
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

    /// Where an entry stands in the answer: the most total time first, then by label.
    pub fn place(&self) -> impl Ord + use<'_> {
        (std::cmp::Reverse(self.total_wall_ms.to_bits()), &self.label)
    }
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}
