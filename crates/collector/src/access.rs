//! Access to reading and acting: tokens, users with sessions, and users that a proxy names.
//!
//! [`guard`] stands before every route of readers. It finds the principal of a request, asks [`rules`] what the route
//! needs, and forces the project of the principal into the request: what a handler reads is then of that project. A
//! service that restricts nothing answers everybody, as an open one always did.

mod asker;
mod attempts;
mod audit;
mod guard;
mod login;
mod network;
mod openid;
mod pages;
mod passwords;
mod principal;
mod proxy;
mod rules;
mod sessions;
mod you;

pub(crate) use audit::{__path_audit, audit};
pub(crate) use guard::guard;
pub(crate) use login::routes as login_routes;
pub(crate) use pages::OwnForm;
pub(crate) use principal::{Kind, Principal, one};
pub(crate) use you::{__path_you, you};

pub use asker::Asker;
pub use network::Network;
pub use openid::{GroupRole, OpenIdOptions};
pub use passwords::{PASSWORD_BYTES_MAX, PASSWORD_CHARS_MIN, check_password, check_user_name, hash_password};
pub use proxy::role_of_groups;
pub use sessions::IDLE;

use axum::http::request::Parts;
use queryscope_store::{ACCESS_LOG_MAX, AccessAction, AccessEntry, SessionHash};

use self::attempts::Attempts;
use self::passwords::Passwords;
use self::sessions::Sessions;
use crate::app::App;
use crate::error::ApiError;
use crate::settings::Reading;

/// What access keeps while the service runs.
pub(crate) struct Access {
    sessions: Sessions,
    passwords: Passwords,
    attempts: Attempts,
    provider: Option<openid::Provider>,
}

impl Access {
    pub(crate) fn new(reading: &Reading) -> Self {
        Self {
            sessions: Sessions::default(),
            passwords: Passwords::new(),
            attempts: Attempts::default(),
            provider: reading.openid.clone().map(openid::Provider::new),
        }
    }
}

/// Adds to the document what each route of the API may answer to who may not ask.
pub(crate) fn describe(document: &mut utoipa::openapi::OpenApi) {
    let schema = utoipa::openapi::Ref::from_schema_name("Error");
    let content = utoipa::openapi::Content::new(Some(schema));
    let reason = "Reading is restricted, and no session or token says who asks";
    let answer = utoipa::openapi::ResponseBuilder::new().description(reason);
    let answer = answer.content("application/json", content).build();
    let needs = utoipa::openapi::SecurityRequirement::new::<_, [&str; 0], &str>("token", []);
    for (path, item) in &mut document.paths.paths {
        if !path.starts_with("/api/") {
            continue;
        }
        for operation in
            [&mut item.get, &mut item.post, &mut item.put, &mut item.delete].into_iter().flatten()
        {
            operation.responses.responses.insert("401".into(), answer.clone().into());
            let nobody = utoipa::openapi::SecurityRequirement::default();
            operation.security = Some(vec![nobody, needs.clone()]);
        }
    }
}

impl Access {
    /// Ends a session here; other collectors learn of it within seconds.
    ///
    /// # Errors
    /// 503 when the store fails.
    pub(crate) async fn end(&self, app: &App, hash: SessionHash) -> Result<bool, ApiError> {
        self.sessions.end(app, hash).await
    }
}

/// The address that a request comes from, as the log of access has it.
pub(crate) fn address_of(app: &App, head: &Parts) -> Option<String> {
    proxy::client(app, head).map(|address| address.to_string())
}

/// The hash of a password.
///
/// # Errors
/// 503 when too many are worked on.
pub(crate) async fn hashed(app: &App, password: String) -> Result<String, ApiError> {
    app.access.passwords.hash(password).await
}

/// Writes one entry to the log of access.
pub(crate) async fn note(
    app: &App,
    action: AccessAction,
    actor: Option<String>,
    subject: Option<String>,
    address: Option<String>,
) {
    let entry = AccessEntry { unix_ms: app.clock.unix_ms(), action, actor, subject, address };
    if let Err(error) = app.store.access().note_access(vec![entry], ACCESS_LOG_MAX).await {
        tracing::warn!(error = &error as &dyn std::error::Error, "the log of access could not be written");
    }
}
