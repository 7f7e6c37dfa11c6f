//! Threads that stand back behind those of ingest.

use tokio::runtime::{Builder, Handle, Runtime};

/// How far they stand back behind the other threads when there is more to do than cores: at 10, they get about
/// a tenth of a contended core.
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
    pub(crate) fn start(name: &'static str, threads: usize, blocking_max: usize) -> Self {
        let own = Builder::new_multi_thread()
            .worker_threads(threads)
            .max_blocking_threads(blocking_max)
            .thread_name(name)
            .on_thread_start(stand_back)
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

#[cfg(target_os = "linux")]
fn stand_back() {
    // Linux keeps this number for each thread.
    if let Err(error) = rustix::process::setpriority_process(Some(rustix::thread::gettid()), NICE) {
        tracing::debug!(error = &error as &dyn std::error::Error, "a thread keeps its priority");
    }
}

#[cfg(not(target_os = "linux"))]
fn stand_back() {}
