//! CPU time of work in the background, on whatever threads it runs.
//!
//! Problem: the evaluation of ended runs may take a share of one core. Most of its CPU time is not its own thread's:
//! what it reads and writes is done by the threads of the store and of the recordings.
//!
//! Mechanism: a task that is [metered](CpuMeter::meter) adds the CPU time of each poll. Work that it hands to another
//! thread goes through [`carry`], which adds the time of that thread.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

tokio::task_local! {
    static METER: Arc<CpuMeter>;
}

/// CPU time that some work has taken.
#[derive(Debug, Default)]
pub struct CpuMeter(AtomicU64);

impl CpuMeter {
    /// CPU time so far, without that of work under way.
    pub fn spent(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::Relaxed))
    }

    /// Counts the CPU time of a task, and of the work it [hands on](carry).
    pub async fn meter<F: Future>(self: &Arc<Self>, task: F) -> F::Output {
        let mut task = pin!(METER.scope(Arc::clone(self), task));
        std::future::poll_fn(|context| self.count(|| task.as_mut().poll(context))).await
    }

    fn count<T>(&self, work: impl FnOnce() -> T) -> T {
        let begun = thread_time();
        let done = work();
        let took = thread_time().saturating_sub(begun);
        self.0.fetch_add(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
        done
    }
}

/// Counts work on another thread for the task that makes this, where that is metered.
#[derive(Debug, Clone)]
pub struct Carrier(Option<Arc<CpuMeter>>);

impl Carrier {
    /// Of the task that calls this.
    pub fn current() -> Self {
        Self(METER.try_with(Arc::clone).ok())
    }

    /// Does the work.
    pub fn run<T>(self, work: impl FnOnce() -> T) -> T {
        match self.0 {
            None => work(),
            Some(meter) => meter.count(|| METER.sync_scope(Arc::clone(&meter), work)),
        }
    }
}

/// Work for another thread, whose CPU time counts for the task that hands it on, where that is metered.
pub fn carry<T>(work: impl FnOnce() -> T) -> impl FnOnce() -> T {
    let carrier = Carrier::current();
    move || carrier.run(work)
}

/// CPU time of this thread; time itself where the system does not count it.
#[cfg(target_os = "linux")]
pub fn thread_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// CPU time of this thread; time itself where the system does not count it.
#[cfg(not(target_os = "linux"))]
pub fn thread_time() -> Duration {
    static BEGUN: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(crate::now);
    BEGUN.elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORK: Duration = Duration::from_millis(5);

    fn work() {
        let begun = thread_time();
        while thread_time().saturating_sub(begun) < WORK {}
    }

    #[tokio::test]
    async fn work_counts_on_whatever_thread_it_is_done() {
        let meter = Arc::new(CpuMeter::default());
        let spawn = |work: Box<dyn FnOnce() + Send>| tokio::task::spawn_blocking(work);
        meter
            .meter(async {
                work();
                tokio::task::yield_now().await;
                work();
                // What it hands on may hand on again.
                let more = carry(|| {
                    work();
                    std::thread::spawn(carry(work)).join().expect("no panic");
                });
                spawn(Box::new(more)).await.expect("no panic");
            })
            .await;
        let spent = meter.spent();
        assert!(spent >= WORK * 4, "{spent:?}");
        spawn(Box::new(carry(work))).await.expect("no panic");
        assert_eq!(meter.spent(), spent, "no task that is metered");
    }
}
