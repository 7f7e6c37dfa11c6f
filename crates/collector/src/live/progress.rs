//! How far a running run is, from its samples.

use std::collections::{HashMap, VecDeque};

use queryscope_protocol::QueryId;
use serde::Serialize;
use utoipa::ToSchema;

use super::digest::{NodeReport, PlannedNode, Report};

/// Values of `threads` that are kept.
pub(super) const THREADS_MAX: usize = 120;
/// Nodes of one query that are told apart; further ones are passed over.
const NODES_MAX: usize = 4096;

/// How far a running query is.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(example = json!({
    "query_id": "01a1faa8-1bd9-77b2-97ab-860dd7026506",
    "elapsed_ms": 2004.5,
    "threads": [1.874],
    "busy_known": true,
    "rows_read": 12_500_000,
    "busiest": {"id": 4_294_967_299_i64, "kind": "group-by", "threads": 1.391},
    "user_code": null,
    "done": 2,
    "nodes": 7,
    "quiet_ms": 0.0
}))]
pub(crate) struct Pulse {
    /// Id of the query, a UUID.
    query_id: String,
    /// Time since its start at its last sample, in milliseconds.
    elapsed_ms: f64,
    /// Threads that were busy on average between two samples, one number a sample: time all nodes worked per
    /// time that passed. In a `snapshot` those of the last samples, 120 at most; in a `pulse` those of its new
    /// samples alone: append them and keep the last 120.
    threads: Vec<f64>,
    /// Whether a node has told how long it worked. Where none has, `threads` holds zeros and says nothing: some
    /// engines do not count it.
    busy_known: bool,
    /// Rows that nodes without inputs read so far; null where none has told.
    rows_read: Option<u64>,
    /// The node that worked most before the last sample; null when none did.
    busiest: Option<Busiest>,
    /// The first node that calls code of the program; null when none does. Engines count little of such work, so
    /// `threads` may be less than what is busy.
    user_code: Option<UserCode>,
    /// Nodes of the physical plan that have ended.
    done: usize,
    /// Nodes of the physical plan.
    nodes: usize,
    /// Time since any counter of the query changed, in milliseconds as of its last sample. A query whose
    /// process reports and whose counters stand still has a large one.
    quiet_ms: f64,
}

/// The node that worked most.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct Busiest {
    /// Id of the node in the physical plan.
    id: u64,
    /// Its kind; empty when the plan is not known.
    kind: String,
    /// Threads it kept busy.
    threads: f64,
}

/// A node that calls code of the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct UserCode {
    /// Id of the node in the physical plan.
    id: u64,
    /// Its kind.
    kind: String,
    /// The function it calls.
    name: String,
}

/// What is kept of a running query's samples.
#[derive(Debug, Default)]
pub(super) struct Progress {
    nodes: HashMap<u64, Node>,
    /// Nodes of the plan; 0 while it is not known.
    planned: usize,
    user_code: Option<UserCode>,
    sampled: bool,
    elapsed_ms: f64,
    moved_ms: f64,
    threads: VecDeque<f64>,
    busiest: Option<(u64, f64)>,
    /// Set where samples were passed over: growth since then is not known.
    blind: bool,
}

#[derive(Debug, Default)]
struct Node {
    kind: Box<str>,
    is_leaf: bool,
    busy_ns: Option<u64>,
    rows: Option<u64>,
    done: bool,
}

impl Progress {
    /// Takes what a chunk reports; gives back how many samples of it are new.
    pub(super) fn hear(&mut self, reports: &[Report]) -> usize {
        let mut new = 0;
        for report in reports {
            match report {
                Report::Plan(nodes) => self.hear_plan(nodes),
                Report::Sample { elapsed_ms, nodes } => {
                    new += usize::from(self.hear_sample(*elapsed_ms, nodes));
                }
            }
        }
        new
    }

    /// Notes that samples are passed over from here to the next one heard.
    pub(super) fn skip(&mut self) {
        self.blind = true;
    }

    fn hear_plan(&mut self, nodes: &[PlannedNode]) {
        self.planned = nodes.len();
        for node in nodes.iter().take(NODES_MAX) {
            let known = self.nodes.entry(node.id).or_default();
            known.kind.clone_from(&node.kind);
            known.is_leaf = node.is_leaf;
        }
        self.user_code = nodes.iter().find_map(|node| {
            let name = node.user_code.as_ref()?.to_string();
            Some(UserCode { id: node.id, kind: node.kind.to_string(), name })
        });
    }

    /// Takes a sample; one that is not later than the last is no news.
    fn hear_sample(&mut self, elapsed_ms: f64, nodes: &[NodeReport]) -> bool {
        let passed_ns = (elapsed_ms - self.elapsed_ms) * 1e6;
        if passed_ns <= 0.0 {
            return false;
        }
        let mut total_ns = 0;
        let mut most = (0, 0);
        for report in nodes {
            if self.nodes.len() >= NODES_MAX && !self.nodes.contains_key(&report.id) {
                continue;
            }
            let node = self.nodes.entry(report.id).or_default();
            node.done |= report.done;
            node.rows = node.rows.max(report.rows);
            let Some(busy_ns) = report.busy_ns else { continue };
            let unknown = if self.blind { busy_ns } else { 0 };
            let grown_ns = busy_ns.saturating_sub(node.busy_ns.unwrap_or(unknown));
            node.busy_ns = Some(busy_ns.max(node.busy_ns.unwrap_or(0)));
            total_ns += grown_ns;
            if grown_ns > most.1 {
                most = (report.id, grown_ns);
            }
        }
        let threads_of = |ns: u64| round(ns as f64 / passed_ns);
        self.busiest = (most.1 > 0).then(|| (most.0, threads_of(most.1)));
        if self.threads.len() == THREADS_MAX {
            self.threads.pop_front();
        }
        self.threads.push_back(threads_of(total_ns));
        if !nodes.is_empty() || !self.sampled {
            self.moved_ms = elapsed_ms;
        }
        self.elapsed_ms = elapsed_ms;
        self.sampled = true;
        true
    }

    /// The pulse with the last `samples` values of `threads`; `None` before the first sample.
    pub(super) fn pulse(&self, query_id: QueryId, samples: usize) -> Option<Pulse> {
        self.sampled.then(|| Pulse {
            query_id: query_id.to_string(),
            elapsed_ms: self.elapsed_ms,
            threads: self.threads.iter().skip(self.threads.len().saturating_sub(samples)).copied().collect(),
            busy_known: self.nodes.values().any(|node| node.busy_ns.is_some()),
            rows_read: self.rows_read(),
            busiest: self.busiest.map(|(id, threads)| Busiest {
                id,
                kind: self.nodes.get(&id).map_or_else(String::new, |node| node.kind.to_string()),
                threads,
            }),
            user_code: self.user_code.clone(),
            done: self.nodes.values().filter(|node| node.done).count(),
            nodes: self.planned.max(self.nodes.len()),
            quiet_ms: round(self.elapsed_ms - self.moved_ms),
        })
    }

    fn rows_read(&self) -> Option<u64> {
        let leaves = self.nodes.values().filter(|node| node.is_leaf);
        leaves.filter_map(|node| node.rows).reduce(u64::saturating_add)
    }
}

/// To three decimals: more says nothing, and is sent a thousand times.
fn round(number: f64) -> f64 {
    (number * 1e3).round() / 1e3
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn sample(elapsed_ms: f64, nodes: &[(u64, u64, bool)]) -> Report {
        let node = |&(id, busy_ms, done): &(u64, u64, bool)| NodeReport {
            id,
            busy_ns: Some(busy_ms * 1_000_000),
            rows: None,
            done,
        };
        Report::Sample { elapsed_ms, nodes: nodes.iter().map(node).collect() }
    }

    fn plan() -> Report {
        let node = |(id, kind, user_code): (u64, &str, Option<&str>)| PlannedNode {
            id,
            kind: kind.into(),
            is_leaf: id == 1,
            user_code: user_code.map(Into::into),
        };
        Report::Plan([(1, "scan", None), (2, "sort", None), (3, "sink", Some("score"))].map(node).to_vec())
    }

    fn pulse(progress: &Progress, samples: usize) -> Pulse {
        progress.pulse(QueryId::new(Uuid::nil()), samples).expect("a sample")
    }

    #[test]
    fn threads_are_growth_per_time() {
        let mut progress = Progress::default();
        assert_eq!(progress.pulse(QueryId::new(Uuid::nil()), 1), None);
        let first = sample(1_000.0, &[(1, 500, false), (2, 1_500, false)]);
        assert_eq!(progress.hear(&[plan(), first, sample(1_500.0, &[(1, 750, true)])]), 2);
        let pulse = pulse(&progress, 2);
        assert_eq!((pulse.threads, pulse.done, pulse.nodes), (vec![2.0, 0.5], 1, 3));
        assert_eq!(pulse.busiest, Some(Busiest { id: 1, kind: "scan".into(), threads: 0.5 }));
        assert_eq!(pulse.user_code, Some(UserCode { id: 3, kind: "sink".into(), name: "score".into() }));
    }

    #[test]
    fn threads_of_an_engine_that_counts_no_work_are_not_known() {
        let mut progress = Progress::default();
        let uncounted = NodeReport { id: 1, busy_ns: None, rows: None, done: false };
        progress.hear(&[plan(), Report::Sample { elapsed_ms: 1_000.0, nodes: vec![uncounted] }]);
        assert!(!pulse(&progress, 1).busy_known);
        progress.hear(&[sample(2_000.0, &[(1, 0, false)]), sample(3_000.0, &[])]);
        assert!(pulse(&progress, 1).busy_known);
    }

    #[test]
    fn rows_are_those_that_scans_read() {
        let mut progress = Progress::default();
        let read = |elapsed_ms, rows: [Option<u64>; 2]| {
            let nodes = rows.into_iter().zip(1..).map(|(rows, id)| NodeReport {
                id,
                busy_ns: None,
                rows,
                done: false,
            });
            Report::Sample { elapsed_ms, nodes: nodes.collect() }
        };
        progress.hear(&[plan(), read(1_000.0, [None, Some(9)])]);
        assert_eq!(pulse(&progress, 1).rows_read, None, "the sort reads from the scan");
        progress.hear(&[read(2_000.0, [Some(40), Some(9)]), read(3_000.0, [None, Some(10)])]);
        assert_eq!(pulse(&progress, 1).rows_read, Some(40));
    }

    #[test]
    fn empty_samples_are_quiet() {
        let mut progress = Progress::default();
        progress.hear(&[sample(1_000.0, &[(1, 10, false)]), sample(6_000.0, &[]), sample(11_000.0, &[])]);
        let quiet = pulse(&progress, 1);
        assert_eq!((quiet.threads, quiet.quiet_ms, quiet.busiest), (vec![0.0], 10_000.0, None));
        progress.hear(&[sample(11_500.0, &[(1, 20, false)])]);
        assert!(pulse(&progress, 1).quiet_ms <= 0.0);
    }

    #[test]
    fn a_sample_again_or_late_is_no_news() {
        let mut progress = Progress::default();
        let first = sample(1_000.0, &[(1, 500, false)]);
        progress.hear(std::slice::from_ref(&first));
        assert_eq!(progress.hear(&[first, sample(500.0, &[(1, 100, false)])]), 0);
        assert_eq!(pulse(&progress, THREADS_MAX).threads, [0.5]);
    }

    #[test]
    fn the_last_values_are_kept() {
        let mut progress = Progress::default();
        for second in 1..=200 {
            progress.hear(&[sample(f64::from(second) * 1e3, &[(1, u64::from(second as u32) * 100, false)])]);
        }
        assert_eq!(pulse(&progress, THREADS_MAX).threads, [0.1; THREADS_MAX]);
    }

    #[test]
    fn after_a_gap_growth_counts_from_what_is_known() {
        let mut progress = Progress::default();
        progress.hear(&[sample(1_000.0, &[(1, 100, false)])]);
        progress.skip();
        progress.hear(&[sample(11_000.0, &[(1, 5_100, false), (2, 900_000, false)])]);
        assert_eq!(pulse(&progress, 1).threads, [0.5]);
    }
}
