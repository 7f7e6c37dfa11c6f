//! The sockets: connections with deadlines, and a stop that answers what was accepted.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use queryscope_store::StoreError;
use thiserror::Error;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::collector::Collector;
use crate::live::Cut;

/// Connections at once on one address; further ones wait to be accepted.
const CONNECTIONS_MAX: usize = 16 << 10;
/// Pause after the system refused to accept a connection (out of file descriptors, say).
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Why the service ended other than by being told to.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The store failed so that nothing may be acknowledged any more.
    #[error("the store can not go on, see the log")]
    StoreFailed,
    /// The store could not be closed properly.
    #[error("the store could not be closed")]
    Close(#[source] StoreError),
}

/// Serves a collector until `stop` is cancelled or its store fails, then ends in order: no new connections,
/// requests in flight are answered within [`Settings::stop_deadline`](crate::Settings), jobs end, the store
/// is closed.
///
/// `ingest` is an address for senders alone.
///
/// # Errors
/// When the store failed.
pub async fn serve(
    collector: &Collector,
    listener: TcpListener,
    ingest: Option<TcpListener>,
    stop: CancellationToken,
) -> Result<(), ServeError> {
    let settings = collector.settings();
    let connections = GracefulShutdown::new();
    let mut jobs = collector.start_jobs(&stop);
    let head_deadline = settings.head_deadline;
    {
        let all = accept(listener, collector.router(), head_deadline, &connections);
        let senders = async {
            match ingest {
                Some(listener) => {
                    accept(listener, collector.ingest_router(), head_deadline, &connections).await
                }
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = all => {}
            () = senders => {}
            () = stop.cancelled() => {}
            () = collector.failed().cancelled() => stop.cancel(),
        }
    }
    if tokio::time::timeout(settings.stop_deadline, connections.shutdown()).await.is_err() {
        tracing::warn!("requests in flight were cut off");
    }
    if tokio::time::timeout(settings.stop_deadline, async { while jobs.join_next().await.is_some() {} })
        .await
        .is_err()
    {
        tracing::warn!("jobs in the background were cut off");
    }
    if collector.failed().is_cancelled() {
        return Err(ServeError::StoreFailed);
    }
    collector.close().await.map_err(ServeError::Close)
}

/// Accepts connections for ever.
async fn accept(
    listener: TcpListener,
    router: Router,
    head_deadline: Duration,
    connections: &GracefulShutdown,
) {
    let slots = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(slot) = Arc::clone(&slots).acquire_owned().await else { return };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "a connection could not be accepted"
                );
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let cut = Cut::default();
        let connection = connections.watch(connection(stream, router.clone(), head_deadline, cut.clone()));
        tokio::spawn(async move {
            tokio::select! {
                // How a connection ends is the other side's affair.
                _ = connection => {}
                () = cut.0.cancelled() => {}
            }
            drop(slot);
        });
    }
}

fn connection(
    stream: TcpStream,
    router: Router,
    head_deadline: Duration,
    cut: Cut,
) -> impl hyper_util::server::graceful::GracefulConnection<Error = hyper::Error> + Send + 'static {
    // Answers are small and written at once: waiting for more to send only delays them.
    let _ = stream.set_nodelay(true);
    let service = hyper::service::service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(cut.clone());
        let router = router.clone();
        async move {
            let response = router.oneshot(request.map(Body::new)).await;
            response.map_err(|never: Infallible| match never {})
        }
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(head_deadline)
        .half_close(true)
        .serve_connection(TokioIo::new(stream), service)
}
