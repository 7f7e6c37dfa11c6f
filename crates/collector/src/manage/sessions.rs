//! Sessions: listed, and ended.

use std::collections::HashSet;
use std::fmt::Write;
use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use queryscope_store::{AccessAction, Session, SessionHash};
use serde::Serialize;
use utoipa::ToSchema;

use super::{By, Nothing, Wall, named, unix_ns};
use crate::access::{IDLE, Kind, Principal};
use crate::act::read;
use crate::app::App;
use crate::error::{ApiError, ErrorBody};

/// Sessions that are listed.
const LISTED_MAX: usize = 1000;
/// Bytes of the hash of a session that name it.
const ID_BYTES: usize = 16;

/// The sessions that go on.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SessionList {
    /// Up to 1,000, that with the latest use first.
    sessions: Vec<SessionEntry>,
}

/// A session.
#[derive(Debug, Serialize, ToSchema)]
struct SessionEntry {
    /// Names the session here; its cookie does not follow from it.
    id: String,
    /// The name of its user.
    user: String,
    /// When the user logged in, in Unix nanoseconds.
    created_unix_ns: i64,
    /// When it was used last, to the minute, in Unix nanoseconds.
    used_unix_ns: i64,
    /// Whether this request was made in it.
    is_yours: bool,
}

/// Lists the sessions of users: an administrator of one project sees those of its users.
#[utoipa::path(
    get,
    path = "/api/sessions",
    tag = "read",
    responses(
        (status = 200, description = "The sessions", body = SessionList),
        (status = 403, description = "You are no administrator, or the Host is not served", body = ErrorBody),
        (status = 503, description = "Reading failed", body = ErrorBody),
    )
)]
pub(crate) async fn sessions(
    State(app): State<Arc<App>>,
    who: Principal,
) -> Result<Json<SessionList>, ApiError> {
    listed(&app, &Wall(who.project), who.kind).await
}

/// Ends a session: its user is asked for a login, and its live streams end, within seconds.
#[utoipa::path(
    post,
    path = "/api/sessions/{id}/end",
    tag = "read",
    params(("id" = String, Path, description = "Id of the session", example = "72cd6e8422c407fb6d098690f1130b7d")),
    request_body = Nothing,
    responses(
        (status = 200, description = "The sessions that are left", body = SessionList),
        (status = 400, description = "The body is invalid", body = ErrorBody),
        (status = 403, description = "You are no administrator, or a page of another site asks", body = ErrorBody),
        (status = 404, description = "There is no such session", body = ErrorBody),
        (status = 408, description = "The body did not arrive within 10 s", body = ErrorBody),
        (status = 413, description = "The body is larger than 64 KiB", body = ErrorBody),
        (status = 415, description = "The body is not application/json", body = ErrorBody),
        (status = 503, description = "Storing or reading failed", body = ErrorBody),
    )
)]
pub(crate) async fn end_session(
    State(app): State<Arc<App>>,
    id: Result<Path<String>, PathRejection>,
    who: Principal,
    request: Request,
) -> Result<Json<SessionList>, ApiError> {
    let (id, kind) = (named(id)?, who.kind);
    let (head, body) = request.into_parts();
    let by = By::of(&app, who, &head);
    let Nothing {} = read(Request::from_parts(head, body)).await?;
    let none = || ApiError::not_found(format!("there is no session {id:?}"));
    let found = going_on(&app, &by.wall).await?.into_iter().find(|session| id_of(&session.hash) == id);
    let session = found.ok_or_else(none)?;
    if !app.access.end(&app, session.hash).await? {
        return Err(none());
    }
    by.note(&app, AccessAction::SessionEnded, &session.user).await;
    listed(&app, &by.wall, kind).await
}

async fn going_on(app: &App, wall: &Wall) -> Result<Vec<Session>, ApiError> {
    let since = app.clock.unix_ms() - IDLE.as_millis() as i64;
    let sessions = app.store.access().sessions(since, LISTED_MAX).await?;
    let users = app.store.access().users().await?.into_iter();
    let within: HashSet<String> =
        users.filter(|user| wall.holds(user.project.as_deref())).map(|user| user.name).collect();
    Ok(sessions.into_iter().filter(|session| within.contains(&session.user)).collect())
}

async fn listed(app: &App, wall: &Wall, yours: Kind) -> Result<Json<SessionList>, ApiError> {
    let entry = |session: Session| SessionEntry {
        id: id_of(&session.hash),
        is_yours: yours == Kind::User(session.hash),
        user: session.user,
        created_unix_ns: unix_ns(session.created_unix_ms),
        used_unix_ns: unix_ns(session.used_unix_ms),
    };
    Ok(Json(SessionList { sessions: going_on(app, wall).await?.into_iter().map(entry).collect() }))
}

fn id_of(hash: &SessionHash) -> String {
    hash[..ID_BYTES].iter().fold(String::new(), |mut id, byte| {
        let _ = write!(id, "{byte:02x}");
        id
    })
}
