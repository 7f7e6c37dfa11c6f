//! The live counters of one run's nodes.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use datafusion::arrow::array::RecordBatch;
use datafusion::datasource::source::DataSourceExec;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricsSet};

use crate::sums::{MetricHandle, Sums};

/// The metrics that nodes have registered are looked up at every so many looks, and whenever a stream begins or
/// ends: a scan of many files has hundreds, none of them in the cache of the thread that looks.
const LOOKUP_EVERY: u32 = 8;

/// What one node counts in one run.
///
/// It never holds the node itself, which would keep hash tables and sorted runs in memory after the streams
/// that need them: only the atomics behind its metrics.
#[derive(Debug)]
pub(crate) struct CountedNode {
    partitions: Box<[CountedPartition]>,
    instances: Mutex<Instances>,
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

/// The nodes that were executed for a node of the plan: recursion executes a fresh one in each of its rounds,
/// of which there may be very many.
#[derive(Debug, Default)]
struct Instances {
    known: BTreeMap<InstanceKey, Instance>,
    /// What all had counted at the last look, and those that are gone with all their streams.
    sums: Sums,
    looks: u32,
    /// What streams there had been at the last look.
    streams: Streams,
}

/// How many streams have begun and ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Streams {
    begun: u64,
    ended: u64,
}

impl Streams {
    /// Whether one is open; where none is, nothing is counted.
    fn open(self) -> bool {
        self.ended < self.begun
    }
}

/// Address of a node, which no other one has while there is a `Weak` to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct InstanceKey(usize);

#[derive(Debug)]
struct Instance {
    node: Weak<dyn ExecutionPlan>,
    /// Streams that may still count.
    open: usize,
    /// Metrics of runs before this one.
    skipped: usize,
    /// Metrics that were taken since the last look: a thread of the query has no time to look at them.
    taken: Option<MetricsSet>,
    handles: Vec<MetricHandle>,
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

    /// Notes that a node is about to be executed; [`CountedNode::leave`] is told when its stream is gone. `again`:
    /// it may have metrics of an earlier run.
    pub(crate) fn enter(&self, node: &Arc<dyn ExecutionPlan>, again: bool) -> InstanceKey {
        let key = InstanceKey::of(node);
        let mut instances = self.instances();
        instances.known.entry(key).or_insert_with(|| Instance::of(node, again)).open += 1;
        key
    }

    /// Notes that a stream of a node is gone. What has no streams and is no more will not count any more.
    pub(crate) fn leave(&self, key: InstanceKey) {
        let mut instances = self.instances();
        let Instances { known, sums, .. } = &mut *instances;
        let Some(instance) = known.get_mut(&key) else { return };
        instance.open = instance.open.saturating_sub(1);
        if instance.open == 0 && instance.node.strong_count() == 0 {
            instance.catch_up();
            instance.look(sums);
            sums.keep(&instance.handles);
            known.remove(&key);
        }
    }

    /// Takes the handles of metrics that a node has registered since.
    pub(crate) fn take_handles(&self, node: &Arc<dyn ExecutionPlan>) {
        if let Some(instance) = self.instances().known.get_mut(&InstanceKey::of(node)) {
            instance.refresh(node);
        }
    }

    /// Takes the handles of all metrics for good: those that the nodes register from now on are of another run.
    pub(crate) fn freeze(&self) {
        for instance in self.instances().known.values_mut() {
            instance.catch_up();
            instance.frozen = true;
        }
    }

    /// Reads the metrics of the run. `over`: for the last time, so that none may be missing.
    pub(crate) fn with_sums<R>(&self, over: bool, read: impl FnOnce(&Sums) -> R) -> R {
        let streams = self.streams();
        let mut instances = self.instances();
        let Instances { known, sums, looks, streams: known_streams } = &mut *instances;
        let moved = *known_streams != streams;
        if over || moved || streams.open() {
            *looks = looks.wrapping_add(1);
            if over || moved || looks.is_multiple_of(LOOKUP_EVERY) {
                known.values_mut().for_each(Instance::catch_up);
            }
            *known_streams = streams;
            for instance in known.values_mut() {
                instance.look(sums);
            }
            sums.sum(known.values().flat_map(|instance| &instance.handles));
        }
        read(sums)
    }

    fn streams(&self) -> Streams {
        let mut streams = Streams::default();
        for partition in &self.partitions {
            streams.ended += u64::from(partition.ended.load(Relaxed));
            streams.begun += u64::from(partition.started.load(Relaxed));
        }
        streams
    }

    fn instances(&self) -> MutexGuard<'_, Instances> {
        self.instances.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl InstanceKey {
    fn of(node: &Arc<dyn ExecutionPlan>) -> Self {
        Self(Arc::as_ptr(node).addr())
    }
}

impl Instance {
    fn of(node: &Arc<dyn ExecutionPlan>, again: bool) -> Self {
        let live = node.downcast_ref::<DataSourceExec>().map(|scan| scan.data_source().metrics());
        let skipped = if again { node.metrics().map_or(0, |metrics| metrics.iter().count()) } else { 0 };
        let (node, handles) = (Arc::downgrade(node), Vec::new());
        Self { node, open: 0, skipped, taken: None, handles, live, frozen: false }
    }

    fn catch_up(&mut self) {
        if let Some(live) = self.live.as_ref().filter(|_| !self.frozen) {
            self.taken = Some(live.clone_inner());
        } else if let Some(node) = self.node.upgrade() {
            self.refresh(&node);
        }
    }

    fn refresh(&mut self, node: &Arc<dyn ExecutionPlan>) {
        if self.live.is_none()
            && !self.frozen
            && let Some(metrics) = node.metrics()
        {
            self.taken = Some(metrics);
        }
    }

    /// Looks at the metrics that were taken.
    fn look(&mut self, sums: &mut Sums) {
        if let Some(metrics) = self.taken.take() {
            self.handles = sums.take(metrics.iter().skip(self.skipped));
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

#[cfg(test)]
mod tests {
    use datafusion::arrow::datatypes::Schema;
    use datafusion::physical_expr::expressions::lit;
    use datafusion::physical_plan::empty::EmptyExec;
    use datafusion::physical_plan::filter::FilterExec;

    use super::*;

    /// A node that counts, as each round of a recursion has one.
    fn node() -> Arc<dyn ExecutionPlan> {
        let empty = Arc::new(EmptyExec::new(Arc::new(Schema::empty())).with_partitions(3));
        Arc::new(FilterExec::try_new(lit(true), empty).expect("a condition"))
    }

    #[test]
    fn nodes_that_are_gone_leave_their_sums() {
        let counted = CountedNode::new(1);
        for _ in 0..100 {
            let node = node();
            let key = counted.enter(&node, false);
            let stream = node.execute(0, Arc::default()).expect("a stream");
            counted.take_handles(&node);
            drop(node);
            assert_eq!(counted.instances().known.len(), 1, "its stream may count");
            drop(stream);
            counted.leave(key);
        }
        assert_eq!(counted.instances().known.len(), 0);
        let names: Vec<_> =
            counted.with_sums(true, |sums| sums.iter().map(|sum| sum.name.to_string()).collect());
        assert!(names.contains(&"selectivity_total".to_owned()), "{names:?}");
    }

    #[test]
    fn a_node_that_is_there_is_asked_until_the_end() {
        let counted = CountedNode::new(2);
        let node = node();
        let keys = [counted.enter(&node, false), counted.enter(&node, false)];
        assert_eq!(keys[0], keys[1], "two partitions of one node");
        for key in keys {
            counted.leave(key);
        }
        assert_eq!(counted.instances().known.len(), 1);
    }

    #[test]
    fn metrics_are_looked_up_when_a_stream_begins_and_now_and_then_and_at_last() {
        let counted = CountedNode::new(3);
        let node = node();
        let execute = |partition| node.execute(partition, Arc::default()).expect("a stream");
        let known = |over| {
            counted.with_sums(over, |_| ());
            let instances = counted.instances();
            instances.known.values().map(|instance| instance.handles.len()).sum::<usize>()
        };
        counted.enter(&node, false);
        counted.partition(0).started.fetch_add(1, Relaxed);
        assert_eq!(known(false), 0);
        let _registers = execute(0);
        assert_eq!(known(false), 0);
        assert!((0..LOOKUP_EVERY).any(|_| known(false) > 0), "it is open");
        let (of_one, _registers) = (known(false), execute(1));
        assert_eq!(known(false), of_one);
        counted.partition(1).started.fetch_add(1, Relaxed);
        assert_eq!(known(false), 2 * of_one);
        let _registers = execute(2);
        assert_eq!(known(true), 3 * of_one);
    }
}
