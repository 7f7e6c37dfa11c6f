//! Asking receivers over HTTP.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, RequestBuilder, StatusCode};

use crate::addresses::Allowed;
use crate::redact::Redactor;
use crate::sender::Outcome;
use crate::words::causes;

const CONNECT_WITHIN: Duration = Duration::from_secs(5);
/// How long a receiver may take for its answer.
pub(crate) const ANSWER_WITHIN: Duration = Duration::from_secs(10);
/// Bytes of an answer that are read.
const ANSWER_BYTES_MAX: usize = 16 << 10;

/// Looks names up, and gives addresses that are allowed.
#[derive(Debug)]
struct Guard(Arc<Allowed>);

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let allowed = Arc::clone(&self.0);
        Box::pin(async move {
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            let chosen = allowed.choose(name.as_str(), found)?;
            Ok(Box::new(chosen.into_iter()) as Addrs)
        })
    }
}

/// A client that follows no redirection, uses no proxy, and connects to allowed addresses alone.
///
/// # Errors
/// When the system has no certificates that can be read.
pub(crate) fn client(allowed: &Arc<Allowed>) -> Result<Client, reqwest::Error> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .dns_resolver(Guard(Arc::clone(allowed)))
        .redirect(Policy::none())
        .no_proxy()
        .connect_timeout(CONNECT_WITHIN)
        .timeout(ANSWER_WITHIN)
        .user_agent(concat!("queryscope/", env!("CARGO_PKG_VERSION")))
        .build()
}

/// Sends a request. `now` is what `Retry-After` with a date is counted from.
pub(crate) async fn send(request: RequestBuilder, redactor: &Redactor, now: SystemTime) -> Outcome {
    let response = match request.send().await {
        Ok(response) => response,
        // The address may hold a secret.
        Err(error) => return Outcome::retry(redactor.clean(&causes(&error.without_url()))),
    };
    let status = response.status();
    if status.is_success() {
        return Outcome::Sent;
    }
    let after = retry_after(response.headers(), now);
    let said = redactor.clean(&text(response).await);
    let said = if said.is_empty() { said } else { format!(": {said}") };
    let error = format!("the receiver answered {status}{said}");
    match status {
        // What it is told is wrong will be wrong tomorrow; all else may be mended meanwhile.
        StatusCode::BAD_REQUEST
        | StatusCode::GONE
        | StatusCode::PAYLOAD_TOO_LARGE
        | StatusCode::UNSUPPORTED_MEDIA_TYPE
        | StatusCode::UNPROCESSABLE_ENTITY => Outcome::Refused { error },
        _ => Outcome::Retry { error, after },
    }
}

fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        // A number that is too large for the type is the longest time.
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::MAX)));
    }
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

/// The beginning of an answer.
async fn text(mut response: reqwest::Response) -> String {
    let mut bytes = Vec::new();
    while bytes.len() < ANSWER_BYTES_MAX {
        match response.chunk().await {
            Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
            _ => break,
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_the_next_attempt_is_seconds_or_a_date() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_767);
        let of = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, text.parse().expect("a header"));
            retry_after(&headers, now).map(|after| after.as_secs())
        };
        assert_eq!((of("120"), of("Sun, 06 Nov 1994 08:49:37 GMT")), (Some(120), Some(10)));
        assert_eq!((of("Sun, 06 Nov 1994 08:49:17 GMT"), of("soon"), of("-1")), (Some(0), None, None));
        assert_eq!(of("18446744073709551616"), Some(u64::MAX), "more than the type holds");
        assert_eq!((retry_after(&HeaderMap::new(), now), of("")), (None, None));
    }
}
