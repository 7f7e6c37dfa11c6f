//! Sending a message to a receiver.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use queryscope_issues::Issue;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE};
use reqwest::{Client, Url};
use serde_json::Value;

use crate::addresses::Allowed;
use crate::config::{Config, Receiver};
use crate::facts::Account;
use crate::message::Message;
use crate::redact::Redactor;
use crate::secret::Secret;
use crate::{alertmanager, http, mail, slack, webhook, words};

/// What an attempt came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The receiver took it.
    Sent,
    /// It may be taken later.
    Retry {
        /// Why not now; it holds no secret.
        error: String,
        /// When the receiver asks to be asked again.
        after: Option<Duration>,
    },
    /// It will never be taken.
    Refused {
        /// Why not; it holds no secret.
        error: String,
    },
}

impl Outcome {
    pub(crate) fn retry(error: String) -> Self {
        Self::Retry { error, after: None }
    }
}

/// Sends messages. A sender may be used for many at once.
#[derive(Debug)]
pub struct Sender {
    client: Client,
    allowed: Arc<Allowed>,
}

impl Sender {
    /// Of what a file allows.
    ///
    /// # Errors
    /// When the system's certificates cannot be read.
    pub fn new(config: &Config) -> Result<Self, String> {
        let allowed = Arc::new(config.allowed().clone());
        let client = http::client(&allowed).map_err(|error| words::causes(&error))?;
        Ok(Self { client, allowed })
    }

    /// Sends a message. `current` is the issue of a message to an Alertmanager as it is now, where it is there: an
    /// alert says how things are, so that a late attempt cannot say how they were.
    pub async fn send(
        &self,
        config: &Config,
        receiver: &Receiver,
        message: &Message,
        current: Option<&Issue>,
        now: SystemTime,
    ) -> Outcome {
        let unix = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        match receiver {
            Receiver::Webhook { url, secret, authorization } => {
                let body = webhook::event(config, message).to_string();
                let redactor = Redactor::of_http(url, authorization.as_ref(), secret.as_ref());
                let Ok(url) = self.url(url) else { return invalid() };
                let mut request = self
                    .client
                    .post(url)
                    .header(CONTENT_TYPE, webhook::CONTENT_TYPE)
                    .header(webhook::KEY, &message.id);
                if let Some(secret) = secret {
                    let signature = webhook::signature(secret.reveal(), unix.as_secs(), body.as_bytes());
                    request = request.header(webhook::SIGNATURE, signature);
                }
                if let Some(authorization) = authorization {
                    request = request.header(AUTHORIZATION, authorization.reveal());
                }
                http::send(request.body(body), &redactor, now).await
            }
            Receiver::Slack { url } => {
                let redactor = Redactor::of_http(url, None, None);
                let Ok(url) = self.url(url) else { return invalid() };
                let request = self.client.post(url).header(CONTENT_TYPE, "application/json; charset=utf-8");
                http::send(request.body(slack::payload(message).to_string()), &redactor, now).await
            }
            Receiver::Alertmanager { url, authorization } => {
                let unix_ns = i64::try_from(unix.as_nanos()).unwrap_or(i64::MAX);
                let alerts: Vec<Value> = if message.members.is_empty() {
                    vec![alertmanager::test(message, unix_ns)]
                } else {
                    let alert = |member: &crate::message::Member| {
                        let issue = current.unwrap_or(&member.issue);
                        // What was said of an earlier transition may not hold any more.
                        let is_old = issue.transitions != member.transition.number;
                        let summary = if is_old && alertmanager::is_active(issue) {
                            words::standing(issue, &Account::default())
                        } else {
                            member.sentence.clone()
                        };
                        alertmanager::alert(config, issue, &summary, &member.account, unix_ns)
                    };
                    message.members.iter().map(alert).collect()
                };
                self.alerts(url, authorization.as_ref(), alerts, now).await
            }
            Receiver::Email(mail) => mail::send(mail, &self.allowed, message).await,
        }
    }

    /// Sends those issues anew that are active, to an Alertmanager, with what is known of their changes.
    pub async fn refresh(
        &self,
        config: &Config,
        receiver: &Receiver,
        issues: &[(&Issue, Account)],
        now: SystemTime,
    ) -> Outcome {
        let Receiver::Alertmanager { url, authorization } = receiver else { return Outcome::Sent };
        let unix = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let unix_ns = i64::try_from(unix.as_nanos()).unwrap_or(i64::MAX);
        let active = issues.iter().filter(|(issue, _)| alertmanager::is_active(issue));
        let alert = |(issue, account): &(&Issue, Account)| {
            let summary = words::standing(issue, account);
            alertmanager::alert(config, issue, &summary, &account.sentences, unix_ns)
        };
        let alerts: Vec<Value> = active.map(alert).collect();
        if alerts.is_empty() {
            return Outcome::Sent;
        }
        self.alerts(url, authorization.as_ref(), alerts, now).await
    }

    async fn alerts(
        &self,
        url: &Secret,
        authorization: Option<&Secret>,
        alerts: Vec<Value>,
        now: SystemTime,
    ) -> Outcome {
        let Ok(base) = self.url(url) else { return invalid() };
        let address = format!("{}/api/v2/alerts", base.as_str().trim_end_matches('/'));
        let mut request = self.client.post(address).header(CONTENT_TYPE, "application/json");
        if let Some(authorization) = authorization {
            request = request.header(AUTHORIZATION, authorization.reveal());
        }
        let redactor = Redactor::of_http(url, authorization, None);
        http::send(request.body(Value::from(alerts).to_string()), &redactor, now).await
    }

    /// An address that may be asked: the resolver judges names, and sees no address.
    fn url(&self, url: &Secret) -> Result<Url, ()> {
        let url: Url = url.reveal().parse().map_err(drop)?;
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        match host.parse() {
            Ok(address) if !self.allowed.admits(host, address) => Err(()),
            _ => Ok(url),
        }
    }
}

fn invalid() -> Outcome {
    Outcome::Refused { error: "the address of the receiver is not allowed".into() }
}
