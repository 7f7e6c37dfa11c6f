//! One run of a plan: what begins it, and how it ends.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use datafusion::error::DataFusionError;
use queryscope_client::{ActiveQuery, Query, Telemetry};

use crate::clock::CpuClock;
use crate::counted::CountedNode;
use crate::described::DescribedPlan;
use crate::scope::Scope;

/// The error text of a query that panicked.
pub(crate) const PANICKED: &str = "panicked";
/// That of a query that was given up, as the sender library tells it, too.
pub(crate) const CANCELLED: &str = "cancelled";

/// A plan whose runs are followed. The nodes of the plan share it.
#[derive(Debug)]
pub(crate) struct Followed {
    telemetry: Telemetry,
    plan: Arc<DescribedPlan>,
    query: Query,
    scope: Option<Arc<Scope>>,
    planning: Duration,
    current: Mutex<Option<Arc<Run>>>,
    runs: AtomicU32,
}

/// What planning knows of a query.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) query: Query,
    pub(crate) scope: Option<Arc<Scope>>,
    pub(crate) planning: Duration,
}

/// One run of a plan.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) counted: Arc<CountedPlan>,
    /// Whether the nodes may have metrics of a run before.
    pub(crate) again: bool,
    ending: Mutex<Ending>,
}

/// The counters of a run.
#[derive(Debug)]
pub(crate) struct CountedPlan {
    pub(crate) plan: Arc<DescribedPlan>,
    pub(crate) nodes: Box<[CountedNode]>,
    pub(crate) cpu: Arc<CpuClock>,
    /// The planning that this run waited for.
    pub(crate) planning: Option<Duration>,
    pub(crate) over: AtomicBool,
}

/// What is known of a run's end: the query is over when no stream is open and none will be.
#[derive(Debug)]
struct Ending {
    /// None once the run is over.
    query: Option<ActiveQuery>,
    asked: Box<[bool]>,
    open: usize,
    /// Whether partitions that were not asked for will not be.
    closed: bool,
    cancelled: bool,
}

/// How one partition of the result ended.
#[derive(Debug)]
pub(crate) enum PartitionEnd<'e> {
    Exhausted,
    Failed(&'e DataFusionError),
    Panicked,
    Dropped,
}

impl Followed {
    pub(crate) fn new(telemetry: Telemetry, plan: Arc<DescribedPlan>, planned: Planned) -> Self {
        let Planned { query, scope, planning } = planned;
        let (current, runs) = (Mutex::default(), AtomicU32::new(0));
        Self { telemetry, plan, query, scope, planning, current, runs }
    }

    fn current(&self) -> MutexGuard<'_, Option<Arc<Run>>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The run a node is executed for; none where somebody executes a part of the plan.
    pub(crate) fn running(&self) -> Option<Arc<Run>> {
        self.current().clone()
    }

    /// Notes that a partition of the result is asked for. The first one, and one that was asked for before,
    /// begins a run.
    pub(crate) fn ask(&self, partition: usize) -> Arc<Run> {
        let mut current = self.current();
        if let Some(run) = &*current
            && run.joins(partition)
        {
            return Arc::clone(run);
        }
        if let Some(before) = &*current {
            before.counted.nodes.iter().for_each(CountedNode::freeze);
            before.close();
        }
        let run = Arc::new(self.begin());
        run.joins(partition);
        *current = Some(Arc::clone(&run));
        run
    }

    fn begin(&self) -> Run {
        let again = self.runs.fetch_add(1, Relaxed) > 0;
        let planning = (!again).then_some(self.planning);
        let nodes: Box<[_]> = self.plan.nodes.iter().map(|node| CountedNode::new(node.partitions)).collect();
        let asked = (0..self.plan.nodes.first().map_or(1, |root| root.partitions)).map(|_| false).collect();
        let counted = Arc::new(CountedPlan {
            plan: Arc::clone(&self.plan),
            nodes,
            cpu: Arc::default(),
            planning,
            over: AtomicBool::new(false),
        });
        let now = queryscope_client::now();
        let query =
            self.query.clone().started(planning.and_then(|taken| now.checked_sub(taken)).unwrap_or(now));
        let query = match Scope::current().as_ref().or(self.scope.as_ref()) {
            Some(scope) => scope.describe(query),
            None => query,
        };
        let query = self.telemetry.begin(query, Arc::clone(&counted) as _);
        let ending = Ending { query: Some(query), asked, open: 0, closed: false, cancelled: false };
        Run { counted, again, ending: Mutex::new(ending) }
    }

    /// Notes that no further partition can be asked for.
    pub(crate) fn plan_dropped(&self) {
        // The run stays: streams may execute nodes below later.
        if let Some(run) = self.running() {
            run.close();
        }
    }
}

impl Run {
    fn ending(&self) -> MutexGuard<'_, Ending> {
        self.ending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a partition, if the run goes on and the partition is new to it.
    fn joins(&self, partition: usize) -> bool {
        let mut ending = self.ending();
        let fresh = ending.query.is_some() && ending.asked.get(partition) == Some(&false);
        if fresh {
            ending.asked[partition] = true;
            ending.open += 1;
        }
        fresh
    }

    /// Notes how a partition of the result ended.
    pub(crate) fn end(&self, how: &PartitionEnd<'_>) {
        let mut ending = self.ending();
        ending.open = ending.open.saturating_sub(1);
        let error = match how {
            PartitionEnd::Exhausted => None,
            PartitionEnd::Failed(error) => Some(error.strip_backtrace()),
            PartitionEnd::Panicked => Some(PANICKED.to_owned()),
            PartitionEnd::Dropped => {
                ending.cancelled = true;
                None
            }
        };
        if let Some(error) = error
            && let Some(query) = ending.query.take()
        {
            drop(ending);
            self.counted.over.store(true, Relaxed);
            query.fail(error);
            return;
        }
        drop(ending);
        self.end_if_over();
    }

    /// Notes that no further partition will be asked for.
    fn close(&self) {
        self.ending().closed = true;
        self.end_if_over();
    }

    fn end_if_over(&self) {
        let mut ending = self.ending();
        let all_asked = ending.asked.iter().all(|asked| *asked);
        if ending.open > 0 || !(all_asked || ending.closed) {
            return;
        }
        let cancelled = ending.cancelled;
        let Some(query) = ending.query.take() else { return };
        drop(ending);
        self.counted.over.store(true, Relaxed);
        if cancelled {
            drop(query);
        } else {
            query.finish();
        }
    }
}
