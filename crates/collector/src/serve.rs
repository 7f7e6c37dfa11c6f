//! The sockets: connections with deadlines, and a stop that answers what was accepted.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use queryscope_store::StoreError;
use thiserror::Error;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tower::Service;

use crate::collector::Collector;
use crate::live::{Apart, Cut};

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
        let live = collector.live_threads();
        let all = accept(listener, collector.routes(), live, head_deadline, &connections);
        let senders = async {
            match ingest {
                Some(listener) => {
                    accept(listener, collector.ingest_routes(), live, head_deadline, &connections).await
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
    routes: impl Service<Request<Body>, Response = Response, Error = Infallible, Future: Send>
    + Clone
    + Send
    + 'static,
    live: &Handle,
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
        let apart = Apart::default();
        let served = connection(stream, routes.clone(), head_deadline, cut.clone(), apart.clone());
        let mut served = Box::pin(connections.watch(served));
        let live = live.clone();
        tokio::spawn(async move {
            tokio::select! {
                biased;
                () = apart.asked() => {}
                () = cut.0.cancelled() => return,
                // How a connection ends is the other side's affair.
                _ = &mut served => return,
            }
            live.spawn(async move {
                tokio::select! {
                    () = cut.0.cancelled() => {}
                    _ = served => {}
                }
                drop(slot);
            });
        });
    }
}

fn connection(
    stream: TcpStream,
    routes: impl Service<Request<Body>, Response = Response, Error = Infallible, Future: Send>
    + Clone
    + Send
    + 'static,
    head_deadline: Duration,
    cut: Cut,
    apart: Apart,
) -> impl hyper_util::server::graceful::GracefulConnection<Error = hyper::Error> + Send + 'static {
    // Answers are small and written at once: waiting for more to send only delays them.
    let _ = stream.set_nodelay(true);
    let service = hyper::service::service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(cut.clone());
        request.extensions_mut().insert(apart.clone());
        routes.clone().call(request.map(Body::new))
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(head_deadline)
        .half_close(true)
        .serve_connection(TokioIo::new(stream), service)
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::middleware::from_fn;
    use axum::routing::get;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;
    use crate::live::move_apart;
    use crate::threads::{StandBack, Threads};

    async fn thread() -> String {
        // The connection is moved when its task is polled again.
        tokio::task::yield_now().await;
        std::thread::current().name().unwrap_or_default().to_owned()
    }

    #[tokio::test]
    async fn streams_are_served_by_the_live_threads_and_the_rest_is_not() {
        let threads = Threads::start("live", 1, 1, StandBack::Nice);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("bound");
        let router = Router::new()
            .route("/stream", get(thread))
            .layer(from_fn(move_apart))
            .route("/other", get(thread));
        let connections = GracefulShutdown::new();
        let ask = async |path: &str| {
            let mut tcp = TcpStream::connect(address).await.expect("accepted");
            let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
            tcp.write_all(request.as_bytes()).await.expect("taken");
            let mut answer = String::new();
            tcp.read_to_string(&mut answer).await.expect("an answer");
            answer.rsplit("\r\n").next().unwrap_or_default().to_owned()
        };
        tokio::select! {
            () = accept(listener, router, threads.handle(), Duration::from_secs(5), &connections) => {}
            names = async { [ask("/stream").await, ask("/other").await] } => {
                assert_eq!(names[0], "live");
                assert_ne!(names[1], "live");
            }
        }
    }
}
