//! What the library asks of the machine it runs on.

use std::sync::LazyLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::machine::Usage;

/// Tells the time, and which process this is.
pub(crate) trait Host: Send + Sync + 'static {
    fn now(&self) -> Instant;

    /// Nanoseconds since 1970-01-01 UTC.
    fn unix_ns(&self) -> i64;

    /// CPU time of the thread that asks; where threads have no such clock, time that passes.
    fn worked(&self) -> Duration;

    /// CPU time of all threads of the process; `None` where processes have no such clock.
    fn process_cpu(&self) -> Option<Duration>;

    /// What the process and its host use now.
    fn usage(&self) -> Usage;

    /// The process, which is another one after a fork.
    fn pid(&self) -> u32;
}

/// The machine itself.
#[derive(Debug)]
pub(crate) struct System;

impl Host for System {
    fn now(&self) -> Instant {
        now()
    }

    #[expect(clippy::disallowed_methods, reason = "this is the clock that is passed in everywhere else")]
    fn unix_ns(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
    }

    fn worked(&self) -> Duration {
        static BEGIN: LazyLock<Instant> = LazyLock::new(now);
        thread_cpu().unwrap_or_else(|| BEGIN.elapsed())
    }

    fn process_cpu(&self) -> Option<Duration> {
        #[cfg(unix)]
        let used = Some(since_zero(rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime)));
        #[cfg(not(unix))]
        let used = None;
        used
    }

    fn usage(&self) -> Usage {
        Usage::read()
    }

    fn pid(&self) -> u32 {
        std::process::id()
    }
}

/// This moment, by the clock that tells how long queries ran ([`Query::started`](crate::Query::started)).
#[expect(clippy::disallowed_methods, reason = "the library's one place that reads this clock")]
pub fn now() -> Instant {
    Instant::now()
}

/// CPU time that the thread which asks has used; `None` where threads have no such clock, as on Windows.
///
/// What a part of a query costs is the difference between its end and its beginning, on one thread
/// ([`Totals::cpu_ms`](crate::Totals::cpu_ms)).
pub fn thread_cpu() -> Option<Duration> {
    #[cfg(unix)]
    let used = Some(since_zero(rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime)));
    #[cfg(not(unix))]
    let used = None;
    used
}

#[cfg(unix)]
fn since_zero(clock: rustix::time::Timespec) -> Duration {
    Duration::new(clock.tv_sec.unsigned_abs(), u32::try_from(clock.tv_nsec).unwrap_or(0))
}

/// Milliseconds, with what is left of them after the point.
pub(crate) fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

#[cfg(test)]
pub(crate) mod fake {
    use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

    use super::*;

    /// When the fake machine's time begins, in Unix nanoseconds.
    pub(crate) const BEGIN_UNIX_NS: i64 = 1_795_000_000_000_000_000;

    /// What is in memory, whatever happens.
    pub(crate) const FAKE_MEMORY: Usage = Usage {
        process_memory: Some(700),
        host_cpu: None,
        host_memory: Some(3_000),
        host_memory_total: Some(8_000),
    };

    /// A machine whose time stands still until it is moved on.
    #[derive(Debug)]
    pub(crate) struct Fake {
        begin: Instant,
        since_ns: AtomicU64,
        worked_ns: AtomicU64,
        process_ns: AtomicU64,
        pid: AtomicU32,
    }

    impl Fake {
        pub(crate) fn new() -> Self {
            Self {
                begin: now(),
                since_ns: AtomicU64::new(0),
                worked_ns: AtomicU64::new(0),
                process_ns: AtomicU64::new(0),
                pid: AtomicU32::new(1),
            }
        }

        pub(crate) fn advance(&self, by: Duration) {
            self.since_ns.fetch_add(by.as_nanos() as u64, Ordering::Relaxed);
        }

        /// Moves on while the thread works.
        pub(crate) fn work(&self, by: Duration) {
            self.worked_ns.fetch_add(by.as_nanos() as u64, Ordering::Relaxed);
            self.advance(by);
        }

        /// Moves on while `threads` of the process work.
        pub(crate) fn compute(&self, by: Duration, threads: u32) {
            self.process_ns.fetch_add((by * threads).as_nanos() as u64, Ordering::Relaxed);
            self.advance(by);
        }

        /// Goes on as another process.
        pub(crate) fn fork(&self) {
            self.pid.fetch_add(1, Ordering::Relaxed);
        }

        fn since(&self) -> Duration {
            Duration::from_nanos(self.since_ns.load(Ordering::Relaxed))
        }
    }

    impl Host for Fake {
        fn now(&self) -> Instant {
            self.begin + self.since()
        }

        fn unix_ns(&self) -> i64 {
            BEGIN_UNIX_NS + self.since().as_nanos() as i64
        }

        fn worked(&self) -> Duration {
            Duration::from_nanos(self.worked_ns.load(Ordering::Relaxed))
        }

        fn process_cpu(&self) -> Option<Duration> {
            Some(Duration::from_nanos(self.process_ns.load(Ordering::Relaxed)))
        }

        /// Nothing else runs on it, and it has the memory of [`FAKE_MEMORY`].
        fn usage(&self) -> Usage {
            Usage { host_cpu: self.process_cpu(), ..FAKE_MEMORY }
        }

        fn pid(&self) -> u32 {
            self.pid.load(Ordering::Relaxed)
        }
    }
}
