//! Threads of their own for the live streams: writing to thousands of readers must not keep ingest waiting.

use std::sync::Arc;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::Notify;

/// One may write to readers while the hub has the other.
const THREADS: usize = 2;
/// For reading what is stored.
const BLOCKING_MAX: usize = 16;
/// How far they stand back behind the other threads when there is more to do than cores: at 10, they get about
/// a tenth of a contended core.
#[cfg(target_os = "linux")]
const NICE: i32 = 10;

/// Where the hub and the connections of its readers run.
#[derive(Debug)]
pub(crate) struct Threads {
    own: Option<Runtime>,
    handle: Handle,
}

impl Threads {
    /// Starts them; where the system refuses, live streams share the threads of the caller's runtime.
    ///
    /// # Panics
    /// Outside a runtime.
    pub(crate) fn start() -> Self {
        let own = Builder::new_multi_thread()
            .worker_threads(THREADS)
            .max_blocking_threads(BLOCKING_MAX)
            .thread_name("live")
            .on_thread_start(stand_back)
            .enable_all()
            .build();
        match own {
            Ok(own) => Self { handle: own.handle().clone(), own: Some(own) },
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, "live streams get no threads of their own");
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
        tracing::debug!(error = &error as &dyn std::error::Error, "a live thread keeps its priority");
    }
}

#[cfg(not(target_os = "linux"))]
fn stand_back() {}

/// Asks for the connection a request came on to be served by the live threads from now on.
#[derive(Debug, Clone, Default)]
pub(crate) struct Apart(Arc<Notify>);

impl Apart {
    /// Waits until that is asked. Cancel safe.
    pub(crate) async fn asked(&self) {
        self.0.notified().await;
    }
}

/// Moves the connection of a request to the live threads.
pub(crate) async fn move_apart(request: Request, next: Next) -> Response {
    if let Some(apart) = request.extensions().get::<Apart>() {
        apart.0.notify_one();
    }
    next.run(request).await
}
