//! The record of what repairs found to be lost.

use queryscope_protocol::{QueryId, StreamId};
use queryscope_store::Loss;
use rusqlite::{Connection, params};
use uuid::Uuid;

/// What was found to be lost of a stream.
pub(crate) fn of_stream(db: &Connection, id: StreamId) -> rusqlite::Result<Vec<Loss>> {
    db.prepare_cached(
        "SELECT query_id, events, found_unix_ms FROM recorded_loss WHERE stream_id = ?1 ORDER BY rowid",
    )?
    .query_map([id.uuid().as_bytes()], |row| {
        let query: Option<[u8; 16]> = row.get(0)?;
        Ok(Loss {
            stream_id: id,
            query_id: query.map(|id| QueryId::new(Uuid::from_bytes(id))),
            events: row.get(1)?,
            found_unix_ms: row.get(2)?,
        })
    })?
    .collect()
}

/// Adds one unless it is there.
pub(crate) fn record(db: &Connection, loss: &Loss) -> rusqlite::Result<()> {
    let query = loss.query_id.map(QueryId::uuid);
    db.prepare_cached(
        "INSERT INTO recorded_loss (stream_id, query_id, events, found_unix_ms) SELECT ?1, ?2, ?3, ?4
         WHERE NOT EXISTS (SELECT 1 FROM recorded_loss
             WHERE stream_id = ?1 AND query_id IS ?2 AND events = ?3 AND found_unix_ms IS ?4)",
    )?
    .execute(params![
        loss.stream_id.uuid().as_bytes(),
        query.as_ref().map(Uuid::as_bytes),
        loss.events,
        loss.found_unix_ms
    ])
    .map(drop)
}
