//! Requests to a receiver: protobuf over HTTP, sent again while it is away.

use std::time::Duration;

use anyhow::{Context, Result};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceResponse;
use prost::Message;
use rand::RngExt;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, StatusCode};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::read::text::line;

const CONNECT_WITHIN: Duration = Duration::from_secs(5);
const ANSWER_WITHIN: Duration = Duration::from_secs(10);
/// A request that is not taken for so long is given up.
const GIVE_UP_AFTER: Duration = Duration::from_mins(5);
/// Between two tries: exponential backoff with jitter.
const PAUSE_MIN: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_secs(30);
/// A receiver may ask for a longer pause, up to this.
const ASKED_PAUSE_MAX: Duration = Duration::from_mins(2);
/// Bytes of an answer that are read.
const ANSWER_BYTES_MAX: usize = 64 << 10;

/// What became of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The receiver took it, but for so many spans.
    Taken { rejected: u64 },
    /// It will never take it.
    Refused,
    /// It did not take it for too long.
    Expired,
    /// The service stops, and a try failed.
    Stopped,
}

/// What an answer says.
enum Answer {
    Taken { rejected: u64 },
    Refused(String),
    Later(String, Option<Duration>),
}

/// Sends to one receiver.
pub(super) struct Sender {
    client: Client,
    url: String,
    is_away: bool,
}

impl Sender {
    pub(super) fn new(url: &str, headers: &[(String, String)]) -> Result<Self> {
        // reqwest takes the provider of the process.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut defaults = HeaderMap::new();
        for (name, value) in headers {
            let mut value =
                HeaderValue::try_from(value).context("a header cannot be sent (--otlp-headers)")?;
            value.set_sensitive(true);
            defaults.insert(
                HeaderName::try_from(name).context("a header has no valid name (--otlp-headers)")?,
                value,
            );
        }
        let client = Client::builder()
            .connect_timeout(CONNECT_WITHIN)
            .timeout(ANSWER_WITHIN)
            .redirect(Policy::none())
            .default_headers(defaults)
            .user_agent(concat!("queryscope/", env!("CARGO_PKG_VERSION")))
            .build()
            .context("no client for HTTP can be made")?;
        Ok(Self { client, url: url.to_owned(), is_away: false })
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Sends until the receiver takes or refuses it. Once `stop` is cancelled, it waits for no further try.
    pub(super) async fn send(
        &mut self,
        path: &str,
        request: &impl Message,
        stop: &CancellationToken,
    ) -> Outcome {
        let body = request.encode_to_vec();
        let give_up = Instant::now() + GIVE_UP_AFTER;
        let mut pause = PAUSE_MIN;
        loop {
            let (problem, asked) = match self.try_once(path, body.clone()).await {
                Answer::Taken { rejected } => {
                    if std::mem::take(&mut self.is_away) {
                        tracing::info!(url = self.url, "the OpenTelemetry receiver is back");
                    }
                    if rejected > 0 {
                        tracing::warn!(
                            url = self.url,
                            spans = rejected,
                            "the OpenTelemetry receiver rejected spans"
                        );
                    }
                    return Outcome::Taken { rejected };
                }
                Answer::Refused(problem) => {
                    tracing::warn!(
                        url = self.url,
                        path,
                        problem,
                        "the OpenTelemetry receiver refuses a request"
                    );
                    return Outcome::Refused;
                }
                Answer::Later(problem, asked) => (problem, asked),
            };
            if !std::mem::replace(&mut self.is_away, true) {
                tracing::warn!(
                    url = self.url,
                    problem,
                    "the OpenTelemetry receiver does not take requests: they are sent again, and further ended runs \
                     wait or are dropped"
                );
            }
            let wait = asked.unwrap_or_else(|| pause.mul_f64(rand::rng().random_range(0.5..=1.0)));
            pause = (pause * 2).min(PAUSE_MAX);
            if stop.is_cancelled() {
                return Outcome::Stopped;
            }
            if Instant::now() + wait >= give_up {
                return Outcome::Expired;
            }
            tokio::select! {
                () = sleep(wait) => {}
                () = stop.cancelled() => {}
            }
        }
    }

    async fn try_once(&self, path: &str, body: Vec<u8>) -> Answer {
        let request = self.client.post(format!("{}{path}", self.url));
        let request = request.header(CONTENT_TYPE, "application/x-protobuf").body(body);
        match request.send().await {
            Ok(response) => answer(response).await,
            Err(error) => {
                // The innermost cause is what an operator can do something about.
                let mut cause: &dyn std::error::Error = &error;
                while let Some(source) = cause.source() {
                    cause = source;
                }
                Answer::Later(line(&cause.to_string()).into_owned(), None)
            }
        }
    }
}

async fn answer(mut response: Response) -> Answer {
    let status = response.status();
    let asked = response.headers().get(RETRY_AFTER).and_then(|value| pause(value.to_str().ok()?));
    if status.is_success() {
        let mut body = Vec::new();
        while let Ok(Some(chunk)) = response.chunk().await {
            if body.len() + chunk.len() > ANSWER_BYTES_MAX {
                break;
            }
            body.extend_from_slice(&chunk);
        }
        // The answer to metrics has the same shape. One that cannot be read says nothing of rejected spans.
        let partial = ExportTraceServiceResponse::decode(&*body).unwrap_or_default().partial_success;
        let rejected = partial.map_or(0, |partial| partial.rejected_spans);
        return Answer::Taken { rejected: u64::try_from(rejected).unwrap_or(0) };
    }
    let problem = format!("it answers {status}");
    // Those that the protocol names.
    let is_passing = matches!(
        status,
        StatusCode::TOO_MANY_REQUESTS
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT
    );
    if is_passing { Answer::Later(problem, asked) } else { Answer::Refused(problem) }
}

/// `Retry-After` in seconds.
fn pause(text: &str) -> Option<Duration> {
    let seconds = text.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(ASKED_PAUSE_MAX))
}

/// The address of a receiver, without the paths of the protocol.
pub(super) fn base(text: &str) -> Result<String, String> {
    let url = text.trim().trim_end_matches('/');
    let is_plain = |url: &reqwest::Url| {
        let is_address = matches!(url.scheme(), "http" | "https") && url.has_host();
        is_address && url.query().is_none() && url.fragment().is_none() && url.username().is_empty()
    };
    let ends_with_path = url.ends_with("/v1/traces") || url.ends_with("/v1/metrics");
    match reqwest::Url::parse(url) {
        Ok(parsed) if is_plain(&parsed) && !ends_with_path => Ok(url.to_owned()),
        _ => {
            Err("expected an address like http://127.0.0.1:4318, without /v1/traces and without a user"
                .into())
        }
    }
}

/// A header as `name=value`.
pub(super) fn header(text: &str) -> Result<(String, String), String> {
    let wrong = || "expected NAME=VALUE, like authorization=Bearer x".to_owned();
    let (name, value) = text.split_once('=').ok_or_else(wrong)?;
    let (name, value) = (name.trim(), value.trim());
    if HeaderName::try_from(name).is_err() || HeaderValue::try_from(value).is_err() || value.is_empty() {
        return Err(wrong());
    }
    Ok((name.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_headers_are_checked() {
        assert_eq!(base("http://127.0.0.1:4318/").as_deref(), Ok("http://127.0.0.1:4318"));
        assert_eq!(base("https://otel.example/below").as_deref(), Ok("https://otel.example/below"));
        for wrong in
            ["", "127.0.0.1:4318", "grpc://host:4317", "http://h/v1/traces", "http://u@h", "http://h?a=b"]
        {
            assert!(base(wrong).is_err(), "{wrong}");
        }
        assert_eq!(header("a = b=c"), Ok(("a".into(), "b=c".into())));
        for wrong in ["", "a", "a=", "a b=c", "a=\n"] {
            assert!(header(wrong).is_err(), "{wrong:?}");
        }
        assert_eq!(pause("7"), Some(Duration::from_secs(7)));
        assert_eq!(pause("9999"), Some(ASKED_PAUSE_MAX));
        assert_eq!(pause("Wed, 21 Oct 2026 07:28:00 GMT"), None);
    }
}
