//! [`Senders`]: what this collector heard of each sender since its start.
//!
//! All of it is in memory, and bounded. Each collector knows its own senders. A request takes the lock once, however
//! many events it has.

use std::collections::HashMap;

use parking_lot::Mutex;
use queryscope_protocol::StreamId;
use queryscope_store::Committed;

use crate::error::ApiError;
use crate::ingest::Heard;

/// Senders that are known at once.
const SENDERS_MAX: usize = 4096;
/// How many leave when another comes, those heard longest ago: looking for one alone would take as long.
const LEAVING: usize = SENDERS_MAX / 8;
/// Characters of the reason of a refusal that are kept.
const REASON_CHARS_MAX: usize = 300;
/// Batches over which a delay is the smallest.
const DELAYS: usize = 8;

/// What tells senders of a project apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Identity {
    /// The stream of a process.
    Stream(StreamId),
    /// A `User-Agent`, where a request was refused before its process was known.
    Agent(Option<String>),
}

/// A sender of a project.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    project: String,
    identity: Identity,
}

/// What a process says it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) service: Option<String>,
    pub(crate) environment: Option<String>,
    pub(crate) program_version: Option<String>,
    pub(crate) host: String,
}

/// The last refusal of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) unix_ns: i64,
    pub(crate) status: u16,
    pub(crate) reason: String,
}

/// What is known of a sender.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sender {
    /// As the first batch that told it had it.
    pub(crate) named: Option<Named>,
    /// The `User-Agent` of the last request that had one.
    pub(crate) agent: Option<String>,
    pub(crate) first_unix_ns: i64,
    pub(crate) last_unix_ns: i64,
    /// Batches that were stored.
    pub(crate) batches: u64,
    pub(crate) events: u64,
    pub(crate) duplicates: u64,
    /// Batches that were refused.
    pub(crate) refused: u64,
    pub(crate) refusal: Option<Refusal>,
    /// Events that the sender says it dropped since its start.
    pub(crate) dropped: Option<u64>,
    delays: Delays,
    /// The number of its last request among all.
    request: u64,
}

impl Sender {
    /// The smallest time from the newest moment that a batch tells to the receipt of its head, in nanoseconds, of the
    /// last [`DELAYS`] batches that told one.
    ///
    /// It is what the sender's clock is behind this one, and the wait in the sender and on the way: never less than
    /// the former.
    pub(crate) fn delay_ns(&self) -> Option<i64> {
        self.delays.smallest()
    }

    /// Takes over what a request tells; how many more events it says were dropped.
    fn hear(&mut self, heard: &mut Heard) -> u64 {
        self.last_unix_ns = heard.at_unix_ns;
        if self.named.is_none() {
            self.named = heard.process.take().map(|(_, named)| named);
        }
        if heard.agent.is_some() {
            self.agent = heard.agent.take();
        }
        // Requests may overtake each other; the number only grows.
        let known = self.dropped.unwrap_or_default();
        self.dropped = self.dropped.max(heard.dropped);
        self.dropped.unwrap_or_default() - known
    }

    fn note(&mut self, heard: &Heard, outcome: Result<&Committed, &ApiError>) {
        match outcome {
            Ok(committed) => {
                self.batches += 1;
                self.events += committed.accepted;
                self.duplicates += committed.duplicates;
                if let Some(newest_unix_ns) = heard.newest_unix_ns {
                    self.delays.add(heard.at_unix_ns.saturating_sub(newest_unix_ns));
                }
            }
            Err(error) => {
                self.refused += 1;
                self.refusal = Some(Refusal {
                    unix_ns: heard.at_unix_ns,
                    status: error.status().as_u16(),
                    reason: error.to_string().chars().take(REASON_CHARS_MAX).collect(),
                });
            }
        }
    }
}

/// The delays of the last batches.
#[derive(Debug, Clone, Default)]
struct Delays {
    last_ns: [i64; DELAYS],
    told: usize,
}

impl Delays {
    fn add(&mut self, ns: i64) {
        self.last_ns[self.told % DELAYS] = ns;
        self.told += 1;
    }

    fn smallest(&self) -> Option<i64> {
        self.last_ns[..self.told.min(DELAYS)].iter().copied().min()
    }
}

/// Senders as a reader sees them.
#[derive(Debug)]
pub(crate) struct Listed {
    /// How many there are.
    pub(crate) known: usize,
    /// With their projects, that heard last first; not more than were asked for.
    pub(crate) senders: Vec<(String, Identity, Sender)>,
}

/// The senders that this collector heard of.
#[derive(Debug)]
pub(crate) struct Senders {
    since_unix_ns: i64,
    heard: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    senders: HashMap<Key, Sender>,
    /// Requests so far.
    requests: u64,
}

impl Senders {
    pub(crate) fn new(since_unix_ns: i64) -> Self {
        Self { since_unix_ns, heard: Mutex::default() }
    }

    /// Since when senders are heard: the start of this collector.
    pub(crate) fn since_unix_ns(&self) -> i64 {
        self.since_unix_ns
    }

    /// Notes a request and what became of it; how many more events its sender says it dropped.
    pub(crate) fn note(&self, mut heard: Heard, outcome: Result<&Committed, &ApiError>) -> u64 {
        let key = Key { project: std::mem::take(&mut heard.project), identity: heard.identity() };
        if matches!(key.identity, Identity::Agent(_)) {
            // It may be that of several processes.
            heard.dropped = None;
        }
        let mut known = self.heard.lock();
        known.requests += 1;
        let request = known.requests;
        if known.senders.len() >= SENDERS_MAX && !known.senders.contains_key(&key) {
            known.forget();
        }
        let new = || Sender { first_unix_ns: heard.at_unix_ns, ..Sender::default() };
        let sender = known.senders.entry(key).or_insert_with(new);
        sender.request = request;
        sender.note(&heard, outcome);
        sender.hear(&mut heard)
    }

    /// The senders of the projects that are kept, up to `limit`.
    pub(crate) fn list(&self, limit: usize, keeps: impl Fn(&str) -> bool) -> Listed {
        let known = self.heard.lock();
        let mut kept: Vec<_> = known.senders.iter().filter(|(key, _)| keeps(&key.project)).collect();
        kept.sort_unstable_by_key(|(_, sender)| std::cmp::Reverse(sender.request));
        let senders = kept.iter().take(limit);
        let senders = senders
            .map(|(key, sender)| (key.project.clone(), key.identity.clone(), (*sender).clone()))
            .collect();
        Listed { known: kept.len(), senders }
    }
}

impl Known {
    /// Forgets those heard longest ago.
    fn forget(&mut self) {
        let mut requests: Vec<u64> = self.senders.values().map(|sender| sender.request).collect();
        let (_, last, _) = requests.select_nth_unstable(LEAVING - 1);
        let last = *last;
        self.senders.retain(|_, sender| sender.request > last);
    }
}

#[cfg(test)]
mod tests;
