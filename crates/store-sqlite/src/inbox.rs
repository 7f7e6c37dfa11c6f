//! Runs that wait for their evaluation.

use queryscope_protocol::{QueryId, Seq};
use queryscope_store::{PendingRun, QueryKey};
use rusqlite::Connection;
use uuid::Uuid;

use crate::error::damaged;
use crate::terms::TermTexts;

/// Appends the run of a row of `query` that an event has just ended.
pub(crate) fn append(db: &Connection, row: i64, seq: Seq) -> rusqlite::Result<()> {
    db.prepare_cached("INSERT INTO pending_run (query, seq) VALUES (?1, ?2)")?
        .execute((row, seq.get().cast_signed()))
        .map(drop)
}

/// Takes runs out. Those at places that follow each other go at once: what a flood drops is many of them.
pub(crate) fn consume(db: &Connection, places: &[i64]) -> rusqlite::Result<()> {
    let mut places = places.to_vec();
    places.sort_unstable();
    let mut consume = db.prepare_cached("DELETE FROM pending_run WHERE query BETWEEN ?1 AND ?2")?;
    for piece in places.chunk_by(|place, next| place + 1 >= *next) {
        consume.execute((piece[0], piece[piece.len() - 1]))?;
    }
    Ok(())
}

/// Runs after a place.
pub(crate) fn page(
    db: &Connection,
    terms: &TermTexts,
    after: Option<i64>,
    limit: usize,
) -> rusqlite::Result<Vec<PendingRun>> {
    db.prepare_cached(
        "SELECT p.query, q.project, q.service, q.label, q.query_id, q.started_unix_ns, p.seq
         FROM pending_run AS p JOIN query AS q ON q.id = p.query
         WHERE p.query > ?1 ORDER BY p.query LIMIT ?2",
    )?
    .query_map((after.unwrap_or(i64::MIN), limit), |row| {
        let key = QueryKey {
            project: terms.text(db, row.get(1)?)?.to_string(),
            service: terms.optional(db, row.get(2)?)?,
            label: terms.text(db, row.get(3)?)?.to_string(),
        };
        Ok(PendingRun {
            place: row.get(0)?,
            key,
            query_id: QueryId::new(Uuid::from_bytes(row.get(4)?)),
            started_unix_ns: row.get(5)?,
            seq: Seq::new(row.get::<_, i64>(6)?.cast_unsigned())
                .map_err(|_| damaged(6, "no number of an event"))?,
        })
    })?
    .collect()
}
