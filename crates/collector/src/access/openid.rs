//! Logging in at a provider of OpenID Connect: the authorization code flow with PKCE (OpenID Connect Core 1.0 and
//! RFC 7636).
//!
//! What an attempt needs when the browser comes back (state, nonce, PKCE verifier) is in a cookie of that browser, so
//! that any collector can finish it. A user is known by issuer and subject; a user of the same name who is another is
//! refused.

mod options;
mod provider;

use std::sync::Arc;

use axum::extract::{RawQuery, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use queryscope_store::{AccessAction, LastAdmin, OF_PROVIDER, Role, User};
use subtle::ConstantTimeEq;

use super::login::{Form, TOO_MANY, enter, is_there, login_page, next_of, pairs, with_wait};
use super::pages::see_other;
use super::passwords::check_user_name;
use super::{note, proxy, sessions};
use crate::app::App;
use crate::error::ApiError;

pub use options::{GroupRole, OpenIdOptions};
pub(super) use provider::Provider;
use provider::{Begun, Identity};

pub(super) const BEGIN: &str = "/login/openid";
pub(super) const CALLBACK: &str = "/login/openid/callback";

const COOKIE: &str = "queryscope_openid";
/// How long a user may take at the provider, in seconds.
const ATTEMPT_S: u32 = 600;
const NEXT_CHARS_MAX: usize = 1024;

fn provider(app: &App) -> Result<&Provider, ApiError> {
    is_there(app)?;
    let none = || {
        ApiError::not_found("this service has no provider for logins: it was started without --oidc-issuer")
    };
    app.access.provider.as_ref().ok_or_else(none)
}

/// Where the provider sends a browser back to: the address it asked here.
fn back(app: &App, head: &Parts) -> String {
    let scheme = if proxy::is_secure(app, head) { "https" } else { "http" };
    let host = head.headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    format!("{scheme}://{host}{CALLBACK}")
}

/// Sends a browser to the provider.
pub(super) async fn begin(
    State(app): State<Arc<App>>,
    RawQuery(query): RawQuery,
    request: Request,
) -> Result<Response, ApiError> {
    let provider = provider(&app)?;
    let (head, _) = request.into_parts();
    let form = pairs(query.unwrap_or_default().as_bytes());
    match provider.begin(&back(&app, &head)).await {
        Ok(begun) => {
            let cookie = cookie(&begun, next_of(&form), proxy::is_secure(&app, &head));
            Ok(with_cookie(see_other(&begun.url), &cookie))
        }
        Err(reason) => Ok(login_page(&app, StatusCode::BAD_GATEWAY, &form, Some(&reason))),
    }
}

/// Lets a browser in that comes back from the provider.
pub(super) async fn callback(
    State(app): State<Arc<App>>,
    RawQuery(query): RawQuery,
    request: Request,
) -> Result<Response, ApiError> {
    let provider = provider(&app)?;
    let (head, _) = request.into_parts();
    let mut said = pairs(query.unwrap_or_default().as_bytes());
    let is_secure = proxy::is_secure(&app, &head);
    let mut form = Form::new();
    let Some((attempt, next)) = attempt_of(&head.headers, said.get("state").map_or("", String::as_str))
    else {
        let reason = "this login was not begun here, or too long ago: begin again";
        return Ok(login_page(&app, StatusCode::BAD_REQUEST, &form, Some(reason)));
    };
    form.insert("next".into(), next);
    // An attempt is for one use.
    let refused = |status, reason: &str| {
        Ok(with_cookie(login_page(&app, status, &form, Some(reason)), &gone(is_secure)))
    };
    let address = proxy::client(&app, &head);
    let from = address.map(|address| address.to_string());
    if let Some(error) = said.get("error") {
        let about = said.get("error_description").map_or(String::new(), |about| format!(": {about}"));
        let reason: String = format!("the provider refused: {error}{about}").chars().take(300).collect();
        note(&app, AccessAction::LoginFailed, None, None, from).await;
        return refused(StatusCode::FORBIDDEN, &reason);
    }
    // No user has a name with a space in it.
    let counted = format!("provider {}", address.map(|address| address.to_string()).unwrap_or_default());
    if let Err(wait) = app.access.attempts.begin(address, &counted, queryscope_store::now()) {
        return refused(StatusCode::TOO_MANY_REQUESTS, TOO_MANY).map(|page| with_wait(page, wait));
    }
    let code = said.remove("code").unwrap_or_default();
    let identity = match provider.finish(code, attempt, &back(&app, &head)).await {
        Ok(identity) => identity,
        Err(reason) => {
            note(&app, AccessAction::LoginFailed, None, None, from).await;
            return refused(StatusCode::BAD_GATEWAY, &reason);
        }
    };
    let Some((role, project)) = provider.options.role_of(&identity.groups) else {
        note(&app, AccessAction::LoginFailed, None, Some(identity.name.chars().take(64).collect()), from)
            .await;
        return refused(
            StatusCode::FORBIDDEN,
            &format!("none of the groups of {} gives a role here", identity.name),
        );
    };
    if let Err(reason) = known(&app, provider, &identity, (role, project), from.clone()).await? {
        note(&app, AccessAction::LoginFailed, None, Some(identity.name.chars().take(64).collect()), from)
            .await;
        return refused(StatusCode::FORBIDDEN, &reason);
    }
    app.access.attempts.succeeded(address, &counted);
    let mut entered = enter(&app, &head, &identity.name, next_of(&form), from).await?;
    if let Ok(gone) = HeaderValue::from_str(&gone(is_secure)) {
        entered.headers_mut().append(header::SET_COOKIE, gone);
    }
    Ok(entered)
}

/// Makes the user of an identity where there is none, and gives the user the role that the provider's groups give now.
async fn known(
    app: &App,
    provider: &Provider,
    identity: &Identity,
    (role, project): (Role, Option<String>),
    from: Option<String>,
) -> Result<Result<(), String>, ApiError> {
    let name = &identity.name;
    if let Err(reason) = check_user_name(name) {
        return Ok(Err(format!("{name:?} cannot be a user here: {reason}")));
    }
    let is = format!("{OF_PROVIDER}{} {}", provider.options.issuer(), identity.subject);
    let users = app.store.access();
    let by = Some(provider.options.host().to_owned());
    if users.user(name).await?.is_none() {
        let user = User {
            name: name.clone(),
            role,
            project: project.clone(),
            password: is.clone(),
            created_unix_ms: app.clock.unix_ms(),
        };
        // Another collector may be as fast.
        if users.add_user(user).await? {
            note(app, AccessAction::UserAdded, by, Some(name.clone()), from).await;
            return Ok(Ok(()));
        }
    }
    match users.user(name).await? {
        Some(user) if user.password == is => {
            if (user.role, &user.project) != (role, &project) {
                // The provider says who administers: nobody here keeps another role.
                users.change_role(name, role, project, LastAdmin::MayGo).await?;
                note(app, AccessAction::RoleChanged, by, Some(name.clone()), from).await;
            }
            Ok(Ok(()))
        }
        _ => Ok(Err(format!("there is another user {name:?} here: an administrator can remove that one"))),
    }
}

/// The cookie of an attempt.
fn cookie(begun: &Begun, next: &str, is_secure: bool) -> String {
    let next = if next.len() > NEXT_CHARS_MAX { "/" } else { next };
    let value = [&begun.state, &begun.nonce, &begun.verifier, next]
        .map(|part| URL_SAFE_NO_PAD.encode(part))
        .join(".");
    let secure = if is_secure { "; Secure" } else { "" };
    format!("{COOKIE}={value}; Path={BEGIN}; HttpOnly; SameSite=Lax; Max-Age={ATTEMPT_S}{secure}")
}

fn gone(is_secure: bool) -> String {
    let secure = if is_secure { "; Secure" } else { "" };
    format!("{COOKIE}=; Path={BEGIN}; HttpOnly; SameSite=Lax; Max-Age=0{secure}")
}

fn with_cookie(mut response: Response, cookie: &str) -> Response {
    if let Ok(cookie) = HeaderValue::from_str(cookie) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}

/// The attempt of a browser that says a state, and where it goes afterwards.
fn attempt_of(headers: &HeaderMap, state: &str) -> Option<(Begun, String)> {
    let parts: Vec<String> = sessions::cookie_of(headers, COOKIE)?
        .split('.')
        .map(|part| String::from_utf8(URL_SAFE_NO_PAD.decode(part).ok()?).ok())
        .collect::<Option<_>>()?;
    let [known, nonce, verifier, next] = <[String; 4]>::try_from(parts).ok()?;
    let is_own = !known.is_empty() && bool::from(known.as_bytes().ct_eq(state.as_bytes()));
    is_own.then(|| (Begun { url: String::new(), state: known, nonce, verifier }, next))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(cookie: &str, state: &str) -> Option<(String, String, String)> {
        let mut headers = HeaderMap::new();
        headers.insert(header::COOKIE, cookie.parse().expect("a header"));
        attempt_of(&headers, state).map(|(attempt, next)| (attempt.nonce, attempt.verifier, next))
    }

    #[test]
    fn an_attempt_comes_back_with_its_state() {
        let begun = Begun { url: String::new(), state: "s".into(), nonce: "n".into(), verifier: "v".into() };
        let set = cookie(&begun, "/queries?a=b;c", true);
        assert!(set.ends_with("; Path=/login/openid; HttpOnly; SameSite=Lax; Max-Age=600; Secure"), "{set}");
        let value = set.split(';').next().expect("a value");
        let expected = Some(("n".into(), "v".into(), "/queries?a=b;c".into()));
        assert_eq!(found(value, "s"), expected);
        assert_eq!(found(&format!("a=b; {value}"), "s"), expected);
        for (cookie, state) in [
            (value, ""),
            (value, "S"),
            (&value[..value.len() - 30], "s"),
            ("queryscope_openid=", ""),
            ("queryscope_openid=...", ""),
            ("queryscope_openid=%.%.%.%", "%"),
            ("x=y", "s"),
        ] {
            assert_eq!(found(cookie, state), None, "{cookie} {state}");
        }
    }
}
