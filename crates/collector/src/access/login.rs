//! Logging in and out, and the first user.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{RawQuery, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::response::Response;
use axum::routing::{get, post};
use http_body_util::{BodyExt, Limited};
use queryscope_store::{AccessAction, Role, Scope, User};

use super::pages::{Field, FormPage, message, see_other, style};
use super::passwords::{check_password, check_user_name};
use super::{note, openid, proxy, sessions};
use crate::app::App;
use crate::error::ApiError;
use crate::tokens::hash_token;

/// Paths of these pages; anybody may ask for them.
pub(super) const PATHS: [&str; 6] =
    ["/login", "/login/first", "/login.css", openid::BEGIN, openid::CALLBACK, "/logout"];

/// What attempts with the link of the first administrator count under: no user has a name with a space in it.
const FIRST: &str = "first link";
const FORM_BYTES_MAX: usize = 16 << 10;
const FORM_DEADLINE: Duration = Duration::from_secs(10);
pub(super) const TOO_MANY: &str = "too many attempts, try again later";

/// What a form says.
pub(super) type Form = HashMap<String, String>;

pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/login", get(page).post(submit))
        .route("/login/first", get(first_page).post(make_first))
        .route("/login.css", get(style))
        .route(openid::BEGIN, get(openid::begin))
        .route(openid::CALLBACK, get(openid::callback))
        .route("/logout", post(logout))
}

/// What a browser is shown instead of a page that needs a login.
pub(super) fn instead_of(app: &App, uri: &Uri, error: &ApiError) -> Response {
    if !app.settings.reading.login || error.status() != StatusCode::UNAUTHORIZED {
        return message(error.status(), error.reason());
    }
    let to = uri.path_and_query().map_or("/", |path| path.as_str());
    let query = form_urlencoded::Serializer::new(String::new()).append_pair("next", to).finish();
    see_other(&if to == "/" { "/login".into() } else { format!("/login?{query}") })
}

/// Where a browser goes after it logged in: an address of this service, or its first page.
pub(super) fn next_of(form: &Form) -> &str {
    let next = form.get("next").map_or("/", String::as_str);
    let is_own = next.starts_with('/')
        && !next.starts_with("//")
        && next.chars().all(|char| char.is_ascii_graphic() && char != '\\');
    if is_own { next } else { "/" }
}

pub(super) fn is_there(app: &App) -> Result<(), ApiError> {
    if app.settings.reading.login {
        Ok(())
    } else {
        Err(ApiError::not_found("this service has no login: it was started without --login"))
    }
}

pub(super) fn pairs(text: &[u8]) -> Form {
    form_urlencoded::parse(text).into_owned().collect()
}

async fn form_of(body: Body) -> Result<Form, ApiError> {
    let body = tokio::time::timeout(FORM_DEADLINE, Limited::new(body, FORM_BYTES_MAX).collect()).await;
    match body {
        Ok(Ok(body)) => Ok(pairs(&body.to_bytes())),
        Ok(Err(_)) => {
            Err(ApiError::invalid(format!("the form ended early, or is larger than {FORM_BYTES_MAX} bytes")))
        }
        Err(_) => Err(ApiError::new(StatusCode::REQUEST_TIMEOUT, "the form did not arrive in time")),
    }
}

pub(super) fn login_page(app: &App, status: StatusCode, form: &Form, error: Option<&str>) -> Response {
    let user = form.get("user").map_or("", String::as_str);
    let fields = [
        Field { name: "user", label: "User", kind: "text", autocomplete: "username", value: user },
        Field {
            name: "password",
            label: "Password",
            kind: "password",
            autocomplete: "current-password",
            value: "",
        },
    ];
    let hidden = [("next", next_of(form))];
    let provider = app.access.provider.as_ref().map(|provider| {
        let query =
            form_urlencoded::Serializer::new(String::new()).append_pair("next", next_of(form)).finish();
        (format!("Sign in with {}", provider.host()), format!("{}?{query}", openid::BEGIN))
    });
    FormPage {
        title: "Sign in",
        action: "/login",
        button: "Sign in",
        error,
        fields: &fields,
        hidden: &hidden,
        instead: provider.as_ref().map(|(text, to)| (&**text, &**to)),
    }
    .answer(status)
}

async fn page(State(app): State<Arc<App>>, RawQuery(query): RawQuery) -> Result<Response, ApiError> {
    if !app.settings.reading.login && app.settings.reading.is_restricted() {
        // Who comes from a page whose proxy no longer names a user is asked by the proxy.
        return Ok(see_other("/"));
    }
    is_there(&app)?;
    Ok(login_page(&app, StatusCode::OK, &pairs(query.unwrap_or_default().as_bytes()), None))
}

/// Waits are said in whole seconds, as `Retry-After` takes them.
pub(super) fn with_wait(mut response: Response, wait: Duration) -> Response {
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(wait.as_secs() + 1));
    response
}

async fn submit(State(app): State<Arc<App>>, request: Request) -> Result<Response, ApiError> {
    is_there(&app)?;
    let (head, body) = request.into_parts();
    let form = form_of(body).await?;
    let text = |name| form.get(name).cloned().unwrap_or_default();
    let (name, password) = (text("user"), text("password"));
    let address = proxy::client(&app, &head);
    if let Err(wait) = app.access.attempts.begin(address, &name, queryscope_store::now()) {
        let page = login_page(&app, StatusCode::TOO_MANY_REQUESTS, &form, Some(TOO_MANY));
        return Ok(with_wait(page, wait));
    }
    let user = app.store.access().user(&name).await?;
    let is_right = app.access.passwords.is_right(password, user.as_ref().map(|user| user.password.clone()));
    let from = address.map(|address| address.to_string());
    if !is_right.await? {
        // A name that nobody has may be a password in the wrong field.
        note(&app, AccessAction::LoginFailed, None, user.map(|user| user.name), from).await;
        let error = Some("this user and this password do not belong together");
        return Ok(login_page(&app, StatusCode::UNAUTHORIZED, &form, error));
    }
    app.access.attempts.succeeded(address, &name);
    enter(&app, &head, &name, next_of(&form), from).await
}

/// Begins a session in place of the one there may be.
pub(super) async fn enter(
    app: &App,
    head: &Parts,
    user: &str,
    next: &str,
    from: Option<String>,
) -> Result<Response, ApiError> {
    if let Some(earlier) = sessions::hash_of(&head.headers) {
        app.access.sessions.end(app, earlier).await?;
    }
    let id = app.access.sessions.begin(app, user).await?;
    let id = id.ok_or_else(|| ApiError::unauthorized("this user was removed just now"))?;
    note(app, AccessAction::Login, Some(user.to_owned()), None, from).await;
    Ok(with_cookie(see_other(next), &sessions::cookie(Some(&id), proxy::is_secure(app, head))))
}

fn with_cookie(mut response: Response, cookie: &str) -> Response {
    if let Ok(cookie) = HeaderValue::from_str(cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

async fn logout(State(app): State<Arc<App>>, request: Request) -> Result<Response, ApiError> {
    is_there(&app)?;
    let (head, _) = request.into_parts();
    if let Some(hash) = sessions::hash_of(&head.headers) {
        let user = app.access.sessions.find(&app, hash).await?;
        if app.access.sessions.end(&app, hash).await? {
            let from = proxy::client(&app, &head).map(|address| address.to_string());
            note(&app, AccessAction::Logout, user.and_then(|user| user.name), None, from).await;
        }
    }
    Ok(with_cookie(see_other("/login"), &sessions::cookie(None, proxy::is_secure(&app, &head))))
}

fn first_form(status: StatusCode, form: &Form, error: Option<&str>) -> Response {
    let text = |name| form.get(name).map_or("", String::as_str);
    let password =
        |name, label| Field { name, label, kind: "password", autocomplete: "new-password", value: "" };
    let fields = [
        Field { name: "user", label: "User", kind: "text", autocomplete: "username", value: text("user") },
        password("password", "Password"),
        password("again", "Password again"),
    ];
    let hidden = [("key", text("key"))];
    FormPage {
        title: "Make the first administrator",
        action: "/login/first",
        button: "Make and sign in",
        error,
        fields: &fields,
        hidden: &hidden,
        instead: None,
    }
    .answer(status)
}

/// The name of the invitation that a key is of.
///
/// # Errors
/// 404 where it does not hold any more.
async fn invitation(app: &App, key: &str) -> Result<String, ApiError> {
    let (hash, now) = (hash_token(key), app.clock.unix_ms());
    let tokens = app.store.tokens().await?;
    let mut invitations = tokens.into_iter().filter(|token| token.scope == Scope::Invitation);
    let found = invitations.find(|token| token.hash == hash && token.holds_at(now));
    let is_over = app.store.access().users().await?.iter().any(User::is_admin_of_all);
    found.filter(|_| !is_over).map(|token| token.name).ok_or_else(|| {
        let reason =
            "this link does not hold any more: it is for one use, within a day, while there is no administrator";
        ApiError::not_found(reason)
    })
}

async fn first_page(State(app): State<Arc<App>>, RawQuery(query): RawQuery) -> Result<Response, ApiError> {
    is_there(&app)?;
    let form = pairs(query.unwrap_or_default().as_bytes());
    invitation(&app, form.get("key").map_or("", String::as_str)).await?;
    Ok(first_form(StatusCode::OK, &form, None))
}

async fn make_first(State(app): State<Arc<App>>, request: Request) -> Result<Response, ApiError> {
    is_there(&app)?;
    let (head, body) = request.into_parts();
    let form = form_of(body).await?;
    let text = |name| form.get(name).cloned().unwrap_or_default();
    let (name, password, address) = (text("user"), text("password"), proxy::client(&app, &head));
    if let Err(wait) = app.access.attempts.begin(address, FIRST, queryscope_store::now()) {
        let page = first_form(StatusCode::TOO_MANY_REQUESTS, &form, Some(TOO_MANY));
        return Ok(with_wait(page, wait));
    }
    let invitation = invitation(&app, &text("key")).await?;
    let again = if password == text("again") { Ok(()) } else { Err("the passwords differ".to_owned()) };
    if let Err(error) = check_user_name(&name).and_then(|()| check_password(&password)).and(again) {
        return Ok(first_form(StatusCode::BAD_REQUEST, &form, Some(&error)));
    }
    let password = app.access.passwords.hash(password).await?;
    let over = || ApiError::not_found("this link was used just now");
    // Of two that use it, one takes it.
    if !app.store.revoke_token(&invitation).await? {
        return Err(over());
    }
    let user = User {
        name: name.clone(),
        role: Role::Admin,
        project: None,
        password,
        created_unix_ms: app.clock.unix_ms(),
    };
    if !app.store.access().add_user(user).await? {
        return Err(over());
    }
    app.access.attempts.succeeded(address, FIRST);
    let from = address.map(|address| address.to_string());
    note(&app, AccessAction::TokenRevoked, Some(FIRST.into()), Some(invitation), from.clone()).await;
    note(&app, AccessAction::UserAdded, Some(FIRST.into()), Some(name.clone()), from.clone()).await;
    enter(&app, &head, &name, "/", from).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_a_login_a_browser_stays_here() {
        let next = |next: &str| next_of(&Form::from([("next".into(), next.into())])).to_owned();
        assert_eq!(next("/queries?label=a%20b#x"), "/queries?label=a%20b#x");
        for foreign in [
            "",
            "queries",
            "//evil.example",
            "/\\evil.example",
            "https://evil.example",
            "/a\r\nb",
            "/ä",
            "/a b",
        ] {
            assert_eq!(next(foreign), "/", "{foreign}");
        }
        assert_eq!(next_of(&Form::new()), "/");
    }
}
