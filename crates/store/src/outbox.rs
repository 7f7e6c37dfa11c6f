//! What a store keeps until somebody has been told of it.
//!
//! The problem: a message of an issue must neither be lost with the process nor be sent by two collectors. The
//! mechanism is a transactional outbox in two steps. The transaction that stores a transition of an issue adds a
//! *notice*. The collector that holds the lease turns notices into *deliveries*, one for each message and route, in one
//! transaction ([`OutboxStore::dispatch`]), and sends them until each is settled. A delivery holds the composed
//! message: key and content are the same at each attempt. Prior art: the transactional outbox, and fencing by a lease
//! that is checked inside the transaction.
//!
//! A store looks into neither: the texts are of `queryscope-delivery`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::access::{NoWord, words};
use crate::error::StoreError;

/// How long notices that are done, and deliveries that ended, are kept.
pub const OUTBOX_KEPT: Duration = Duration::from_hours(7 * 24);
/// Notices that are done and those that are not, deliveries of a route that ended and those that wait: of each the
/// newest so many are kept.
pub const OUTBOX_MAX: u64 = 10_000;
/// The error of a delivery that is given up because [`OUTBOX_MAX`] newer ones of its route wait.
pub const OUTBOX_FULL: &str = "more than 10,000 messages wait";

/// A transition of an issue that somebody may have to be told of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredNotice {
    /// Its number in this store.
    pub number: i64,
    /// The id of the issue.
    pub issue: String,
    /// The number of the transition: with `issue` it names the notice.
    pub transition: u64,
    /// When the transition was made, in Unix nanoseconds.
    pub unix_ns: i64,
    /// Whether it was turned into deliveries.
    pub done: bool,
    /// The transition and its issue, as JSON.
    pub body: String,
}

words! {
    /// What became of a delivery.
    DeliveryState, "a state of a delivery" {
        /// It is to be sent.
        Waiting = "waiting",
        /// The receiver took it.
        Sent = "sent",
        /// The receiver will never take it.
        Refused = "refused",
        /// It was tried for too long, too many newer ones wait, or its route is gone.
        GivenUp = "given_up",
        /// An earlier message of its group was sent: this one is not.
        Joined = "joined",
    }
}

/// A message to a route, to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDelivery {
    /// The name of the route.
    pub route: String,
    /// What no other message of the route has.
    pub key: String,
    /// When it was made, in Unix nanoseconds.
    pub created_unix_ns: i64,
    /// [`DeliveryState::Waiting`] or [`DeliveryState::Joined`].
    pub state: DeliveryState,
    /// The message, as JSON.
    pub body: String,
}

/// A message to a route, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Its number in this store.
    pub number: i64,
    /// The name of the route.
    pub route: String,
    /// What no other message of the route has.
    pub key: String,
    /// When it was made, in Unix nanoseconds.
    pub created_unix_ns: i64,
    /// What became of it.
    pub state: DeliveryState,
    /// How often it was tried.
    pub attempts: u32,
    /// When it is to be tried next, in Unix nanoseconds.
    pub due_unix_ns: i64,
    /// When it was settled, in Unix nanoseconds.
    pub ended_unix_ns: Option<i64>,
    /// Why the last attempt that failed did, and when, in Unix nanoseconds.
    pub last_error: Option<(String, i64)>,
    /// The message, as JSON.
    pub body: String,
}

/// Notices that become deliveries.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Dispatch {
    /// The collector that holds the lease.
    pub holder: String,
    /// Now, in Unix nanoseconds.
    pub unix_ns: i64,
    /// The notices, by number.
    pub notices: Vec<i64>,
    /// What becomes of them. One whose route and key are there already changes nothing.
    pub deliveries: Vec<NewDelivery>,
}

/// What an attempt came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// When, in Unix nanoseconds.
    pub unix_ns: i64,
    /// What the delivery is from now on.
    pub state: DeliveryState,
    /// When it is to be tried again, in Unix nanoseconds; of one that waits.
    pub due_unix_ns: i64,
    /// Why it failed.
    pub error: Option<String>,
}

/// What is kept of a route.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RouteRecord {
    /// Its name.
    pub route: String,
    /// Deliveries that wait.
    pub waiting: u64,
    /// Those that were sent, of the last days.
    pub sent: u64,
    /// Those that were refused or given up, of the last days.
    pub failed: u64,
    /// When the oldest that waits was made, in Unix nanoseconds.
    pub waiting_since_unix_ns: Option<i64>,
    /// When one was sent last, in Unix nanoseconds.
    pub sent_unix_ns: Option<i64>,
    /// Why an attempt failed last, and when, in Unix nanoseconds.
    pub last_error: Option<(String, i64)>,
}

/// A part of an outbox, to be taken over elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OutboxPage {
    /// Notices, by number.
    pub notices: Vec<StoredNotice>,
    /// Deliveries, by number.
    pub deliveries: Vec<Delivery>,
}

/// Notices of transitions, and messages that are to be delivered.
#[async_trait]
pub trait OutboxStore: Send + Sync {
    /// Takes or renews the lease on deliveries for `ttl` from now: `false` when another holder has it. A store that one
    /// process has for itself always gives it.
    async fn delivery_lease(&self, holder: &str, ttl: Duration) -> Result<bool, StoreError>;

    /// Up to `limit` notices that were not turned into deliveries, the first first.
    async fn notices(&self, limit: usize) -> Result<Vec<StoredNotice>, StoreError>;

    /// Turns notices into deliveries, whole or not at all; `None` when the holder does not have the lease. Deletes
    /// notices that are done and deliveries that ended longer than [`OUTBOX_KEPT`] ago, and the oldest beyond
    /// [`OUTBOX_MAX`]. A delivery that waits is never deleted: of each route that gets deliveries, the oldest that wait
    /// beyond [`OUTBOX_MAX`] are given up with [`OUTBOX_FULL`]. Returns how many were, by route.
    async fn dispatch(&self, dispatch: Dispatch) -> Result<Option<BTreeMap<String, u64>>, StoreError>;

    /// Up to `limit` deliveries that were made at or after a time, the newest first.
    async fn deliveries_since(&self, created_unix_ns: i64, limit: usize)
    -> Result<Vec<Delivery>, StoreError>;

    /// Up to `limit` deliveries of a route that wait and are due, those that are due longest first.
    async fn due_deliveries(
        &self,
        route: &str,
        unix_ns: i64,
        limit: usize,
    ) -> Result<Vec<Delivery>, StoreError>;

    /// Notes an attempt of a delivery that waits; `false` when none of that number does.
    async fn note_attempt(&self, number: i64, attempt: Attempt) -> Result<bool, StoreError>;

    /// What is kept of routes, by name.
    async fn route_records(&self) -> Result<Vec<RouteRecord>, StoreError>;

    /// Up to `limit` notices and as many deliveries, each by number, after one of each.
    async fn outbox_page(
        &self,
        after_notice: i64,
        after_delivery: i64,
        limit: usize,
    ) -> Result<OutboxPage, StoreError>;

    /// Takes over a part of an outbox of elsewhere; what is there already changes nothing.
    async fn adopt_outbox(&self, page: OutboxPage) -> Result<(), StoreError>;
}

/// What is older goes.
pub fn outbox_kept_since(unix_ns: i64) -> i64 {
    unix_ns.saturating_sub(i64::try_from(OUTBOX_KEPT.as_nanos()).unwrap_or(i64::MAX))
}

impl Dispatch {
    /// The routes that get deliveries.
    pub fn routes(&self) -> BTreeSet<&str> {
        self.deliveries.iter().map(|new| new.route.as_str()).collect()
    }
}

impl Delivery {
    /// One that is stored for the first time; its number is the store's to give.
    pub fn new(new: NewDelivery) -> Self {
        let NewDelivery { route, key, created_unix_ns, state, body } = new;
        Self {
            number: 0,
            route,
            key,
            created_unix_ns,
            state,
            attempts: 0,
            due_unix_ns: created_unix_ns,
            ended_unix_ns: (state != DeliveryState::Waiting).then_some(created_unix_ns),
            last_error: None,
            body,
        }
    }
}
