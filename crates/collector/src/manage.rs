//! What administrators see and change: tokens, users, sessions, and how the service is set up.
//!
//! All of it needs an administrator of all projects. What changes something is a POST of `application/json`, which no
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
    address: Option<String>,
}

impl By {
    fn of(app: &App, who: Principal, head: &axum::http::request::Parts) -> Self {
        Self { name: who.name, address: access::address_of(app, head) }
    }

    async fn note(self, app: &App, action: AccessAction, subject: &str) {
        access::note(app, action, self.name, Some(subject.to_owned()), self.address).await;
    }
}

fn named(path: Result<Path<String>, PathRejection>) -> Result<String, ApiError> {
    path.map(|Path(name)| name).map_err(|_| ApiError::invalid("the address is not valid"))
}

fn conflict(reason: impl Into<String>) -> ApiError {
    ApiError::new(StatusCode::CONFLICT, reason)
}

fn unix_ns(unix_ms: i64) -> i64 {
    unix_ms.saturating_mul(1_000_000)
}
