//! The handler of `GET /api/live/{id}`.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;

use super::reader::Reader;
use super::subscriber::Cut;
use super::topic::text::Mark;
use super::{RETRY, answer, last_event_id};
use crate::app::App;
use crate::error::{ApiError, ErrorBody};
use crate::read::{Asked, ProjectFilter, QueryPath, find};

/// Follows one query.
///
/// A stream of server-sent events: `events`, whose data are the query's events as JSON Lines, byte for byte as
/// they were sent, one `data:` line an event; those so far in several messages of some 256 KiB, then each new
/// batch; at last `finished` (a `QuerySummary`) when the query ends or turns unfinished, and the stream ends.
/// For a query that does not run, its events and `finished` come at once.
///
/// The first `events` begins with the process event; one that begins so later replaces all before it.
///
/// A comment comes every 15 s. Every message has an `id`; with the last one as `Last-Event-ID` the stream goes on
/// behind it, also after a restart of the service. After `finished` the answer to it is 204 until the query reports
/// again. A reader that does not keep up is cut off.
#[utoipa::path(
    get,
    path = "/api/live/{id}",
    tag = "read",
    params(
        QueryPath,
        ProjectFilter,
        (
            "Last-Event-ID" = Option<String>, Header,
            description = "The `id` of the last message that arrived",
            example = "9f3c01ab-17"
        )
    ),
    responses(
        (
            status = 200,
            description = "Server-sent events: events, finished",
            body = String,
            content_type = "text/event-stream"
        ),
        (status = 204, description = "Nothing has come since the `finished` named by Last-Event-ID"),
        (status = 400, description = "A parameter is invalid", body = ErrorBody),
        (
            status = 403,
            description = "The Host is a name that is not served, or a page of another site asks",
            body = ErrorBody
        ),
        (status = 404, description = "There is no such query", body = ErrorBody),
        (status = 410, description = "The query is known, and its recording is missing", body = ErrorBody),
        (
            status = 503,
            description = "There are as many live readers as may be, or reading failed or found damage",
            body = ErrorBody
        ),
    )
)]
pub(crate) async fn one(
    State(app): State<Arc<App>>,
    path: QueryPath,
    Asked(project): Asked<ProjectFilter>,
    request: Request,
) -> Result<Response, ApiError> {
    let id = find(&app, &path.id, &project).await?.query_id;
    let mark = Mark::read(id, last_event_id(request.headers()));
    if request.method() == Method::HEAD && !mark.ended {
        return Ok(answer(None::<stream::Empty<_>>));
    }
    let cut = request.extensions().get::<Cut>().cloned().unwrap_or_default();
    let mut reader = Reader::new(&app, id, mark, cut)?;
    let Some(first) = reader.first().await? else {
        return Ok(if mark.ended {
            StatusCode::NO_CONTENT.into_response()
        } else {
            answer(None::<stream::Empty<_>>)
        });
    };
    let begun = stream::iter([RETRY, first].map(Ok::<Bytes, Infallible>));
    let rest = stream::unfold(reader, async |mut reader| {
        // What went wrong is in the log; the reader comes back with the id it has.
        let message = reader.next().await.ok().flatten()?;
        Some((Ok(message), reader))
    });
    Ok(answer(Some(futures_util::StreamExt::chain(begun, rest))))
}
