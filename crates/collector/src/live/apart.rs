//! Serving live streams from threads of their own: writing to thousands of readers must not keep ingest waiting.

use std::sync::Arc;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use tokio::sync::Notify;

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
