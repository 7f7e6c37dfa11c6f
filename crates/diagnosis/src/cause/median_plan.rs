//! The middle run of a side: medians of the whole and of each node.

use std::sync::Arc;

use queryscope_history::Quantity;

use crate::features::{NodeFeatures, RunFeatures};
use crate::plan::Plan;
use crate::stats::median;

/// Medians over the runs of one plan; `None` where fewer than half of the runs know the figure.
#[derive(Debug, Clone)]
pub(super) struct Medians {
    pub(super) plan: Arc<Plan>,
    pub(super) wall: f64,
    pub(super) cpu: Option<f64>,
    pub(super) planning: Option<f64>,
    pub(super) waiting: Option<f64>,
    pub(super) uncounted: Option<f64>,
    /// Time in which calls of the program's code were under way.
    pub(super) called: Option<f64>,
    /// CPU time of the process of a run that calls the program's code.
    pub(super) process_cpu: Option<f64>,
    pub(super) threads: Option<f64>,
    /// Busy time for each CPU time. Of each run: sums of medians and medians of sums are not the same.
    pub(super) busy_over_cpu: Option<f64>,
    /// Bytes the whole query spilled.
    pub(super) spilled: f64,
    /// Whether scans count the time of what reads from them as a wait, too.
    pub(super) waits_for_readers: bool,
    pub(super) nodes: Vec<NodeMedians>,
}

/// Medians of a node.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct NodeMedians {
    pub(super) busy: f64,
    pub(super) rows_in: Option<f64>,
    pub(super) rows_out: Option<f64>,
    pub(super) rows_scanned: Option<f64>,
    pub(super) bytes_read: Option<f64>,
    pub(super) waiting: Option<f64>,
    pub(super) spilled: f64,
    pub(super) partitions: Option<f64>,
    pub(super) imbalance: Option<f64>,
}

impl NodeMedians {
    /// What a node's work grows with.
    pub(super) fn rows(&self) -> Option<f64> {
        let out = self.rows_scanned.or(self.rows_out);
        match (self.rows_in, out) {
            (None, None) => None,
            (taken, given) => Some(taken.unwrap_or(0.0) + given.unwrap_or(0.0)),
        }
    }

    /// Rows that come to it from below or from storage.
    pub(super) fn read(&self) -> Option<f64> {
        self.rows_scanned.or(self.rows_out)
    }

    /// Time it waited, its partitions beside each other.
    pub(super) fn wall_waiting(&self) -> Option<f64> {
        Some(self.waiting? / self.partitions.unwrap_or(1.0).max(1.0))
    }
}

impl Medians {
    pub(super) fn of(plan: Arc<Plan>, runs: &[&RunFeatures]) -> Self {
        let mut buffer = Vec::with_capacity(runs.len());
        let mut whole = |of: &dyn Fn(&RunFeatures) -> Option<u64>| {
            buffer.clear();
            buffer.extend(runs.iter().filter_map(|run| of(run)).map(|value| value as f64));
            (2 * buffer.len() >= runs.len().max(1)).then(|| median(&mut buffer))
        };
        let mut medians = Self {
            wall: whole(&|run| Some(run.wall_ns)).unwrap_or(0.0),
            cpu: whole(&|run| run.cpu_ns),
            planning: whole(&|run| run.planning_ns),
            waiting: whole(&|run| run.waiting_ns),
            uncounted: whole(&|run| run.uncounted_ns),
            called: whole(&|run| run.user_code_ns),
            process_cpu: whole(&|run| run.process_cpu_ns),
            threads: whole(&|run| run.threads_available),
            busy_over_cpu: whole(&|run| run.busy_ns().saturating_mul(1_000_000).checked_div(run.cpu_ns?))
                .map(|millionths| millionths / 1e6),
            spilled: whole(&|run| run.spilled_bytes).unwrap_or(0.0),
            waits_for_readers: runs.first().is_some_and(|run| run.waits_for_readers()),
            nodes: Vec::new(),
            plan,
        };
        for place in 0..medians.plan.nodes.len() {
            let mut of = |of: fn(&NodeFeatures) -> Quantity| {
                buffer.clear();
                buffer.extend(runs.iter().filter_map(|run| of(run.nodes.get(place)?).value()));
                (2 * buffer.len() >= runs.len().max(1)).then(|| median(&mut buffer))
            };
            medians.nodes.push(NodeMedians {
                busy: of(|node| node.busy_ns).unwrap_or(0.0),
                rows_in: of(|node| node.rows_in),
                rows_out: of(|node| node.rows_out),
                rows_scanned: of(|node| node.rows_scanned),
                bytes_read: of(|node| node.bytes_read),
                waiting: of(|node| node.waiting_ns),
                spilled: of(|node| node.spilled_bytes).unwrap_or(0.0),
                partitions: of(|node| node.partitions),
                imbalance: of(|node| node.imbalance_permille).map(|permille| permille / 1e3),
            });
        }
        medians
    }

    /// The rows that come to a node: those its inputs give, where it does not count them.
    pub(super) fn taken(&self, place: usize) -> Option<f64> {
        let given = || self.plan.nodes[place].inputs.iter().map(|&input| self.nodes[input].rows_out).sum();
        self.nodes[place].rows_in.or_else(given)
    }

    pub(super) fn busy(&self) -> f64 {
        self.nodes.iter().map(|node| node.busy).sum()
    }

    /// Threads that worked at a time.
    pub(super) fn threads_used(&self) -> Option<f64> {
        (self.execution() > 0.0).then(|| self.busy() / self.execution())
    }

    pub(super) fn execution(&self) -> f64 {
        (self.wall - self.planning.unwrap_or(0.0)).max(0.0)
    }

    /// The partitions that nodes ran in, by their busy time.
    pub(super) fn mean_partitions(&self) -> Option<f64> {
        let nodes = self.nodes.iter().filter_map(|node| Some((node.partitions?, node.busy)));
        let (mut sum, mut busy) = (0.0, 0.0);
        for (partitions, time) in nodes {
            sum += partitions * time;
            busy += time;
        }
        if busy > 0.0 { Some(sum / busy) } else { self.partitions() }
    }

    /// The most partitions any node ran in.
    pub(super) fn partitions(&self) -> Option<f64> {
        self.nodes.iter().filter_map(|node| node.partitions).reduce(f64::max)
    }
}
