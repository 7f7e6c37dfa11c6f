//! The handler of `GET /api/live`.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::Method;
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use queryscope_store::QueryFilter;
use tokio::sync::{mpsc, oneshot};

use super::board::Opening;
use super::filter;
use super::message::{Sent, joined};
use super::subscriber::{Cut, Presence, Subscriber};
use super::{Command, RETRY, answer, last_event_id};
use crate::app::App;
use crate::error::{ApiError, ErrorBody};
use crate::read::{Asked, SourceFilters};

/// Follows the running queries.
///
/// A stream of server-sent events: first `snapshot` (a `LiveSnapshot`: the running queries and their latest
/// samples), then `query` (a `QuerySummary`) when a query starts, ends, runs again or shows something new, and
/// `pulse` (a `Pulse`) with each new sample. A `pulse` carries the new values of `threads` alone: append them to
/// those of the snapshot and keep the last 120. `change` (a `Change`) comes when a change
/// of a query is found or moves on, and `issue` (an `Issue`) when an issue makes a transition. `omitted`
/// (`{"queries": n}`) says that n queries that ended before they were seen running were not told of, because there are
/// too many; the list has them.
///
/// A comment comes every 15 s. Every message has an `id`; with the last one as `Last-Event-ID` the stream goes on
/// behind it, or begins with a `snapshot` when that is too long ago. A reader that does not keep up is cut off.
#[utoipa::path(
    get,
    path = "/api/live",
    tag = "read",
    params(
        SourceFilters,
        (
            "Last-Event-ID" = Option<String>, Header,
            description = "The `id` of the last message that arrived",
            example = "9f3c01ab-17"
        )
    ),
    responses(
        (
            status = 200,
            description = "Server-sent events: snapshot, query, pulse, change, issue, omitted",
            body = String,
            content_type = "text/event-stream"
        ),
        (status = 400, description = "A parameter is invalid", body = ErrorBody),
        (
            status = 403,
            description = "The Host is a name that is not served, or a page of another site asks",
            body = ErrorBody
        ),
        (
            status = 503,
            description = "There are as many live readers as may be, or the streams are not available now",
            body = ErrorBody
        ),
    )
)]
pub(crate) async fn running(
    State(app): State<Arc<App>>,
    Asked(filters): Asked<SourceFilters>,
    request: Request,
) -> Result<Response, ApiError> {
    let filter = filter::unless_all(filters);
    if request.method() == Method::HEAD {
        return Ok(answer(None::<stream::Empty<_>>));
    }
    let presence = Presence::new(&app)?;
    let (subscriber, queue) = Subscriber::new(request.extensions().get::<Cut>().cloned().unwrap_or_default());
    let resume = last_event_id(request.headers()).and_then(|id| id.parse().ok());
    let (opening, opened) = oneshot::channel();
    let first = match app.live.ask(Command::All { resume, subscriber, opening }, opened).await? {
        Opening::Snapshot(shown) => shown.text(filter.as_ref()),
        Opening::Resumed(messages) => joined(&messages, filter.as_ref()),
    };
    let follower = Follower { first: [RETRY, first].into(), filter, queue, _presence: presence };
    Ok(answer(Some(stream::unfold(follower, async |mut follower| {
        let bytes = follower.next().await?;
        Some((Ok::<_, Infallible>(bytes), follower))
    }))))
}

struct Follower {
    first: VecDeque<Bytes>,
    filter: Option<QueryFilter>,
    queue: mpsc::Receiver<Sent>,
    _presence: Presence,
}

impl Follower {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            let bytes = match self.first.pop_front() {
                Some(bytes) => bytes,
                None => self.queue.recv().await?.text(self.filter.as_ref()),
            };
            if !bytes.is_empty() {
                return Some(bytes);
            }
        }
    }
}
