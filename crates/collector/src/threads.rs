//! Threads beside those of ingest.

use tokio::runtime::{Builder, Handle, Runtime};

/// How far threads stand back behind the others when there is more to do than cores.
#[derive(Debug, Clone, Copy)]
pub(crate) enum StandBack {
    /// They get as much of a contended core as any other.
    None,
    /// They get about a tenth of it, and keep others waiting for no more than a few milliseconds.
    Nice,
}

/// Threads with this number get about a tenth of a contended core.
#[cfg(target_os = "linux")]
const NICE: i32 = 10;

/// A runtime of its own.
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
    /// Gives the thread that calls this the priority.
    #[cfg(target_os = "linux")]
    fn begin(self) {
        // Linux keeps this number for each thread.
        if matches!(self, Self::Nice)
            && let Err(error) = rustix::process::setpriority_process(Some(rustix::thread::gettid()), NICE)
        {
            tracing::debug!(error = &error as &dyn std::error::Error, "a thread keeps its priority");
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn begin(self) {}
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    fn nice() -> i32 {
        rustix::process::getpriority_process(Some(rustix::thread::gettid())).expect("a number")
    }

    #[tokio::test]
    async fn threads_stand_back_as_far_as_they_are_told() {
        let own = nice();
        for (stand_back, expected) in [(StandBack::None, own), (StandBack::Nice, NICE.max(own))] {
            let threads = Threads::start("some", 1, 1, stand_back);
            let worker = threads.handle().spawn(async move { nice() }).await.expect("no panic");
            let blocking = threads.handle().spawn_blocking(nice).await.expect("no panic");
            // Answers over many queries are made by threads that these start.
            let begun_by_it = move || std::thread::spawn(nice).join().expect("no panic");
            let begun = threads.handle().spawn_blocking(begun_by_it).await.expect("no panic");
            assert_eq!([worker, blocking, begun], [expected; 3]);
        }
    }
}
