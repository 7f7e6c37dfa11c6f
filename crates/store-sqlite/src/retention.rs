//! Deleting old queries.

use queryscope_protocol::QueryId;
use queryscope_store::Deleted;
use rusqlite::Connection;
use uuid::Uuid;

use crate::recording::sealed_at;

/// The events of a query are its stream's from now on.
const UNKEPT: &str = "
    UPDATE stream SET unkept = unkept + query.events FROM query WHERE query.id = ?1 AND stream.id = query.stream";

/// Deletes up to `limit` queries that started before and do not run.
///
/// Streams and what has been seen of them stay, so that nothing resent is stored again.
pub(crate) fn delete_before(
    db: &Connection,
    started_unix_ns: i64,
    limit: usize,
) -> rusqlite::Result<Vec<Deleted>> {
    let old: Vec<(i64, QueryId, Option<String>)> = db
        .prepare_cached(
            "SELECT id, query_id, sealed_day, sealed_version FROM query INDEXED BY query_by_start
             WHERE started_unix_ns < ?1 AND status <> 0 ORDER BY started_unix_ns LIMIT ?2",
        )?
        .query_map((started_unix_ns, limit), |row| {
            let query_id = QueryId::new(Uuid::from_bytes(row.get(1)?));
            Ok((row.get(0)?, query_id, sealed_at(row, 2, query_id)?))
        })?
        .collect::<rusqlite::Result<_>>()?;
    let mut deleted = Vec::with_capacity(old.len());
    for (row, query_id, sealed_path) in old {
        db.prepare_cached("DELETE FROM chunk WHERE query = ?1")?.execute([row])?;
        db.prepare_cached("DELETE FROM loss WHERE query = ?1")?.execute([row])?;
        db.prepare_cached(UNKEPT)?.execute([row])?;
        db.prepare_cached("DELETE FROM query WHERE id = ?1")?.execute([row])?;
        deleted.push(Deleted { query_id, sealed_path });
    }
    Ok(deleted)
}
