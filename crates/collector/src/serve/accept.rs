//! Accepting connections, and what is done with each.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulConnection, GracefulShutdown};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;
use tower::Service;

use super::connections::{Connection, Connections};
use super::stream::{Stream, bound_unsent};
use crate::app::App;
use crate::live::Apart;
use crate::metrics::ConnectionMetrics;
use crate::rarely::Rarely;

/// Pause after the system refused to accept a connection (out of file descriptors, say).
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Bytes of a request's first line and header lines, all together.
pub(super) const HEAD_MAX: usize = 32 << 10;

/// What the connections of one address share.
pub(super) struct Address {
    connections: Arc<Connections>,
    metrics: ConnectionMetrics,
    /// Where streams are served.
    live: Handle,
    head_deadline: Duration,
    write_deadline: Duration,
}

impl Address {
    pub(super) fn new(app: &App) -> Self {
        let metrics = app.metrics.connections.clone();
        Self {
            connections: Connections::new(app.settings.connections_max, metrics.clone()),
            metrics,
            live: app.live.threads.handle().clone(),
            head_deadline: app.settings.head_deadline,
            write_deadline: app.settings.write_deadline,
        }
    }
}

/// Accepts connections for ever.
pub(super) async fn accept(
    listener: TcpListener,
    routes: impl Service<Request<Body>, Response = Response, Error = Infallible, Future: Send>
    + Clone
    + Send
    + 'static,
    address: Address,
    shutdown: &GracefulShutdown,
) {
    bound_unsent(&listener);
    let refused = Rarely::default();
    loop {
        let (stream, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                if let Some(times) = refused.due() {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(error, times, "connections could not be accepted");
                }
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let place = address.connections.place().await;
        let apart = Apart::of(peer.ip());
        let served = serve(stream, routes.clone(), &address, place.connection().clone(), apart.clone());
        let mut served = Box::pin(shutdown.watch(served));
        let live = address.live.clone();
        tokio::spawn(async move {
            tokio::select! {
                biased;
                () = apart.asked() => {}
                () = place.closed() => return,
                // How a connection ends is the other side's affair.
                _ = &mut served => return,
            }
            live.spawn(async move {
                tokio::select! {
                    () = place.closed() => {}
                    _ = served => {}
                }
            });
        });
    }
}

fn serve(
    stream: TcpStream,
    routes: impl Service<Request<Body>, Response = Response, Error = Infallible, Future: Send>
    + Clone
    + Send
    + 'static,
    address: &Address,
    connection: Connection,
    apart: Apart,
) -> impl GracefulConnection<Error = hyper::Error> + Send + 'static {
    // Answers are small and written at once: waiting for more to send only delays them.
    let _ = stream.set_nodelay(true);
    let stream = Stream::new(stream, connection.clone(), address.write_deadline, address.metrics.clone());
    let service = hyper::service::service_fn(move |mut request: Request<Incoming>| {
        let busy = connection.begin();
        request.extensions_mut().insert(connection.cut());
        request.extensions_mut().insert(apart.clone());
        let answer = routes.clone().call(request.map(Body::new));
        async move { answer.await.map(|response| busy.until_made(response)) }
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(address.head_deadline)
        .max_header_size(HEAD_MAX)
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
        let bound = listener.local_addr().expect("bound");
        let router = Router::new()
            .route("/stream", get(thread))
            .layer(from_fn(move_apart))
            .route("/other", get(thread));
        let metrics = ConnectionMetrics::default();
        let address = Address {
            connections: Connections::new(16, metrics.clone()),
            metrics,
            live: threads.handle().clone(),
            head_deadline: Duration::from_secs(5),
            write_deadline: Duration::from_secs(5),
        };
        let connections = GracefulShutdown::new();
        let ask = async |path: &str| {
            let mut tcp = TcpStream::connect(bound).await.expect("accepted");
            let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
            tcp.write_all(request.as_bytes()).await.expect("taken");
            let mut answer = String::new();
            tcp.read_to_string(&mut answer).await.expect("an answer");
            answer.rsplit("\r\n").next().unwrap_or_default().to_owned()
        };
        tokio::select! {
            () = accept(listener, router, address, &connections) => {}
            names = async { [ask("/stream").await, ask("/other").await] } => {
                assert_eq!(names[0], "live");
                assert_ne!(names[1], "live");
            }
        }
    }
}
