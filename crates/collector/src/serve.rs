//! The sockets: connections with deadlines, and a stop that answers what was accepted.

mod accept;
mod connections;
mod refusal;
mod stream;

use hyper_util::server::graceful::GracefulShutdown;
use queryscope_store::StoreError;
use thiserror::Error;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::collector::Collector;

use accept::{Address, accept};

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
    {
        let all = accept(listener, collector.routes(), Address::new(&collector.app), &connections);
        let senders = async {
            match ingest {
                Some(listener) => {
                    let address = Address::new(&collector.app);
                    accept(listener, collector.ingest_routes(), address, &connections).await;
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
