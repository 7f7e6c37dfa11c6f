//! The outbox of the model.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use queryscope_issues::Notice;

use super::MemoryStore;
use crate::error::StoreError;
use crate::outbox::{
    Attempt, Delivery, DeliveryState, Dispatch, OUTBOX_FULL, OUTBOX_MAX, OutboxPage, OutboxStore,
    RouteRecord, StoredNotice, outbox_kept_since,
};

#[derive(Debug, Default)]
pub(super) struct Outbox {
    notices: Vec<StoredNotice>,
    deliveries: Vec<Delivery>,
    made: i64,
    lease: Option<(String, Instant)>,
}

impl Outbox {
    fn number(&mut self) -> i64 {
        self.made += 1;
        self.made
    }

    fn is_noted(&self, issue: &str, transition: u64) -> bool {
        self.notices.iter().any(|notice| (notice.issue.as_str(), notice.transition) == (issue, transition))
    }

    /// Notes transitions.
    pub(super) fn note(&mut self, notices: impl IntoIterator<Item = Notice>) {
        for notice in notices {
            let (issue, transition) = (notice.issue.id.clone(), notice.transition.number);
            let unix_ns = notice.transition.unix_ns;
            if !self.is_noted(&issue, transition) {
                let (number, body) = (self.number(), notice.to_json());
                self.notices.push(StoredNotice { number, issue, transition, unix_ns, done: false, body });
            }
        }
        self.bound_notices(false);
    }

    fn bound_notices(&mut self, done: bool) {
        let mut over = beyond(self.notices.iter().filter(|notice| notice.done == done).count());
        self.notices.retain(|notice| notice.done != done || !take(&mut over));
    }

    /// Bounds the outbox for routes that got deliveries; how many were given up, by route.
    fn bound(&mut self, routes: &BTreeSet<&str>, unix_ns: i64) -> BTreeMap<String, u64> {
        self.bound_notices(false);
        self.bound_notices(true);
        let mut given_up = BTreeMap::new();
        for route in routes {
            let waits = |each: &Delivery| each.route == *route && each.state == DeliveryState::Waiting;
            let over = beyond(self.deliveries.iter().filter(|each| waits(each)).count());
            for delivery in self.deliveries.iter_mut().filter(|each| waits(each)).take(over) {
                delivery.state = DeliveryState::GivenUp;
                delivery.ended_unix_ns = Some(unix_ns);
                delivery.last_error = Some((OUTBOX_FULL.to_owned(), unix_ns));
                *given_up.entry((*route).to_owned()).or_default() += 1;
            }
            let ended = |each: &Delivery| each.route == *route && each.state != DeliveryState::Waiting;
            let mut over = beyond(self.deliveries.iter().filter(|each| ended(each)).count());
            self.deliveries.retain(|each| !ended(each) || !take(&mut over));
        }
        let since = outbox_kept_since(unix_ns);
        self.notices.retain(|notice| !notice.done || notice.unix_ns >= since);
        self.deliveries.retain(|delivery| delivery.ended_unix_ns.is_none_or(|ended| ended >= since));
        given_up
    }

    /// Deletes what is older.
    pub(super) fn delete_before(&mut self, unix_ns: i64) {
        self.notices.retain(|notice| notice.unix_ns >= unix_ns);
        self.deliveries.retain(|delivery| delivery.created_unix_ns >= unix_ns);
    }

    fn holds(&self, holder: &str) -> bool {
        self.lease.as_ref().is_some_and(|(held, until)| held == holder && *until > crate::now())
    }

    fn add(&mut self, delivery: Delivery) {
        let same = |known: &Delivery| (&known.route, &known.key) == (&delivery.route, &delivery.key);
        if !self.deliveries.iter().any(same) {
            let number = self.number();
            self.deliveries.push(Delivery { number, ..delivery });
        }
    }
}

fn beyond(count: usize) -> usize {
    count.saturating_sub(OUTBOX_MAX as usize)
}

/// Takes one of what is left; `false` when nothing is.
fn take(left: &mut usize) -> bool {
    let is_left = *left > 0;
    *left = left.saturating_sub(1);
    is_left
}

#[async_trait]
impl OutboxStore for MemoryStore {
    async fn delivery_lease(&self, holder: &str, ttl: Duration) -> Result<bool, StoreError> {
        let outbox = &mut self.disk()?.outbox;
        let now = crate::now();
        let free = outbox.lease.as_ref().is_none_or(|(held, until)| held == holder || *until <= now);
        if free {
            outbox.lease = Some((holder.to_owned(), now + ttl));
        }
        Ok(free)
    }

    async fn notices(&self, limit: usize) -> Result<Vec<StoredNotice>, StoreError> {
        let disk = self.disk()?;
        Ok(disk.outbox.notices.iter().filter(|notice| !notice.done).take(limit).cloned().collect())
    }

    async fn dispatch(&self, dispatch: Dispatch) -> Result<Option<BTreeMap<String, u64>>, StoreError> {
        let outbox = &mut self.disk()?.outbox;
        if !outbox.holds(&dispatch.holder) {
            return Ok(None);
        }
        for notice in &mut outbox.notices {
            notice.done |= dispatch.notices.contains(&notice.number);
        }
        for new in &dispatch.deliveries {
            outbox.add(Delivery::new(new.clone()));
        }
        Ok(Some(outbox.bound(&dispatch.routes(), dispatch.unix_ns)))
    }

    async fn deliveries_since(
        &self,
        created_unix_ns: i64,
        limit: usize,
    ) -> Result<Vec<Delivery>, StoreError> {
        let disk = self.disk()?;
        let mut found: Vec<Delivery> = disk.outbox.deliveries.clone();
        found.retain(|delivery| delivery.created_unix_ns >= created_unix_ns);
        found.sort_by_key(|delivery| std::cmp::Reverse((delivery.created_unix_ns, delivery.number)));
        found.truncate(limit);
        Ok(found)
    }

    async fn due_deliveries(
        &self,
        route: &str,
        unix_ns: i64,
        limit: usize,
    ) -> Result<Vec<Delivery>, StoreError> {
        let disk = self.disk()?;
        let of = disk.outbox.deliveries.iter().filter(|delivery| delivery.route == route);
        let mut found: Vec<Delivery> = of.cloned().collect();
        found.retain(|each| each.state == DeliveryState::Waiting && each.due_unix_ns <= unix_ns);
        found.sort_by_key(|delivery| (delivery.due_unix_ns, delivery.number));
        found.truncate(limit);
        Ok(found)
    }

    async fn note_attempt(&self, number: i64, attempt: Attempt) -> Result<bool, StoreError> {
        let outbox = &mut self.disk()?.outbox;
        let waits = |each: &&mut Delivery| each.number == number && each.state == DeliveryState::Waiting;
        let Some(delivery) = outbox.deliveries.iter_mut().find(waits) else { return Ok(false) };
        delivery.attempts += 1;
        delivery.state = attempt.state;
        delivery.due_unix_ns = attempt.due_unix_ns;
        if attempt.state != DeliveryState::Waiting {
            delivery.ended_unix_ns = Some(attempt.unix_ns);
        }
        if let Some(error) = attempt.error {
            delivery.last_error = Some((error, attempt.unix_ns));
        }
        Ok(true)
    }

    async fn route_records(&self) -> Result<Vec<RouteRecord>, StoreError> {
        let mut records: BTreeMap<String, RouteRecord> = BTreeMap::new();
        for delivery in &self.disk()?.outbox.deliveries {
            let record = records.entry(delivery.route.clone()).or_default();
            record.route.clone_from(&delivery.route);
            match delivery.state {
                DeliveryState::Waiting => {
                    record.waiting += 1;
                    let since = record.waiting_since_unix_ns.unwrap_or(i64::MAX);
                    record.waiting_since_unix_ns = Some(since.min(delivery.created_unix_ns));
                }
                DeliveryState::Sent => {
                    record.sent += 1;
                    record.sent_unix_ns = record.sent_unix_ns.max(delivery.ended_unix_ns);
                }
                DeliveryState::Refused | DeliveryState::GivenUp => record.failed += 1,
                DeliveryState::Joined => {}
            }
            let later =
                |(_, at): &&(String, i64)| record.last_error.as_ref().is_none_or(|(_, known)| at >= known);
            if let Some(error) = delivery.last_error.as_ref().filter(later) {
                record.last_error = Some(error.clone());
            }
        }
        Ok(records.into_values().collect())
    }

    async fn outbox_page(
        &self,
        after_notice: i64,
        after_delivery: i64,
        limit: usize,
    ) -> Result<OutboxPage, StoreError> {
        let disk = self.disk()?;
        let notices = disk.outbox.notices.iter().filter(|notice| notice.number > after_notice);
        let deliveries = disk.outbox.deliveries.iter().filter(|each| each.number > after_delivery);
        Ok(OutboxPage {
            notices: notices.take(limit).cloned().collect(),
            deliveries: deliveries.take(limit).cloned().collect(),
        })
    }

    async fn adopt_outbox(&self, page: OutboxPage) -> Result<(), StoreError> {
        let outbox = &mut self.disk()?.outbox;
        for notice in page.notices {
            if !outbox.is_noted(&notice.issue, notice.transition) {
                let number = outbox.number();
                outbox.notices.push(StoredNotice { number, ..notice });
            }
        }
        for delivery in page.deliveries {
            outbox.add(delivery);
        }
        Ok(())
    }
}
