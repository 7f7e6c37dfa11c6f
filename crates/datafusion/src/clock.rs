//! Time that threads spend for a query: on the CPU, and in each node.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use datafusion::common::runtime::{JoinSetTracer, set_join_set_tracer};
use futures_util::future::BoxFuture;

thread_local! {
    /// The query whose CPU time this thread measures at the moment.
    static MEASURED: RefCell<Option<Arc<CpuClock>>> = const { RefCell::new(None) };
    /// Time that nodes below the one being polled took in this poll, in nanoseconds.
    static BELOW_NS: Cell<u64> = const { Cell::new(0) };
}

/// CPU time of one query over all threads.
#[derive(Debug, Default)]
pub(crate) struct CpuClock {
    ns: AtomicU64,
}

impl CpuClock {
    pub(crate) fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.ns.load(Relaxed))
    }

    /// Runs a part of the query on this thread. A part within a part is measured once.
    pub(crate) fn measure<R>(self: &Arc<Self>, part: impl FnOnce() -> R) -> R {
        let _until = Measuring::start(self);
        part()
    }
}

/// Measures until it is dropped, also by a panic.
struct Measuring {
    /// None within another part.
    from: Option<Duration>,
}

impl Measuring {
    fn start(clock: &Arc<CpuClock>) -> Self {
        let outermost = MEASURED.with_borrow_mut(|measured| {
            let outermost = measured.is_none();
            if outermost {
                *measured = Some(Arc::clone(clock));
            }
            outermost
        });
        Self { from: outermost.then(thread_cpu) }
    }
}

impl Drop for Measuring {
    fn drop(&mut self) {
        if let Some(from) = self.from
            && let Some(clock) = MEASURED.take()
        {
            clock.ns.fetch_add(nanos(thread_cpu().saturating_sub(from)), Relaxed);
        }
    }
}

/// Stands still where threads have no CPU clock.
fn thread_cpu() -> Duration {
    queryscope_client::thread_cpu().unwrap_or_default()
}

pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Polls a node: what it returns, and the wall time of the poll without that of the nodes below, in
/// nanoseconds.
pub(crate) fn poll_node<R>(poll: impl FnOnce() -> R) -> (R, u64) {
    let before = BELOW_NS.replace(0);
    let start = queryscope_client::now();
    let polled = poll();
    let taken = nanos(start.elapsed());
    let below = BELOW_NS.replace(before.saturating_add(taken));
    (polled, taken.saturating_sub(below))
}

/// Hands the measuring on to the tasks that DataFusion starts for a query.
struct TaskTracer;

static TRACER: TaskTracer = TaskTracer;

/// Whether the tasks of queries can be measured: not where the program has a tracer of its own, nor where
/// threads have no CPU clock.
pub(crate) fn tasks_are_measured() -> bool {
    static INSTALLED: OnceLock<bool> = OnceLock::new();
    *INSTALLED
        .get_or_init(|| queryscope_client::thread_cpu().is_some() && set_join_set_tracer(&TRACER).is_ok())
}

impl JoinSetTracer for TaskTracer {
    fn trace_future(
        &self,
        future: BoxFuture<'static, Box<dyn Any + Send>>,
    ) -> BoxFuture<'static, Box<dyn Any + Send>> {
        match MEASURED.with_borrow(Clone::clone) {
            Some(clock) => Box::pin(MeasuredTask { clock, future }),
            None => future,
        }
    }

    fn trace_block(
        &self,
        block: Box<dyn FnOnce() -> Box<dyn Any + Send> + Send>,
    ) -> Box<dyn FnOnce() -> Box<dyn Any + Send> + Send> {
        match MEASURED.with_borrow(Clone::clone) {
            Some(clock) => Box::new(move || clock.measure(block)),
            None => block,
        }
    }
}

struct MeasuredTask {
    clock: Arc<CpuClock>,
    future: BoxFuture<'static, Box<dyn Any + Send>>,
}

impl Future for MeasuredTask {
    type Output = Box<dyn Any + Send>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { clock, future } = &mut *self;
        clock.measure(|| future.as_mut().poll(context))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work() {
        let start = thread_cpu();
        while thread_cpu().saturating_sub(start) < Duration::from_millis(2) {}
    }

    #[test]
    fn a_part_within_a_part_counts_once_and_for_the_outer_query() {
        let (outer, inner) = (Arc::new(CpuClock::default()), Arc::new(CpuClock::default()));
        outer.measure(|| inner.measure(work));
        assert!(outer.elapsed() >= Duration::from_millis(2));
        assert_eq!(inner.elapsed(), Duration::ZERO);
        inner.measure(work);
        assert!(inner.elapsed() >= Duration::from_millis(2), "the thread is free again");
    }

    #[test]
    fn a_panic_ends_the_measuring() {
        let clock = Arc::new(CpuClock::default());
        let panicked = std::panic::catch_unwind(|| {
            clock.measure(|| -> () { std::panic::resume_unwind(Box::new("a panic")) });
        });
        assert!(panicked.is_err() && MEASURED.with_borrow(Option::is_none));
    }

    #[test]
    fn a_node_is_not_charged_for_the_nodes_below() {
        let pause = || std::thread::sleep(Duration::from_millis(5));
        let start = queryscope_client::now();
        let (((), below), own) = poll_node(|| poll_node(pause));
        let whole = nanos(start.elapsed());
        assert!(below >= 5_000_000, "{below}");
        assert!(own + below <= whole, "{own} and {below} of {whole}");
    }
}
