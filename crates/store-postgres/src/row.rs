//! Rows of the table `query`, and the runs they stand for.

use std::collections::BTreeSet;

use deadpool_postgres::GenericClient;
use queryscope_columns::{Figures, Origin, Plan, QueryState, RowState, state_of};
use queryscope_history::Quantity;
use queryscope_protocol::{QueryId, StreamId};
use queryscope_store::{Known, Listed, Position, QUERY_COLUMNS, Query, Status};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::DbError;
use crate::names::{Named, TermTexts};

/// The columns of [`QUERY_COLUMNS`] that are terms.
const TERMS: [usize; 11] = [3, 4, 5, 6, 7, 8, 9, 16, 18, 19, 20];

/// The columns [`state`] reads, of `query AS q`.
pub(crate) const STATE_COLUMNS: &str = "
    q.id, q.started_unix_ns, q.wall_ms, q.project, q.service, q.environment, q.host, q.label, q.fingerprint,
    q.rules, q.status, q.engine_version, q.program_version, q.cpu_ms, q.result_rows, q.bytes_read, q.spilled_bytes,
    q.peak_memory_bytes, q.warnings, (SELECT t.text FROM term AS t WHERE t.id = q.failed)";

/// Reads the queries of rows, in any order; one that is gone is left out.
pub(crate) async fn listed_at(
    client: &impl GenericClient,
    terms: &TermTexts,
    rows: &[i64],
) -> Result<Vec<Listed>, DbError> {
    let sql = format!(
        "SELECT {QUERY_COLUMNS} FROM query AS q JOIN stream AS s ON s.id = q.stream WHERE q.id = ANY($1)"
    );
    let rows = client.query(&client.prepare_cached(&sql).await?, &[&rows]).await?;
    listed(client, terms, &rows).await
}

/// Reads rows of [`QUERY_COLUMNS`].
pub(crate) async fn listed(
    client: &impl GenericClient,
    terms: &TermTexts,
    rows: &[Row],
) -> Result<Vec<Listed>, DbError> {
    let ids: BTreeSet<i64> = rows
        .iter()
        .flat_map(|row| TERMS.iter().filter_map(|column| row.get::<_, Option<i64>>(*column)))
        .collect();
    let texts = terms.texts(client, ids).await?;
    rows.iter().map(|row| one(&texts, row)).collect()
}

fn one(texts: &Named, row: &Row) -> Result<Listed, DbError> {
    let optional = |column: usize| texts.optional(row.get::<_, Option<i64>>(column));
    let started_unix_ns = row.get(12);
    let query = Query {
        query_id: QueryId::new(row.get::<_, Uuid>(1)),
        stream_id: StreamId::new(row.get::<_, Uuid>(2)),
        project: texts.text(row.get(3))?,
        service: optional(4)?,
        environment: optional(5)?,
        program_version: optional(20)?,
        host: texts.text(row.get(6))?,
        engine: optional(7)?,
        engine_version: optional(19)?,
        label: optional(8)?,
        fingerprint: optional(9)?,
        status: status_of(row.get(10))?,
        known: known_of(row.get(11))?,
        started_unix_ns,
        wall_ms: row.get(13),
        cpu_ms: row.get(14),
        result_rows: row.get(15),
        bytes_read: row.get(21),
        spilled_bytes: row.get(22),
        peak_memory_bytes: row.get(23),
        failed: optional(16)?,
        warnings: u32::try_from(row.get::<_, i64>(17))
            .map_err(|_| DbError::Damaged("no number of warnings"))?,
        rules: match optional(18)? {
            None => Vec::new(),
            Some(list) => serde_json::from_str(&list).map_err(|_| DbError::Damaged("no list of rules"))?,
        },
    };
    Ok(Listed { query, position: Position { started_unix_ns, tie: row.get(0) } })
}

/// Reads the columns [`STATE_COLUMNS`] of a row, from one on. A query that is damaged is none.
pub(crate) fn state(row: &Row, from: usize) -> RowState {
    let id = row.get(from);
    let error = row.get::<_, Option<&[u8]>>(from + 19).map(String::from_utf8_lossy);
    let status = match status_of(row.get(from + 10)) {
        Ok(status) => state_of(status, error.as_deref()),
        Err(error) => {
            let error = &error as &dyn std::error::Error;
            tracing::error!(row = id, error, "a damaged run is left out of answers over many");
            return RowState { row: id, query: None };
        }
    };
    let query = QueryState {
        started_unix_ns: row.get(from + 1),
        wall_ms: row.get(from + 2),
        figures: Figures {
            cpu: Quantity::from_ms(row.get(from + 13)),
            result_rows: Quantity::from_whole(row.get(from + 14)),
            bytes_read: Quantity::from_whole(row.get(from + 15)),
            spilled_bytes: Quantity::from_whole(row.get(from + 16)),
            peak_memory_bytes: Quantity::from_whole(row.get(from + 17)),
            warnings: Quantity::from_whole(row.get(from + 18)),
        },
        origin: Origin {
            project: row.get(from + 3),
            service: row.get(from + 4),
            environment: row.get(from + 5),
            host: row.get(from + 6),
            program_version: row.get(from + 12),
        },
        plan: Plan {
            label: row.get(from + 7),
            fingerprint: row.get(from + 8),
            rules: row.get(from + 9),
            engine_version: row.get(from + 11),
        },
        status,
    };
    RowState { row: id, query: Some(query) }
}

/// The status stored as a number.
pub(crate) fn status_of(number: i16) -> Result<Status, DbError> {
    u8::try_from(number).ok().and_then(Status::of_number).ok_or(DbError::Damaged("an unknown status"))
}

/// The origin of facts stored as a number.
pub(crate) fn known_of(number: i16) -> Result<Known, DbError> {
    u8::try_from(number).ok().and_then(Known::of_number).ok_or(DbError::Damaged("an unknown origin of facts"))
}
