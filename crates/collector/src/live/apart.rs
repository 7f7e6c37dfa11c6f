//! Serving live streams from threads of their own: writing to thousands of readers must not keep ingest waiting.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use tokio::sync::Notify;

/// Asks for the connection a request came on to be served by the live threads from now on; says where it comes from.
#[derive(Debug, Clone, Default)]
pub(crate) struct Apart {
    asked: Arc<Notify>,
    peer: Option<IpAddr>,
}

impl Apart {
    /// Of a connection from an address.
    pub(crate) fn of(peer: IpAddr) -> Self {
        Self { peer: Some(peer), ..Self::default() }
    }

    /// The address that the connection comes from.
    pub(crate) fn peer(&self) -> Option<IpAddr> {
        self.peer
    }

    /// Waits until that is asked. Cancel safe.
    pub(crate) async fn asked(&self) {
        self.asked.notified().await;
    }
}

/// Moves the connection of a request to the live threads.
pub(crate) async fn move_apart(request: Request, next: Next) -> Response {
    if let Some(apart) = request.extensions().get::<Apart>() {
        apart.asked.notify_one();
    }
    next.run(request).await
}
