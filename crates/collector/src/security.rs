//! What protects readers: which hosts are answered, and what a browser may do with an answer.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::access::OwnForm;
use crate::app::App;
use crate::error::ApiError;

/// Where agents ask (Model Context Protocol): the binary brings the route.
pub(crate) const AGENTS: &str = "/mcp";

/// The dashboard takes everything from this address and nothing from any other.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Pages for logging in have a form, and no script.
const POLICY_OF_FORMS: &str = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; \
     form-action 'self'; frame-ancestors 'none'";

/// Headers of every answer, which keep a browser from anything the service does not need.
pub(crate) const PROTECTION: [(HeaderName, &str); 5] = [
    (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
];

/// Refuses a request with two `Host` lines: a proxy may have looked at the other one (RFC 9112, 3.2).
pub(crate) fn check_one_host(headers: &HeaderMap) -> Result<(), ApiError> {
    if headers.get_all(header::HOST).iter().nth(1).is_none() {
        return Ok(());
    }
    Err(ApiError::malformed("the request is not valid: it has more than one Host"))
}

/// Refuses readers that a browser must not answer: foreign host names, and pages of other sites.
pub(crate) async fn check_reader(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    match check(&app, &request) {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

/// Refuses a request that a browser must not have made.
///
/// # Errors
/// 403 with the reason.
pub(crate) fn check(app: &App, request: &Request) -> Result<(), ApiError> {
    let reason = if !is_own_host(request, &app.settings.allowed_hosts) {
        "this host name is not served, allow it with --allowed-host"
    } else if is_asked_by_another_site(request) {
        "a page of another site cannot ask this: open the address itself"
    } else {
        return Ok(());
    };
    Err(ApiError::new(StatusCode::FORBIDDEN, reason))
}

/// Whether a request names a host that is ours. A foreign page could give its own name our address (DNS
/// rebinding) and read everything through the browser of someone who may.
fn is_own_host(request: &Request, allowed: &[String]) -> bool {
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    // An address with a host in it counts before the header (RFC 9112, 3.2.2); here both must be ours.
    let address = request.uri().authority().map(Authority::as_str);
    host.is_some_and(|host| is_allowed(host, allowed)) && address.is_none_or(|host| is_allowed(host, allowed))
}

/// Whether a page of another site has a browser ask for data, as browsers say themselves (Fetch Metadata). It could
/// not read the answer, but have it made, and time it. Links are followed: what they lead to is shown to a person. A
/// form that is posted is no link: it would change something.
fn is_asked_by_another_site(request: &Request) -> bool {
    let path = request.uri().path();
    let is_data = path == "/metrics" || path == AGENTS || path.starts_with("/api/");
    let says = |name, values: &[&str]| {
        request.headers().get(name).is_some_and(|said: &HeaderValue| values.iter().any(|value| said == value))
    };
    let only_reads = matches!(*request.method(), Method::GET | Method::HEAD);
    let is_link =
        only_reads && says("sec-fetch-mode", &["navigate"]) && says("sec-fetch-dest", &["document"]);
    let is_cross_site = if request.headers().contains_key("sec-fetch-site") {
        says("sec-fetch-site", &["cross-site", "same-site"]) && !is_link
    } else {
        !only_reads && has_foreign_origin(request)
    };
    (is_data || !only_reads) && is_cross_site
}

/// Whether a request names an origin that is not the address it is for: browsers that say nothing of the site do so in
/// each request that may change something.
fn has_foreign_origin(request: &Request) -> bool {
    let text =
        |name| request.headers().get(name).map(|value: &HeaderValue| value.to_str().unwrap_or_default());
    let Some(origin) = text(header::ORIGIN) else { return false };
    let own = origin.parse::<Uri>().ok().and_then(|origin| origin.authority().cloned());
    let host = text(header::HOST).unwrap_or_default();
    !own.is_some_and(|own| own.as_str().eq_ignore_ascii_case(host))
}

/// Adds [`PROTECTION`].
pub(crate) fn protect(mut response: Response) -> Response {
    let has_form = response.extensions_mut().remove::<OwnForm>().is_some();
    let headers = response.headers_mut();
    for (name, value) in PROTECTION {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if has_form {
        headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY_OF_FORMS));
        // Without it a browser that says nothing of the site calls the origin of the form `null`.
        headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    }
    response
}

/// Addresses cannot be rebound; of names, `localhost` and those configured are ours.
fn is_allowed(host: &str, allowed: &[String]) -> bool {
    let Ok(authority) = host.parse::<Authority>() else { return false };
    if host.contains('@') {
        return false;
    }
    let name = authority.host();
    let address = name.trim_start_matches('[').trim_end_matches(']');
    address.parse::<IpAddr>().is_ok()
        || name.eq_ignore_ascii_case("localhost")
        || allowed.iter().any(|allowed| allowed.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_localhost_and_allowed_names() {
        let allowed = ["queryscope.example".to_owned()];
        for host in
            ["127.0.0.1:7766", "127.0.0.1", "[::1]:7766", "10.0.0.7", "LocalHost:80", "queryscope.EXAMPLE:1"]
        {
            assert!(is_allowed(host, &allowed), "{host}");
        }
        for host in [
            "evil.example",
            "127.0.0.1.evil.example",
            "localhost.evil.example:7766",
            "",
            "a b",
            "x@127.0.0.1",
        ] {
            assert!(!is_allowed(host, &allowed), "{host}");
        }
    }
}
