//! The interface of who judges or moves a store.

use async_trait::async_trait;
use queryscope_protocol::{QueryId, StreamId};
use queryscope_store::{
    Account, IssueRecord, Kept, Listed, Loss, QUERY_COLUMNS, StoreAudit, StoreError, StreamSeen,
};
use rusqlite::Connection;
use uuid::Uuid;

use crate::row::listed;
use crate::store::SqliteStore;
use crate::terms::TermTexts;
use crate::{account, issues, losses, recording, seen, verify};

#[async_trait]
impl StoreAudit for SqliteStore {
    async fn scan(&self, after: Option<i64>, limit: usize) -> Result<Vec<Listed>, StoreError> {
        let sql = format!(
            "SELECT {QUERY_COLUMNS} FROM query AS q JOIN stream AS s ON s.id = q.stream
             WHERE q.id > ?1 ORDER BY q.id LIMIT ?2"
        );
        self.readers
            .read(move |db, terms| {
                db.prepare_cached(&sql)?
                    .query_map((after.unwrap_or(i64::MIN), limit), |row| listed(db, terms, row))?
                    .collect()
            })
            .await
    }

    async fn query_ids(&self, after: Option<i64>, limit: usize) -> Result<Vec<(i64, QueryId)>, StoreError> {
        self.readers.read(move |db, _| account::query_ids(db, after, limit)).await
    }

    async fn account(&self, id: QueryId) -> Result<Option<Account>, StoreError> {
        self.readers.read(move |db, _| account::of_query(db, id)).await
    }

    async fn kept(&self, ids: &[QueryId]) -> Result<Vec<Option<Kept>>, StoreError> {
        let ids = ids.to_vec();
        let kept = move |db: &Connection, terms: &TermTexts, id: QueryId| {
            let account = account::of_query(db, id)?;
            Ok(recording::parts(db, terms, id)?.map(|parts| Kept { parts, account }))
        };
        self.readers.read(move |db, terms| ids.iter().map(|id| kept(db, terms, *id)).collect()).await
    }

    async fn unkept(&self, id: StreamId) -> Result<Option<u64>, StoreError> {
        self.readers.read(move |db, _| account::unkept(db, id)).await
    }

    async fn losses(&self, id: StreamId) -> Result<Vec<Loss>, StoreError> {
        self.readers.read(move |db, _| losses::of_stream(db, id)).await
    }

    async fn record_losses(&self, losses: Vec<Loss>) -> Result<(), StoreError> {
        self.writer.write(move |db| losses.iter().try_for_each(|loss| losses::record(db, loss))).await
    }

    async fn streams(&self, after: Option<StreamId>, limit: usize) -> Result<Vec<StreamSeen>, StoreError> {
        self.readers
            .read(move |db, terms| {
                let after = after.map_or(Vec::new(), |id| id.uuid().as_bytes().to_vec());
                let mut statement = db.prepare_cached(
                    "SELECT id, stream_id, project, process_line FROM stream WHERE stream_id > ?1
                     ORDER BY stream_id LIMIT ?2",
                )?;
                let streams = statement.query_map((after, limit), |row| {
                    Ok(StreamSeen {
                        stream_id: StreamId::new(Uuid::from_bytes(row.get(1)?)),
                        project: terms.text(db, row.get(2)?)?.to_string(),
                        process_line: row.get(3)?,
                        seen: seen::all(db, row.get(0)?)?,
                    })
                })?;
                streams.collect()
            })
            .await
    }

    async fn issue_records(
        &self,
        after: Option<String>,
        limit: usize,
    ) -> Result<Vec<IssueRecord>, StoreError> {
        self.readers.read(move |db, _| issues::records(db, after.as_deref(), limit)).await
    }

    async fn adopt_issues(&self, records: Vec<IssueRecord>) -> Result<usize, StoreError> {
        self.writer.write(move |db| issues::adopt(db, &records)).await
    }

    async fn verify(&self) -> Result<Vec<String>, StoreError> {
        self.readers.read(|db, _| Ok(verify::problems(db))).await
    }
}
