//! Views that are shared: `GET /api/views`, `PUT` and `DELETE /api/views/{name}`.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use queryscope_store::{AccessAction, SharedView};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::access::{self, Principal};
use crate::act::body::{bounded, name, read};
use crate::app::App;
use crate::error::{ApiError, ErrorBody};
use crate::read::{Asked, ProjectFilter, WrittenIn};

/// Characters of a name, and of the query of an address.
const NAME_CHARS_MAX: usize = 60;
const SEARCH_CHARS_MAX: usize = 2_000;

/// Whether a path is that of one view.
pub(crate) fn is_view(path: &str) -> bool {
    path.starts_with("/api/views/")
}

/// A view that is to be shared.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ViewBody {
    /// The query of the address of the page of queries, with its `?`, up to 2,000 characters; empty for the page
    /// without filters.
    #[schema(max_length = 2000, pattern = r"^(\?[!-~]*)?$", example = "?view=runs&status=failed")]
    search: String,
    /// Your name, up to 200 characters. Nothing checks it, and the name of a user who logged in takes its place.
    #[serde(default)]
    #[schema(max_length = 200, pattern = r"^[^\x00]*$")]
    by: Option<String>,
}

/// Views that are shared.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Views {
    /// By name, then by project.
    views: Vec<SharedView>,
}

/// Lists the views of the page of queries that people share.
#[utoipa::path(
    get,
    path = "/api/views",
    operation_id = "shared_views",
    tag = "read",
    params(ProjectFilter),
    responses(
        (status = 200, description = "The views", body = Views),
        (status = 400, description = "A parameter is invalid", body = ErrorBody),
        (status = 403, description = "The Host is a name that is not served", body = ErrorBody),
        (status = 503, description = "Reading failed", body = ErrorBody),
    )
)]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Asked(project): Asked<ProjectFilter>,
) -> Result<Json<Views>, ApiError> {
    Ok(Json(Views { views: app.store.views().shared_views(project.name()).await? }))
}

/// Shares a view in a project under a name, in place of the one that has it.
///
/// A project may share 100 views, and the store takes 1,000.
#[utoipa::path(
    put,
    path = "/api/views/{name}",
    operation_id = "share_view",
    tag = "read",
    params(
        ("name" = String, Path, description = "Name of the view, 1 to 60 characters", example = "Failed runs"),
        WrittenIn
    ),
    request_body = ViewBody,
    responses(
        (status = 200, description = "The view", body = SharedView),
        (status = 400, description = "The name, the body or a parameter is invalid", body = ErrorBody),
        (
            status = 403,
            description = "You are no editor, the Host is a name that is not served, or a page of another site asks",
            body = ErrorBody
        ),
        (status = 408, description = "The body did not arrive within 10 s", body = ErrorBody),
        (status = 409, description = "The project or the store has as many views as it may have", body = ErrorBody),
        (status = 413, description = "The body is larger than 64 KiB", body = ErrorBody),
        (status = 415, description = "The body is not application/json", body = ErrorBody),
        (status = 503, description = "Storing failed", body = ErrorBody),
    )
)]
pub(crate) async fn share(
    State(app): State<Arc<App>>,
    path: Result<Path<String>, PathRejection>,
    Asked(project): Asked<WrittenIn>,
    who: Principal,
    request: Request,
) -> Result<Json<SharedView>, ApiError> {
    let (head, body) = request.into_parts();
    let from = access::address_of(&app, &head);
    let mut body: ViewBody = read(Request::from_parts(head, body)).await?;
    who.sign(&mut body.by);
    let view = SharedView {
        project: project.name()?,
        name: view_name(path)?,
        search: search(body.search)?,
        by: name(body.by)?,
        unix_ns: app.clock.unix_ns(),
    };
    let shared = app.store.views().share_view(view.clone()).await;
    if !shared.inspect_err(|error| app.watch(error))? {
        return Err(ApiError::conflict("the project or the store has as many views as it may have"));
    }
    let actor = who.name.or_else(|| view.by.clone());
    access::note(&app, AccessAction::ViewShared, actor, Some(view.name.clone()), from).await;
    Ok(Json(view))
}

/// Takes a shared view away.
#[utoipa::path(
    delete,
    path = "/api/views/{name}",
    operation_id = "unshare_view",
    tag = "read",
    params(
        ("name" = String, Path, description = "Name of the view", example = "Failed runs"),
        WrittenIn
    ),
    responses(
        (status = 204, description = "The view is not shared any more"),
        (status = 400, description = "The name or a parameter is invalid", body = ErrorBody),
        (
            status = 403,
            description = "You are no editor, the Host is a name that is not served, or a page of another site asks",
            body = ErrorBody
        ),
        (status = 404, description = "There is no such view", body = ErrorBody),
        (status = 503, description = "Storing failed", body = ErrorBody),
    )
)]
pub(crate) async fn unshare(
    State(app): State<Arc<App>>,
    path: Result<Path<String>, PathRejection>,
    Asked(project): Asked<WrittenIn>,
    who: Principal,
    request: Request,
) -> Result<StatusCode, ApiError> {
    let (project, name) = (project.name()?, view_name(path)?);
    let unshared = app.store.views().unshare_view(&project, &name).await;
    if !unshared.inspect_err(|error| app.watch(error))? {
        return Err(ApiError::not_found(format!("{project} has no shared view {name:?}")));
    }
    let (head, _) = request.into_parts();
    let from = access::address_of(&app, &head);
    access::note(&app, AccessAction::ViewDeleted, who.name, Some(name), from).await;
    Ok(StatusCode::NO_CONTENT)
}

fn view_name(path: Result<Path<String>, PathRejection>) -> Result<String, ApiError> {
    let Path(text) = path.map_err(|_| ApiError::invalid("the address is not valid"))?;
    let name = bounded("name", Some(text), NAME_CHARS_MAX)?;
    // Browsers take these two for steps in an address.
    let name = name.filter(|name| ![".", ".."].contains(&&**name));
    name.ok_or_else(|| ApiError::invalid("name: must not be empty, . or .."))
}

fn search(text: String) -> Result<String, ApiError> {
    let is_query = text.is_empty() || text.starts_with('?');
    if !is_query || !text.chars().all(|char| char.is_ascii_graphic()) {
        return Err(ApiError::invalid(
            "search: expected the query of an address with its ?, percent-encoded",
        ));
    }
    if text.len() > SEARCH_CHARS_MAX {
        return Err(ApiError::invalid(format!("search: longer than {SEARCH_CHARS_MAX} characters")));
    }
    Ok(text)
}
