//! What administrators see and change: tokens, users, sessions, and how the service is set up.
//!
//! All of it needs an administrator: one of all projects, or one of a project, who sees and changes what is of that
//! project alone. What changes something is a POST of `application/json`, which no
//! form of another site can send, and leaves an entry in the log of access.

mod overview;
mod sessions;
mod tokens;
mod users;

pub(crate) use overview::{__path_service, service};
pub(crate) use sessions::{__path_end_session, __path_sessions, end_session, sessions};
pub(crate) use tokens::{
    __path_add_token, __path_revoke_token, __path_tokens, add_token, revoke_token, tokens,
};
pub(crate) use users::{
    __path_add_user, __path_change_user, __path_remove_user, __path_users, add_user, change_user,
    remove_user, users,
};

use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::http::StatusCode;
use queryscope_store::AccessAction;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::access::{self, Principal};
use crate::app::App;
use crate::error::ApiError;

/// Paths that take a GET and a POST.
const LISTS: [&str; 2] = ["/api/tokens", "/api/users"];
/// The ends of paths that take a POST alone.
const ACTIONS: [&str; 4] = ["/revoke", "/change", "/remove", "/end"];
/// Their beginnings.
const OF: [&str; 3] = ["/api/tokens/", "/api/users/", "/api/sessions/"];

/// Whether a path is one of these.
pub(crate) fn is_managed(path: &str) -> bool {
    LISTS.contains(&path) || path == "/api/sessions" || is_action(path)
}

/// Whether a path takes a POST alone.
pub(crate) fn is_action(path: &str) -> bool {
    OF.iter().any(|begin| path.starts_with(begin)) && ACTIONS.iter().any(|end| path.ends_with(end))
}

/// Whether a path takes a POST beside a GET.
pub(crate) fn takes_both(path: &str) -> bool {
    LISTS.contains(&path)
}

/// A body that says nothing: it is there since no page of another site can send it unasked.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nothing {}

/// What a handler needs to know of who asks.
struct By {
    name: Option<String>,
    wall: Wall,
    address: Option<String>,
}

impl By {
    fn of(app: &App, who: Principal, head: &axum::http::request::Parts) -> Self {
        Self { name: who.name, wall: Wall(who.project), address: access::address_of(app, head) }
    }

    async fn note(&self, app: &App, action: AccessAction, subject: &str) {
        let (name, address) = (self.name.clone(), self.address.clone());
        access::note(app, action, name, Some(subject.to_owned()), address).await;
    }
}

/// The only project that an administrator manages; without one, all.
struct Wall(Option<String>);

impl Wall {
    /// Whether what is of a project, or of all, is within it.
    fn holds(&self, project: Option<&str>) -> bool {
        self.0.is_none() || self.0.as_deref() == project
    }

    /// The project that something is made of.
    ///
    /// # Errors
    /// 403 where that is another one.
    fn within(&self, project: Option<String>) -> Result<Option<String>, ApiError> {
        match &self.0 {
            Some(own) if project.as_ref().is_some_and(|project| project != own) => {
                let reason = format!("you manage the project {own:?} alone");
                Err(ApiError::new(StatusCode::FORBIDDEN, reason))
            }
            Some(own) => Ok(Some(own.clone())),
            None => Ok(project),
        }
    }
}

fn named(path: Result<Path<String>, PathRejection>) -> Result<String, ApiError> {
    path.map(|Path(name)| name).map_err(|_| ApiError::invalid("the address is not valid"))
}

fn unix_ns(unix_ms: i64) -> i64 {
    unix_ms.saturating_mul(1_000_000)
}
