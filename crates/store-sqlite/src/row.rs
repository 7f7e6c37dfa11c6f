//! A row of the table `query`, and the query it stands for.

use chrono::NaiveDate;
use queryscope_protocol::{QueryId, StreamId};
use queryscope_store::{Known, Listed, Position, Query, Status, recording_path};
use rusqlite::{Connection, Row};
use uuid::Uuid;

use crate::error::damaged;
use crate::terms::TermTexts;

const NS_PER_DAY: i64 = 86_400_000_000_000;

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
        status: status_of(row.get(10)?).ok_or_else(|| damaged(10, "unknown status"))?,
        known: known_of(row.get(11)?).ok_or_else(|| damaged(11, "unknown origin of facts"))?,
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

/// The number a status is stored as.
pub(crate) const fn status_number(status: Status) -> i64 {
    match status {
        Status::Running => 0,
        Status::Finished => 1,
        Status::Failed => 2,
        Status::Unfinished => 3,
    }
}

/// The status stored as a number.
pub(crate) fn status_of(number: i64) -> Option<Status> {
    Status::ALL.into_iter().find(|status| status_number(*status) == number)
}

/// The number an origin of facts is stored as.
pub(crate) const fn known_number(known: Known) -> i64 {
    match known {
        Known::Guess => 0,
        Known::Started => 1,
        Known::Finished => 2,
    }
}

/// The origin of facts stored as a number.
pub(crate) fn known_of(number: i64) -> Option<Known> {
    [Known::Guess, Known::Started, Known::Finished].into_iter().find(|known| known_number(*known) == number)
}

/// The day a recording's path lies under, counted from 1970-01-01.
pub(crate) fn day_of_path(path: &str) -> Option<i64> {
    let mut parts = path.split('/');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let date = NaiveDate::from_ymd_opt(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?)?;
    Some(date.signed_duration_since(NaiveDate::default()).num_days())
}

/// The path of a recording sealed under a day.
pub(crate) fn sealed_path(query_id: QueryId, day: i64) -> String {
    recording_path(query_id, day.saturating_mul(NS_PER_DAY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        for status in Status::ALL {
            assert_eq!(status_of(status_number(status)), Some(status));
        }
        assert_eq!((status_of(4), known_of(3)), (None, None));
        assert_eq!(known_of(known_number(Known::Started)), Some(Known::Started));
    }

    #[test]
    fn a_path_is_kept_as_its_day() {
        let id = QueryId::new(Uuid::nil());
        for ns in [0, -1, 1_795_206_683_609_778_763] {
            let path = recording_path(id, ns);
            assert_eq!(day_of_path(&path).map(|day| sealed_path(id, day)), Some(path));
        }
    }
}
