//! Deleting old runs.

use deadpool_postgres::Client;
use queryscope_protocol::QueryId;
use queryscope_store::{Deleted, Pack};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::DbError;
use crate::format::Format;
use crate::list::bound;
use crate::packs::Left;
use crate::recording::place_at;
use crate::{changes, deploys, evaluation, issues, outbox, packs, plans};

/// Streams before queries, as commits lock them; what another collector works on is left for the next time. Streams
/// and what has been seen of them stay, so that nothing resent is stored again.
const OLD: &str = "
    SELECT id, stream FROM query WHERE started_unix_ns < $1 AND status <> 0 ORDER BY started_unix_ns LIMIT $2";
const LOCK_STREAMS: &str = "SELECT id FROM stream WHERE id = ANY($1) FOR NO KEY UPDATE SKIP LOCKED";
const LOCK: &str = "
    SELECT id FROM query WHERE id = ANY($1) AND stream = ANY($2) AND started_unix_ns < $3 AND status <> 0
    ORDER BY id FOR UPDATE SKIP LOCKED";
const DELETE: &str =
    "DELETE FROM query WHERE id = ANY($1) RETURNING id, query_id, stream, events, project, coalesce(service, 0), label,
        sealed_day, sealed_version, pack_offset, pack_bytes";
/// The events of a query are its stream's from now on.
const UNKEPT: &str = "
    UPDATE stream SET unkept = unkept + gone.events FROM (
        SELECT stream, sum(events)::bigint AS events FROM unnest($1::bigint[], $2::bigint[]) AS gone (stream, events)
        GROUP BY stream
    ) AS gone WHERE stream.id = gone.stream";
const CHUNKS: &str = "DELETE FROM chunk WHERE query = ANY($1)";
const SEALING: &str = "DELETE FROM sealing WHERE query = ANY($1)";
const PENDING: &str = "DELETE FROM pending_run WHERE query = ANY($1)";
const TELL: &str = "
    INSERT INTO change (query, query_id, moved, new)
    SELECT id, query_id, true, false FROM unnest($1::bigint[], $2::uuid[]) AS gone (id, query_id)";

/// Deletes up to `limit` queries that started before and do not run.
///
/// Evaluated runs stay while their query has any run left, since they are bounded; then all that is known of the query
/// goes. Changes go that were over before, issues that were resolved before, deploys that were seen last before,
/// messages that were made before, and plans nothing points to.
pub(crate) async fn delete_before(
    client: &mut Client,
    format: Format,
    started_unix_ns: i64,
    limit: usize,
) -> Result<Deleted, DbError> {
    let deleted = delete_queries(client, format, started_unix_ns, limit).await?;
    // Where a run of before is left, the change that began with it is, too.
    if deleted.queries.len() < limit {
        changes::delete_before(client, format, started_unix_ns).await?;
        issues::delete_before(client, format, started_unix_ns).await?;
        deploys::delete_before(client, format, started_unix_ns).await?;
        outbox::delete_before(client, format, started_unix_ns).await?;
        packs::forget_before(client, format, Pack::forgotten_before(started_unix_ns)).await?;
    }
    plans::delete_unused(client, format).await?;
    Ok(deleted)
}

async fn delete_queries(
    client: &mut Client,
    format: Format,
    started_unix_ns: i64,
    limit: usize,
) -> Result<Deleted, DbError> {
    let transaction = format.begin(client).await?;
    let numbers = |rows: &[Row], column| rows.iter().map(|row| row.get(column)).collect::<Vec<i64>>();
    let statement = transaction.prepare_cached(OLD).await?;
    let old = transaction.query(&statement, &[&started_unix_ns, &bound(limit)]).await?;
    let statement = transaction.prepare_cached(LOCK_STREAMS).await?;
    let streams = numbers(&transaction.query(&statement, &[&numbers(&old, 1)]).await?, 0);
    let statement = transaction.prepare_cached(LOCK).await?;
    let locked = transaction.query(&statement, &[&numbers(&old, 0), &streams, &started_unix_ns]).await?;
    let ids = numbers(&locked, 0);
    if ids.is_empty() {
        return Ok(Deleted::default());
    }
    transaction.execute(&transaction.prepare_cached(evaluation::LOCK).await?, &[]).await?;
    transaction.execute(&transaction.prepare_cached(PENDING).await?, &[&ids]).await?;
    transaction.execute(&transaction.prepare_cached(CHUNKS).await?, &[&ids]).await?;
    transaction.execute(&transaction.prepare_cached(SEALING).await?, &[&ids]).await?;
    let rows = transaction.query(&transaction.prepare_cached(DELETE).await?, &[&ids]).await?;
    let keys = rows.iter().filter_map(|row| Some((row.get(4), row.get(5), row.get::<_, Option<i64>>(6)?)));
    evaluation::delete_without_runs(&transaction, &keys.collect()).await?;
    let ids = numbers(&rows, 0);
    let query_ids: Vec<Uuid> = rows.iter().map(|row| row.get(1)).collect();
    let unkept = transaction.prepare_cached(UNKEPT).await?;
    transaction.execute(&unkept, &[&numbers(&rows, 2), &numbers(&rows, 3)]).await?;
    transaction.execute(&transaction.prepare_cached(TELL).await?, &[&ids, &query_ids]).await?;
    let queries: Vec<QueryId> = query_ids.into_iter().map(QueryId::new).collect();
    let mut left = Left::default();
    for (row, id) in rows.iter().zip(&queries) {
        if let Some(place) = place_at(row, 7, *id) {
            left.unpoint(&place);
        }
    }
    let orphans =
        left.settle(&transaction).await?.ok_or(DbError::Damaged("a run in a pack that is given up"))?;
    transaction.commit().await?;
    Ok(Deleted { queries, orphans })
}
