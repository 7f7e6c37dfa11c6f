//! Chunks, and what seals them.

use queryscope_protocol::{QueryId, Seq};
use queryscope_store::{
    ChunkInfo, QUERY_COLUMNS, RecordingParts, Sealed, day_of_path, named_by, sealed_path,
};
use rusqlite::{Connection, OptionalExtension, Row, params};
use uuid::Uuid;

use crate::error::damaged;
use crate::row::listed;
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
        "SELECT {QUERY_COLUMNS}, s.process_line, q.sealed_day, q.sealed_version
         FROM query AS q JOIN stream AS s ON s.id = q.stream
         WHERE q.query_id = ?1"
    );
    let found = db
        .prepare_cached(&sql)?
        .query_row([id.uuid().as_bytes()], |row| {
            Ok((listed(db, terms, row)?, row.get(24)?, sealed_at(row, 25, id)?))
        })
        .optional()?;
    let Some((listed, process_line, sealed_path)) = found else { return Ok(None) };
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

fn all_there(db: &Connection, query: i64, chunks: &[i64]) -> rusqlite::Result<bool> {
    let mut statement = db.prepare_cached("SELECT 1 FROM chunk WHERE id = ?1 AND query = ?2")?;
    for chunk in chunks {
        if !statement.exists(params![chunk, query])? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Points queries to their recordings; gives back the paths that are no longer pointed to.
pub(crate) fn seal(db: &Connection, sealed: &[Sealed]) -> rusqlite::Result<Vec<String>> {
    let mut orphans = Vec::new();
    for recording in sealed {
        let id = recording.query_id;
        let (day, version) = place(&recording.path)
            .filter(|(day, version)| sealed_path(id, *day, *version) == recording.path)
            .ok_or_else(|| damaged(0, "the path of a recording is not its day and query"))?;
        let before: Option<(i64, Option<String>)> = db
            .prepare_cached("SELECT id, sealed_day, sealed_version FROM query WHERE query_id = ?1")?
            .query_row([id.uuid().as_bytes()], |row| Ok((row.get(0)?, sealed_at(row, 1, id)?)))
            .optional()?;
        let Some((row, old)) = before else {
            orphans.push(recording.path.clone());
            continue;
        };
        if old.as_ref() != Some(&recording.path) {
            if old != recording.replaces || !all_there(db, row, &recording.chunks)? {
                orphans.push(recording.path.clone());
                continue;
            }
            db.prepare_cached("UPDATE query SET sealed_day = ?2, sealed_version = ?3 WHERE id = ?1")?
                .execute(params![row, day, version.map(u64::cast_signed)])?;
            orphans.extend(old);
        }
        for chunk in &recording.chunks {
            db.prepare_cached("DELETE FROM chunk WHERE id = ?1 AND query = ?2")?
                .execute(params![chunk, row])?;
        }
    }
    Ok(orphans)
}

fn place(path: &str) -> Option<(i64, Option<u64>)> {
    Some((day_of_path(path)?, named_by(path)?.1))
}

/// The path of a sealed recording from its day and, in the next column, its version.
pub(crate) fn sealed_at(row: &Row<'_>, column: usize, id: QueryId) -> rusqlite::Result<Option<String>> {
    let day: Option<i64> = row.get(column)?;
    let version: Option<i64> = row.get(column + 1)?;
    Ok(day.map(|day| sealed_path(id, day, version.map(i64::cast_unsigned))))
}
