//! The streams of a followed plan.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll};

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::datasource::sink::DataSinkExec;
use datafusion::error::Result;
use datafusion::execution::{RecordBatchStream, SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::repartition::RepartitionExec;
use futures_util::Stream;

use crate::clock::poll_node;
use crate::counted::{CountedNode, CountedPartition, InstanceKey};
use crate::run::{CountedPlan, PartitionEnd, Run};

/// Counts what one partition of a node gives.
pub(crate) struct NodeStream {
    inner: SendableRecordBatchStream,
    /// Dropped after the stream: some nodes count the last of their time when their streams are dropped.
    counting: Counting,
    partition: usize,
    /// A node that registers metrics no earlier than in its first poll, held until that is over. It returns
    /// soon, as such a node starts tasks and waits for them.
    node: Option<Arc<dyn ExecutionPlan>>,
    ended: bool,
}

impl NodeStream {
    /// Executes a partition of a node.
    pub(crate) fn start(
        node: &Arc<dyn ExecutionPlan>,
        id: usize,
        run: &Run,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<Self> {
        let counting = Counting::begin(node, id, run);
        let inner = node.execute(partition, context)?;
        counting.node().take_handles(node);
        counting.node().partition(partition).started.fetch_add(1, Relaxed);
        let late = node.is::<RepartitionExec>() || node.is::<DataSinkExec>() && node.metrics().is_some();
        let node = late.then(|| Arc::clone(node));
        Ok(Self { inner, counting, partition, node, ended: false })
    }

    fn node(&self) -> &CountedNode {
        self.counting.node()
    }

    fn counters(&self) -> &CountedPartition {
        self.node().partition(self.partition)
    }

    fn note_end(&mut self) {
        if !std::mem::replace(&mut self.ended, true) {
            self.counters().ended.fetch_add(1, Relaxed);
        }
    }
}

impl Stream for NodeStream {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let (polled, busy_ns) = poll_node(|| self.inner.as_mut().poll_next(context));
        self.counters().note_poll(busy_ns);
        if let Some(node) = self.node.take() {
            self.node().take_handles(&node);
        }
        match &polled {
            Poll::Ready(Some(Ok(batch))) => self.counters().note_batch(batch),
            Poll::Ready(None) => self.note_end(),
            Poll::Ready(Some(Err(_))) | Poll::Pending => {}
        }
        polled
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.inner.size_hint()
    }
}

impl RecordBatchStream for NodeStream {
    fn schema(&self) -> SchemaRef {
        self.inner.schema()
    }
}

impl Drop for NodeStream {
    fn drop(&mut self) {
        self.note_end();
    }
}

/// What a stream counts in, as long as it is there.
struct Counting {
    counted: Arc<CountedPlan>,
    id: usize,
    instance: InstanceKey,
}

impl Counting {
    fn begin(node: &Arc<dyn ExecutionPlan>, id: usize, run: &Run) -> Self {
        let counted = Arc::clone(&run.counted);
        let instance = counted.nodes[id].enter(node, run.again);
        Self { counted, id, instance }
    }

    fn node(&self) -> &CountedNode {
        &self.counted.nodes[self.id]
    }
}

impl Drop for Counting {
    fn drop(&mut self) {
        self.node().leave(self.instance);
    }
}

/// A partition of the result: knows how the query ends, and measures its CPU time.
pub(crate) struct ResultStream {
    /// None before its start and after its end: some nodes count the last of their time when their streams are
    /// dropped.
    inner: Option<NodeStream>,
    schema: SchemaRef,
    run: Arc<Run>,
    /// Whether the node is at work. When this is dropped meanwhile, the node has panicked.
    working: bool,
    ended: bool,
}

impl ResultStream {
    /// Executes a partition of the root.
    pub(crate) fn start(
        node: &Arc<dyn ExecutionPlan>,
        id: usize,
        run: Arc<Run>,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<Self> {
        let mut result = Self { inner: None, schema: node.schema(), run, working: true, ended: false };
        let run = &result.run;
        let started = run.counted.cpu.measure(|| NodeStream::start(node, id, run, partition, context));
        result.working = false;
        let inner = started.inspect_err(|error| result.note_end(&PartitionEnd::Failed(error)))?;
        result.schema = inner.schema();
        result.inner = Some(inner);
        Ok(result)
    }

    fn note_end(&mut self, how: &PartitionEnd<'_>) {
        if !std::mem::replace(&mut self.ended, true) {
            self.run.end(how);
        }
    }
}

impl Stream for ResultStream {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Self { inner, run, working, .. } = &mut *self;
        let Some(inner) = inner else { return Poll::Ready(None) };
        *working = true;
        let polled = run.counted.cpu.measure(|| Pin::new(inner).poll_next(context));
        *working = false;
        match &polled {
            Poll::Ready(None) => {
                self.inner = None;
                self.note_end(&PartitionEnd::Exhausted);
            }
            Poll::Ready(Some(Err(error))) => self.note_end(&PartitionEnd::Failed(error)),
            Poll::Ready(Some(Ok(_))) | Poll::Pending => {}
        }
        polled
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.inner.as_ref().map_or((0, Some(0)), Stream::size_hint)
    }
}

impl RecordBatchStream for ResultStream {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

impl Drop for ResultStream {
    fn drop(&mut self) {
        self.inner = None;
        let panicked = self.working || std::thread::panicking();
        self.note_end(if panicked { &PartitionEnd::Panicked } else { &PartitionEnd::Dropped });
    }
}
