//! The interface of a store.

use std::sync::Arc;

use async_trait::async_trait;
use queryscope_history::Window;
use queryscope_protocol::{QueryId, StreamId};

use crate::analysis::{
    Facets, GroupBy, GroupEntry, GroupsAnswer, GroupsRequest, OverviewAnswer, OverviewEntry, OverviewRequest,
    VersionEntry,
};
use crate::background::Foreground;
use crate::batch::StreamBatch;
use crate::commits::Commits;
use crate::error::StoreError;
use crate::filter::{ListRequest, Position, QueryFilter};
use crate::kept::{Account, Kept, Loss};
use crate::query::Query;
use crate::recording::{RecordingParts, Sealed};
use crate::seen::Run;
use crate::token::TokenRecord;

/// What became of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Committed {
    /// Events stored by it.
    pub accepted: u64,
    /// Events that had been stored before.
    pub duplicates: u64,
}

/// A query and its place in the list.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    /// The query.
    pub query: Query,
    /// Where the list goes on after it.
    pub position: Position,
}

/// A query that retention took out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deleted {
    /// The query.
    pub query_id: QueryId,
    /// Its sealed recording, to be deleted.
    pub sealed_path: Option<String>,
}

/// What has been seen of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamSeen {
    /// The stream.
    pub stream_id: StreamId,
    /// The project it belongs to.
    pub project: String,
    /// Its process event as it was first sent, without its line feed.
    pub process_line: String,
    /// Its seqs, ascending, disjoint.
    pub seen: Vec<Run>,
}

/// Figures of a store for its operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StoreStats {
    /// Bytes on disk without recordings.
    pub bytes: u64,
    /// Of these, bytes of the write-ahead log.
    pub log_bytes: u64,
    /// Queries that run.
    pub running: u64,
    /// Queries that do not run and have chunks that are not sealed, counted up to [`StoreStats::UNSEALED_MAX`].
    pub unsealed: u64,
    /// Work that waits to be written.
    pub queued: u64,
}

impl StoreStats {
    /// Where counting what waits to be sealed ends: it takes a step for each.
    pub const UNSEALED_MAX: usize = 10_000;
}

/// Keeps events, queries and what has been seen, durably: a call that has returned `Ok` survives the loss of
/// power.
///
/// Dropping a future of a write does not undo it: it may still happen.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Stores a batch, whole or not at all: each event that has not been seen yet, once.
    ///
    /// A stream belongs to the project that first sent it, a query to the stream that first reported it.
    ///
    /// # Errors
    /// [`StoreError::ForeignStream`] and [`StoreError::ForeignQuery`] refuse the batch; any other error is
    /// the store's.
    async fn commit(&self, batch: StreamBatch) -> Result<Committed, StoreError>;

    /// The commits under way, to which background work gives way.
    fn foreground(&self) -> Arc<Foreground> {
        Arc::default()
    }

    /// Ends running queries of which nothing has been heard since `heard_before_unix_ms` as unfinished, and
    /// gives back how many.
    async fn end_silent(&self, heard_before_unix_ms: i64) -> Result<u64, StoreError>;

    /// Notes that everything running was heard of at `now_unix_ms`: what a restart grants.
    async fn refresh_running(&self, now_unix_ms: i64) -> Result<(), StoreError>;

    /// Follows the commits from now on: what each did to which query, in the order they were made, once they
    /// are durable. Events that were stored before are never among them.
    ///
    /// What is read from the store afterwards and what is heard together leave nothing out. A follower that falls
    /// behind by more than some hundred commits is told that it lost some ([`Heard::Lost`](crate::Heard::Lost)) and
    /// reads the store again; the store never waits for it. One that began while a commit was made may be told
    /// the same.
    fn commits(&self) -> Commits;

    /// One query.
    async fn query(&self, id: QueryId) -> Result<Option<Query>, StoreError>;

    /// One page of the list.
    async fn queries(&self, request: ListRequest) -> Result<Vec<Listed>, StoreError>;

    /// How many of the queries a filter keeps (its search left out) each value of a field has.
    async fn facets(&self, filter: QueryFilter) -> Result<Facets, StoreError>;

    /// The queries a filter keeps (its search left out) by label or plan, in the order of [`GroupPlace`](crate::GroupPlace).
    /// Queries without one belong to no group.
    async fn groups(&self, request: GroupsRequest) -> Result<GroupsAnswer, StoreError>;

    /// All groups, unpacked.
    async fn all_groups(&self, filter: QueryFilter, by: GroupBy) -> Result<Vec<GroupEntry>, StoreError> {
        let request = GroupsRequest { filter, by, after: None, limit: None };
        Ok(self.groups(request).await?.entries.iter().collect())
    }

    /// The plans that queries of a label finished with at least once, among those a filter keeps (its search
    /// left out), the one that ran last first.
    async fn versions(&self, filter: QueryFilter) -> Result<Vec<VersionEntry>, StoreError>;

    /// How the labels are doing that ran in a range, among the queries a filter keeps (its times and search left
    /// out), in the order of [`OverviewPlace`](crate::OverviewPlace).
    async fn overview(&self, request: OverviewRequest) -> Result<OverviewAnswer, StoreError>;

    /// The whole overview, unpacked.
    async fn whole_overview(
        &self,
        filter: QueryFilter,
        window: Window,
    ) -> Result<Vec<OverviewEntry>, StoreError> {
        let answer = self.overview(OverviewRequest::whole(filter, window)).await?;
        Ok(answer.entries.iter().collect())
    }

    /// Engines that events of the store carry, in alphabetical order.
    async fn engines(&self) -> Result<Vec<String>, StoreError>;

    /// Where the events of a query are; `None` when there is no such query.
    async fn recording(&self, id: QueryId) -> Result<Option<RecordingParts>, StoreError>;

    /// Reads chunks by id, in that order; `None` for one that has been sealed or deleted meanwhile.
    async fn chunks(&self, ids: Vec<i64>) -> Result<Vec<Option<Vec<u8>>>, StoreError>;

    /// Up to `limit` queries that do not run and have chunks that are not sealed, in the order they were first
    /// stored.
    async fn unsealed(&self, limit: usize) -> Result<Vec<QueryId>, StoreError>;

    /// Points queries to recordings that have been written, and deletes the chunks these replace. Gives back
    /// the paths nothing points to any more: of recordings that were replaced under another path, of queries that
    /// are gone, and of recordings that came too late.
    ///
    /// Of several that write the recording of one query under paths of their own, one counts: a recording comes
    /// too late, and changes nothing, when the query points neither to its path nor to the recording it replaces,
    /// or when it points to the latter and one of the chunks is gone.
    async fn seal(&self, sealed: Vec<Sealed>) -> Result<Vec<String>, StoreError>;

    /// Deletes up to `limit` queries that do not run and started before; what has been seen of their streams
    /// stays.
    async fn delete_before(&self, started_unix_ns: i64, limit: usize) -> Result<Vec<Deleted>, StoreError>;

    /// Up to `limit` queries in the order they were first stored, after the place of the last one (`tie` of
    /// its position).
    async fn scan(&self, after: Option<i64>, limit: usize) -> Result<Vec<Listed>, StoreError>;

    /// As [`Store::scan`], places and ids alone: also of queries of which nothing else can be read.
    async fn query_ids(&self, after: Option<i64>, limit: usize) -> Result<Vec<(i64, QueryId)>, StoreError> {
        let listed = self.scan(after, limit).await?;
        Ok(listed.iter().map(|listed| (listed.position.tie, listed.query.query_id)).collect())
    }

    /// What a query was given: without it, nobody could tell that an event is missing. Of each stream, as many
    /// events have been seen as its queries were given and no query keeps ([`Store::unkept`]).
    ///
    /// `None` when there is no such query, or a version stored it that did not count.
    async fn account(&self, _id: QueryId) -> Result<Option<Account>, StoreError> {
        Ok(None)
    }

    /// Queries as they are kept, in the order asked; `None` for one that is not there. Of one that is written to
    /// meanwhile the account may be older than the rest.
    ///
    /// # Errors
    /// For all of them when one can not be read.
    async fn kept(&self, ids: &[QueryId]) -> Result<Vec<Option<Kept>>, StoreError> {
        let mut all = Vec::with_capacity(ids.len());
        for id in ids {
            let account = self.account(*id).await?;
            let parts = self.recording(*id).await?;
            all.push(parts.map(|parts| Kept { parts, account }));
        }
        Ok(all)
    }

    /// How many of the events seen of a stream no query keeps: they were of none, or of one that was deleted.
    ///
    /// `None` when there is no such stream, or a version began it that did not count.
    async fn unkept(&self, _id: StreamId) -> Result<Option<u64>, StoreError> {
        Ok(None)
    }

    /// What repairs found to be lost of a stream, in the order it was found. It outlives the queries: of those that
    /// are gone, the events are among what no query keeps ([`Store::unkept`]).
    async fn losses(&self, id: StreamId) -> Result<Vec<Loss>, StoreError>;

    /// Takes over losses that were recorded elsewhere; those that are there already change nothing.
    async fn record_losses(&self, losses: Vec<Loss>) -> Result<(), StoreError>;

    /// Writes what changes nothing: whether the store can be written to again after it was full.
    async fn probe(&self) -> Result<(), StoreError>;

    /// Up to `limit` streams after the last one, in an order of the store's own.
    async fn streams(&self, after: Option<StreamId>, limit: usize) -> Result<Vec<StreamSeen>, StoreError>;

    /// All tokens, by name.
    async fn tokens(&self) -> Result<Vec<TokenRecord>, StoreError>;

    /// Adds a token; `false` when its name is taken.
    async fn add_token(&self, token: TokenRecord) -> Result<bool, StoreError>;

    /// Takes a token out; `false` when there is none of that name.
    async fn revoke_token(&self, name: &str) -> Result<bool, StoreError>;

    /// Judges the store's own structure: a sentence for each thing that is not as it should be.
    async fn verify(&self) -> Result<Vec<String>, StoreError>;

    /// Figures for the operator.
    async fn stats(&self) -> Result<StoreStats, StoreError>;

    /// Finishes what has been accepted and releases the store; every later call is refused.
    async fn close(&self) -> Result<(), StoreError>;
}
