//! Chunks, and what seals them.

use std::collections::HashMap;
use std::time::Duration;

use deadpool_postgres::{Client, GenericClient};
use queryscope_protocol::QueryId;
use queryscope_store::{Sealed, day_of_path, named_by, sealed_path};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::DbError;
use crate::format::Format;
use crate::list::bound;

/// How long nobody else seals a query that a collector has taken. Two that seal one all the same do no harm: that is
/// decided by what their recordings replace.
const TAKEN_FOR: Duration = Duration::from_mins(2);

const GZIP: &str = "SELECT id, gzip FROM chunk WHERE id = ANY($1)";

/// Queries with chunks that do not run, one step of the index a query, in the order they were first stored.
macro_rules! pending {
    ($then:literal) => {
        concat!(
            "WITH RECURSIVE every (query) AS (
                 (SELECT query FROM chunk ORDER BY query LIMIT 1)
                 UNION ALL
                 SELECT (SELECT chunk.query FROM chunk WHERE chunk.query > every.query ORDER BY chunk.query LIMIT 1)
                 FROM every WHERE every.query IS NOT NULL
             ), pending AS (
                 SELECT query FROM every
                 WHERE query IS NOT NULL AND NOT EXISTS (SELECT 1 FROM running WHERE running.query = every.query)
             )",
            $then
        )
    };
}

/// Of those nobody else seals, the first are taken.
const UNSEALED: &str = pending!(
    ", free AS (
        SELECT query FROM pending
        WHERE NOT EXISTS (SELECT 1 FROM sealing
            WHERE sealing.query = pending.query AND sealing.holder <> $1 AND sealing.until > now())
        LIMIT $2
    ), taken AS (
        INSERT INTO sealing (query, holder, until)
        SELECT query, $1, now() + make_interval(secs => $3) FROM free ORDER BY query
        ON CONFLICT (query) DO UPDATE SET holder = excluded.holder, until = excluded.until
        WHERE sealing.holder = excluded.holder OR sealing.until <= now()
        RETURNING query
    )
    SELECT query.query_id FROM taken JOIN query ON query.id = taken.query ORDER BY query.id"
);
const WAITING: &str = pending!("SELECT count(*) FROM (SELECT FROM pending LIMIT $1) AS waiting");

/// In one order for all, so that no two wait for each other.
const LOCK: &str = "
    SELECT id, query_id, sealed_day, sealed_version FROM query WHERE query_id = ANY($1) ORDER BY id
    FOR NO KEY UPDATE";
const THERE: &str = "SELECT count(*) FROM chunk WHERE query = $1 AND id = ANY($2)";
const POINT: &str = "UPDATE query SET sealed_day = $2, sealed_version = $3 WHERE id = $1";
const DELETE: &str = "DELETE FROM chunk WHERE query = $1 AND id = ANY($2)";
const RELEASE: &str = "DELETE FROM sealing WHERE query = $1";
const RELEASE_ALL: &str = "DELETE FROM sealing WHERE holder = $1";

/// Reads chunks by id.
pub(crate) async fn chunks(
    client: &impl GenericClient,
    ids: &[i64],
) -> Result<Vec<Option<Vec<u8>>>, DbError> {
    let rows = client.query(&client.prepare_cached(GZIP).await?, &[&ids]).await?;
    let found: HashMap<i64, Vec<u8>> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    Ok(ids.iter().map(|id| found.get(id).cloned()).collect())
}

/// Takes queries that wait to be sealed.
pub(crate) async fn unsealed(
    client: &mut Client,
    format: Format,
    holder: Uuid,
    limit: usize,
) -> Result<Vec<QueryId>, DbError> {
    let transaction = format.begin(client).await?;
    let statement = transaction.prepare_cached(UNSEALED).await?;
    let rows = transaction.query(&statement, &[&holder, &bound(limit), &TAKEN_FOR.as_secs_f64()]).await?;
    transaction.commit().await?;
    Ok(rows.iter().map(|row| QueryId::new(row.get::<_, Uuid>(0))).collect())
}

/// How many queries wait to be sealed, up to a number.
pub(crate) async fn waiting(client: &impl GenericClient, limit: usize) -> Result<u64, DbError> {
    let statement = client.prepare_cached(WAITING).await?;
    Ok(client.query_one(&statement, &[&bound(limit)]).await?.get::<_, i64>(0).cast_unsigned())
}

/// Points queries to their recordings; gives back the paths that are no longer pointed to.
pub(crate) async fn seal(
    client: &mut Client,
    format: Format,
    sealed: &[Sealed],
) -> Result<Vec<String>, DbError> {
    let transaction = format.begin(client).await?;
    let ids: Vec<Uuid> = sealed.iter().map(|recording| recording.query_id.uuid()).collect();
    let rows = transaction.query(&transaction.prepare_cached(LOCK).await?, &[&ids]).await?;
    let mut found = HashMap::new();
    for row in &rows {
        let id = QueryId::new(row.get(1));
        found.insert(id, (row.get::<_, i64>(0), sealed_at(row, 2, id)));
    }
    let mut orphans = Vec::new();
    for recording in sealed {
        let id = recording.query_id;
        let (day, version) = place(&recording.path)
            .filter(|(day, version)| sealed_path(id, *day, *version) == recording.path)
            .ok_or(DbError::Damaged("a recording whose path is not its day and query"))?;
        let Some((row, old)) = found.get_mut(&id) else {
            orphans.push(recording.path.clone());
            continue;
        };
        if old.as_ref() != Some(&recording.path) {
            if *old != recording.replaces || !all_there(&transaction, *row, &recording.chunks).await? {
                orphans.push(recording.path.clone());
                continue;
            }
            let version = version.map(u64::cast_signed);
            transaction.execute(&transaction.prepare_cached(POINT).await?, &[row, &day, &version]).await?;
            orphans.extend(old.replace(recording.path.clone()));
        }
        transaction.execute(&transaction.prepare_cached(DELETE).await?, &[row, &recording.chunks]).await?;
        transaction.execute(&transaction.prepare_cached(RELEASE).await?, &[row]).await?;
    }
    transaction.commit().await?;
    Ok(orphans)
}

async fn all_there(client: &impl GenericClient, query: i64, chunks: &[i64]) -> Result<bool, DbError> {
    let there = client.query_one(&client.prepare_cached(THERE).await?, &[&query, &chunks]).await?;
    Ok(there.get::<_, i64>(0) == bound(chunks.len()))
}

fn place(path: &str) -> Option<(i64, Option<u64>)> {
    Some((day_of_path(path)?, named_by(path)?.1))
}

/// The path of a sealed recording from its day and, in the next column, its version.
pub(crate) fn sealed_at(row: &Row, column: usize, id: QueryId) -> Option<String> {
    let day: Option<i64> = row.get(column);
    let version: Option<i64> = row.get(column + 1);
    day.map(|day| sealed_path(id, day, version.map(i64::cast_unsigned)))
}

/// Leaves to others what was taken and not sealed.
pub(crate) async fn release(client: &impl GenericClient, holder: Uuid) -> Result<(), DbError> {
    client.execute(RELEASE_ALL, &[&holder]).await?;
    Ok(())
}
