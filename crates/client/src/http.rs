//! Events to a collector over HTTP.

mod retry_after;

use std::fmt;
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use flate2::Compression;
use flate2::write::GzEncoder;
use queryscope_protocol::limits::SENDER_TIMEOUT;
use queryscope_protocol::{DROPPED_HEADER, STREAM_HEADER, StreamId};
use ureq::Agent;
use ureq::http::uri::Authority;
use ureq::http::{HeaderValue, Response, StatusCode, Uri};
use ureq::tls::{RootCerts, TlsConfig};

use crate::exporter::{Answer, Batch, Delivery, Exporter, StartError, Stream};
use crate::host::{Host, System};
pub use retry_after::retry_after;

/// The variable that has the token where the option is not set.
const TOKEN_VARIABLE: &str = "TELEMETRY_TOKEN";
/// What is read of an answer, so that its connection can be used again.
const ANSWER_BYTES_MAX: u64 = 64 << 10;
/// What is logged of a refusal.
const REFUSAL_CHARS_MAX: usize = 200;
/// The longest that a server is waited for, whatever the option says.
const TIMEOUT_MAX: Duration = Duration::from_hours(1);

/// Posts events to a collector.
///
/// The connection is kept between batches. Redirects are not followed. Certificates are checked by what the
/// operating system trusts; a proxy is taken from the usual variables (`HTTPS_PROXY`, `NO_PROXY`).
#[derive(Clone)]
pub struct HttpExporter {
    url: String,
    token: Option<String>,
    timeout: Duration,
}

impl HttpExporter {
    /// Posts to the collector at this address: events go to `{url}/v1/events`.
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), token: None, timeout: SENDER_TIMEOUT }
    }

    /// Sets the token; without this the environment variable `TELEMETRY_TOKEN` has it.
    #[must_use]
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }

    /// Sets how long to wait for the server on each request, up to an hour; 10 s when left out.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout.min(TIMEOUT_MAX);
        self
    }

    fn address(&self) -> Result<Uri, StartError> {
        let invalid = || StartError::Url { url: without_secrets(&self.url) };
        let address: Uri =
            format!("{}/v1/events", self.url.trim_end_matches('/')).parse().map_err(|_| invalid())?;
        let is_http = matches!(address.scheme_str(), Some("http" | "https"));
        // A user name and password would be one more place for secrets, and there is but one header for either.
        let is_host =
            |authority: &Authority| !authority.host().is_empty() && !authority.as_str().contains('@');
        let is_plain = !self.url.contains(['?', '#']) && address.authority().is_some_and(is_host);
        if is_http && is_plain { Ok(address) } else { Err(invalid()) }
    }

    /// The header with the token, which the environment may have.
    fn authorization(&self, environment: Option<String>) -> Result<HeaderValue, StartError> {
        let token = self.token.clone().or(environment);
        let token = token.as_deref().map(str::trim).filter(|token| !token.is_empty());
        let mut value = HeaderValue::from_str(&format!("Bearer {}", token.ok_or(StartError::NoToken)?))
            .map_err(|_| StartError::Token)?;
        value.set_sensitive(true);
        Ok(value)
    }
}

/// The token is not shown.
impl fmt::Debug for HttpExporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpExporter")
            .field("url", &without_secrets(&self.url))
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

impl Exporter for HttpExporter {
    fn open(&self, stream: &Stream) -> Result<Box<dyn Delivery>, StartError> {
        Ok(Box::new(HttpDelivery {
            agent: agent(),
            stream: stream.id,
            address: self.address()?,
            authorization: self.authorization(std::env::var(TOKEN_VARIABLE).ok())?,
            timeout: self.timeout,
            packed: Vec::new(),
        }))
    }
}

/// An address less what may be a secret in it: a user name and password, and all behind the path.
fn without_secrets(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").map_or(("", url), |(scheme, rest)| (scheme, rest));
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let shown = rest.rsplit_once('@').map_or(rest, |(_, rest)| rest);
    let separator = if scheme.is_empty() { "" } else { "://" };
    format!("{scheme}{separator}{shown}")
}

fn agent() -> Agent {
    let tls = TlsConfig::builder()
        .root_certs(RootCerts::PlatformVerifier)
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .build();
    Agent::config_builder()
        .tls_config(tls)
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .user_agent(concat!("queryscope-client/", env!("CARGO_PKG_VERSION")))
        .build()
        .new_agent()
}

struct HttpDelivery {
    agent: Agent,
    stream: StreamId,
    address: Uri,
    authorization: HeaderValue,
    timeout: Duration,
    /// Room for the compressed batch.
    packed: Vec<u8>,
}

impl Delivery for HttpDelivery {
    fn deliver(&mut self, batch: &Batch<'_>, deadline: Option<Instant>) -> Answer {
        if let Err(error) = self.pack(batch) {
            return Answer::Refused { problem: format!("a batch cannot be compressed: {error}") };
        }
        let left =
            deadline.map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(crate::now()));
        let posted = self
            .agent
            .post(&self.address)
            .config()
            .timeout_global(Some(self.timeout.min(left)))
            .build()
            .header("Authorization", &self.authorization)
            .header("Content-Type", "application/x-ndjson")
            .header("Content-Encoding", "gzip")
            .header(STREAM_HEADER, self.stream.to_string())
            .header(DROPPED_HEADER, batch.dropped.to_string())
            .send(&self.packed);
        match posted {
            Ok(response) => self.answer(response),
            Err(error) => {
                Answer::Later { after: None, problem: format!("{} does not answer: {error}", self.address) }
            }
        }
    }
}

impl HttpDelivery {
    fn pack(&mut self, batch: &Batch<'_>) -> std::io::Result<()> {
        self.packed.clear();
        let mut encoder = GzEncoder::new(&mut self.packed, Compression::fast());
        batch.write_to(&mut encoder)?;
        encoder.finish()?.flush()
    }

    /// The reaction to an answer, by its status.
    fn answer(&self, mut response: Response<ureq::Body>) -> Answer {
        let status = response.status();
        let after = response
            .headers()
            .get("retry-after")
            .and_then(|value| value.to_str().ok())
            .and_then(|value| retry_after(value, now()));
        // Whatever the body is, and whether or not it comes, the status stands.
        let body = response.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_string();
        let problem = || {
            let body: String = body.unwrap_or_default().chars().take(REFUSAL_CHARS_MAX).collect();
            format!("{} answers {status} {body:?}", self.address)
        };
        match status {
            _ if status.is_success() => Answer::Delivered,
            StatusCode::PAYLOAD_TOO_LARGE => Answer::TooLarge,
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Answer::Forbidden { problem: problem() },
            StatusCode::TOO_MANY_REQUESTS => Answer::Later { after, problem: problem() },
            _ if status.is_server_error() => Answer::Later { after, problem: problem() },
            _ => Answer::Refused { problem: problem() },
        }
    }
}

fn now() -> SystemTime {
    let unix_ns = u64::try_from(System.unix_ns()).unwrap_or_default();
    SystemTime::UNIX_EPOCH + Duration::from_nanos(unix_ns)
}

#[cfg(test)]
mod tests;
