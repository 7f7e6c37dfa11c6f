//! `GET /api/access`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use queryscope_store::Role;
use serde::Serialize;
use utoipa::ToSchema;

use super::principal::{Kind, Principal};
use crate::app::App;
use crate::error::{ApiError, ErrorBody};

/// The principal of the request, and whether anybody may read.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Access, example = json!({
    "name": "ada", "role": "editor", "project": null, "is_session": true, "is_open": false, "is_reachable": true
}))]
pub(crate) struct AccessAnswer {
    /// Your name, or that of your token; null where nobody says.
    name: Option<String>,
    /// What you may do.
    role: Role,
    /// The only project you may read; null for all.
    project: Option<String>,
    /// Whether you logged in here, and so may log out.
    is_session: bool,
    /// Whether anybody who reaches this address may read and act on issues.
    is_open: bool,
    /// Whether other machines may reach this address.
    is_reachable: bool,
}

/// Says who you are to the service, and whether anybody may read.
///
/// A service that is open on an address beyond its machine shows what it has to the whole network. Three ways restrict
/// that: `--login`, `--trusted-proxy` with `--proxy-user-header`, or an address of this machine alone behind a proxy of
/// your own.
#[utoipa::path(
    get,
    path = "/api/access",
    tag = "read",
    responses(
        (status = 200, description = "Who you are", body = AccessAnswer),
        (status = 403, description = "The Host is a name that is not served", body = ErrorBody),
    )
)]
pub(crate) async fn you(State(app): State<Arc<App>>, who: Principal) -> Result<Json<AccessAnswer>, ApiError> {
    let reading = &app.settings.reading;
    Ok(Json(AccessAnswer {
        is_session: matches!(who.kind, Kind::User(_)),
        name: who.name,
        role: who.role,
        project: who.project,
        is_open: !reading.is_restricted(),
        is_reachable: reading.is_reachable,
    }))
}
