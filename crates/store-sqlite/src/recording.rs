//! Chunks, and what seals them.

use queryscope_protocol::{QueryId, Seq};
use queryscope_store::{ChunkInfo, PlaceColumns, QUERY_COLUMNS, RecordingParts, RecordingPlace, Sealed};
use rusqlite::{Connection, OptionalExtension, Row, params};
use uuid::Uuid;

use crate::error::damaged;
use crate::packs::Left;
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

/// The columns that [`place_at`] reads, of a query `q`.
pub(crate) const PLACE: &str = "q.sealed_day, q.sealed_version, q.pack_offset, q.pack_bytes";
const POINT: &str = "
    UPDATE query SET sealed_day = ?2, sealed_version = ?3, pack_offset = ?4, pack_bytes = ?5 WHERE id = ?1";

/// Where the events of a query are.
pub(crate) fn parts(
    db: &Connection,
    terms: &TermTexts,
    id: QueryId,
) -> rusqlite::Result<Option<RecordingParts>> {
    let sql = format!(
        "SELECT {QUERY_COLUMNS}, s.process_line, {PLACE}
         FROM query AS q JOIN stream AS s ON s.id = q.stream
         WHERE q.query_id = ?1"
    );
    let found = db
        .prepare_cached(&sql)?
        .query_row([id.uuid().as_bytes()], |row| {
            Ok((listed(db, terms, row)?, row.get(24)?, place_at(row, 25, id)?))
        })
        .optional()?;
    let Some((listed, process_line, sealed)) = found else { return Ok(None) };
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
    Ok(Some(RecordingParts { query: listed.query, process_line, sealed, chunks }))
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
    let mut left = Left::default();
    for recording in sealed {
        let id = recording.query_id;
        let columns = recording
            .place
            .columns(id)
            .ok_or_else(|| damaged(0, "a recording is not where one of its query can be"))?;
        let found: Option<(i64, Option<RecordingPlace>)> = db
            .prepare_cached(&format!("SELECT q.id, {PLACE} FROM query AS q WHERE q.query_id = ?1"))?
            .query_row([id.uuid().as_bytes()], |row| Ok((row.get(0)?, place_at(row, 1, id)?)))
            .optional()?;
        let Some((row, old)) = found else {
            left.leave(&recording.place);
            continue;
        };
        if old.as_ref() != Some(&recording.place) {
            let in_time = old == recording.replaces && all_there(db, row, &recording.chunks)?;
            if !in_time || !left.point(db, &recording.place)? {
                left.leave(&recording.place);
                continue;
            }
            point(db, row, Some(columns))?;
            if let Some(old) = old {
                left.unpoint(&old);
            }
        }
        for chunk in &recording.chunks {
            db.prepare_cached("DELETE FROM chunk WHERE id = ?1 AND query = ?2")?
                .execute(params![chunk, row])?;
        }
    }
    left.settle(db)
}

/// Points a row to a place, or to none.
pub(crate) fn point(db: &Connection, row: i64, columns: Option<PlaceColumns>) -> rusqlite::Result<()> {
    let day = columns.map(|columns| columns.day);
    let (version, offset, bytes) =
        columns.map_or((None, None, None), |columns| (columns.version, columns.offset, columns.bytes));
    db.prepare_cached(POINT)?.execute(params![row, day, version, offset, bytes])?;
    Ok(())
}

/// The place of a sealed recording from the columns of [`PLACE`], of which this is the first.
pub(crate) fn place_at(
    row: &Row<'_>,
    column: usize,
    id: QueryId,
) -> rusqlite::Result<Option<RecordingPlace>> {
    let Some(day) = row.get(column)? else { return Ok(None) };
    let (version, offset, bytes) = (row.get(column + 1)?, row.get(column + 2)?, row.get(column + 3)?);
    Ok(Some(RecordingPlace::of_columns(id, PlaceColumns { day, version, offset, bytes })))
}
