//! `GET /api/queries/{id}/recording`.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_util::TryStreamExt;
use queryscope_store::Status;

use super::asked::Asked;
use super::params::ProjectFilter;
use super::query::{QueryPath, parse, unknown};
use super::unreadable::{note, unreadable};
use crate::app::App;
use crate::error::{ApiError, ErrorBody};

/// Gives the events of a query that does not run: byte for byte the lines that were sent, the process event
/// first, each once, in the order of their seqs.
///
/// The body is one gzip member. A browser saves it decoded, as `<query id>.jsonl`; so does `curl --compressed -OJ`.
/// Damage that is found after the answer has begun ends the connection before the body is whole.
#[utoipa::path(
    get,
    path = "/api/queries/{id}/recording",
    tag = "read",
    params(QueryPath, ProjectFilter),
    responses(
        (
            status = 200,
            description = "JSON Lines in the format events@1, always with Content-Encoding: gzip",
            body = String,
            content_type = "application/x-ndjson",
            example = json!("{\"schema\":\"engine-telemetry/events@1\",\"seq\":1,\"type\":\"process\"}\n")
        ),
        (status = 400, description = "A parameter is invalid", body = ErrorBody),
        (status = 403, description = "The Host is a name that is not served", body = ErrorBody),
        (status = 404, description = "There is no such query, or it still runs", body = ErrorBody),
        (status = 410, description = "The query is known, and its recording is missing", body = ErrorBody),
        (status = 503, description = "Reading failed, or the recording is damaged", body = ErrorBody),
    )
)]
pub(crate) async fn recording(
    State(app): State<Arc<App>>,
    QueryPath { id }: QueryPath,
    Asked(project): Asked<ProjectFilter>,
) -> Result<Response, ApiError> {
    let parts = app.store.recording(parse(&id)?).await?;
    let parts = parts.filter(|parts| project.keeps(&parts.query.project)).ok_or_else(|| unknown(&id))?;
    if parts.query.status == Status::Running {
        return Err(ApiError::not_found(format!(
            "query {id} still runs, it has a recording once it has ended"
        )));
    }
    let query_id = parts.query.query_id;
    let read = app.recordings.download(&app.store, parts).await;
    let content = read.map_err(|error| unreadable(&app, query_id, error))?;
    let headers = [
        (header::CONTENT_TYPE, "application/x-ndjson".to_owned()),
        (header::CONTENT_ENCODING, "gzip".to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{query_id}.jsonl\"")),
    ];
    let size = content.size.map(|size| [(header::CONTENT_LENGTH, size.to_string())]);
    let bytes = content.bytes.inspect_err(move |error| note(&app, query_id, error));
    Ok((headers, size, Body::from_stream(bytes)).into_response())
}
