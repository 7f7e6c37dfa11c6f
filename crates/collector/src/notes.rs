//! Notes on queries: `GET` and `POST /api/notes`, `PUT` and `DELETE /api/notes/{id}`.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use queryscope_store::{AccessAction, NoteEdit, NotesRequest, QueryNote, random_id, short_name};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::access::{self, Principal};
use crate::act::body::{moment, name, read, written};
use crate::app::App;
use crate::error::{ApiError, ErrorBody};
use crate::read::{Asked, ProjectFilter, WrittenIn, cursor, limit, unix_ns};

/// Where notes are listed and added.
pub(crate) const PATH: &str = "/api/notes";

/// Notes on a page at most: of the longest texts they are some megabytes.
const PAGE_NOTES_MAX: usize = 100;

/// Form of a cursor.
const FORM: u8 = 13;

/// Whether a path is that of one note.
pub(crate) fn is_note(path: &str) -> bool {
    path.strip_prefix(PATH).is_some_and(|rest| rest.starts_with('/'))
}

/// A note that is to be added to a query.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoteBody {
    /// The service of the query; left out for programs that name none.
    #[serde(default)]
    #[schema(pattern = r"^[^\x00]*$", example = "orders-etl")]
    service: Option<String>,
    /// The label of the query.
    #[schema(min_length = 1, pattern = r"^[^\x00]+$", example = "orders/daily")]
    label: String,
    /// The text, 1 to 10,000 characters, not of white space alone.
    #[schema(min_length = 1, max_length = 10_000, pattern = r"^[^\x00]*[^\s\x00][^\x00]*$")]
    text: String,
    /// The moment it is about, in Unix nanoseconds, at most an hour ahead; left out for now.
    #[serde(default)]
    #[schema(minimum = 0, example = 1_795_000_000_000_000_000_i64)]
    unix_ns: Option<i64>,
    /// Your name, up to 200 characters. Nothing checks it, and the name of a user who logged in takes its place.
    #[serde(default)]
    #[schema(max_length = 200, pattern = r"^[^\x00]*$")]
    by: Option<String>,
}

/// What a note says from now on.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditBody {
    /// The text, 1 to 10,000 characters, not of white space alone.
    #[schema(min_length = 1, max_length = 10_000, pattern = r"^[^\x00]*[^\s\x00][^\x00]*$")]
    text: String,
    /// Your name, as where a note is added.
    #[serde(default)]
    #[schema(max_length = 200, pattern = r"^[^\x00]*$")]
    by: Option<String>,
}

/// Which notes are asked for.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(crate) struct NotesParams {
    /// Keeps notes of this project.
    #[param(example = "default")]
    project: Option<String>,
    /// Keeps notes on queries of this service; empty keeps those of programs without one.
    #[param(example = "orders-etl")]
    service: Option<String>,
    /// Keeps notes on queries with this label.
    #[param(example = "orders/daily")]
    label: Option<String>,
    /// Keeps notes about this moment or later, in Unix nanoseconds.
    #[param(example = 1_794_000_000_000_000_000_i64)]
    #[serde(deserialize_with = "unix_ns")]
    since: Option<i64>,
    /// Keeps notes about this moment or before, in Unix nanoseconds.
    #[param(example = 1_796_000_000_000_000_000_i64)]
    #[serde(deserialize_with = "unix_ns")]
    until: Option<i64>,
    /// Notes on the page.
    #[param(minimum = 1, maximum = 100, default = 100, example = 20)]
    #[serde(deserialize_with = "limit")]
    limit: Option<u64>,
    /// Goes on where a page ended: its `next`, for the same parameters.
    #[param(pattern = "^[A-Za-z0-9_-]+$", example = "DQ")]
    cursor: Option<String>,
}

/// Notes on queries.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Notes {
    /// The last moment first.
    notes: Vec<QueryNote>,
    /// The `cursor` of the next page; null where this is the last.
    next: Option<String>,
}

/// Lists notes on queries.
///
/// They stay until a person deletes them, also when retention has deleted all runs of their query.
#[utoipa::path(
    get,
    path = "/api/notes",
    operation_id = "query_notes",
    tag = "read",
    params(NotesParams),
    responses(
        (
            status = 200,
            description = "The notes",
            body = Notes,
            headers(("Link" = String, description = "Address of the next page, where there is one"))
        ),
        (status = 400, description = "A parameter is invalid", body = ErrorBody),
        (status = 403, description = "The Host is a name that is not served", body = ErrorBody),
        (status = 503, description = "Reading failed", body = ErrorBody),
    )
)]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    RawQuery(query): RawQuery,
    Asked(asked): Asked<NotesParams>,
) -> Result<Response, ApiError> {
    let limit = asked.limit.map_or(PAGE_NOTES_MAX, |limit| limit as usize);
    if limit > PAGE_NOTES_MAX {
        return Err(ApiError::invalid(format!("limit: 1 to {PAGE_NOTES_MAX} is allowed")));
    }
    let request = NotesRequest {
        project: asked.project,
        service: asked.service.as_deref().map(short_name),
        label: asked.label.as_deref().map(short_name),
        since_unix_ns: asked.since,
        until_unix_ns: asked.until,
        after: asked.cursor.as_deref().map(|text| cursor::read_page(FORM, text)).transpose()?,
        limit: limit + 1,
    };
    let mut notes = app.store.notes().query_notes(request).await?;
    let last = cursor::cut(&mut notes, limit);
    let next = last.map(|last| cursor::write_page(FORM, &(last.unix_ns, &last.id)));
    let link = next.as_ref().map(|next| [cursor::link(PATH, query.as_deref(), next)]);
    Ok((link, Json(Notes { notes, next })).into_response())
}

/// Adds a note to a query: a label in one service of one project.
///
/// The query need not have a run. It may have 1,000 notes, and the store takes 10,000.
#[utoipa::path(
    post,
    path = "/api/notes",
    operation_id = "add_query_note",
    tag = "read",
    params(WrittenIn),
    request_body = NoteBody,
    responses(
        (status = 200, description = "The note", body = QueryNote),
        (status = 400, description = "The body or a parameter is invalid", body = ErrorBody),
        (
            status = 403,
            description = "You are no editor, the Host is a name that is not served, or a page of another site asks",
            body = ErrorBody
        ),
        (status = 408, description = "The body did not arrive within 10 s", body = ErrorBody),
        (status = 409, description = "The query or the store has as many notes as it may have", body = ErrorBody),
        (status = 413, description = "The body is larger than 64 KiB", body = ErrorBody),
        (status = 415, description = "The body is not application/json", body = ErrorBody),
        (status = 503, description = "Storing failed", body = ErrorBody),
    )
)]
pub(crate) async fn add(
    State(app): State<Arc<App>>,
    Asked(project): Asked<WrittenIn>,
    who: Principal,
    request: Request,
) -> Result<Json<QueryNote>, ApiError> {
    let mut body: NoteBody = read(request).await?;
    who.sign(&mut body.by);
    let now_unix_ns = app.clock.unix_ns();
    let service = body.service.filter(|service| !service.is_empty());
    let note = QueryNote {
        id: format!("note-{}", random_id().simple()),
        project: project.name()?,
        service: service.map(|service| query_name("service", &service)).transpose()?,
        label: query_name("label", &body.label)?,
        unix_ns: moment(body.unix_ns, now_unix_ns)?,
        written_unix_ns: now_unix_ns,
        by: name(body.by)?,
        text: written(body.text)?,
        edited_unix_ns: None,
        edited_by: None,
    };
    let added = app.store.notes().add_query_note(note.clone()).await;
    if !added.inspect_err(|error| app.watch(error))? {
        return Err(ApiError::conflict("the query or the store has as many notes as it may have"));
    }
    Ok(Json(note))
}

/// A name of a query, as its runs have it.
fn query_name(member: &str, name: &str) -> Result<String, ApiError> {
    if name.is_empty() {
        return Err(ApiError::invalid(format!("{member}: must not be empty")));
    }
    if name.contains('\0') {
        return Err(ApiError::invalid(format!("{member}: must not hold the character U+0000")));
    }
    Ok(short_name(name))
}

/// Puts a text in place of that of a note, whoever wrote it. Author, moment and time of writing stay.
#[utoipa::path(
    put,
    path = "/api/notes/{id}",
    operation_id = "edit_query_note",
    tag = "read",
    params(
        ("id" = String, Path, description = "Id of the note", example = "note-01a1faa81bd977b297ab860dd7026506"),
        ProjectFilter
    ),
    request_body = EditBody,
    responses(
        (status = 200, description = "The note as it is then", body = QueryNote),
        (status = 400, description = "The body or a parameter is invalid", body = ErrorBody),
        (
            status = 403,
            description = "You are no editor, the Host is a name that is not served, or a page of another site asks",
            body = ErrorBody
        ),
        (status = 404, description = "There is no such note", body = ErrorBody),
        (status = 408, description = "The body did not arrive within 10 s", body = ErrorBody),
        (status = 413, description = "The body is larger than 64 KiB", body = ErrorBody),
        (status = 415, description = "The body is not application/json", body = ErrorBody),
        (status = 503, description = "Storing failed", body = ErrorBody),
    )
)]
pub(crate) async fn edit(
    State(app): State<Arc<App>>,
    id: Result<Path<String>, PathRejection>,
    Asked(project): Asked<ProjectFilter>,
    who: Principal,
    request: Request,
) -> Result<Json<QueryNote>, ApiError> {
    let Path(id) = id.map_err(|_| none())?;
    let (head, body) = request.into_parts();
    let from = access::address_of(&app, &head);
    let mut body: EditBody = read(Request::from_parts(head, body)).await?;
    who.sign(&mut body.by);
    let (text, by) = (written(body.text)?, name(body.by)?);
    let edit = NoteEdit { text, edited_unix_ns: app.clock.unix_ns(), by };
    let edited = app.store.notes().edit_query_note(&id, project.name(), edit).await;
    let edited = edited.inspect_err(|error| app.watch(error))?.ok_or_else(none)?;
    access::note(&app, AccessAction::NoteEdited, who.name, Some(edited.label.clone()), from).await;
    Ok(Json(edited))
}

fn none() -> ApiError {
    ApiError::not_found("there is no note of this id")
}

/// Deletes a note.
#[utoipa::path(
    delete,
    path = "/api/notes/{id}",
    operation_id = "delete_query_note",
    tag = "read",
    params(
        ("id" = String, Path, description = "Id of the note", example = "note-01a1faa81bd977b297ab860dd7026506"),
        ProjectFilter
    ),
    responses(
        (status = 204, description = "The note is deleted"),
        (status = 400, description = "A parameter is invalid", body = ErrorBody),
        (
            status = 403,
            description = "You are no editor, the Host is a name that is not served, or a page of another site asks",
            body = ErrorBody
        ),
        (status = 404, description = "There is no such note", body = ErrorBody),
        (status = 503, description = "Storing failed", body = ErrorBody),
    )
)]
pub(crate) async fn delete(
    State(app): State<Arc<App>>,
    id: Result<Path<String>, PathRejection>,
    Asked(project): Asked<ProjectFilter>,
    who: Principal,
    request: Request,
) -> Result<StatusCode, ApiError> {
    let Path(id) = id.map_err(|_| none())?;
    let deleted = app.store.notes().delete_query_note(&id, project.name()).await;
    let deleted = deleted.inspect_err(|error| app.watch(error))?.ok_or_else(none)?;
    let (head, _) = request.into_parts();
    let from = access::address_of(&app, &head);
    access::note(&app, AccessAction::NoteDeleted, who.name, Some(deleted.label), from).await;
    Ok(StatusCode::NO_CONTENT)
}
