//! Answers over many queries, made by threads of their own: they may take a core for a while and must not keep
//! ingest waiting.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio_util::task::AbortOnDropHandle;

use super::pieces::Pieces;
use crate::app::App;
use crate::error::ApiError;
use crate::threads::{StandBack, Threads};

/// Puts answers into words.
const THREADS: usize = 1;
/// Makes answers from what is stored: one at a time, so that their memory is one answer's.
const BLOCKING_MAX: usize = 1;

/// Starts the threads.
pub(crate) fn threads() -> Threads {
    Threads::start("analysis", THREADS, BLOCKING_MAX, StandBack::Idle)
}

/// Answers on these threads, body and all.
pub(crate) async fn analyse_apart(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let answer = async move {
        let (head, body) = next.run(request).await.into_parts();
        Pieces::of(body).await.map(|pieces| Response::from_parts(head, pieces.into_body()))
    };
    // A reader that has gone needs no answer.
    match AbortOnDropHandle::new(app.analyses.handle().spawn(answer)).await {
        Ok(Ok(response)) => response,
        _ => ApiError::unavailable("reading was interrupted, try again").into_response(),
    }
}
