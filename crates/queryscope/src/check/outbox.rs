//! What nobody was told of yet: notices of transitions, and messages that wait. One that cannot be read, or is another
//! than it is stored as, would never be sent.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Result;
use queryscope_delivery::Message;
use queryscope_issues::Notice;
use queryscope_store::{
    Attempt, Delivery, DeliveryState, Dispatch, OutboxPage, OutboxStore, StoredNotice, random_id,
};

use super::{Findings, Subject};

/// Notices and messages that are read at once.
const PAGE: usize = 256;
/// How long a repair may take with the messages.
const LEASE: Duration = Duration::from_secs(20);
const REMEDY: &str = "`check --repair` gives it up";

/// Notices and messages that are damaged, by number.
#[derive(Default)]
pub(super) struct Damaged {
    notices: Vec<i64>,
    deliveries: Vec<i64>,
}

impl Damaged {
    pub(super) fn is_empty(&self) -> bool {
        self.notices.is_empty() && self.deliveries.is_empty()
    }
}

/// Judges what waits.
pub(super) async fn check(outbox: &dyn OutboxStore, findings: &mut Findings) -> Result<Damaged> {
    let mut damaged = Damaged::default();
    let (mut after_notice, mut after_delivery) = (i64::MIN, i64::MIN);
    loop {
        let page = outbox.outbox_page(after_notice, after_delivery, PAGE).await?;
        let OutboxPage { notices, deliveries } = &page;
        if notices.is_empty() && deliveries.is_empty() {
            return Ok(damaged);
        }
        after_notice = notices.last().map_or(after_notice, |last| last.number);
        after_delivery = deliveries.last().map_or(after_delivery, |last| last.number);
        for notice in notices.iter().filter(|notice| !notice.done && !is_readable(notice)) {
            let StoredNotice { issue, transition, .. } = notice;
            let text = format!("the notice of transition {transition} of {issue} is damaged: {REMEDY}");
            findings.problem(&Subject::Store, &text);
            damaged.notices.push(notice.number);
        }
        let waits = |delivery: &&Delivery| delivery.state == DeliveryState::Waiting;
        for delivery in deliveries.iter().filter(waits).filter(|delivery| !is_sendable(delivery)) {
            let text = format!("message {} to {} is damaged: {REMEDY}", delivery.key, delivery.route);
            findings.problem(&Subject::Store, &text);
            damaged.deliveries.push(delivery.number);
        }
    }
}

/// Gives up what is damaged. The pages of its issues say what it would have said.
pub(super) async fn repair(
    outbox: &dyn OutboxStore,
    damaged: Damaged,
    findings: &mut Findings,
) -> Result<()> {
    let holder = format!("check {}", random_id());
    if !outbox.delivery_lease(&holder, LEASE).await? {
        let text = "a collector sends messages now: stop all of them, and check again with --repair";
        findings.lost(&Subject::Store, text);
        return Ok(());
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let unix_ns = i64::try_from(now.as_nanos()).unwrap_or(i64::MAX);
    let count = damaged.notices.len() + damaged.deliveries.len();
    for number in damaged.deliveries {
        let error = Some("it was damaged".to_owned());
        let attempt = Attempt { unix_ns, state: DeliveryState::GivenUp, due_unix_ns: unix_ns, error };
        outbox.note_attempt(number, attempt).await?;
    }
    let notices = damaged.notices;
    outbox.dispatch(Dispatch { holder: holder.clone(), unix_ns, notices, deliveries: Vec::new() }).await?;
    outbox.delivery_lease(&holder, Duration::ZERO).await?;
    findings.repaired(&Subject::Store, &format!("{count} damaged messages of issues are given up"));
    Ok(())
}

fn is_readable(stored: &StoredNotice) -> bool {
    Notice::from_json(&stored.body).is_ok_and(|notice| {
        (&notice.issue.id, notice.transition.number) == (&stored.issue, stored.transition)
    })
}

fn is_sendable(delivery: &Delivery) -> bool {
    Message::from_json(&delivery.body)
        .is_ok_and(|message| (&message.id, &message.route) == (&delivery.key, &delivery.route))
}
