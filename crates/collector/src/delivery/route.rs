//! Sends the messages of one route, one after the other.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use queryscope_delivery::{Account, GIVE_UP_AFTER, Message, Outcome, REFRESH_EVERY, Receiver, Route, pause};
use queryscope_issues::{Issue, State};
use queryscope_store::{Attempt, Delivery, DeliveryState, IssuePlace, IssuesRequest, StoreError};
use tokio_util::sync::CancellationToken;

use super::dispatch::accounts;
use super::{LOOK_EVERY, Shared};
use crate::clock::nanos;

/// Messages that are read at once.
const PAGE: usize = 20;
/// After failures in a row, a route rests for so long at most: another message may be taken sooner.
const REST_MAX: Duration = Duration::from_secs(30);
/// Issues that an Alertmanager is sent at once.
const REFRESHED_AT_ONCE: usize = 500;
const REFRESH_AGAIN: Duration = Duration::from_secs(30);

/// Sends what waits for a route while this collector has the lease, until `stop` is cancelled.
pub(super) async fn run(shared: Arc<Shared>, name: String, stop: CancellationToken) {
    let Some(route) = shared.config.route(&name) else { return };
    let mut lane = Lane { shared: &shared, route, failures: 0, rests_until: None, refresh_at: None };
    loop {
        let round = lane.round(&stop).await;
        if let Err(error) = round {
            shared.failed(&error);
        }
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
    }
}

struct Lane<'s> {
    shared: &'s Shared,
    route: &'s Route,
    /// Attempts that failed in a row.
    failures: u32,
    rests_until: Option<Instant>,
    /// When an Alertmanager is to be told of all open issues again.
    refresh_at: Option<Instant>,
}

impl Lane<'_> {
    /// Sends what is due, until an attempt fails.
    async fn round(&mut self, stop: &CancellationToken) -> Result<(), StoreError> {
        if !self.shared.may_send() {
            // Who begins to deliver tells of what is open.
            self.refresh_at = None;
            return Ok(());
        }
        if self.rests_until.is_some_and(|until| queryscope_store::now() < until) {
            return Ok(());
        }
        self.refresh().await?;
        let unix_ns = self.shared.app.clock.unix_ns();
        let outbox = self.shared.app.store.outbox();
        for delivery in outbox.due_deliveries(&self.route.name, unix_ns, PAGE).await? {
            if stop.is_cancelled() || !self.shared.may_send() || !self.send(&delivery).await? {
                break;
            }
        }
        Ok(())
    }

    /// Makes an attempt, and notes it; `false` where the route is to rest.
    async fn send(&mut self, delivery: &Delivery) -> Result<bool, StoreError> {
        let outcome = match Message::from_json(&delivery.body) {
            Ok(message) => self.attempt(&message).await?,
            Err(error) => Outcome::Refused { error: format!("the stored message cannot be read: {error}") },
        };
        let unix_ns = self.shared.app.clock.unix_ns();
        let age = unix_ns.saturating_sub(delivery.created_unix_ns);
        let attempts = delivery.attempts.saturating_add(1);
        let (state, due_unix_ns, error) = match outcome {
            Outcome::Sent => (DeliveryState::Sent, unix_ns, None),
            Outcome::Refused { error } => (DeliveryState::Refused, unix_ns, Some(error)),
            Outcome::Retry { error, .. } if age >= nanos(GIVE_UP_AFTER) => {
                let error = format!("given up after {attempts} attempts: {error}");
                (DeliveryState::GivenUp, unix_ns, Some(error))
            }
            Outcome::Retry { error, after } => {
                let wait = pause(attempts, random(), after);
                self.rest(after);
                (DeliveryState::Waiting, unix_ns.saturating_add(nanos(wait)), Some(error))
            }
        };
        if let Some(error) = &error {
            let route = &self.route.name;
            tracing::warn!(
                route,
                key = delivery.key,
                attempts,
                error,
                "a message of issues was not delivered"
            );
        }
        self.shared.app.delivery.noted(&self.route.name, state);
        let attempt = Attempt { unix_ns, state, due_unix_ns, error };
        self.shared.app.store.outbox().note_attempt(delivery.number, attempt).await?;
        let goes_on = state != DeliveryState::Waiting;
        if goes_on {
            (self.failures, self.rests_until) = (0, None);
        }
        Ok(goes_on)
    }

    async fn attempt(&self, message: &Message) -> Result<Outcome, StoreError> {
        let Shared { app, config, sender, .. } = self.shared;
        let receiver = config.receiver(self.route);
        let current = match (receiver, message.members.first()) {
            (Receiver::Alertmanager { .. }, Some(first)) => app.store.issue(&first.issue.id).await?,
            _ => None,
        };
        let current = current.map(|record| record.issue);
        Ok(sender.send(config, receiver, message, current.as_ref(), self.now()).await)
    }

    /// Has the route rest after a failure, for as long as the receiver asks.
    fn rest(&mut self, after: Option<Duration>) {
        self.failures = self.failures.saturating_add(1);
        let rest = pause(self.failures, random(), None).min(REST_MAX);
        let rest = rest.max(after.map_or(Duration::ZERO, |after| pause(1, 0.0, Some(after))));
        self.rests_until = Some(queryscope_store::now() + rest);
    }

    /// Tells an Alertmanager of all that is open: it forgets what it is not told.
    async fn refresh(&mut self) -> Result<(), StoreError> {
        let Shared { app, config, sender, .. } = self.shared;
        let receiver = config.receiver(self.route);
        let is_due = self.refresh_at.is_none_or(|at| queryscope_store::now() >= at);
        if !matches!(receiver, Receiver::Alertmanager { .. }) || !is_due {
            return Ok(());
        }
        let mut after = None;
        let mut wait = REFRESH_EVERY;
        loop {
            let request = IssuesRequest {
                states: vec![State::Open, State::Acknowledged, State::Regressed],
                after: after.take(),
                limit: REFRESHED_AT_ONCE,
                ..IssuesRequest::default()
            };
            let page = app.store.issues(request).await?;
            let Some(last) = page.last() else { break };
            after = Some(IssuePlace::of(last));
            let of_route: Vec<&Issue> = page.iter().filter(|issue| config.is_of(self.route, issue)).collect();
            let accounts = accounts(self.shared, &of_route).await?;
            let told: Vec<(&Issue, Account)> = of_route.into_iter().zip(accounts).collect();
            let outcome = sender.refresh(config, receiver, &told, self.now()).await;
            if let Outcome::Retry { error, .. } | Outcome::Refused { error } = outcome {
                tracing::warn!(route = self.route.name, error, "open issues could not be sent anew");
                wait = REFRESH_AGAIN;
                break;
            }
        }
        self.refresh_at = Some(queryscope_store::now() + wait);
        Ok(())
    }

    fn now(&self) -> SystemTime {
        let unix_ns = u64::try_from(self.shared.app.clock.unix_ns()).unwrap_or(0);
        SystemTime::UNIX_EPOCH + Duration::from_nanos(unix_ns)
    }
}

/// 0 to 1.
fn random() -> f64 {
    let bits = queryscope_store::random_id().as_u128() as u32;
    f64::from(bits) / f64::from(u32::MAX)
}
