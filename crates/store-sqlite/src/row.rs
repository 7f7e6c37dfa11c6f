//! A row of the table `query`, and the query it stands for.

use queryscope_protocol::{QueryId, StreamId};
use queryscope_store::{Known, Listed, Position, Query, Status};
use rusqlite::{Connection, Row};
use uuid::Uuid;

use crate::error::damaged;
use crate::terms::TermTexts;

/// The columns [`listed`] reads, of `query AS q` joined with `stream AS s`.
pub(crate) const COLUMNS: &str = "
    q.id, q.query_id, s.stream_id, q.project, q.service, q.environment, q.host, q.engine, q.label, q.fingerprint,
    q.status, q.known, q.started_unix_ns, q.wall_ms, q.cpu_ms, q.result_rows, q.failed, q.warnings, q.rules";

/// Reads the columns [`COLUMNS`].
pub(crate) fn listed(db: &Connection, terms: &TermTexts, row: &Row<'_>) -> rusqlite::Result<Listed> {
    let started_unix_ns = row.get(12)?;
    let query = Query {
        query_id: QueryId::new(Uuid::from_bytes(row.get(1)?)),
        stream_id: StreamId::new(Uuid::from_bytes(row.get(2)?)),
        project: terms.text(db, row.get(3)?)?.to_string(),
        service: terms.optional(db, row.get(4)?)?,
        environment: terms.optional(db, row.get(5)?)?,
        host: terms.text(db, row.get(6)?)?.to_string(),
        engine: terms.optional(db, row.get(7)?)?,
        label: terms.optional(db, row.get(8)?)?,
        fingerprint: terms.optional(db, row.get(9)?)?,
        status: Status::of_number(row.get(10)?).ok_or_else(|| damaged(10, "unknown status"))?,
        known: Known::of_number(row.get(11)?).ok_or_else(|| damaged(11, "unknown origin of facts"))?,
        started_unix_ns,
        wall_ms: row.get(13)?,
        cpu_ms: row.get(14)?,
        result_rows: row.get(15)?,
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
