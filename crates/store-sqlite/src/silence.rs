//! Runs of which nothing has been heard for too long.

use queryscope_protocol::QueryId;
use queryscope_store::{Change, Status};
use rusqlite::{Connection, OptionalExtension};
use uuid::Uuid;

/// So many are ended in one transaction: commits wait for it, and after an outage of the senders there may be
/// thousands.
const ROUND: usize = 64;

/// Some queries that were ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// What changed.
    pub(crate) changes: Vec<Change>,
    /// After which row more may be silent; `None` when all rows were looked at.
    pub(crate) next: Option<i64>,
}

/// Ends the next queries that were heard of before a time.
pub(crate) fn end(db: &Connection, heard_before_unix_ms: i64, after: i64) -> rusqlite::Result<Ended> {
    let silent: Vec<i64> = db
        .prepare_cached(
            "SELECT query FROM running WHERE query > ?1 AND heard_unix_ms < ?2 ORDER BY query LIMIT ?3",
        )?
        .query_map((after, heard_before_unix_ms, ROUND), |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut changes = Vec::with_capacity(silent.len());
    for row in &silent {
        let ended = db
            .prepare_cached(
                "UPDATE query SET status = 3, events = events + (SELECT events FROM running WHERE query = ?1)
                 WHERE id = ?1 RETURNING query_id",
            )?
            .query_row([row], |row| row.get(0))
            .optional()?;
        db.prepare_cached("DELETE FROM running WHERE query = ?1")?.execute([row])?;
        changes.extend(ended.map(|id| Change {
            query_id: QueryId::new(Uuid::from_bytes(id)),
            status: Status::Unfinished,
            moved: true,
            new: None,
            chunk: None,
        }));
    }
    Ok(Ended { changes, next: silent.last().copied().filter(|_| silent.len() == ROUND) })
}
