//! The principal of a request, and what it may.

use std::sync::Arc;

use axum::http::{HeaderMap, request::Parts};
use queryscope_store::{Role, SessionHash, TokenHash};

use super::{proxy, sessions};
use crate::app::App;
use crate::error::ApiError;
use crate::tokens::Bearer;

/// The principal of a request: a user, a token, or anybody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Principal {
    pub(crate) kind: Kind,
    /// The name of the user or the token.
    pub(crate) name: Option<String>,
    pub(crate) role: Role,
    /// The only project they may read; `None` for all.
    pub(crate) project: Option<String>,
}

/// How the service knows who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nobody says, on a service that is open.
    Anonymous,
    Token(TokenHash),
    User(SessionHash),
    /// A proxy names the user in each request.
    OfProxy,
}

impl Principal {
    /// Anybody may read an open service, and act on it.
    fn anybody() -> Self {
        Self { kind: Kind::Anonymous, name: None, role: Role::Editor, project: None }
    }

    /// Finds out who asks.
    ///
    /// # Errors
    /// 401 where nobody says on a service that restricts reading, or says what does not hold; 403 for a token that is
    /// not for reading, and for a user of a proxy who has no role.
    pub(crate) async fn of(app: &App, head: &Parts) -> Result<Self, ApiError> {
        let reading = &app.settings.reading;
        match app.tokens.bearer(&head.headers, app.clock.unix_ms()) {
            Bearer::Reader(principal) => return Ok(principal),
            Bearer::Sender if reading.is_restricted() => {
                let reason = "this token is for sending alone: reading needs one with --scope read or admin";
                return Err(ApiError::new(axum::http::StatusCode::FORBIDDEN, reason));
            }
            Bearer::Unknown if reading.is_restricted() => {
                // A proxy may pass on the token of its own login beside the user it names.
                if let Some(user) = proxy::user(app, head).await? {
                    return Ok(user);
                }
                return Err(ApiError::unauthorized("the token is not known, or has expired"));
            }
            _ => {}
        }
        if reading.login
            && let Some(hash) = sessions::hash_of(&head.headers)
            && let Some(user) = app.access.sessions.find(app, hash).await?
        {
            return Ok(user);
        }
        if let Some(user) = proxy::user(app, head).await? {
            return Ok(user);
        }
        if reading.is_restricted() {
            return Err(ApiError::unauthorized(
                "reading needs a login, or a token: Authorization: Bearer <token>",
            ));
        }
        Ok(Self::anybody())
    }

    /// Whether the service would still know who it was, with the same rights.
    pub(super) async fn still_holds(&self, app: &App) -> Result<bool, ApiError> {
        Ok(match self.kind {
            Kind::Anonymous | Kind::OfProxy => true,
            Kind::Token(hash) => app.tokens.reader(hash, app.clock.unix_ms()).as_ref() == Some(self),
            Kind::User(hash) => app.access.sessions.look_up(app, hash).await?.as_ref() == Some(self),
        })
    }

    /// The name that what they do is signed with: a user's own; otherwise the one they give, else the token's.
    pub(crate) fn sign(&self, given: &mut Option<String>) {
        let is_user = matches!(self.kind, Kind::User(_) | Kind::OfProxy);
        let is_given = given.as_ref().is_some_and(|name| !name.trim().is_empty());
        if self.name.is_some() && (is_user || !is_given) {
            given.clone_from(&self.name);
        }
    }
}

/// The principal, as the guard found it.
#[derive(Clone)]
pub(super) struct Asking(pub(super) Arc<Principal>);

impl<S: Send + Sync> axum::extract::FromRequestParts<S> for Principal {
    type Rejection = ApiError;

    async fn from_request_parts(head: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let asking = head.extensions.get::<Asking>();
        // Without the guard nobody is known.
        asking.map(|asking| (*asking.0).clone()).ok_or_else(|| ApiError::unauthorized("nobody asks"))
    }
}

/// The one value of a header; `None` where there is none, or more than one.
pub(crate) fn one<'h>(headers: &'h HeaderMap, name: &axum::http::HeaderName) -> Option<&'h str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    if values.next().is_some() { None } else { value.to_str().ok() }
}
