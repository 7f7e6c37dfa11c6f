//! The interface of a store: commits of batches, rows of runs, the change feed, and answers over many runs.
//!
//! The wire format calls a run a query, and so do most names here. Every store passes the suite in `testsuite.rs`.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use queryscope_history::{Group, LabelOverview, Version, Window};
use queryscope_issues::{Issue, Note};
use queryscope_protocol::QueryId;

use crate::access::AccessStore;
use crate::analysis::{
    Facets, GroupBy, GroupsAnswer, GroupsRequest, OverviewAnswer, OverviewRequest, OwnerOf, Places, Series,
    SeriesRequest,
};
use crate::background::Foreground;
use crate::batch::StreamBatch;
use crate::commits::Commits;
use crate::deploys::DeployStore;
use crate::diagnosis::{
    ChangesRequest, Evaluation, HistoryRevision, PendingRun, QueryHistory, QueryKey, StoredChange,
};
use crate::error::StoreError;
use crate::filter::{ListRequest, Position, QueryFilter};
use crate::issues::{IssueCount, IssueMoved, IssueRecord, IssueStep, IssuesRequest, NoteAdded};
use crate::notes::NoteStore;
use crate::outbox::OutboxStore;
use crate::query::Query;
use crate::recording::{Pack, RecordingParts, Sealed};
use crate::token::TokenRecord;
use crate::views::ViewStore;

/// What became of a batch.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Committed {
    /// Events stored by it.
    pub accepted: u64,
    /// Events that had been stored before.
    pub duplicates: u64,
    /// Runs that it ended: their first end is among the stored events.
    pub ended: Vec<QueryId>,
}

/// One group commit, as its observer sees it.
#[derive(Debug, Clone, Copy)]
pub struct CommitGroup {
    /// Requests in the group.
    pub requests: usize,
    /// From the begin of the transaction until it was durable.
    pub took: Duration,
}

/// A query and its place in the list.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    /// The query.
    pub query: Query,
    /// Where the list goes on after it.
    pub position: Position,
}

/// What retention took out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Deleted {
    /// The queries.
    pub queries: Vec<QueryId>,
    /// Paths that nothing points to any more: of their own recordings, and of packs of which they were the last.
    pub orphans: Vec<String>,
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

    /// How many of the queries a filter keeps (its search left out) each value of a field has. The filter
    /// [asks for no texts](QueryFilter::asks_for_texts) that rows alone have, and its conditions on figures but wall
    /// time are of figures rounded to 11 binary digits.
    async fn facets(&self, filter: QueryFilter) -> Result<Facets, StoreError>;

    /// The queries a filter keeps (its search left out) by label or plan, in the order of
    /// [`GroupPlace`](crate::GroupPlace). Queries without one belong to no group.
    async fn groups(&self, request: GroupsRequest) -> Result<GroupsAnswer, StoreError>;

    /// All groups, unpacked.
    async fn all_groups(&self, filter: QueryFilter, by: GroupBy) -> Result<Vec<Group<'static>>, StoreError> {
        let request = GroupsRequest { filter, by, after: None, limit: None };
        Ok(self.groups(request).await?.entries.iter().collect())
    }

    /// The plans that queries of a label finished with at least once, among those a filter keeps (its search
    /// left out), the one that ran last first.
    async fn versions(&self, filter: QueryFilter) -> Result<Vec<Version>, StoreError>;

    /// How the times of the runs a filter keeps (its times and search left out) developed over a range.
    async fn series(&self, request: SeriesRequest) -> Result<Series, StoreError>;

    /// The queries a filter keeps (its search left out) by service, environment and host, and by owner where something
    /// names owners.
    async fn place_totals(
        &self,
        filter: QueryFilter,
        owner_of: Option<OwnerOf>,
    ) -> Result<Places, StoreError>;

    /// How the labels are doing that ran in a range, among the queries a filter keeps (its times and search left
    /// out), in the order of [`OverviewPlace`](crate::OverviewPlace).
    async fn overview(&self, request: OverviewRequest) -> Result<OverviewAnswer, StoreError>;

    /// The whole overview, unpacked.
    async fn whole_overview(
        &self,
        filter: QueryFilter,
        window: Window,
    ) -> Result<Vec<LabelOverview<'static>>, StoreError> {
        let answer = self.overview(OverviewRequest::whole(filter, window)).await?;
        Ok(answer.entries.iter().collect())
    }

    /// Engines that events of the store carry, in alphabetical order.
    async fn engines(&self) -> Result<Vec<String>, StoreError>;

    /// Where the events of a query are; `None` when there is no such query.
    async fn recording(&self, id: QueryId) -> Result<Option<RecordingParts>, StoreError>;

    /// Where the events of queries are, in the order asked; `None` for one that is not there.
    ///
    /// # Errors
    /// For all of them when one cannot be read.
    async fn recordings(&self, ids: &[QueryId]) -> Result<Vec<Option<RecordingParts>>, StoreError>;

    /// Reads chunks by id, in that order; `None` for one that has been sealed or deleted meanwhile.
    async fn chunks(&self, ids: Vec<i64>) -> Result<Vec<Option<Vec<u8>>>, StoreError>;

    /// Up to `limit` queries that do not run and have chunks that are not sealed, in the order they were first
    /// stored.
    async fn unsealed(&self, limit: usize) -> Result<Vec<QueryId>, StoreError>;

    /// Points queries to recordings that have been written, and deletes the chunks these replace. Gives back
    /// the paths nothing points to any more: of recordings that were replaced under another path, of queries that
    /// are gone, of recordings that came too late, and of packs with no recording that counts.
    ///
    /// Of several that write the recording of one query under paths of their own, one counts: a recording comes
    /// too late, and changes nothing, when the query points neither to its path nor to the recording it replaces,
    /// or when it points to the latter and one of the chunks is gone. A recording in a pack comes too late, too, when
    /// the pack was [given up](Store::give_up_pack).
    async fn seal(&self, sealed: Vec<Sealed>) -> Result<Vec<String>, StoreError>;

    /// The packs of a UTC day (since 1970-01-01) that queries point to.
    async fn packs(&self, day: i64) -> Result<Vec<Pack>, StoreError>;

    /// Gives up a pack that no query points to: from now on none ever will. `false`, and nothing is done, when one
    /// does.
    async fn give_up_pack(&self, pack: Pack) -> Result<bool, StoreError>;

    /// Deletes up to `limit` queries that do not run and started before; what has been seen of their streams
    /// stays.
    async fn delete_before(&self, started_unix_ns: i64, limit: usize) -> Result<Deleted, StoreError>;

    /// Writes what changes nothing: whether the store can be written to again after it was full.
    async fn probe(&self) -> Result<(), StoreError>;

    /// Up to `limit` runs that wait for their evaluation, in the order of their places, after a place.
    async fn pending_runs(&self, after: Option<i64>, limit: usize) -> Result<Vec<PendingRun>, StoreError>;

    /// Takes or renews the lease on evaluations for `ttl` from now: `false` when another holder has it. A store that
    /// one process has for itself always gives it.
    async fn evaluation_lease(&self, holder: &str, ttl: Duration) -> Result<bool, StoreError>;

    /// Stores what evaluations found, moves issues by what they saw, and takes the runs they consumed out of the
    /// inbox, whole or not at all; nothing, and `false`, when the holder does not have the lease. Followers of commits
    /// are told of changes that are to be told ([`Heard::Found`](crate::Heard::Found)), and of issues that made a
    /// transition ([`Heard::Issues`](crate::Heard::Issues)); where they are behind, they are not.
    async fn record_evaluation(&self, evaluation: Evaluation) -> Result<bool, StoreError>;

    /// What is known of the runs of a query; `None` when none was evaluated.
    async fn query_history(&self, key: &QueryKey) -> Result<Option<QueryHistory>, StoreError>;

    /// The revision of what is known of the runs of a query; `None` when none was evaluated.
    async fn history_revision(&self, key: &QueryKey) -> Result<Option<HistoryRevision>, StoreError> {
        Ok(self.query_history(key).await?.map(|history| history.revision()))
    }

    /// Up to `limit` queries of which runs were evaluated, after one, in an order of the store's own.
    async fn evaluated_queries(
        &self,
        after: Option<QueryKey>,
        limit: usize,
    ) -> Result<Vec<QueryKey>, StoreError>;

    /// Deletes what evaluations found of a query: its runs are evaluated anew, as those of a format without features
    /// are. `false`, and nothing is done, without the lease.
    async fn forget_evaluation(&self, holder: &str, key: &QueryKey) -> Result<bool, StoreError>;

    /// Whether all queries were brought forward from a format without features: those of a new store are.
    async fn is_brought_forward(&self) -> Result<bool, StoreError>;

    /// Notes that all queries were brought forward.
    async fn mark_brought_forward(&self) -> Result<(), StoreError>;

    /// One page of the changes, in the order of [`ChangePlace`](crate::ChangePlace).
    async fn changes(&self, request: ChangesRequest) -> Result<Vec<StoredChange>, StoreError>;

    /// One change.
    async fn change(&self, id: &str) -> Result<Option<StoredChange>, StoreError>;

    /// One page of the issues, in the order of [`IssuePlace`](crate::IssuePlace).
    async fn issues(&self, request: IssuesRequest) -> Result<Vec<Issue>, StoreError>;

    /// One issue, with its transitions and notes.
    async fn issue(&self, id: &str) -> Result<Option<IssueRecord>, StoreError>;

    /// Moves an issue as it is in the store at that moment, and adds the transition, in one transaction. Followers of
    /// commits are told ([`Heard::Issues`](crate::Heard::Issues)).
    async fn move_issue(&self, id: &str, step: IssueStep, unix_ns: i64) -> Result<IssueMoved, StoreError>;

    /// Adds a note to an issue.
    async fn note_issue(&self, id: &str, note: Note) -> Result<NoteAdded, StoreError>;

    /// Ids of up to `limit` muted issues whose time is over at `unix_ns`.
    async fn mutes_due(&self, unix_ns: i64, limit: usize) -> Result<Vec<String>, StoreError>;

    /// How many issues there are of each kind and state; those of which there are none may be left out.
    async fn issue_counts(&self) -> Result<Vec<IssueCount>, StoreError>;

    /// All tokens, by name.
    async fn tokens(&self) -> Result<Vec<TokenRecord>, StoreError>;

    /// Adds a token; `false` when its name is taken.
    async fn add_token(&self, token: TokenRecord) -> Result<bool, StoreError>;

    /// Takes a token out; `false` when there is none of that name.
    async fn revoke_token(&self, name: &str) -> Result<bool, StoreError>;

    /// Users, their sessions, and the log of access.
    fn access(&self) -> &dyn AccessStore;

    /// Deploys, and versions that were seen.
    fn deploys(&self) -> &dyn DeployStore;

    /// Notes on queries.
    fn notes(&self) -> &dyn NoteStore;

    /// Views that are shared.
    fn views(&self) -> &dyn ViewStore;

    /// Notices of the transitions of issues, and messages that are to be delivered. Each transition that
    /// [`Store::record_evaluation`] and [`Store::move_issue`] store has a notice from then on.
    fn outbox(&self) -> &dyn OutboxStore;

    /// Figures for the operator.
    async fn stats(&self) -> Result<StoreStats, StoreError>;

    /// Finishes what has been accepted and releases the store; every later call is refused.
    async fn close(&self) -> Result<(), StoreError>;
}
