//! From notices of transitions to messages: one message for issues of one cause.
//!
//! Notices of one route, project and direction that are composed at once become one message where their changes came
//! with the same thing (a version, a deploy, a host, more rows of a table). Those of one service that came with nothing
//! become one where their runs have one version. An issue that opens later, within [`GROUP_LASTS`] of a message, joins
//! its group where its change came with the same thing: people are not told again, programs are. That runs merely have
//! one version joins nothing later, nothing of another service, and nothing that came with something: all runs may have
//! it, and a cause would be kept from people. Two services share no deploy and no version of a program.

use std::collections::HashSet;
use std::time::Duration;

use queryscope_issues::{Direction, Issue, Notice};

use crate::config::{Config, Receiver, Route};
use crate::facts::{Account, Facts};
use crate::message::{Member, Message};
use crate::words;

/// How long a group takes up further issues.
pub const GROUP_LASTS: Duration = Duration::from_hours(1);
/// Members a message holds.
const MEMBERS_MAX: usize = 100;

/// A group whose first message was made within the last hour.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    key: GroupKey,
    /// The service of its first issue.
    service: Option<String>,
    /// The id of its first message.
    id: String,
    facts: Facts,
}

#[derive(Debug, Clone, PartialEq)]
struct GroupKey {
    route: String,
    project: String,
    direction: Direction,
}

/// A message, and whether it is sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Made {
    /// The message.
    pub message: Message,
    /// Whether people were told of its group already, so that it is kept and not sent.
    pub joins: bool,
}

impl GroupKey {
    fn of(route: &Route, notice: &Notice, direction: Direction) -> Self {
        Self { route: route.name.clone(), project: notice.issue.project.clone(), direction }
    }
}

impl Group {
    /// The group of a message that was made earlier; `None` of a test.
    pub fn of(message: &Message) -> Option<Self> {
        let first = message.members.first()?;
        let Issue { project, service, .. } = first.issue.clone();
        let key = GroupKey { route: message.route.clone(), project, direction: message.direction? };
        Some(Self { key, service, id: message.group.clone(), facts: message.facts.clone() })
    }

    /// The groups of messages, the newest message first: each as its newest message says. A group whose first message
    /// is not among them is none any more.
    pub fn all(messages: &[Message]) -> Vec<Self> {
        let firsts = messages.iter().map(|message| (message.id.as_str(), message.route.as_str()));
        let mut firsts: HashSet<(&str, &str)> = firsts.collect();
        // The newest message of a group takes its first one out: the others are passed over.
        let newest = messages.iter().filter(|message| firsts.remove(&(&*message.group, &*message.route)));
        newest.filter_map(Self::of).collect()
    }
}

/// Notices that become one message.
struct Batch<'n> {
    key: GroupKey,
    /// The group they join.
    joined: Option<String>,
    facts: Facts,
    members: Vec<&'n (Notice, Account)>,
}

impl Batch<'_> {
    /// The service of the first of them.
    fn service(&self) -> Option<&str> {
        self.members.first().and_then(|(notice, _)| notice.issue.service.as_deref())
    }

    /// Whether an issue of these facts is one of these by what they share: what their changes came with, or, where
    /// neither came with anything, what runs of one service have. A group of before is joined by a cause alone.
    fn may_share(&self, facts: &Facts, shared: &Facts, service: Option<&str>) -> bool {
        let by_runs = self.joined.is_none()
            && self.service() == service
            && !self.facts.has_cause()
            && !facts.has_cause();
        shared.has_cause() || (by_runs && !shared.is_empty())
    }

    /// Whether a notice may be one of these; the same issue again is news of its own.
    fn takes(&self, key: &GroupKey, notice: &Notice) -> bool {
        // People are not told of what joins a group, and always of what came back.
        let is_told = self.joined.is_none() || notice.transition.from.is_none();
        self.key == *key && is_told && self.members.iter().all(|(known, _)| known.issue.id != notice.issue.id)
    }
}

/// The messages of notices, given the groups of the last hour.
pub fn compose(config: &Config, notices: &[(Notice, Account)], groups: &[Group], unix_ns: i64) -> Vec<Made> {
    let mut made = Vec::new();
    for route in &config.routes {
        let wanted = notices.iter().filter(|(notice, _)| {
            config.wants(route, notice)
                // A receiver of several routes is told by the first.
                && !config.routes.iter().take_while(|earlier| earlier.name != route.name).any(|earlier| {
                    earlier.receiver == route.receiver && config.wants(earlier, notice)
                })
        });
        for batch in batches(config, route, wanted, groups) {
            made.extend(messages(config, route, batch, unix_ns));
        }
    }
    made
}

fn batches<'n>(
    config: &Config,
    route: &Route,
    notices: impl Iterator<Item = &'n (Notice, Account)>,
    groups: &[Group],
) -> Vec<Batch<'n>> {
    let is_grouped = config.receiver(route).is_grouped();
    let mut batches: Vec<Batch<'n>> = Vec::new();
    // What came with something is sorted first: what merely runs with it must not hide it.
    let (caused, others): (Vec<_>, Vec<_>) = notices
        .map(|member| (member, Facts::new(&member.0.issue, &member.1)))
        .partition(|(_, facts)| facts.has_cause());
    for (member, facts) in caused.into_iter().chain(others) {
        let notice = &member.0;
        let direction = notice.direction();
        let key = GroupKey::of(route, notice, direction);
        let service = notice.issue.service.as_deref();
        // What people do is news of its own.
        let joins = is_grouped && direction != Direction::Moved;
        let mut taking = batches.iter_mut().filter(|batch| joins && batch.takes(&key, notice));
        let fits = taking.find_map(|batch| {
            let shared = batch.facts.shared(&facts, batch.service() == service);
            batch.may_share(&facts, &shared, service).then_some((batch, shared))
        });
        if let Some((batch, shared)) = fits {
            batch.facts = shared;
            batch.members.push(member);
            continue;
        }
        // What came back, or is over, is news whatever was told before.
        let joins = joins && notice.transition.from.is_none();
        let earlier = groups.iter().filter(|group| joins && group.key == key);
        let mut shared =
            earlier.map(|group| (group, group.facts.shared(&facts, group.service.as_deref() == service)));
        let joined = shared.find(|(_, shared)| shared.has_cause());
        let (joined, facts) = match joined {
            Some((group, shared)) => (Some(group.id.clone()), shared),
            None => (None, facts),
        };
        batches.push(Batch { key, joined, facts, members: vec![member] });
    }
    batches
}

/// The messages of a batch: one for people, and as many as hold all members for programs.
fn messages(config: &Config, route: &Route, mut batch: Batch<'_>, unix_ns: i64) -> Vec<Made> {
    let receiver = config.receiver(route);
    let stake = |member: &&(Notice, Account)| std::cmp::Reverse(member.0.issue.wall_ms_a_day as i64);
    batch.members.sort_by_key(stake);
    let joins = batch.joined.is_some() && receiver.is_for_people();
    let group = batch.joined.clone().unwrap_or_else(|| batch.members[0].0.key());
    let sentence = match batch.members.as_slice() {
        // That all runs have a version is said of several alone.
        [(notice, account)] => words::sentence(notice, account, &batch.facts.without_versions_of_runs()),
        all => words::group(all.iter().map(|(notice, _)| notice), batch.key.direction, &batch.facts),
    };
    let count = batch.members.len() as u64;
    let link = match batch.members.as_slice() {
        [(notice, _)] => config.issue_link(&notice.issue.id),
        _ => config.home_link(),
    };
    let parts = batch.members.chunks(MEMBERS_MAX);
    let parts = parts.take(if receiver.is_for_people() { 1 } else { usize::MAX });
    let part = |part: &[&(Notice, Account)]| Message {
        id: part[0].0.key(),
        group: group.clone(),
        route: route.name.clone(),
        direction: Some(batch.key.direction),
        unix_ns,
        sentence: sentence.clone(),
        facts: batch.facts.clone(),
        count: if receiver.is_for_people() { count } else { part.len() as u64 },
        members: part.iter().map(|(notice, account)| member(config, notice, account)).collect(),
        link: link.clone(),
    };
    parts.map(|members| Made { message: part(members), joins }).collect()
}

fn member(config: &Config, notice: &Notice, account: &Account) -> Member {
    let Notice { mut issue, transition } = notice.clone();
    let facts = Facts::of_change(&issue, account);
    issue.owner = config.owner_of(&issue).map(ToOwned::to_owned);
    Member {
        owner: issue.owner.clone(),
        sentence: words::sentence(notice, account, &facts),
        // Of what is over they are no news.
        account: if notice.direction() == Direction::Over { Vec::new() } else { account.sentences.clone() },
        link: config.issue_link(&issue.id),
        issue,
        transition,
    }
}

impl Receiver {
    /// Whether issues of one cause are one message to it.
    fn is_grouped(&self) -> bool {
        !matches!(self, Self::Alertmanager { .. })
    }

    /// Whether people read what it is sent.
    pub(crate) fn is_for_people(&self) -> bool {
        matches!(self, Self::Slack { .. } | Self::Email(_))
    }
}

#[cfg(test)]
pub(crate) mod tests;
