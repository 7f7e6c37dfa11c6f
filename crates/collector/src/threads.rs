//! Threads that stand back behind those of ingest.

use tokio::runtime::{Builder, Handle, Runtime};

/// How far threads stand back behind the others when there is more to do than cores.
#[derive(Debug, Clone, Copy)]
pub(crate) enum StandBack {
    /// They get about a tenth of a contended core, and keep others waiting for no more than a few milliseconds.
    Nice,
    /// They run while nothing else does: whoever wakes up takes their core at once, if they
    /// [`breathe`](queryscope_store::breathe).
    Idle,
}

/// Threads with this number get about a tenth of a contended core.
#[cfg(target_os = "linux")]
const NICE: i32 = 10;

/// A runtime whose threads stand back.
#[derive(Debug)]
pub(crate) struct Threads {
    own: Option<Runtime>,
    handle: Handle,
}

impl Threads {
    /// Starts so many, and at most so many more for reading what is stored; where the system refuses, the work
    /// shares the threads of the caller's runtime.
    ///
    /// # Panics
    /// Outside a runtime.
    pub(crate) fn start(
        name: &'static str,
        threads: usize,
        blocking_max: usize,
        stand_back: StandBack,
    ) -> Self {
        let own = Builder::new_multi_thread()
            .worker_threads(threads)
            .max_blocking_threads(blocking_max)
            .thread_name(name)
            .on_thread_start(move || stand_back.begin())
            .enable_all()
            .build();
        match own {
            Ok(own) => Self { handle: own.handle().clone(), own: Some(own) },
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, name, "there are no threads for it alone");
                Self { own: None, handle: Handle::current() }
            }
        }
    }

    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        // Waiting for them is not allowed in a task, and what they do has been told to end.
        if let Some(own) = self.own.take() {
            own.shutdown_background();
        }
    }
}

impl StandBack {
    /// Makes the thread that calls this one that stands back.
    #[cfg(target_os = "linux")]
    fn begin(self) {
        use thread_priority::NormalThreadSchedulePolicy::Idle;
        use thread_priority::{ThreadPriority, ThreadSchedulePolicy};
        let begun: Result<(), Box<dyn std::error::Error>> = match self {
            // Linux keeps this number for each thread.
            Self::Nice => {
                rustix::process::setpriority_process(Some(rustix::thread::gettid()), NICE).map_err(Into::into)
            }
            Self::Idle => thread_priority::set_thread_priority_and_policy(
                thread_priority::thread_native_id(),
                ThreadPriority::Min,
                ThreadSchedulePolicy::Normal(Idle),
            )
            .map_err(Into::into),
        };
        if let Err(error) = begun {
            tracing::debug!(error = &*error, "a thread keeps its priority");
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn begin(self) {}
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use thread_priority::NormalThreadSchedulePolicy::{Idle, Other};
    use thread_priority::ThreadSchedulePolicy::Normal;
    use thread_priority::thread_schedule_policy;

    use super::*;

    #[tokio::test]
    async fn threads_stand_back_as_far_as_they_are_told() {
        for (stand_back, expected) in [(StandBack::Nice, (Other, NICE)), (StandBack::Idle, (Idle, 0))] {
            let threads = Threads::start("back", 1, 1, stand_back);
            let standing = || {
                let nice = rustix::process::getpriority_process(Some(rustix::thread::gettid()));
                (thread_schedule_policy().expect("a policy"), nice.expect("a number"))
            };
            let worker = threads.handle().spawn(async move { standing() }).await.expect("no panic");
            let blocking = threads.handle().spawn_blocking(standing).await.expect("no panic");
            // Answers over many queries are made by threads that these start.
            let begun_by_it = move || std::thread::spawn(standing).join().expect("no panic");
            let begun = threads.handle().spawn_blocking(begun_by_it).await.expect("no panic");
            assert_eq!([worker, blocking, begun], [(Normal(expected.0), expected.1); 3]);
        }
    }
}
