//! A store that is plainly right: the model the suite compares others with.

mod analysis;
mod commit;
mod disk;
mod list;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use queryscope_protocol::{QueryId, StreamId};

use crate::analysis::{Facets, GroupsAnswer, GroupsRequest, OverviewAnswer, OverviewRequest, VersionEntry};
use crate::batch::StreamBatch;
use crate::commits::{Change, CommitFeed, Commits};
use crate::error::StoreError;
use crate::filter::{ListRequest, QueryFilter};
use crate::kept::{Account, Loss};
use crate::query::{Query, Status};
use crate::recording::{RecordingParts, Sealed};
use crate::seen::runs_of;
use crate::store::{Committed, Deleted, Listed, Store, StoreStats, StreamSeen};
use crate::token::TokenRecord;
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

    async fn versions(&self, filter: QueryFilter) -> Result<Vec<VersionEntry>, StoreError> {
        Ok(analysis::versions(&self.disk()?.rows, &filter))
    }

    async fn overview(&self, request: OverviewRequest) -> Result<OverviewAnswer, StoreError> {
        Ok(analysis::overview(&self.disk()?.rows, &request))
    }

    async fn engines(&self) -> Result<Vec<String>, StoreError> {
        Ok(self.disk()?.engines.iter().cloned().collect())
    }

    async fn recording(&self, id: QueryId) -> Result<Option<RecordingParts>, StoreError> {
        let disk = self.disk()?;
        Ok(disk.row(id).map(|row| RecordingParts {
            query: row.query.clone(),
            process_line: disk.streams[&row.query.stream_id].process_line.clone(),
            sealed_path: row.sealed_path.clone(),
            chunks: row.chunk_infos(),
        }))
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
        let mut disk = self.disk()?;
        Ok(sealed.into_iter().filter_map(|sealed| disk.seal(sealed)).collect())
    }

    async fn delete_before(&self, started_unix_ns: i64, limit: usize) -> Result<Vec<Deleted>, StoreError> {
        let mut disk = self.disk()?;
        let Disk { rows, streams, .. } = &mut *disk;
        let mut deleted = Vec::new();
        rows.retain(|row| {
            let old = row.query.status != Status::Running && row.query.started_unix_ns < started_unix_ns;
            let delete = old && deleted.len() < limit;
            if delete {
                let sealed_path = row.sealed_path.clone();
                deleted.push(Deleted { query_id: row.query.query_id, sealed_path });
                streams.get_mut(&row.query.stream_id).expect("of a stream").unkept += row.events;
            }
            !delete
        });
        Ok(deleted)
    }

    async fn scan(&self, after: Option<i64>, limit: usize) -> Result<Vec<Listed>, StoreError> {
        let disk = self.disk()?;
        let ahead = disk.rows.iter().filter(|row| after.is_none_or(|after| row.place > after));
        Ok(ahead.take(limit).map(disk::Row::listed).collect())
    }

    async fn account(&self, id: QueryId) -> Result<Option<Account>, StoreError> {
        Ok(self.disk()?.row(id).map(|row| Account { committed: row.events, lost: 0 }))
    }

    async fn unkept(&self, id: StreamId) -> Result<Option<u64>, StoreError> {
        Ok(self.disk()?.streams.get(&id).map(|stream| stream.unkept))
    }

    async fn losses(&self, id: StreamId) -> Result<Vec<Loss>, StoreError> {
        Ok(self.disk()?.losses.iter().filter(|loss| loss.stream_id == id).copied().collect())
    }

    async fn record_losses(&self, losses: Vec<Loss>) -> Result<(), StoreError> {
        let mut disk = self.disk()?;
        for loss in losses {
            if !disk.losses.contains(&loss) {
                disk.losses.push(loss);
            }
        }
        Ok(())
    }

    async fn probe(&self) -> Result<(), StoreError> {
        self.disk().map(drop)
    }

    async fn streams(&self, after: Option<StreamId>, limit: usize) -> Result<Vec<StreamSeen>, StoreError> {
        let disk = self.disk()?;
        let ahead = disk.streams.iter().filter(|(id, _)| after.is_none_or(|after| **id > after));
        Ok(ahead
            .take(limit)
            .map(|(id, stream)| StreamSeen {
                stream_id: *id,
                project: stream.project.clone(),
                process_line: stream.process_line.clone(),
                seen: runs_of(stream.seen.iter().copied()),
            })
            .collect())
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

    async fn verify(&self) -> Result<Vec<String>, StoreError> {
        drop(self.disk()?);
        Ok(Vec::new())
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
