//! What nobody was told of yet: notices of transitions, and messages that wait. One that cannot be read, or is another
//! than it is stored as, would never be sent. The store judges that they are JSON, and notices those of their
//! transition.

use std::time::Duration;

use anyhow::{Error, Result};
use queryscope_collector::{Clock, SystemClock};
use queryscope_delivery::Message;
use queryscope_issues::Notice;
use queryscope_store::{
    Attempt, Delivery, DeliveryState, Dispatch, OutboxPage, OutboxStore, StoredNotice, random_id,
};
use serde_json::Value;

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
pub(super) async fn check(outbox: &dyn OutboxStore, findings: &mut Findings) -> Damaged {
    let mut damaged = Damaged::default();
    let (mut after_notice, mut after_delivery) = (i64::MIN, i64::MIN);
    loop {
        let page = match outbox.outbox_page(after_notice, after_delivery, PAGE).await {
            Ok(page) => page,
            // The store has been judged: what cannot be read at all may be mended there.
            Err(error) => {
                let text = format!("messages of issues cannot be read: {:#}", Error::from(error));
                findings.problem(&Subject::Store, &text);
                return damaged;
            }
        };
        let OutboxPage { notices, deliveries } = &page;
        if notices.is_empty() && deliveries.is_empty() {
            return damaged;
        }
        after_notice = notices.last().map_or(after_notice, |last| last.number);
        after_delivery = deliveries.last().map_or(after_delivery, |last| last.number);
        for notice in notices.iter().filter(|notice| !notice.done) {
            let StoredNotice { issue, transition, .. } = notice;
            let told = format!("the notice of transition {transition} of {issue} is damaged: {REMEDY}");
            if findings.judge(of_notice(notice), &told) {
                damaged.notices.push(notice.number);
            }
        }
        let waits = |delivery: &&Delivery| delivery.state == DeliveryState::Waiting;
        for delivery in deliveries.iter().filter(waits) {
            let told = format!("message {} to {} is damaged: {REMEDY}", delivery.key, delivery.route);
            if findings.judge(of_delivery(delivery), &told) {
                damaged.deliveries.push(delivery.number);
            }
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
    let unix_ns = SystemClock::new().unix_ns();
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

/// What is said of something that waits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Fine,
    Damaged,
    /// As the store has said already.
    ToldByStore,
}

impl Findings {
    /// Tells of what is damaged; whether it is.
    fn judge(&mut self, verdict: Verdict, told: &str) -> bool {
        if verdict == Verdict::Damaged {
            self.problem(&Subject::Store, told);
        }
        verdict != Verdict::Fine
    }
}

fn of_notice(stored: &StoredNotice) -> Verdict {
    let body: Value = serde_json::from_str(&stored.body).unwrap_or_default();
    if body["issue"]["id"] != *stored.issue || body["transition"]["number"] != stored.transition {
        return Verdict::ToldByStore;
    }
    if Notice::from_json(&stored.body).is_ok() { Verdict::Fine } else { Verdict::Damaged }
}

fn of_delivery(delivery: &Delivery) -> Verdict {
    if serde_json::from_str::<Value>(&delivery.body).is_err() {
        return Verdict::ToldByStore;
    }
    let is_same = |message: Message| (&message.id, &message.route) == (&delivery.key, &delivery.route);
    if Message::from_json(&delivery.body).is_ok_and(is_same) { Verdict::Fine } else { Verdict::Damaged }
}
