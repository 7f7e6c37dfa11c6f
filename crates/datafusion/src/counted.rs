//! The live counters of one run's nodes.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use datafusion::arrow::array::RecordBatch;
use datafusion::datasource::source::DataSourceExec;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, Metric, MetricsSet};

/// What one node counts in one run.
///
/// It never holds the node itself, which would keep hash tables and sorted runs in memory after the streams
/// that need them: only the atomics behind its metrics.
#[derive(Debug)]
pub(crate) struct CountedNode {
    partitions: Box<[CountedPartition]>,
    instances: Mutex<Vec<Instance>>,
}

/// What the wrapper counts of one partition.
#[derive(Debug, Default)]
pub(crate) struct CountedPartition {
    pub(crate) rows: AtomicU64,
    pub(crate) batches: AtomicU64,
    pub(crate) busy_ns: AtomicU64,
    pub(crate) longest_step_ns: AtomicU64,
    pub(crate) started: AtomicU32,
    pub(crate) ended: AtomicU32,
}

/// One of the nodes that were executed for a node of the plan: recursion executes a fresh one each time.
#[derive(Debug)]
struct Instance {
    node: Weak<dyn ExecutionPlan>,
    /// Metrics of runs before this one.
    skipped: usize,
    metrics: MetricsSet,
    /// Where the metrics of a scan can be read at any time.
    live: Option<ExecutionPlanMetricsSet>,
    /// Whether another run has begun.
    frozen: bool,
}

impl CountedPartition {
    pub(crate) fn note_poll(&self, busy_ns: u64) {
        self.busy_ns.fetch_add(busy_ns, Relaxed);
        self.longest_step_ns.fetch_max(busy_ns, Relaxed);
    }

    pub(crate) fn note_batch(&self, batch: &RecordBatch) {
        self.rows.fetch_add(batch.num_rows() as u64, Relaxed);
        self.batches.fetch_add(1, Relaxed);
    }
}

impl CountedNode {
    pub(crate) fn new(partitions: usize) -> Self {
        let partitions = (0..partitions.max(1)).map(|_| CountedPartition::default()).collect();
        Self { partitions, instances: Mutex::default() }
    }

    /// A partition; the last one where a node gives more than it said.
    pub(crate) fn partition(&self, partition: usize) -> &CountedPartition {
        &self.partitions[partition.min(self.partitions.len() - 1)]
    }

    pub(crate) fn partitions(&self) -> &[CountedPartition] {
        &self.partitions
    }

    pub(crate) fn rows(&self) -> u64 {
        self.partitions.iter().map(|partition| partition.rows.load(Relaxed)).sum()
    }

    /// Whether partitions have started, and whether all that have, or all there are, have ended.
    pub(crate) fn state(&self) -> NodeState {
        let mut state = NodeState { started: false, open: false, all_ended: true };
        for partition in &self.partitions {
            let ended = partition.ended.load(Relaxed);
            let started = partition.started.load(Relaxed);
            state.started |= started > 0;
            state.open |= ended < started;
            state.all_ended &= started > 0 && ended >= started;
        }
        state
    }

    /// Notes that a node is about to be executed. `again`: it may have metrics of an earlier run.
    pub(crate) fn note_instance(&self, node: &Arc<dyn ExecutionPlan>, again: bool) {
        let weak = Arc::downgrade(node);
        let mut instances = self.instances.lock().unwrap_or_else(PoisonError::into_inner);
        if instances.iter().any(|instance| Weak::ptr_eq(&instance.node, &weak)) {
            return;
        }
        let live = node.downcast_ref::<DataSourceExec>().map(|scan| scan.data_source().metrics());
        let skipped = if again { node.metrics().map_or(0, |metrics| metrics.iter().count()) } else { 0 };
        instances.push(Instance { node: weak, skipped, metrics: MetricsSet::new(), live, frozen: false });
    }

    /// Takes the handles of metrics that a node has registered since.
    pub(crate) fn take_handles(&self, node: &Arc<dyn ExecutionPlan>) {
        let mut instances = self.instances.lock().unwrap_or_else(PoisonError::into_inner);
        let weak = Arc::downgrade(node);
        if let Some(instance) = instances.iter_mut().find(|instance| Weak::ptr_eq(&instance.node, &weak)) {
            instance.refresh(node);
        }
    }

    /// Takes the handles of all metrics for good: those that the nodes register from now on are of another run.
    pub(crate) fn freeze(&self) {
        let mut instances = self.instances.lock().unwrap_or_else(PoisonError::into_inner);
        for instance in &mut *instances {
            instance.catch_up();
            instance.frozen = true;
        }
    }

    /// Visits every metric of the run.
    pub(crate) fn for_each_metric(&self, mut visit: impl FnMut(&Metric)) {
        let mut instances = self.instances.lock().unwrap_or_else(PoisonError::into_inner);
        for instance in &mut *instances {
            instance.catch_up();
            instance.metrics.iter().skip(instance.skipped).for_each(|metric| visit(metric));
        }
    }
}

impl Instance {
    fn catch_up(&mut self) {
        if let Some(live) = self.live.as_ref().filter(|_| !self.frozen) {
            self.metrics = live.clone_inner();
        } else if let Some(node) = self.node.upgrade() {
            self.refresh(&node);
        }
    }

    fn refresh(&mut self, node: &Arc<dyn ExecutionPlan>) {
        if self.live.is_none()
            && !self.frozen
            && let Some(metrics) = node.metrics()
        {
            self.metrics = metrics;
        }
    }
}

/// How far a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NodeState {
    pub(crate) started: bool,
    pub(crate) open: bool,
    pub(crate) all_ended: bool,
}
