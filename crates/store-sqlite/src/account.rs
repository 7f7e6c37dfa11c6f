//! How many events were given to whom: what tells a checker that something is missing.
//!
//! Of each stream, as many events have been seen as its queries and what no query keeps account for.

use queryscope_protocol::{QueryId, StreamId};
use queryscope_store::Account;
use rusqlite::{Connection, OptionalExtension};
use uuid::Uuid;

/// What a query was given.
pub(crate) fn of_query(db: &Connection, id: QueryId) -> rusqlite::Result<Option<Account>> {
    let found: Option<(Option<u64>, u64)> = db
        .prepare_cached(
            "SELECT query.events + coalesce(running.events, 0), coalesce(loss.events, 0) FROM query
             LEFT JOIN running ON running.query = query.id LEFT JOIN loss ON loss.query = query.id
             WHERE query_id = ?1",
        )?
        .query_row([id.uuid().as_bytes()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    Ok(found.and_then(|(committed, lost)| Some(Account { committed: committed?, lost })))
}

/// How many of the events seen of a stream no query keeps.
pub(crate) fn unkept(db: &Connection, id: StreamId) -> rusqlite::Result<Option<u64>> {
    let found = db
        .prepare_cached("SELECT unkept FROM stream WHERE stream_id = ?1")?
        .query_row([id.uuid().as_bytes()], |row| row.get(0))
        .optional()?;
    Ok(found.flatten())
}

/// Places and ids of queries, whatever else can be read of them.
pub(crate) fn query_ids(
    db: &Connection,
    after: Option<i64>,
    limit: usize,
) -> rusqlite::Result<Vec<(i64, QueryId)>> {
    db.prepare_cached(
        "SELECT id, query_id FROM query WHERE id > ?1 AND typeof(query_id) = 'blob' AND length(query_id) = 16
         ORDER BY id LIMIT ?2",
    )?
    .query_map((after.unwrap_or(i64::MIN), limit), |row| {
        Ok((row.get(0)?, QueryId::new(Uuid::from_bytes(row.get(1)?))))
    })?
    .collect()
}
