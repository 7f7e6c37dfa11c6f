//! Settings of the collector: plain data.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderName;
use queryscope_store::{FileIdentity, TokenHash};

use crate::access::{Network, OpenIdOptions};

/// How the collector behaves; [`Settings::default`] is the documented default of each.
#[derive(Debug, Clone)]
pub struct Settings {
    /// A running query of which nothing has been heard for so long is unfinished.
    pub silent_after: Duration,
    /// Runs that end within so long share a pack of recordings, for which the first waits; many wait less.
    pub seal_within: Duration,
    /// Queries that started longer ago are deleted; `None` keeps all.
    pub keep: Option<Duration>,
    /// A file that is locked while recordings are written or deleted; whoever copies them locks it, too.
    pub recordings_lock: Option<PathBuf>,
    /// The folder in which recordings lie, where that is one: nothing is written or deleted in another that takes its
    /// place.
    pub recordings_folder: Option<FileIdentity>,
    /// Tokens beside those in the store.
    pub tokens: Vec<Access>,
    /// Names the read side answers to beside `localhost` and addresses.
    pub allowed_hosts: Vec<String>,
    /// Restrictions on reading.
    pub reading: Reading,
    /// Routes of messages, and owners; without it nobody is told of issues.
    pub delivery: Option<Arc<queryscope_delivery::Config>>,
    /// Engines whose format names `/v1/health` lists beside those the store has seen.
    pub engines: Vec<String>,
    /// Bytes of request bodies that may be in flight at once; beyond it the answer is 503.
    pub body_budget_bytes: usize,
    /// Bytes that long answers may take while they are read; beyond it, readers that are stalled are disconnected,
    /// or the answer is 503.
    pub answer_budget_bytes: usize,
    /// Analyses of one kind that may wait for their turn; further ones are answered with
    /// 503.
    pub analyses_waiting_max: usize,
    /// Batches that may be decoded and committed at once; further ones wait, and some are answered with 503.
    pub requests_max: usize,
    /// How long a batch may wait until there are fewer; then the answer is 503.
    pub slot_deadline: Duration,
    /// How long a sender may take for a request's body.
    pub body_deadline: Duration,
    /// How long a connection may take for a request's head, and stay idle between requests.
    pub head_deadline: Duration,
    /// How long an answer may wait for a reader that takes none of its bytes; then the connection is closed.
    pub write_deadline: Duration,
    /// Connections that are open at once on one address. A further one takes the place of the one that has been idle
    /// for longest.
    pub connections_max: usize,
    /// How long requests in flight may take to end once the service stops.
    pub stop_deadline: Duration,
}

/// Restrictions on reading; by default there are none.
#[derive(Debug, Clone, Default)]
pub struct Reading {
    /// Users log in.
    pub login: bool,
    /// Where users may log in, too.
    pub openid: Option<OpenIdOptions>,
    /// Addresses of proxies that are believed.
    pub proxies: Vec<Network>,
    /// The header in which such a proxy names the user.
    pub user_header: Option<HeaderName>,
    /// The header in which it names the user's groups, which then give the role.
    pub groups_header: Option<HeaderName>,
    /// Whether other machines may reach the address; it is only told.
    pub is_reachable: bool,
}

impl Reading {
    /// Whether who reads must say who they are.
    #[must_use]
    pub fn is_restricted(&self) -> bool {
        self.login || self.user_header.is_some()
    }
}

impl Settings {
    /// Requests of readers that are answered at once: seven eighths of the connections of an address. The others are
    /// for `/v1`.
    #[must_use]
    pub fn readers_max(&self) -> usize {
        self.connections_max - self.connections_max.div_ceil(8)
    }

    /// Of these, live streams: three quarters of the connections.
    #[must_use]
    pub fn live_readers_max(&self) -> usize {
        self.connections_max - self.connections_max.div_ceil(4)
    }
}

/// A token's hash and the project its batches belong to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// SHA-256 of the token.
    pub hash: TokenHash,
    /// The project.
    pub project: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            silent_after: Duration::from_mins(1),
            seal_within: Duration::from_mins(1),
            keep: None,
            recordings_lock: None,
            recordings_folder: None,
            tokens: Vec::new(),
            allowed_hosts: Vec::new(),
            reading: Reading::default(),
            delivery: None,
            engines: Vec::new(),
            body_budget_bytes: 128 << 20,
            answer_budget_bytes: 32 << 20,
            analyses_waiting_max: 64,
            requests_max: 1024,
            slot_deadline: Duration::from_secs(1),
            body_deadline: Duration::from_secs(30),
            head_deadline: Duration::from_secs(30),
            write_deadline: Duration::from_secs(30),
            connections_max: 16 << 10,
            stop_deadline: Duration::from_secs(10),
        }
    }
}
