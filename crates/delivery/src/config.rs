//! The file of receivers, routes and owners.
//!
//! A file that is wrong is refused as a whole, with the line and the cause of each mistake: half of the routes would be
//! missed by nobody until the day they are needed.

mod read;
mod structure;

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

use globset::GlobSet;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use queryscope_issues::{Direction, Issue, Kind, Notice};
use reqwest::Url;
use thiserror::Error;

use crate::addresses::Allowed;
use crate::mail::Mail;
use crate::owners::Owners;
use crate::secret::{Secret, Secrets};

/// How long notices are collected before messages are made of them, unless the file says otherwise.
const GROUP_WAIT: Duration = Duration::from_secs(10);
/// Bytes of a file.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// What the file says.
#[derive(Debug, Clone)]
pub struct Config {
    pub(crate) base_url: Option<Url>,
    pub(crate) allowed: Allowed,
    /// How long notices are collected before messages are made of them.
    pub group_wait: Duration,
    pub(crate) receivers: BTreeMap<String, Receiver>,
    /// The routes, in the order of the file.
    pub routes: Vec<Route>,
    /// The rules of owners.
    pub owners: Owners,
    /// What CPU time costs.
    pub price: Option<Price>,
}

/// What CPU time costs.
#[derive(Debug, Clone, PartialEq)]
pub struct Price {
    /// Of an hour of one core; positive and finite.
    pub per_core_hour: f64,
    /// What it is counted in, such as `EUR`.
    pub currency: String,
}

/// Where messages go.
#[derive(Debug, Clone)]
pub enum Receiver {
    /// A program: CloudEvents 1.0 as JSON, signed.
    Webhook {
        /// Its address.
        url: Secret,
        /// The key of the signature.
        secret: Option<Secret>,
        /// The header `Authorization`.
        authorization: Option<Secret>,
    },
    /// A channel of Slack, by an incoming webhook.
    Slack {
        /// Its address.
        url: Secret,
    },
    /// An Alertmanager, by its API of version 2.
    Alertmanager {
        /// Its address, before `/api/v2/alerts`.
        url: Secret,
        /// The header `Authorization`.
        authorization: Option<Secret>,
    },
    /// Mailboxes, by SMTP.
    Email(Mail),
}

/// Which issues go to which receiver. An empty list keeps all.
#[derive(Debug, Clone)]
pub struct Route {
    /// Its name.
    pub name: String,
    /// The name of its receiver.
    pub receiver: String,
    /// Of these projects.
    pub projects: Vec<String>,
    /// Of these services.
    pub services: Vec<String>,
    /// Patterns of labels.
    pub labels: Vec<String>,
    pub(crate) label_globs: Option<GlobSet>,
    /// Of these kinds; where it is empty, of all but `data_grew`, which is information only.
    pub kinds: Vec<Kind>,
    /// Of these owners.
    pub owners: Vec<String>,
}

/// A mistake in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Its line, from 1.
    pub line: usize,
    /// Its column, from 1, in characters.
    pub column: usize,
    /// What is wrong, and what is allowed.
    pub cause: String,
}

/// All mistakes of a file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub struct Problems {
    file: String,
    /// The mistakes, by line; none where the file cannot be read.
    pub problems: Vec<Problem>,
    unreadable: Option<String>,
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = Vec::new();
        if let Some(cause) = &self.unreadable {
            lines.push(format!("{}: {cause}", self.file));
        }
        for Problem { line, column, cause } in &self.problems {
            lines.push(format!("{}:{line}:{column}: {cause}", self.file));
        }
        f.write_str(&lines.join("\n"))
    }
}

impl Config {
    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, or holds mistakes.
    pub fn load(path: &Path, secrets: Secrets) -> Result<Self, Problems> {
        let file = path.display().to_string();
        let unreadable =
            |cause: String| Problems { file: file.clone(), problems: Vec::new(), unreadable: Some(cause) };
        let mut bytes = Vec::new();
        let read = File::open(path).and_then(|file| file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes));
        read.map_err(|error| unreadable(format!("cannot be read: {error}")))?;
        if bytes.len() as u64 > FILE_BYTES_MAX {
            return Err(unreadable(format!("it is larger than {FILE_BYTES_MAX} bytes")));
        }
        let text = String::from_utf8(bytes).map_err(|_| unreadable("it is not UTF-8".into()))?;
        Self::parse(&text, secrets).map_err(|problems| Problems { file, problems, unreadable: None })
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// Its mistakes, by line.
    pub fn parse(text: &str, secrets: Secrets) -> Result<Self, Vec<Problem>> {
        read::read(text, secrets)
    }

    /// The receiver of a route.
    pub fn receiver(&self, route: &Route) -> &Receiver {
        self.receivers.get(&route.receiver).expect("each route names one: the file was read")
    }

    /// The route of a name.
    pub fn route(&self, name: &str) -> Option<&Route> {
        self.routes.iter().find(|route| route.name == name)
    }

    /// Addresses that are allowed beside public ones.
    pub fn allowed(&self) -> &Allowed {
        &self.allowed
    }

    /// The owner of the query of an issue.
    pub fn owner_of(&self, issue: &Issue) -> Option<&str> {
        self.owners.of(&issue.label, issue.call_site.as_deref())
    }

    /// Whether a route is for a transition. People are not told of what people do.
    pub(crate) fn wants(&self, route: &Route, notice: &Notice) -> bool {
        let is_for_people = self.receiver(route).is_for_people();
        self.is_of(route, &notice.issue) && !(is_for_people && notice.direction() == Direction::Moved)
    }

    /// Whether a route is for an issue.
    pub fn is_of(&self, route: &Route, issue: &Issue) -> bool {
        let keeps = |all: &[String], value: Option<&str>| {
            all.is_empty() || value.is_some_and(|value| all.iter().any(|one| one == value))
        };
        let is_of_kind = if route.kinds.is_empty() {
            issue.kind != Kind::DataGrew
        } else {
            route.kinds.contains(&issue.kind)
        };
        is_of_kind
            && keeps(&route.projects, Some(&issue.project))
            && keeps(&route.services, issue.service.as_deref())
            && route.label_globs.as_ref().is_none_or(|globs| globs.is_match(&issue.label))
            && keeps(&route.owners, self.owner_of(issue))
    }

    /// Where messages say they are from.
    pub(crate) fn source(&self) -> &str {
        self.base_url.as_ref().map_or("urn:queryscope", Url::as_str)
    }

    /// The page of an issue.
    pub(crate) fn issue_link(&self, id: &str) -> Option<String> {
        self.page(&format!("issues/{}", utf8_percent_encode(id, KEPT)))
    }

    /// The list of open issues.
    pub fn home_link(&self) -> Option<String> {
        self.page("")
    }

    fn page(&self, path: &str) -> Option<String> {
        self.base_url.as_ref().map(|base| format!("{}/{path}", base.as_str().trim_end_matches('/')))
    }
}

/// What stays as it is in a path.
const KEPT: &percent_encoding::AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.');

impl Receiver {
    /// Whether another one has the same address, by HTTP, however it is written. One that is not read has none.
    fn is_at(&self, other: &Self) -> bool {
        let address = |receiver: &Self| {
            let mut url: Url = receiver.url()?.reveal().parse().ok()?;
            // It is not sent.
            url.set_fragment(None);
            Some(url)
        };
        address(self).is_some_and(|one| Some(one) == address(other))
    }

    fn url(&self) -> Option<&Secret> {
        match self {
            Self::Webhook { url, .. } | Self::Slack { url } | Self::Alertmanager { url, .. } => Some(url),
            Self::Email(_) => None,
        }
    }

    /// Its type, by the name it has in the file.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Webhook { .. } => "webhook",
            Self::Slack { .. } => "slack",
            Self::Alertmanager { .. } => "alertmanager",
            Self::Email(_) => "email",
        }
    }
}

#[cfg(test)]
mod tests;
