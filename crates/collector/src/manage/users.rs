//! Users: listed, made, changed and removed.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use queryscope_store::{AccessAction, LastAdmin, Name, Role, User, UserOutcome};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{By, Nothing, Wall, named, unix_ns};
use crate::access::{self, Principal, check_password, check_user_name};
use crate::act::read;
use crate::app::App;
use crate::error::{ApiError, ErrorBody};

/// The users of the service.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UserList {
    /// By name.
    users: Vec<UserEntry>,
}

/// A user.
#[derive(Debug, Serialize, ToSchema)]
struct UserEntry {
    /// The name.
    name: String,
    /// What the user may do.
    role: Role,
    /// The only project the user may read; null for all.
    project: Option<String>,
    /// When the user was made, in Unix nanoseconds.
    created_unix_ns: i64,
    /// Whether a provider of logins lets the user in and gives the role, and no password does.
    is_of_provider: bool,
}

/// A user to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UserToMake {
    /// The name: 1 to 64 letters, digits, `.`, `_`, `-`, `@` and `+`.
    #[schema(min_length = 1, max_length = 64, pattern = "^[A-Za-z0-9._@+-]+$")]
    name: String,
    /// The password: 10 characters or more, 1,024 bytes at most.
    #[schema(min_length = 10, max_length = 256)]
    password: String,
    /// What the user may do.
    role: Role,
    /// The only project the user may read; null for all that who asks manages.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 64, pattern = "^[A-Za-z0-9_-][A-Za-z0-9._-]*$")]
    project: Option<String>,
}

/// What a user gets: another role with its project, or another password.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct UserChange {
    /// What the user may do; `project` is changed with it.
    role: Option<Role>,
    /// With `role`: the only project the user may read; null for all that who asks manages.
    #[schema(min_length = 1, max_length = 64, pattern = "^[A-Za-z0-9_-][A-Za-z0-9._-]*$")]
    project: Option<String>,
    /// The password: 10 characters or more, 1,024 bytes at most. The sessions of the user end.
    #[schema(min_length = 10, max_length = 256)]
    password: Option<String>,
}

/// Lists the users: an administrator of one project sees those of that project.
#[utoipa::path(
    get,
    path = "/api/users",
    tag = "read",
    responses(
        (status = 200, description = "The users", body = UserList),
        (status = 403, description = "You are no administrator, or the Host is not served", body = ErrorBody),
        (status = 503, description = "Reading failed", body = ErrorBody),
    )
)]
pub(crate) async fn users(State(app): State<Arc<App>>, who: Principal) -> Result<Json<UserList>, ApiError> {
    listed(&app, &Wall(who.project)).await
}

/// Makes a user who logs in with a password.
#[utoipa::path(
    post,
    path = "/api/users",
    tag = "read",
    request_body = UserToMake,
    responses(
        (status = 200, description = "The users as they are now", body = UserList),
        (status = 400, description = "The body is invalid", body = ErrorBody),
        (status = 403, description = "You are no administrator, or a page of another site asks", body = ErrorBody),
        (status = 408, description = "The body did not arrive within 10 s", body = ErrorBody),
        (status = 409, description = "There is a user of that name", body = ErrorBody),
        (status = 413, description = "The body is larger than 64 KiB", body = ErrorBody),
        (status = 415, description = "The body is not application/json", body = ErrorBody),
        (status = 503, description = "Storing or reading failed", body = ErrorBody),
    )
)]
pub(crate) async fn add_user(
    State(app): State<Arc<App>>,
    who: Principal,
    request: Request,
) -> Result<Json<UserList>, ApiError> {
    let (head, body) = request.into_parts();
    let by = By::of(&app, who, &head);
    let UserToMake { name, password, role, project } = read(Request::from_parts(head, body)).await?;
    check_user_name(&name).map_err(|reason| ApiError::invalid(format!("name: {reason}")))?;
    let project = by.wall.within(project_of(project)?)?;
    let password = hashed(&app, password).await?;
    let created_unix_ms = app.clock.unix_ms();
    let user = User { name: name.clone(), role, project, password, created_unix_ms };
    if !app.store.access().add_user(user).await? {
        return Err(ApiError::conflict(format!("there is a user {name:?} already")));
    }
    by.note(&app, AccessAction::UserAdded, &name).await;
    listed(&app, &by.wall).await
}

/// Gives a user another role and project, or another password, which ends the user's sessions.
///
/// Of a user of a provider of logins, the role holds until the next login, and there is no password.
#[utoipa::path(
    post,
    path = "/api/users/{name}/change",
    tag = "read",
    params(("name" = String, Path, description = "Name of the user", example = "ada")),
    request_body = UserChange,
    responses(
        (status = 200, description = "The users as they are now", body = UserList),
        (status = 400, description = "The body is invalid", body = ErrorBody),
        (status = 403, description = "You are no administrator, or a page of another site asks", body = ErrorBody),
        (status = 404, description = "There is no such user", body = ErrorBody),
        (status = 408, description = "The body did not arrive within 10 s", body = ErrorBody),
        (status = 409, description = "The user is the last administrator, or of a provider", body = ErrorBody),
        (status = 413, description = "The body is larger than 64 KiB", body = ErrorBody),
        (status = 415, description = "The body is not application/json", body = ErrorBody),
        (status = 503, description = "Storing or reading failed", body = ErrorBody),
    )
)]
pub(crate) async fn change_user(
    State(app): State<Arc<App>>,
    name: Result<Path<String>, PathRejection>,
    who: Principal,
    request: Request,
) -> Result<Json<UserList>, ApiError> {
    let name = named(name)?;
    let (head, body) = request.into_parts();
    let by = By::of(&app, who, &head);
    let UserChange { role, project, password } = read(Request::from_parts(head, body)).await?;
    let project = project_of(project)?;
    let users = app.store.access();
    let user = within(&app, &by, &name).await?;
    let project = if role.is_some() { by.wall.within(project)? } else { project };
    match (role, password) {
        (Some(role), None) => {
            made(users.change_role(&name, role, project, LastAdmin::Stays).await?, &name)?;
            by.note(&app, AccessAction::RoleChanged, &name).await;
        }
        (None, Some(password)) if project.is_none() => {
            if user.is_of_provider() {
                return Err(ApiError::conflict(format!(
                    "{name} logs in at a provider, and has no password here"
                )));
            }
            let password = hashed(&app, password).await?;
            if !users.change_password(&name, password).await? {
                return Err(no_user(&name));
            }
            by.note(&app, AccessAction::PasswordChanged, &name).await;
        }
        _ => return Err(ApiError::invalid("one of role, with its project, and password is needed")),
    }
    listed(&app, &by.wall).await
}

/// Removes a user and ends the user's sessions.
#[utoipa::path(
    post,
    path = "/api/users/{name}/remove",
    tag = "read",
    params(("name" = String, Path, description = "Name of the user", example = "ada")),
    request_body = Nothing,
    responses(
        (status = 200, description = "The users that are left", body = UserList),
        (status = 400, description = "The body is invalid", body = ErrorBody),
        (status = 403, description = "You are no administrator, or a page of another site asks", body = ErrorBody),
        (status = 404, description = "There is no such user", body = ErrorBody),
        (status = 408, description = "The body did not arrive within 10 s", body = ErrorBody),
        (status = 409, description = "The user is the last administrator", body = ErrorBody),
        (status = 413, description = "The body is larger than 64 KiB", body = ErrorBody),
        (status = 415, description = "The body is not application/json", body = ErrorBody),
        (status = 503, description = "Storing or reading failed", body = ErrorBody),
    )
)]
pub(crate) async fn remove_user(
    State(app): State<Arc<App>>,
    name: Result<Path<String>, PathRejection>,
    who: Principal,
    request: Request,
) -> Result<Json<UserList>, ApiError> {
    let name = named(name)?;
    let (head, body) = request.into_parts();
    let by = By::of(&app, who, &head);
    let Nothing {} = read(Request::from_parts(head, body)).await?;
    within(&app, &by, &name).await?;
    made(app.store.access().remove_user(&name, LastAdmin::Stays).await?, &name)?;
    by.note(&app, AccessAction::UserRemoved, &name).await;
    listed(&app, &by.wall).await
}

fn no_user(name: &str) -> ApiError {
    ApiError::not_found(format!("there is no user {name:?}"))
}

/// A user that who asks manages.
async fn within(app: &App, by: &By, name: &str) -> Result<User, ApiError> {
    let user = app.store.access().user(name).await?;
    user.filter(|user| by.wall.holds(user.project.as_deref())).ok_or_else(|| no_user(name))
}

/// A service is never left without anybody who could give rights back.
fn made(outcome: UserOutcome, name: &str) -> Result<(), ApiError> {
    match outcome {
        UserOutcome::Made => Ok(()),
        UserOutcome::NoUser => Err(no_user(name)),
        UserOutcome::IsLastAdmin => {
            Err(ApiError::conflict(format!("{name} is the last administrator of all projects")))
        }
    }
}

fn project_of(project: Option<String>) -> Result<Option<String>, ApiError> {
    let Some(project) = project else { return Ok(None) };
    let name = project.parse::<Name>().map_err(|error| ApiError::invalid(format!("project: {error}")))?;
    Ok(Some(name.into()))
}

async fn hashed(app: &App, password: String) -> Result<String, ApiError> {
    check_password(&password).map_err(|reason| ApiError::invalid(format!("password: {reason}")))?;
    access::hashed(app, password).await
}

async fn listed(app: &App, wall: &Wall) -> Result<Json<UserList>, ApiError> {
    let entry = |user: User| UserEntry {
        is_of_provider: user.is_of_provider(),
        created_unix_ns: unix_ns(user.created_unix_ms),
        name: user.name,
        role: user.role,
        project: user.project,
    };
    let users = app.store.access().users().await?.into_iter();
    let users = users.filter(|user| wall.holds(user.project.as_deref())).map(entry).collect();
    Ok(Json(UserList { users }))
}
