//! Answers of the read API, as far as commands show them. A service of another version may leave fields out.

use serde::Deserialize;

/// A run.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Run {
    pub(crate) query_id: String,
    pub(crate) status: String,
    pub(crate) started_unix_ns: i64,
    #[serde(default)]
    pub(crate) host: String,
    pub(crate) label: Option<String>,
    pub(crate) service: Option<String>,
    pub(crate) environment: Option<String>,
    pub(crate) engine: Option<String>,
    pub(crate) engine_version: Option<String>,
    pub(crate) fingerprint: Option<String>,
    pub(crate) wall_ms: Option<f64>,
    pub(crate) cpu_ms: Option<f64>,
    pub(crate) result_rows: Option<i64>,
    pub(crate) bytes_read: Option<i64>,
    pub(crate) spilled_bytes: Option<i64>,
    pub(crate) peak_memory_bytes: Option<i64>,
    pub(crate) failed: Option<String>,
    #[serde(default)]
    pub(crate) warnings: i64,
}

/// A query in `/api/overview`.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Query {
    pub(crate) label: String,
    pub(crate) service: Option<String>,
    pub(crate) runs: u64,
    #[serde(default)]
    pub(crate) failed: u64,
    /// Among the failed ones.
    #[serde(default)]
    pub(crate) cancelled: u64,
    #[serde(default)]
    pub(crate) total_wall_ms: f64,
    /// Runs of which nothing was heard for too long.
    #[serde(default)]
    pub(crate) unfinished: u64,
    pub(crate) usual_wall_ms: Option<f64>,
    /// Its quartiles.
    pub(crate) usual_band_ms: Option<[f64; 2]>,
    pub(crate) recent_wall_ms: Option<f64>,
    /// Its quartiles, where these lie far apart.
    pub(crate) recent_spread_ms: Option<[f64; 2]>,
    #[serde(default)]
    pub(crate) recent_runs: u64,
    #[serde(default)]
    pub(crate) recent_failed: u64,
    /// Whether there are runs enough to compare those of lately with the usual ones.
    #[serde(default)]
    pub(crate) judged: bool,
}

impl Query {
    /// Whether none failed lately, and the median lies within the usual band, from as many runs as are compared.
    pub(crate) fn is_as_usual(&self) -> bool {
        let is_within = |(ms, [low, high]): (f64, [f64; 2])| (low..=high).contains(&ms);
        self.judged
            && self.recent_failed == 0
            && self.recent_wall_ms.zip(self.usual_band_ms).is_some_and(is_within)
    }

    /// Whether a change may not show yet: it may need `least` runs to be found.
    pub(crate) fn is_few(&self, least: u64) -> bool {
        if self.judged { self.recent_runs < least && !self.is_as_usual() } else { self.runs < least }
    }
}

/// `/api/overview`.
#[derive(Debug, Deserialize)]
pub(crate) struct Overview {
    pub(crate) totals: Totals,
    pub(crate) change_runs_min: Option<u64>,
    #[serde(default)]
    pub(crate) queries: Vec<Query>,
}

/// All queries of an overview together.
#[derive(Debug, Deserialize)]
pub(crate) struct Totals {
    pub(crate) labels: u64,
    pub(crate) runs: u64,
    pub(crate) total_wall_ms: f64,
}

/// A change of a query.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Change {
    #[serde(default)]
    pub(crate) id: String,
    pub(crate) kind: String,
    pub(crate) state: String,
    pub(crate) label: Option<String>,
    pub(crate) service: Option<String>,
    pub(crate) environment: Option<String>,
    pub(crate) host: Option<String>,
    pub(crate) since_unix_ns: i64,
    pub(crate) since_query_id: String,
    pub(crate) recovered_unix_ns: Option<i64>,
    pub(crate) factor: Option<f64>,
    pub(crate) before: Side,
    pub(crate) after: Side,
    #[serde(default)]
    pub(crate) causes: Vec<Cause>,
    pub(crate) cost: Cost,
    #[serde(default)]
    pub(crate) examples: Examples,
    #[serde(default)]
    pub(crate) harmless: Vec<String>,
}

/// An issue of a query.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Issue {
    pub(crate) id: String,
    pub(crate) label: String,
    pub(crate) service: Option<String>,
    pub(crate) environment: Option<String>,
    pub(crate) host: Option<String>,
    pub(crate) kind: String,
    pub(crate) state: String,
    pub(crate) opened_unix_ns: i64,
    /// Id of the change it is about.
    pub(crate) change: Option<String>,
    /// What the service says of it, where no change does.
    pub(crate) detail: Option<String>,
    /// The deploys it came after, in words.
    #[serde(default)]
    pub(crate) after_deploys: Option<String>,
    pub(crate) wall_ms_a_day: f64,
    pub(crate) severity: f64,
    /// Rules of the findings it is about.
    #[serde(default)]
    pub(crate) findings: Vec<String>,
}

/// Runs on one side of a change.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Side {
    pub(crate) runs: u64,
    pub(crate) failed: u64,
    pub(crate) median_wall_ms: Option<f64>,
    pub(crate) low_ms: Option<f64>,
    pub(crate) high_ms: Option<f64>,
}

/// A cause and its share of a change.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Cause {
    #[serde(rename = "cause")]
    pub(crate) kind: String,
    pub(crate) share: f64,
    pub(crate) wall_ms: f64,
    #[serde(default)]
    pub(crate) evidence: Vec<CauseEvidence>,
    pub(crate) node: Option<ChangeNode>,
    #[serde(default)]
    pub(crate) sentence: String,
}

/// A figure on both sides.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct CauseEvidence {
    pub(crate) name: String,
    pub(crate) unit: String,
    pub(crate) before: Option<f64>,
    pub(crate) after: Option<f64>,
}

/// A node of the example run since a change.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ChangeNode {
    pub(crate) id: u64,
    pub(crate) kind: String,
}

/// What a change cost.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Cost {
    pub(crate) runs: u64,
    pub(crate) extra_wall_ms: f64,
    pub(crate) wall_ms_a_day: f64,
}

/// Two typical runs.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Examples {
    pub(crate) base: Option<String>,
    pub(crate) run: Option<String>,
}

/// `/api/queries/{id}/insights`.
#[derive(Debug, Deserialize)]
pub(crate) struct Insights {
    pub(crate) checked: Option<u64>,
    #[serde(default)]
    pub(crate) findings: Vec<Finding>,
}

/// A finding.
#[derive(Debug, Deserialize)]
pub(crate) struct Finding {
    pub(crate) level: String,
    pub(crate) title: String,
    pub(crate) node_id: Option<i64>,
    pub(crate) node_kind: Option<String>,
    pub(crate) cpu_share: Option<f64>,
    pub(crate) fix: Option<String>,
    #[serde(default)]
    pub(crate) evidence: Vec<Evidence>,
}

/// A number or a text that a finding rests on.
#[derive(Debug, Deserialize)]
pub(crate) struct Evidence {
    pub(crate) name: String,
    pub(crate) unit: Option<String>,
    #[serde(default)]
    pub(crate) value: serde_json::Value,
}

/// `/api/queries/{id}/progress`.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Progress {
    #[serde(default)]
    pub(crate) runs: u64,
    pub(crate) elapsed_ms: Option<f64>,
    pub(crate) basis: Option<String>,
    #[serde(default)]
    pub(crate) is_late: bool,
    pub(crate) longer_than: Option<u64>,
    pub(crate) remaining_ms: Option<Remaining>,
    pub(crate) rows_read_factor: Option<f64>,
    pub(crate) usual_wall_ms: Option<f64>,
    /// Id of the open change of its query's time.
    pub(crate) change: Option<String>,
}

/// A remaining time.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(crate) struct Remaining {
    pub(crate) p10: f64,
    pub(crate) p90: f64,
}

/// A plan of a label in `/api/versions`.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Version {
    pub(crate) fingerprint: String,
    pub(crate) first_started_unix_ns: i64,
    #[serde(default)]
    pub(crate) runs: u64,
    #[serde(default)]
    pub(crate) failed: u64,
    /// Among the failed ones.
    #[serde(default)]
    pub(crate) cancelled: u64,
    pub(crate) last_started_unix_ns: Option<i64>,
    pub(crate) usual_wall_ms: Option<f64>,
    #[serde(default)]
    pub(crate) rules: Vec<String>,
}

/// `/api/compare`.
#[derive(Debug, Deserialize)]
pub(crate) struct Comparison {
    pub(crate) base: Run,
    pub(crate) run: Run,
    pub(crate) basis: String,
    pub(crate) runs: Option<u64>,
    pub(crate) same_plan: bool,
    pub(crate) account: Account,
    pub(crate) nodes: Vec<NodePair>,
}

/// What a difference in wall time is made of.
#[derive(Debug, Deserialize)]
pub(crate) struct Account {
    pub(crate) base_wall_ns: i64,
    pub(crate) run_wall_ns: i64,
    pub(crate) difference_ns: i64,
    pub(crate) parts: Vec<Part>,
}

/// A part of a difference.
#[derive(Debug, Deserialize)]
pub(crate) struct Part {
    pub(crate) cause: String,
    pub(crate) ns: i64,
    #[serde(default)]
    pub(crate) evidence: Vec<CauseEvidence>,
    pub(crate) node: Option<NodeName>,
    #[serde(default)]
    pub(crate) sentence: String,
}

/// The node that a part is of.
#[derive(Debug, Deserialize)]
pub(crate) struct NodeName {
    pub(crate) kind: String,
}

/// A node in both runs, or in one.
#[derive(Debug, Deserialize)]
pub(crate) struct NodePair {
    pub(crate) fate: String,
    pub(crate) base: Option<NodeFigures>,
    pub(crate) run: Option<NodeFigures>,
    pub(crate) delta: Option<NodeDelta>,
    #[serde(default)]
    pub(crate) changes: Vec<NodeChange>,
}

/// A node's figures in one run.
#[derive(Debug, Deserialize)]
pub(crate) struct NodeFigures {
    pub(crate) id: u64,
    pub(crate) kind: String,
    pub(crate) busy_ns: Option<u64>,
    pub(crate) rows_out: Option<u64>,
}

/// Figures of the run minus those of the base.
#[derive(Debug, Deserialize)]
pub(crate) struct NodeDelta {
    pub(crate) busy_ns: Option<i64>,
}

/// A difference of a node.
#[derive(Debug, Deserialize)]
pub(crate) struct NodeChange {
    pub(crate) text: String,
}
