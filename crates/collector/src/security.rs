//! What protects readers: which hosts are answered, and what a browser may do with an answer.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::error::ApiError;

/// The dashboard takes everything from this address and nothing from any other.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Refuses reads under a name that is not ours: a foreign page could give its own name our address (DNS
/// rebinding) and read everything through the browser of someone who may.
pub(crate) async fn check_host(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    if host.is_some_and(|host| is_allowed(host, &app.settings.allowed_hosts)) {
        return next.run(request).await;
    }
    let reason = "this host name is not served, allow it with --allowed-host";
    ApiError::new(StatusCode::FORBIDDEN, reason).into_response()
}

/// Adds the headers that keep a browser from anything the service does not need.
pub(crate) fn protect(mut response: Response) -> Response {
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Addresses can not be rebound; of names, `localhost` and those configured are ours.
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
