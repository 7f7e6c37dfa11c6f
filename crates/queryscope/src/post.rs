//! Posting batches to a service that runs.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use queryscope_protocol::{IMPORTED_HEADER, QueryId};

/// How long a batch is sent again before giving up: a token that was just made takes a second to work.
const GIVE_UP_AFTER: Duration = Duration::from_secs(30);
const TIMEOUT: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(500);
const UNAUTHORIZED_FOR_MAX: Duration = Duration::from_secs(5);
/// Bytes of an answer that are read.
const ANSWER_BYTES_MAX: u64 = 64 << 10;

/// What became of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) accepted: u64,
    pub(crate) duplicates: u64,
}

/// A service that refused a batch for good.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) reason: String,
    /// The line of the batch to blame, counted from 1.
    pub(crate) line: Option<usize>,
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for Refused {}

/// Sends batches to one service.
#[derive(Debug, Clone)]
pub(crate) struct Poster {
    agent: ureq::Agent,
    base: String,
    url: String,
    authorization: String,
    is_imported: bool,
}

impl Poster {
    pub(crate) fn new(url: &str, token: &str) -> Self {
        let agent = ureq::Agent::config_builder()
            .user_agent(concat!("queryscope/", env!("CARGO_PKG_VERSION")))
            .timeout_global(Some(TIMEOUT))
            .http_status_as_error(false)
            .max_redirects(0)
            .build()
            .new_agent();
        let base = url.trim_end_matches('/').to_owned();
        let url = format!("{base}/v1/events");
        Self { agent, base, url, authorization: format!("Bearer {token}"), is_imported: false }
    }

    /// For batches of the past: a run in them without an end is not running.
    pub(crate) fn importing(self) -> Self {
        Self { is_imported: true, ..self }
    }

    /// Sends a plain batch until it is stored. Blocks.
    ///
    /// # Errors
    /// [`Refused`] when the service will not take it; else when it could not be reached for long.
    pub(crate) fn post(&self, batch: &[u8]) -> Result<Answer> {
        let begun = queryscope_store::now();
        loop {
            let mut request = self.agent.post(&self.url).header("Authorization", &self.authorization);
            if self.is_imported {
                request = request.header(IMPORTED_HEADER, "1");
            }
            let sent = request.send(batch);
            let problem = match sent {
                Ok(mut response) => {
                    let status = response.status().as_u16();
                    let text = response.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_string()?;
                    let json: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
                    match status {
                        202 => {
                            let count = |name: &str| json[name].as_u64().unwrap_or(0);
                            return Ok(Answer {
                                accepted: count("accepted"),
                                duplicates: count("duplicates"),
                            });
                        }
                        401 if begun.elapsed() < UNAUTHORIZED_FOR_MAX => format!("{status}: {text}"),
                        429 | 500..=599 => format!("{status}: {text}"),
                        _ => {
                            let reason =
                                json["error"].as_str().map_or(format!("{status}: {text}"), Into::into);
                            let line = json["line"].as_u64().and_then(|line| usize::try_from(line).ok());
                            bail!(Refused { reason, line });
                        }
                    }
                }
                Err(error) => error.to_string(),
            };
            if begun.elapsed() > GIVE_UP_AFTER {
                bail!("{} does not take the batch: {problem}", self.url);
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// As [`Poster::post`], off the async workers.
    pub(crate) async fn post_async(&self, batch: Vec<u8>) -> Result<Answer> {
        let poster = self.clone();
        tokio::task::spawn_blocking(move || poster.post(&batch)).await.context("sending was interrupted")?
    }

    /// Whether the service has a query, asked off the async workers.
    pub(crate) async fn has_query(&self, query: QueryId) -> Result<bool> {
        let (agent, url) = (self.agent.clone(), format!("{}/api/queries/{query}", self.base));
        let asked = move || match agent.get(&url).call()?.status().as_u16() {
            200 => Ok(true),
            404 => Ok(false),
            status => bail!("{url} answered {status}"),
        };
        tokio::task::spawn_blocking(asked).await.context("asking was interrupted")?
    }
}
