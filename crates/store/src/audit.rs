//! What is asked of a store to judge it or to move it elsewhere.

use async_trait::async_trait;
use queryscope_protocol::{QueryId, StreamId};

use crate::error::StoreError;
use crate::issues::IssueRecord;
use crate::kept::{Account, Kept, Loss, StreamSeen};
use crate::store::{Listed, Store};

/// Reads all that a store keeps, for `queryscope check`, `queryscope migrate` and tests. No collector needs it.
#[async_trait]
pub trait StoreAudit: Store {
    /// Up to `limit` queries in the order they were first stored, after the place of the last one (`tie` of
    /// its position).
    async fn scan(&self, after: Option<i64>, limit: usize) -> Result<Vec<Listed>, StoreError>;

    /// As [`StoreAudit::scan`], places and ids alone: also of queries of which nothing else can be read.
    async fn query_ids(&self, after: Option<i64>, limit: usize) -> Result<Vec<(i64, QueryId)>, StoreError>;

    /// What a query was given: without it, nobody could tell that an event is missing. Of each stream, as many
    /// events have been seen as its queries were given and no query keeps ([`StoreAudit::unkept`]).
    ///
    /// `None` when there is no such query, or a version stored it that did not count.
    async fn account(&self, id: QueryId) -> Result<Option<Account>, StoreError>;

    /// Queries as they are kept, in the order asked; `None` for one that is not there. Of one that is written to
    /// meanwhile the account may be older than the rest.
    ///
    /// # Errors
    /// For all of them when one cannot be read.
    async fn kept(&self, ids: &[QueryId]) -> Result<Vec<Option<Kept>>, StoreError>;

    /// How many of the events seen of a stream no query keeps: they were of none, or of one that was deleted.
    ///
    /// `None` when there is no such stream, or a version began it that did not count.
    async fn unkept(&self, id: StreamId) -> Result<Option<u64>, StoreError>;

    /// What repairs found to be lost of a stream, in the order it was found. It outlives the queries: of those that
    /// are gone, the events are among what no query keeps ([`StoreAudit::unkept`]).
    async fn losses(&self, id: StreamId) -> Result<Vec<Loss>, StoreError>;

    /// Takes over losses that were recorded elsewhere; those that are there already change nothing.
    async fn record_losses(&self, losses: Vec<Loss>) -> Result<(), StoreError>;

    /// Up to `limit` streams after the last one, in an order of the store's own.
    async fn streams(&self, after: Option<StreamId>, limit: usize) -> Result<Vec<StreamSeen>, StoreError>;

    /// Up to `limit` issues with all that happened to them, by id, after one.
    async fn issue_records(
        &self,
        after: Option<String>,
        limit: usize,
    ) -> Result<Vec<IssueRecord>, StoreError>;

    /// Takes over issues of elsewhere with all that happened to them; gives back how many. Those whose id, or whose
    /// query and kind, is there already change nothing.
    async fn adopt_issues(&self, records: Vec<IssueRecord>) -> Result<usize, StoreError>;

    /// Judges the store's own structure: a sentence for each thing that is not as it should be.
    async fn verify(&self) -> Result<Vec<String>, StoreError>;
}
