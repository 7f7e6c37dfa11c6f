//! A row of the table `query`, and the run it stands for.

use queryscope_protocol::{QueryId, StreamId};
use queryscope_store::{Known, Listed, Position, QUERY_COLUMNS, Query, Status};
use rusqlite::{Connection, OptionalExtension, Row};
use uuid::Uuid;

use crate::error::damaged;
use crate::terms::TermTexts;

/// Reads the queries of rows, in their order; one that is gone is left out.
pub(crate) fn listed_at(
    db: &Connection,
    terms: &TermTexts,
    rows: impl Iterator<Item = i64>,
) -> rusqlite::Result<Vec<Listed>> {
    let sql =
        format!("SELECT {QUERY_COLUMNS} FROM query AS q JOIN stream AS s ON s.id = q.stream WHERE q.id = ?1");
    let mut statement = db.prepare_cached(&sql)?;
    let mut read = |row| statement.query_row([row], |row| listed(db, terms, row)).optional();
    rows.filter_map(|row| read(row).transpose()).collect()
}

/// Reads the columns [`QUERY_COLUMNS`].
pub(crate) fn listed(db: &Connection, terms: &TermTexts, row: &Row<'_>) -> rusqlite::Result<Listed> {
    let started_unix_ns = row.get(12)?;
    let query = Query {
        query_id: QueryId::new(Uuid::from_bytes(row.get(1)?)),
        stream_id: StreamId::new(Uuid::from_bytes(row.get(2)?)),
        project: terms.text(db, row.get(3)?)?.to_string(),
        service: terms.optional(db, row.get(4)?)?,
        environment: terms.optional(db, row.get(5)?)?,
        program_version: terms.optional(db, row.get(20)?)?,
        host: terms.text(db, row.get(6)?)?.to_string(),
        engine: terms.optional(db, row.get(7)?)?,
        engine_version: terms.optional(db, row.get(19)?)?,
        label: terms.optional(db, row.get(8)?)?,
        fingerprint: terms.optional(db, row.get(9)?)?,
        status: Status::of_number(row.get(10)?).ok_or_else(|| damaged(10, "unknown status"))?,
        known: Known::of_number(row.get(11)?).ok_or_else(|| damaged(11, "unknown origin of facts"))?,
        started_unix_ns,
        wall_ms: row.get(13)?,
        cpu_ms: row.get(14)?,
        result_rows: row.get(15)?,
        bytes_read: row.get(21)?,
        spilled_bytes: row.get(22)?,
        peak_memory_bytes: row.get(23)?,
        failed: terms.optional(db, row.get(16)?)?,
        warnings: row.get(17)?,
        rules: match row.get::<_, Option<i64>>(18)? {
            None => Vec::new(),
            Some(id) => {
                serde_json::from_str(&terms.text(db, id)?).map_err(|_| damaged(18, "no list of rules"))?
            }
        },
    };
    Ok(Listed { query, position: Position { started_unix_ns, tie: row.get(0)? } })
}
