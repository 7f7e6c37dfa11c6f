//! All that the model keeps, for who judges a store.

use async_trait::async_trait;
use queryscope_protocol::{QueryId, StreamId};

use super::MemoryStore;
use super::disk;
use crate::audit::StoreAudit;
use crate::error::StoreError;
use crate::issues::IssueRecord;
use crate::kept::{Account, Kept, Loss, StreamSeen};
use crate::seen::seq_ranges;
use crate::store::{Listed, Store};

#[async_trait]
impl StoreAudit for MemoryStore {
    async fn scan(&self, after: Option<i64>, limit: usize) -> Result<Vec<Listed>, StoreError> {
        let disk = self.disk()?;
        let ahead = disk.rows.iter().filter(|row| after.is_none_or(|after| row.place > after));
        Ok(ahead.take(limit).map(disk::Row::listed).collect())
    }

    async fn query_ids(&self, after: Option<i64>, limit: usize) -> Result<Vec<(i64, QueryId)>, StoreError> {
        let listed = self.scan(after, limit).await?;
        Ok(listed.iter().map(|listed| (listed.position.tie, listed.query.query_id)).collect())
    }

    async fn account(&self, id: QueryId) -> Result<Option<Account>, StoreError> {
        Ok(self.disk()?.row(id).map(|row| Account { committed: row.events, lost: 0 }))
    }

    async fn kept(&self, ids: &[QueryId]) -> Result<Vec<Option<Kept>>, StoreError> {
        let mut all = Vec::with_capacity(ids.len());
        for (id, parts) in ids.iter().zip(self.recordings(ids).await?) {
            let account = self.account(*id).await?;
            all.push(parts.map(|parts| Kept { parts, account }));
        }
        Ok(all)
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

    async fn streams(&self, after: Option<StreamId>, limit: usize) -> Result<Vec<StreamSeen>, StoreError> {
        let disk = self.disk()?;
        let ahead = disk.streams.iter().filter(|(id, _)| after.is_none_or(|after| **id > after));
        Ok(ahead
            .take(limit)
            .map(|(id, stream)| StreamSeen {
                stream_id: *id,
                project: stream.project.clone(),
                process_line: stream.process_line.clone(),
                seen: seq_ranges(stream.seen.iter().copied()),
            })
            .collect())
    }

    async fn issue_records(
        &self,
        after: Option<String>,
        limit: usize,
    ) -> Result<Vec<IssueRecord>, StoreError> {
        let disk = self.disk()?;
        let ahead = disk.issues.0.iter().filter(|(id, _)| after.as_ref().is_none_or(|after| *id > after));
        Ok(ahead.take(limit).map(|(_, record)| record.clone()).collect())
    }

    async fn adopt_issues(&self, records: Vec<IssueRecord>) -> Result<usize, StoreError> {
        Ok(self.disk()?.issues.adopt(records))
    }

    async fn verify(&self) -> Result<Vec<String>, StoreError> {
        let disk = self.disk()?;
        let problems = |record: &IssueRecord| queryscope_issues::problems(&record.issue, &record.transitions);
        Ok(disk.issues.0.values().flat_map(problems).collect())
    }
}
