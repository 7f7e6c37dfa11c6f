//! A store that is plainly right: the model the suite compares others with.

mod access;
mod analysis;
mod audit;
mod commit;
mod deploys;
mod diagnosis;
mod disk;
mod issues;
mod list;
mod notes;
mod outbox;
mod views;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use queryscope_history::Version;
use queryscope_issues::{Issue, Note};
use queryscope_protocol::QueryId;

use crate::access::AccessStore;
use crate::analysis::{
    Facets, GroupsAnswer, GroupsRequest, OverviewAnswer, OverviewRequest, OwnerOf, Places, Series,
    SeriesRequest,
};
use crate::batch::StreamBatch;
use crate::commits::{Change, CommitFeed, Commits};
use crate::deploys::DeployStore;
use crate::diagnosis::{ChangesRequest, Evaluation, PendingRun, QueryHistory, QueryKey, StoredChange};
use crate::error::StoreError;
use crate::filter::{ListRequest, QueryFilter};
use crate::issues::{IssueCount, IssueMoved, IssueRecord, IssueStep, IssuesRequest, NoteAdded};
use crate::notes::NoteStore;
use crate::outbox::OutboxStore;
use crate::query::{Query, Status};
use crate::recording::{Pack, RecordingParts, RecordingPlace, Sealed};
use crate::store::{Committed, Deleted, Listed, Store, StoreStats};
use crate::token::TokenRecord;
use crate::views::ViewStore;
use disk::Disk;

/// A store in memory: sets, sorted lists and loops over all of them, nothing clever.
#[derive(Debug, Default)]
pub struct MemoryStore {
    disk: Arc<Mutex<Disk>>,
    closed: AtomicBool,
    feed: CommitFeed,
}

impl MemoryStore {
    /// Another store on the same data, as after a restart.
    #[must_use]
    pub fn reopen(&self) -> Self {
        Self { disk: Arc::clone(&self.disk), ..Self::default() }
    }

    fn disk(&self) -> Result<MutexGuard<'_, Disk>, StoreError> {
        let disk = self.disk.lock().unwrap_or_else(PoisonError::into_inner);
        if self.closed.load(Ordering::SeqCst) {
            return Err(StoreError::unavailable("the store is closed"));
        }
        Ok(disk)
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn commit(&self, batch: StreamBatch) -> Result<Committed, StoreError> {
        let mut disk = self.disk()?;
        let (committed, changes) = disk.commit(batch)?;
        self.feed.publish(changes);
        Ok(committed)
    }

    async fn end_silent(&self, heard_before_unix_ms: i64) -> Result<u64, StoreError> {
        let mut disk = self.disk()?;
        let mut ended = Vec::new();
        for row in &mut disk.rows {
            if row.query.status == Status::Running && row.heard_unix_ms < heard_before_unix_ms {
                row.query.status = Status::Unfinished;
                ended.push(Change {
                    query_id: row.query.query_id,
                    status: Status::Unfinished,
                    moved: true,
                    new: None,
                    chunk: None,
                });
            }
        }
        let count = ended.len() as u64;
        self.feed.publish(ended);
        Ok(count)
    }

    async fn refresh_running(&self, now_unix_ms: i64) -> Result<(), StoreError> {
        for row in self.disk()?.rows.iter_mut().filter(|row| row.query.status == Status::Running) {
            row.heard_unix_ms = now_unix_ms;
        }
        Ok(())
    }

    fn commits(&self) -> Commits {
        self.feed.follow()
    }

    async fn query(&self, id: QueryId) -> Result<Option<Query>, StoreError> {
        Ok(self.disk()?.row(id).map(|row| row.query.clone()))
    }

    async fn queries(&self, request: ListRequest) -> Result<Vec<Listed>, StoreError> {
        Ok(list::page(&self.disk()?.rows, &request))
    }

    async fn facets(&self, filter: QueryFilter) -> Result<Facets, StoreError> {
        Ok(analysis::facets(&self.disk()?.rows, &filter))
    }

    async fn groups(&self, request: GroupsRequest) -> Result<GroupsAnswer, StoreError> {
        Ok(analysis::groups(&self.disk()?.rows, &request))
    }

    async fn versions(&self, filter: QueryFilter) -> Result<Vec<Version>, StoreError> {
        Ok(analysis::versions(&self.disk()?.rows, &filter))
    }

    async fn overview(&self, request: OverviewRequest) -> Result<OverviewAnswer, StoreError> {
        Ok(analysis::overview(&self.disk()?.rows, &request))
    }

    async fn series(&self, request: SeriesRequest) -> Result<Series, StoreError> {
        Ok(analysis::series(&self.disk()?.rows, &request))
    }

    async fn place_totals(
        &self,
        filter: QueryFilter,
        owner_of: Option<OwnerOf>,
    ) -> Result<Places, StoreError> {
        Ok(analysis::places(&self.disk()?.rows, &filter, owner_of.as_ref()))
    }

    async fn engines(&self) -> Result<Vec<String>, StoreError> {
        Ok(self.disk()?.engines.iter().cloned().collect())
    }

    async fn recording(&self, id: QueryId) -> Result<Option<RecordingParts>, StoreError> {
        Ok(self.disk()?.recording(id))
    }

    async fn recordings(&self, ids: &[QueryId]) -> Result<Vec<Option<RecordingParts>>, StoreError> {
        let disk = self.disk()?;
        Ok(ids.iter().map(|id| disk.recording(*id)).collect())
    }

    async fn chunks(&self, ids: Vec<i64>) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        let disk = self.disk()?;
        let find = |id| disk.rows.iter().flat_map(|row| &row.chunks).find(|chunk| chunk.info.id == id);
        Ok(ids.into_iter().map(|id| find(id).map(|chunk| chunk.gzip.clone())).collect())
    }

    async fn unsealed(&self, limit: usize) -> Result<Vec<QueryId>, StoreError> {
        let disk = self.disk()?;
        let waiting =
            disk.rows.iter().filter(|row| row.query.status != Status::Running && !row.chunks.is_empty());
        Ok(waiting.take(limit).map(|row| row.query.query_id).collect())
    }

    async fn seal(&self, sealed: Vec<Sealed>) -> Result<Vec<String>, StoreError> {
        Ok(self.disk()?.seal(sealed))
    }

    async fn packs(&self, day: i64) -> Result<Vec<Pack>, StoreError> {
        let disk = self.disk()?;
        let packs: BTreeSet<Pack> = disk.rows.iter().filter_map(|row| row.sealed.as_ref()?.pack()).collect();
        Ok(packs.into_iter().filter(|pack| pack.day == day).collect())
    }

    async fn give_up_pack(&self, pack: Pack) -> Result<bool, StoreError> {
        let mut disk = self.disk()?;
        let is_live =
            disk.rows.iter().any(|row| row.sealed.as_ref().and_then(RecordingPlace::pack) == Some(pack));
        if !is_live {
            disk.given_up.insert(pack);
        }
        Ok(!is_live)
    }

    async fn delete_before(&self, started_unix_ns: i64, limit: usize) -> Result<Deleted, StoreError> {
        let mut disk = self.disk()?;
        let Disk { rows, streams, given_up, .. } = &mut *disk;
        let (mut left, mut gone) = (Vec::new(), Vec::new());
        rows.retain(|row| {
            let old = row.query.status != Status::Running && row.query.started_unix_ns < started_unix_ns;
            let delete = old && gone.len() < limit;
            if delete {
                given_up.extend(row.sealed.as_ref().and_then(RecordingPlace::pack));
                left.extend(row.sealed.clone());
                gone.push(row.query.clone());
                streams.get_mut(&row.query.stream_id).expect("of a stream").unkept += row.events;
            }
            !delete
        });
        // Where a run of before is left, the change that began with it is, too.
        let is_last = gone.len() < limit;
        disk.forget_diagnosis(&gone, if is_last { started_unix_ns } else { i64::MIN });
        let queries = gone.into_iter().map(|query| query.query_id).collect();
        Ok(Deleted { queries, orphans: disk.orphans(left) })
    }

    async fn probe(&self) -> Result<(), StoreError> {
        self.disk().map(drop)
    }

    async fn pending_runs(&self, after: Option<i64>, limit: usize) -> Result<Vec<PendingRun>, StoreError> {
        let disk = self.disk()?;
        let pending = disk.diagnosis.pending.values();
        Ok(pending.filter(|run| after.is_none_or(|after| run.place > after)).take(limit).cloned().collect())
    }

    async fn evaluation_lease(&self, holder: &str, ttl: Duration) -> Result<bool, StoreError> {
        Ok(self.disk()?.diagnosis.lease(holder, ttl))
    }

    async fn record_evaluation(&self, evaluation: Evaluation) -> Result<bool, StoreError> {
        let told = evaluation.told_changes().cloned().collect();
        let mut disk = self.disk()?;
        let observed = evaluation.issues.clone();
        let recorded = disk.diagnosis.record(evaluation)?;
        if recorded {
            let (moved, notices) = disk.issues.observe(&observed);
            disk.outbox.note(notices);
            self.feed.publish_found(told);
            self.feed.publish_issues(moved);
        }
        Ok(recorded)
    }

    async fn query_history(&self, key: &QueryKey) -> Result<Option<QueryHistory>, StoreError> {
        Ok(self.disk()?.diagnosis.history(key))
    }

    async fn forget_evaluation(&self, holder: &str, key: &QueryKey) -> Result<bool, StoreError> {
        Ok(self.disk()?.diagnosis.forget(holder, key))
    }

    async fn evaluated_queries(
        &self,
        after: Option<QueryKey>,
        limit: usize,
    ) -> Result<Vec<QueryKey>, StoreError> {
        Ok(self.disk()?.diagnosis.evaluated(after.as_ref(), limit))
    }

    async fn is_brought_forward(&self) -> Result<bool, StoreError> {
        Ok(!self.disk()?.diagnosis.forgot)
    }

    async fn mark_brought_forward(&self) -> Result<(), StoreError> {
        self.disk()?.diagnosis.forgot = false;
        Ok(())
    }

    async fn changes(&self, request: ChangesRequest) -> Result<Vec<StoredChange>, StoreError> {
        Ok(self.disk()?.diagnosis.page(&request))
    }

    async fn change(&self, id: &str) -> Result<Option<StoredChange>, StoreError> {
        Ok(self.disk()?.diagnosis.changes.get(id).cloned())
    }

    async fn issues(&self, request: IssuesRequest) -> Result<Vec<Issue>, StoreError> {
        Ok(self.disk()?.issues.page(&request))
    }

    async fn issue(&self, id: &str) -> Result<Option<IssueRecord>, StoreError> {
        Ok(self.disk()?.issues.0.get(id).cloned())
    }

    async fn move_issue(&self, id: &str, step: IssueStep, unix_ns: i64) -> Result<IssueMoved, StoreError> {
        let mut disk = self.disk()?;
        let (moved, notice) = disk.issues.step(id, &step, unix_ns);
        disk.outbox.note(notice);
        if let IssueMoved::Moved(issue) = &moved {
            self.feed.publish_issues(vec![Issue::clone(issue)]);
        }
        Ok(moved)
    }

    async fn note_issue(&self, id: &str, note: Note) -> Result<NoteAdded, StoreError> {
        Ok(self.disk()?.issues.add_note(id, note))
    }

    async fn mutes_due(&self, unix_ns: i64, limit: usize) -> Result<Vec<String>, StoreError> {
        Ok(self.disk()?.issues.mutes_due(unix_ns, limit))
    }

    async fn issue_counts(&self) -> Result<Vec<IssueCount>, StoreError> {
        Ok(self.disk()?.issues.counts())
    }

    async fn tokens(&self) -> Result<Vec<TokenRecord>, StoreError> {
        Ok(self.disk()?.tokens.values().cloned().collect())
    }

    async fn add_token(&self, token: TokenRecord) -> Result<bool, StoreError> {
        let mut disk = self.disk()?;
        let new = !disk.tokens.contains_key(&token.name);
        if new {
            disk.tokens.insert(token.name.clone(), token);
        }
        Ok(new)
    }

    async fn revoke_token(&self, name: &str) -> Result<bool, StoreError> {
        Ok(self.disk()?.tokens.remove(name).is_some())
    }

    fn access(&self) -> &dyn AccessStore {
        self
    }

    fn deploys(&self) -> &dyn DeployStore {
        self
    }

    fn notes(&self) -> &dyn NoteStore {
        self
    }

    fn views(&self) -> &dyn ViewStore {
        self
    }

    fn outbox(&self) -> &dyn OutboxStore {
        self
    }

    async fn stats(&self) -> Result<StoreStats, StoreError> {
        let running = self.disk()?.rows.iter().filter(|row| row.query.status == Status::Running).count();
        let unsealed = self.unsealed(StoreStats::UNSEALED_MAX).await?.len();
        Ok(StoreStats { running: running as u64, unsealed: unsealed as u64, ..StoreStats::default() })
    }

    async fn close(&self) -> Result<(), StoreError> {
        let _no_commit_is_under_way = self.disk.lock().unwrap_or_else(PoisonError::into_inner);
        self.closed.store(true, Ordering::SeqCst);
        Ok(())
    }
}
