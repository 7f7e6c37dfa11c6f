//! Chunks, and what seals them.

use queryscope_protocol::{QueryId, Seq};
use queryscope_store::{ChunkInfo, RecordingParts, Sealed, day_of_path, sealed_path};
use rusqlite::{Connection, OptionalExtension, params};
use uuid::Uuid;

use crate::error::damaged;
use crate::row::{COLUMNS, listed};
use crate::terms::TermTexts;

/// Queries with chunks, one step of the index a query, in the order they were first stored.
const UNSEALED: &str = "
    WITH RECURSIVE pending (query) AS (
        SELECT min(query) FROM chunk
        UNION ALL
        SELECT (SELECT min(query) FROM chunk WHERE chunk.query > pending.query) FROM pending WHERE query IS NOT NULL
    )
    SELECT query.query_id FROM pending JOIN query ON query.id = pending.query
    WHERE pending.query NOT IN (SELECT query FROM running)
    LIMIT ?1";

/// Where the events of a query are.
pub(crate) fn parts(
    db: &Connection,
    terms: &TermTexts,
    id: QueryId,
) -> rusqlite::Result<Option<RecordingParts>> {
    let sql = format!(
        "SELECT {COLUMNS}, s.process_line, q.sealed_day FROM query AS q JOIN stream AS s ON s.id = q.stream
         WHERE q.query_id = ?1"
    );
    let found = db
        .prepare_cached(&sql)?
        .query_row([id.uuid().as_bytes()], |row| {
            Ok((listed(db, terms, row)?, row.get(19)?, row.get::<_, Option<i64>>(20)?))
        })
        .optional()?;
    let Some((listed, process_line, sealed_day)) = found else { return Ok(None) };
    let chunks = db
        .prepare_cached(
            "SELECT id, first_seq, last_seq, length(gzip) FROM chunk WHERE query = ?1 ORDER BY first_seq, id",
        )?
        .query_map([listed.position.tie], |row| {
            let seq = |column| {
                Seq::new(row.get::<_, i64>(column)?.cast_unsigned()).map_err(|_| damaged(column, "no seq"))
            };
            Ok(ChunkInfo { id: row.get(0)?, first: seq(1)?, last: seq(2)?, bytes: row.get(3)? })
        })?
        .collect::<rusqlite::Result<_>>()?;
    let sealed_path = sealed_day.map(|day| sealed_path(id, day));
    Ok(Some(RecordingParts { query: listed.query, process_line, sealed_path, chunks }))
}

/// Reads chunks by id.
pub(crate) fn chunks(db: &Connection, ids: &[i64]) -> rusqlite::Result<Vec<Option<Vec<u8>>>> {
    let mut statement = db.prepare_cached("SELECT gzip FROM chunk WHERE id = ?1")?;
    ids.iter().map(|id| statement.query_row([id], |row| row.get(0)).optional()).collect()
}

/// Queries that wait to be sealed.
pub(crate) fn unsealed(db: &Connection, limit: usize) -> rusqlite::Result<Vec<QueryId>> {
    db.prepare_cached(UNSEALED)?
        .query_map([limit], |row| Ok(QueryId::new(Uuid::from_bytes(row.get(0)?))))?
        .collect()
}

/// Points queries to their recordings; gives back the paths that are no longer pointed to.
pub(crate) fn seal(db: &Connection, sealed: &[Sealed]) -> rusqlite::Result<Vec<String>> {
    let mut orphans = Vec::new();
    for recording in sealed {
        let day = day_of_path(&recording.path)
            .filter(|day| sealed_path(recording.query_id, *day) == recording.path)
            .ok_or_else(|| damaged(0, "the path of a recording is not its day and query"))?;
        let before: Option<(i64, Option<i64>)> = db
            .prepare_cached("SELECT id, sealed_day FROM query WHERE query_id = ?1")?
            .query_row([recording.query_id.uuid().as_bytes()], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let Some((row, old_day)) = before else {
            orphans.push(recording.path.clone());
            continue;
        };
        if old_day != Some(day) {
            db.prepare_cached("UPDATE query SET sealed_day = ?2 WHERE id = ?1")?.execute([row, day])?;
            orphans.extend(old_day.map(|old| sealed_path(recording.query_id, old)));
        }
        for chunk in &recording.chunks {
            db.prepare_cached("DELETE FROM chunk WHERE id = ?1 AND query = ?2")?
                .execute(params![chunk, row])?;
        }
    }
    Ok(orphans)
}
