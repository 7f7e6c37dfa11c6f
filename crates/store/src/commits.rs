//! The change feed: what a store has committed, in order, for its followers.
//!
//! A follower has a bounded queue. One that falls behind, or begins while a commit is made, is told that it lost some
//! ([`Heard::Lost`]) and reads the store again. The store never waits for a follower.

use std::sync::Arc;

use queryscope_issues::Issue;
use queryscope_protocol::QueryId;
use tokio::sync::broadcast;

use crate::diagnosis::StoredChange;
use crate::query::{Query, Status};
use crate::recording::ChunkInfo;

/// Commits a follower may be behind before it loses some.
const COMMITS_KEPT: usize = 256;

/// What one commit did to one query.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The query.
    pub query_id: QueryId,
    /// Its state after the commit.
    pub status: Status,
    /// Whether its state or what its summary shows is another than before.
    pub moved: bool,
    /// The whole query after the commit when it is new.
    pub new: Option<Box<Query>>,
    /// Where its new events are; `None` when only its state changed.
    pub chunk: Option<ChunkInfo>,
}

/// What a follower hears next.
#[derive(Debug, Clone, PartialEq)]
pub enum Heard {
    /// The changes of one commit, in their order.
    Changes(Arc<[Change]>),
    /// Changes of queries that an evaluation found, on whichever collector.
    Found(Arc<[StoredChange]>),
    /// Issues that made a transition, as they are now, on whichever collector.
    Issues(Arc<[Issue]>),
    /// Commits were lost, because the follower was too far behind or began to follow while one was made: what
    /// they did must be read from the store.
    Lost,
}

/// Follows the commits of a store from the moment it was made.
#[derive(Debug)]
pub struct Commits(broadcast::Receiver<Heard>);

impl Commits {
    /// Waits for the next commit; `None` when the store is gone. Cancel safe.
    pub async fn next(&mut self) -> Option<Heard> {
        match self.0.recv().await {
            Ok(heard) => Some(heard),
            Err(broadcast::error::RecvError::Lagged(_)) => Some(Heard::Lost),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }

    /// A commit that can be heard without waiting.
    pub fn try_next(&mut self) -> Option<Heard> {
        match self.0.try_recv() {
            Ok(heard) => Some(heard),
            Err(broadcast::error::TryRecvError::Lagged(_)) => Some(Heard::Lost),
            Err(_) => None,
        }
    }
}

/// The store's end: tells followers of commits.
#[derive(Debug, Clone)]
pub struct CommitFeed(broadcast::Sender<Heard>);

impl CommitFeed {
    /// A feed nobody follows.
    pub fn new() -> Self {
        Self(broadcast::Sender::new(COMMITS_KEPT))
    }

    /// A new follower.
    pub fn follow(&self) -> Commits {
        Commits(self.0.subscribe())
    }

    /// Whether anybody follows: without, a store need not note changes.
    pub fn is_followed(&self) -> bool {
        self.0.receiver_count() > 0
    }

    /// Tells of a commit that is durable.
    pub fn publish(&self, changes: Vec<Change>) {
        if !changes.is_empty() {
            // The last follower may have gone meanwhile.
            let _ = self.0.send(Heard::Changes(changes.into()));
        }
    }

    /// Tells of changes of queries that are durable.
    pub fn publish_found(&self, found: Vec<StoredChange>) {
        if !found.is_empty() {
            let _ = self.0.send(Heard::Found(found.into()));
        }
    }

    /// Tells of issues whose transitions are durable.
    pub fn publish_issues(&self, issues: Vec<Issue>) {
        if !issues.is_empty() {
            let _ = self.0.send(Heard::Issues(issues.into()));
        }
    }

    /// Tells of a durable commit whose changes were not noted, because nobody followed when it began.
    pub fn publish_unnoted(&self) {
        if self.is_followed() {
            let _ = self.0.send(Heard::Lost);
        }
    }
}

impl Default for CommitFeed {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn change(number: u128) -> Change {
        let query_id = QueryId::new(Uuid::from_u128(number));
        Change { query_id, status: Status::Running, moved: false, new: None, chunk: None }
    }

    #[test]
    fn who_is_too_far_behind_is_told_so_once() {
        let feed = CommitFeed::new();
        assert!(!feed.is_followed());
        let mut follower = feed.follow();
        assert!(feed.is_followed());
        for number in 0..=COMMITS_KEPT as u128 {
            feed.publish(vec![change(number)]);
        }
        assert_eq!(follower.try_next(), Some(Heard::Lost));
        assert_eq!(follower.try_next(), Some(Heard::Changes([change(1)].into())));
    }

    #[test]
    fn nothing_is_no_commit() {
        let feed = CommitFeed::new();
        let mut follower = feed.follow();
        feed.publish(Vec::new());
        assert_eq!(follower.try_next(), None);
    }
}
