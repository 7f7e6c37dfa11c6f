//! From notices to stored messages.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use queryscope_delivery::{Account, GIVE_UP_AFTER, GROUP_LASTS, Group, Made, Message, compose};
use queryscope_diagnosis::{CauseKind, Change};
use queryscope_issues::{Issue, Notice};
use queryscope_store::{
    Attempt, Delivery, DeliveryState, Deploy, DeploySubject, Dispatch, NewDelivery, OUTBOX_FULL, RouteRecord,
    StoreError, StoredNotice, after_deploys, each_once,
};

use super::Shared;
use crate::clock::nanos;
use crate::evaluation;
use crate::read::deploys_of;

/// Notices that become messages at once.
const NOTICES_MAX: usize = 1_000;
/// Messages of the last hour that are looked at for their groups.
const RECENT_MAX: usize = 1_000;
/// How often messages are looked for whose route is gone, and how many are given up at once.
const ORPHANS_EVERY: Duration = Duration::from_mins(1);
const ORPHANS_MAX: usize = 1_000;

/// Makes messages of notices once the first has waited for others; `false` without the lease.
///
/// # Errors
/// When the store fails.
pub(super) async fn dispatch(shared: &Shared, holder: &str) -> Result<bool, StoreError> {
    let store = &shared.app.store;
    loop {
        let waiting = store.outbox().notices(NOTICES_MAX).await?;
        let unix_ns = shared.app.clock.unix_ns();
        let Some(first) = waiting.first() else { return Ok(true) };
        // A clock that was set back may be far from the time of a notice.
        if unix_ns.abs_diff(first.unix_ns) < shared.config.group_wait.as_nanos() as u64 {
            return Ok(true);
        }
        let numbers: Vec<i64> = waiting.iter().map(|notice| notice.number).collect();
        let notices = readable(shared, &waiting, unix_ns).await?;
        let since = unix_ns.saturating_sub(nanos(GROUP_LASTS));
        let recent = store.outbox().deliveries_since(since, RECENT_MAX).await?;
        // Who was never told of a group is not told that another issue joins it.
        let is_told =
            |delivery: &&Delivery| !matches!(delivery.state, DeliveryState::Refused | DeliveryState::GivenUp);
        let recent: Vec<Message> = recent
            .iter()
            .filter(is_told)
            .filter_map(|delivery| Message::from_json(&delivery.body).ok())
            .collect();
        let made = compose(&shared.config, &notices, &Group::all(&recent), unix_ns);
        let deliveries = made.iter().map(|made| delivery(made, unix_ns)).collect();
        let is_last = numbers.len() < NOTICES_MAX;
        let work = Dispatch { holder: holder.to_owned(), unix_ns, notices: numbers, deliveries };
        let Some(given_up) = store.outbox().dispatch(work).await? else { return Ok(false) };
        for (route, messages) in given_up {
            shared.app.delivery.given_up(&route, messages);
            tracing::warn!(route, messages, error = OUTBOX_FULL, "messages of issues were given up");
        }
        if is_last {
            return Ok(true);
        }
    }
}

/// Notices with what is known of their changes. Those that cannot be read, or are too old, are news to nobody.
async fn readable(
    shared: &Shared,
    waiting: &[StoredNotice],
    unix_ns: i64,
) -> Result<Vec<(Notice, Account)>, StoreError> {
    let too_old = unix_ns.saturating_sub(nanos(GIVE_UP_AFTER));
    let mut notices = Vec::new();
    for stored in waiting {
        let read = Notice::from_json(&stored.body);
        let Some(notice) = read.ok().filter(|_| stored.unix_ns >= too_old) else {
            shared.app.delivery.dropped();
            tracing::warn!(
                issue = stored.issue,
                transition = stored.transition,
                "nobody is told of a transition"
            );
            continue;
        };
        notices.push(notice);
    }
    let issues: Vec<&Issue> = notices.iter().map(|notice| &notice.issue).collect();
    let accounts = accounts(shared, &issues).await?;
    Ok(notices.into_iter().zip(accounts).collect())
}

/// What messages tell of the changes of issues.
///
/// # Errors
/// When the store fails.
pub(super) async fn accounts(shared: &Shared, issues: &[&Issue]) -> Result<Vec<Account>, StoreError> {
    let store = &shared.app.store;
    let deploys = deploys_of(store.deploys(), issues.iter().copied()).await?;
    let mut accounts = Vec::new();
    for (issue, deploys) in issues.iter().zip(deploys) {
        let change = match &issue.change {
            Some(change) => store.change(change).await?,
            None => None,
        };
        let change = change.and_then(|stored| evaluation::change(&stored).ok());
        let mut account = change.as_ref().map(account).unwrap_or_default();
        add_deploys(&mut account, &deploys);
        accounts.push(account);
    }
    Ok(accounts)
}

/// Tells of the deploys between the last good run and the first bad one. One alone is what the change came with; of
/// several it is not known which.
fn add_deploys(account: &mut Account, deploys: &[Deploy]) {
    if let [deploy] = each_once(deploys)[..] {
        let name = match deploy.subject {
            DeploySubject::Program => "deploy",
            DeploySubject::Engine => "engine_version",
        };
        account.causes.entry(name.to_owned()).or_insert_with(|| deploy.words().to_owned());
    }
    account.sentences.extend(after_deploys(deploys).map(|words| format!("It began {words}")));
}

fn delivery(made: &Made, unix_ns: i64) -> NewDelivery {
    let state = if made.joins { DeliveryState::Joined } else { DeliveryState::Waiting };
    NewDelivery {
        route: made.message.route.clone(),
        key: made.message.id.clone(),
        created_unix_ns: unix_ns,
        state,
        body: made.message.to_json(),
    }
}

/// What messages tell of a change.
fn account(change: &Change) -> Account {
    let mut causes = BTreeMap::new();
    for cause in &change.causes {
        if let Some(dimension) = &cause.dimension
            && let Some(after) = &dimension.after
            // What all runs of an environment have is no cause of one of them.
            && dimension.name != "environment"
        {
            causes.entry(dimension.name.clone()).or_insert_with(|| after.clone());
        }
        if cause.cause == CauseKind::MoreRows
            && let Some(table) = cause.node.as_ref().and_then(|node| node.table.as_ref())
        {
            causes.entry("table".to_owned()).or_insert_with(|| table.clone());
        }
    }
    let sentences = change.causes.iter().filter(|cause| cause.cause != CauseKind::Unexplained);
    Account {
        wall_ms: change.before.median_wall_ms.zip(change.after.median_wall_ms),
        sentences: sentences.map(|cause| cause.sentence.clone()).collect(),
        causes,
    }
}

/// Gives up messages to routes that the file does not name any more.
#[derive(Debug, Default)]
pub(super) struct Orphans {
    looked_at: Option<Instant>,
}

impl Orphans {
    pub(super) async fn give_up(&mut self, shared: &Shared) -> Result<(), StoreError> {
        if self.looked_at.is_some_and(|at| at.elapsed() < ORPHANS_EVERY) {
            return Ok(());
        }
        let outbox = shared.app.store.outbox();
        let is_orphan =
            |record: &RouteRecord| record.waiting > 0 && shared.config.route(&record.route).is_none();
        for record in outbox.route_records().await?.into_iter().filter(is_orphan) {
            let unix_ns = shared.app.clock.unix_ns();
            let orphans = outbox.due_deliveries(&record.route, i64::MAX, ORPHANS_MAX).await?;
            let (route, messages) = (&record.route, orphans.len());
            tracing::warn!(route, messages, "the file names a route no more: its messages are given up");
            for delivery in orphans {
                let error = Some("the file names its route no more".to_owned());
                let attempt = Attempt { unix_ns, state: DeliveryState::GivenUp, due_unix_ns: unix_ns, error };
                outbox.note_attempt(delivery.number, attempt).await?;
                shared.app.delivery.noted(&record.route, DeliveryState::GivenUp);
            }
        }
        self.looked_at = Some(queryscope_store::now());
        Ok(())
    }
}
