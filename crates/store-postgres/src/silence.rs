//! Runs of which nothing has been heard for too long.

use deadpool_postgres::{Client, GenericClient};
use uuid::Uuid;

use crate::conflict::Conflicts;
use crate::error::DbError;
use crate::format::Format;

/// What a commit is adding to is heard of: it is left alone.
const LOCK: &str = "
    SELECT q.id FROM running AS r JOIN query AS q ON q.id = r.query
    WHERE r.heard_unix_ms < $1 ORDER BY q.id FOR UPDATE SKIP LOCKED";
const END: &str = "
    UPDATE query SET status = 3, events = events + (SELECT r.events FROM running AS r WHERE r.query = query.id)
    WHERE id = ANY($1) RETURNING id, query_id";
const FORGET: &str = "DELETE FROM running WHERE query = ANY($1)";
const TELL: &str = "
    INSERT INTO change (query, query_id, status, moved, new)
    SELECT id, query_id, 3, true, false FROM unnest($1::bigint[], $2::uuid[]) AS ended (id, query_id)";
const REFRESH: &str = "
    UPDATE running SET heard_unix_ms = $1
    WHERE query IN (SELECT query FROM running ORDER BY query FOR UPDATE)";

/// Ends those that were heard of before; gives back how many.
pub(crate) async fn end_silent(
    client: &mut Client,
    format: Format,
    heard_before_unix_ms: i64,
) -> Result<u64, DbError> {
    let transaction = format.begin(client).await?;
    let statement = transaction.prepare_cached(LOCK).await?;
    let locked = transaction.query(&statement, &[&heard_before_unix_ms]).await?;
    if locked.is_empty() {
        return Ok(0);
    }
    let ids: Vec<i64> = locked.iter().map(|row| row.get(0)).collect();
    let ended = transaction.query(&transaction.prepare_cached(END).await?, &[&ids]).await?;
    let ids: Vec<i64> = ended.iter().map(|row| row.get(0)).collect();
    let query_ids: Vec<Uuid> = ended.iter().map(|row| row.get(1)).collect();
    transaction.execute(&transaction.prepare_cached(FORGET).await?, &[&ids]).await?;
    transaction.execute(&transaction.prepare_cached(TELL).await?, &[&ids, &query_ids]).await?;
    transaction.commit().await?;
    Ok(ended.len() as u64)
}

/// Notes that everything running was heard of. A commit locks what it writes and what it only hears of one after the
/// other, each in the order of their numbers, so that one of the two may have to give way.
pub(crate) async fn refresh(client: &impl GenericClient, now_unix_ms: i64) -> Result<(), DbError> {
    let refresh = client.prepare_cached(REFRESH).await?;
    let mut conflicts = Conflicts::default();
    loop {
        match client.execute(&refresh, &[&now_unix_ms]).await.map_err(DbError::from) {
            Err(error) if conflicts.allow(&error) => {}
            done => return done.map(drop),
        }
    }
}
