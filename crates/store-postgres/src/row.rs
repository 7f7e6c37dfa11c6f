//! Rows of the table `query`, and the queries they stand for.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use deadpool_postgres::GenericClient;
use queryscope_columns::{Origin, Plan, QueryState, RowState};
use queryscope_protocol::{QueryId, StreamId};
use queryscope_store::{Known, Listed, Position, Query, Status};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::DbError;
use crate::names::TermTexts;

/// The columns [`listed`] reads, of `query AS q` joined with `stream AS s`.
pub(crate) const COLUMNS: &str = "
    q.id, q.query_id, s.stream_id, q.project, q.service, q.environment, q.host, q.engine, q.label, q.fingerprint,
    q.status, q.known, q.started_unix_ns, q.wall_ms, q.cpu_ms, q.result_rows, q.failed, q.warnings, q.rules";
/// The columns of [`COLUMNS`] that are terms.
const TERMS: [usize; 9] = [3, 4, 5, 6, 7, 8, 9, 16, 18];

/// The columns [`state`] reads, of `query AS q`.
pub(crate) const STATE_COLUMNS: &str = "
    q.id, q.started_unix_ns, q.wall_ms, q.project, q.service, q.environment, q.host, q.label, q.fingerprint,
    q.rules, q.status";

/// Reads rows of [`COLUMNS`].
pub(crate) async fn listed(
    client: &impl GenericClient,
    terms: &TermTexts,
    rows: &[Row],
) -> Result<Vec<Listed>, DbError> {
    let ids: BTreeSet<i64> = rows
        .iter()
        .flat_map(|row| TERMS.iter().filter_map(|column| row.get::<_, Option<i64>>(*column)))
        .collect();
    let texts = Texts(terms.texts(client, ids).await?);
    rows.iter().map(|row| texts.listed(row)).collect()
}

struct Texts(HashMap<i64, Arc<str>>);

impl Texts {
    fn listed(&self, row: &Row) -> Result<Listed, DbError> {
        let started_unix_ns = row.get(12);
        let query = Query {
            query_id: QueryId::new(row.get::<_, Uuid>(1)),
            stream_id: StreamId::new(row.get::<_, Uuid>(2)),
            project: self.text(row.get(3))?,
            service: self.optional(row.get(4))?,
            environment: self.optional(row.get(5))?,
            host: self.text(row.get(6))?,
            engine: self.optional(row.get(7))?,
            label: self.optional(row.get(8))?,
            fingerprint: self.optional(row.get(9))?,
            status: status_of(row.get(10))?,
            known: known_of(row.get(11))?,
            started_unix_ns,
            wall_ms: row.get(13),
            cpu_ms: row.get(14),
            result_rows: row.get(15),
            failed: self.optional(row.get(16))?,
            warnings: u32::try_from(row.get::<_, i64>(17))
                .map_err(|_| DbError::Damaged("no number of warnings"))?,
            rules: match self.optional(row.get(18))? {
                None => Vec::new(),
                Some(list) => {
                    serde_json::from_str(&list).map_err(|_| DbError::Damaged("no list of rules"))?
                }
            },
        };
        Ok(Listed { query, position: Position { started_unix_ns, tie: row.get(0) } })
    }

    fn text(&self, id: i64) -> Result<String, DbError> {
        let text = self.0.get(&id).ok_or(DbError::Damaged("the number of a text that is not there"))?;
        Ok(text.to_string())
    }

    fn optional(&self, id: Option<i64>) -> Result<Option<String>, DbError> {
        id.map(|id| self.text(id)).transpose()
    }
}

/// Reads the columns [`STATE_COLUMNS`] of a row, from one on. A query that is damaged is none.
pub(crate) fn state(row: &Row, from: usize) -> RowState {
    let id = row.get(from);
    let status = match status_of(row.get(from + 10)) {
        Ok(status) => status.number(),
        Err(error) => {
            let error = &error as &dyn std::error::Error;
            tracing::error!(row = id, error, "a damaged query is left out of answers over many");
            return RowState { row: id, query: None };
        }
    };
    let query = QueryState {
        started_unix_ns: row.get(from + 1),
        wall_ms: row.get(from + 2),
        origin: Origin {
            project: row.get(from + 3),
            service: row.get(from + 4),
            environment: row.get(from + 5),
            host: row.get(from + 6),
        },
        plan: Plan { label: row.get(from + 7), fingerprint: row.get(from + 8), rules: row.get(from + 9) },
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
