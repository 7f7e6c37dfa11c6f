//! The interface of who judges or moves a store.

use async_trait::async_trait;
use queryscope_protocol::{QueryId, StreamId};
use queryscope_store::{
    Account, IssueRecord, Kept, Listed, Loss, QUERY_COLUMNS, SeqRange, StoreAudit, StoreError, StreamSeen,
};
use uuid::Uuid;

use crate::error::DbError;
use crate::list::bound;
use crate::row::listed;
use crate::store::{PostgresStore, rows};
use crate::{issues, kept, losses, verify};

const STREAMS: &str = "
    SELECT s.stream_id, s.project, ARRAY(SELECT first FROM seen WHERE seen.stream = s.id ORDER BY first),
        ARRAY(SELECT last FROM seen WHERE seen.stream = s.id ORDER BY first), s.process_line
    FROM stream AS s WHERE s.stream_id > $1 ORDER BY s.stream_id LIMIT $2";
const QUERY_IDS: &str = "SELECT id, query_id FROM query WHERE id > $1 ORDER BY id LIMIT $2";
const UNKEPT: &str = "SELECT unkept FROM stream WHERE stream_id = $1";

#[async_trait]
impl StoreAudit for PostgresStore {
    async fn scan(&self, after: Option<i64>, limit: usize) -> Result<Vec<Listed>, StoreError> {
        let client = self.reader().await?;
        let sql = format!(
            "SELECT {QUERY_COLUMNS} FROM query AS q JOIN stream AS s ON s.id = q.stream
             WHERE q.id > $1 ORDER BY q.id LIMIT $2"
        );
        let rows = rows(&client, &sql, &[&after.unwrap_or(i64::MIN), &bound(limit)]).await?;
        Ok(listed(&client, &self.terms, &rows).await?)
    }

    async fn query_ids(&self, after: Option<i64>, limit: usize) -> Result<Vec<(i64, QueryId)>, StoreError> {
        let values: [&(dyn tokio_postgres::types::ToSql + Sync); 2] =
            [&after.unwrap_or(i64::MIN), &bound(limit)];
        let rows = rows(&self.reader().await?, QUERY_IDS, &values).await?;
        Ok(rows.iter().map(|row| (row.get(0), QueryId::new(row.get(1)))).collect())
    }

    async fn account(&self, id: QueryId) -> Result<Option<Account>, StoreError> {
        Ok(self.kept(&[id]).await?.pop().flatten().and_then(|kept| kept.account))
    }

    async fn kept(&self, ids: &[QueryId]) -> Result<Vec<Option<Kept>>, StoreError> {
        Ok(kept::kept(&mut self.reader().await?, &self.terms, ids).await?)
    }

    async fn unkept(&self, id: StreamId) -> Result<Option<u64>, StoreError> {
        let rows = rows(&self.reader().await?, UNKEPT, &[&id.uuid()]).await?;
        Ok(rows.first().map(|row| row.get::<_, i64>(0).cast_unsigned()))
    }

    async fn losses(&self, id: StreamId) -> Result<Vec<Loss>, StoreError> {
        Ok(losses::of_stream(&self.reader().await?, id).await?)
    }

    async fn record_losses(&self, losses: Vec<Loss>) -> Result<(), StoreError> {
        let mut client = self.write.get().await.map_err(DbError::from)?;
        Ok(losses::record(&mut client, self.format, &losses).await?)
    }

    async fn streams(&self, after: Option<StreamId>, limit: usize) -> Result<Vec<StreamSeen>, StoreError> {
        let client = self.reader().await?;
        let after = after.map_or(Uuid::nil(), StreamId::uuid);
        let rows = rows(&client, STREAMS, &[&after, &bound(limit)]).await?;
        let projects = rows.iter().map(|row| row.get(1)).collect();
        let projects = self.terms.texts(&client, projects).await?;
        let seen = |row: &tokio_postgres::Row| {
            let (first, last): (Vec<i64>, Vec<i64>) = (row.get(2), row.get(3));
            let run = |(first, last): (i64, i64)| SeqRange {
                first: first.cast_unsigned(),
                last: last.cast_unsigned(),
            };
            let process_line = String::from_utf8(row.get(4));
            Ok(StreamSeen {
                stream_id: StreamId::new(row.get(0)),
                project: projects.text(row.get(1))?,
                process_line: process_line
                    .map_err(|_| DbError::Damaged("a process event that is not UTF-8"))?,
                seen: first.into_iter().zip(last).map(run).collect(),
            })
        };
        rows.iter().map(seen).collect()
    }

    async fn issue_records(
        &self,
        after: Option<String>,
        limit: usize,
    ) -> Result<Vec<IssueRecord>, StoreError> {
        Ok(issues::records(&mut self.reader().await?, after.as_deref(), limit).await?)
    }

    async fn adopt_issues(&self, records: Vec<IssueRecord>) -> Result<usize, StoreError> {
        Ok(issues::adopt(&self.write, self.format, &self.numbers, &records).await?)
    }

    async fn verify(&self) -> Result<Vec<String>, StoreError> {
        Ok(verify::problems(&mut self.reader().await?).await?)
    }
}
