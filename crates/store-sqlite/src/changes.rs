//! Changes of queries.

use queryscope_store::{CHANGE_COLUMNS, ChangesRequest, Conditions, QueryKey, StoredChange};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, params, params_from_iter};

use crate::terms::{self, TermIds, TermTexts};

/// Inserts a change of a query, or replaces the one with its id.
pub(crate) fn put(
    db: &Connection,
    terms: &mut TermIds,
    (project, service, label): (i64, i64, i64),
    change: &StoredChange,
) -> rusqlite::Result<()> {
    let environment = terms.optional(db, change.environment.as_deref())?.unwrap_or(0);
    let host = terms.optional(db, change.host.as_deref())?.unwrap_or(0);
    db.prepare_cached(
        "INSERT OR REPLACE INTO query_change (id, project, service, label, environment, host, kind, state,
             since_unix_ns, confirmed_unix_ns, recovered_unix_ns, wall_ms_a_day, body)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
    )?
    .execute(params![
        change.id,
        project,
        service,
        label,
        environment,
        host,
        change.kind,
        change.state,
        change.since_unix_ns,
        change.confirmed_unix_ns,
        change.recovered_unix_ns,
        change.wall_ms_a_day,
        change.body,
    ])
    .map(drop)
}

/// One change.
pub(crate) fn one(db: &Connection, terms: &TermTexts, id: &str) -> rusqlite::Result<Option<StoredChange>> {
    db.prepare_cached(&format!("SELECT {CHANGE_COLUMNS}, body FROM query_change WHERE id = ?1"))?
        .query_row([id], |row| read(db, terms, row))
        .optional()
}

/// One page.
pub(crate) fn page(
    db: &Connection,
    terms: &TermTexts,
    request: &ChangesRequest,
) -> rusqlite::Result<Vec<StoredChange>> {
    let Some((sql, values)) = select(db, request)? else { return Ok(Vec::new()) };
    db.prepare_cached(&sql)?.query_map(params_from_iter(values), |row| read(db, terms, row))?.collect()
}

/// The statement of a page, and its values.
fn select(db: &Connection, request: &ChangesRequest) -> rusqlite::Result<Option<(String, Vec<Value>)>> {
    let numbers = terms::numbers(db, request.names().filter_map(|(_, text)| text))?;
    Ok(Conditions::select_changes('?', request, &numbers, "''"))
}

/// Deletes changes that were over before a time.
pub(crate) fn delete_before(db: &Connection, unix_ns: i64) -> rusqlite::Result<()> {
    db.prepare_cached(
        "DELETE FROM query_change WHERE state <> ?1 AND coalesce(recovered_unix_ns, confirmed_unix_ns) < ?2",
    )?
    .execute((StoredChange::OPEN, unix_ns))
    .map(drop)
}

fn read(db: &Connection, terms: &TermTexts, row: &Row<'_>) -> rusqlite::Result<StoredChange> {
    let name = |column: usize| -> rusqlite::Result<Option<String>> {
        let id: i64 = row.get(column)?;
        terms.optional(db, Some(id).filter(|id| *id != 0))
    };
    Ok(StoredChange {
        id: row.get(0)?,
        key: QueryKey {
            project: terms.text(db, row.get(1)?)?.to_string(),
            service: name(2)?,
            label: terms.text(db, row.get(3)?)?.to_string(),
        },
        environment: name(4)?,
        host: name(5)?,
        kind: row.get(6)?,
        state: row.get(7)?,
        since_unix_ns: row.get(8)?,
        confirmed_unix_ns: row.get(9)?,
        recovered_unix_ns: row.get(10)?,
        wall_ms_a_day: row.get(11)?,
        body: row.get(12)?,
    })
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;
    use crate::migrate::open_writer;

    const CHANGES: i64 = 10_000;

    /// Changes of 2,000 labels, a tenth of them open.
    const FILL: &str = "
        CREATE TEMP TABLE n AS
        WITH RECURSIVE n (value) AS (SELECT 0 UNION ALL SELECT value + 1 FROM n WHERE value < 9999)
        SELECT value FROM n;
        INSERT INTO term (text) SELECT 'label-' || value FROM n WHERE value < 2000;
        INSERT INTO query_change
        SELECT 'slower-' || value, 1, 0, (SELECT id FROM term WHERE text = 'label-' || (value % 2000)), 0, 0,
            iif(value % 3 = 0, 'failing', 'slower'), iif(value % 10 = 0, 'open', 'recovered'), value, value, NULL,
            value % 977, hex(zeroblob(1000))
        FROM n";

    /// Steps of the statement of a page, and whether it sorts.
    fn page(db: &Connection, request: &ChangesRequest) -> (i32, bool, usize) {
        let (sql, values) = select(db, request).expect("read").expect("a statement");
        let plan = format!("EXPLAIN QUERY PLAN {sql}");
        let mut plan = db.prepare(&plan).expect("a plan");
        let plan = plan.query_map(params_from_iter(&values), |row| row.get::<_, String>(3)).expect("a plan");
        let plan: Vec<String> = plan.collect::<rusqlite::Result<_>>().expect("a plan");
        let plan = plan.join("; ");
        assert!(plan.contains("USING INDEX query_change_by_"), "{plan}");
        let mut statement = db.prepare(&sql).expect("a statement");
        let rows = statement.query_map(params_from_iter(values), |_| Ok(())).expect("rows").count();
        (statement.get_status(StatementStatus::VmStep), plan.contains("TEMP B-TREE"), rows)
    }

    #[test]
    fn a_page_is_found_by_an_index_in_its_order() {
        let folder = tempfile::tempdir().expect("a folder");
        let db = open_writer(&folder.path().join("a.db"), true).expect("a new database");
        db.execute_batch(FILL).expect("changes");
        let some = |text: &str| Some(text.to_owned());
        let all = ChangesRequest { limit: 100, ..ChangesRequest::default() };
        let open = ChangesRequest { state: some("open"), ..all.clone() };
        let after = Some(queryscope_store::ChangePlace { wall_ms_a_day: 500.0, id: "slower-1".into() });
        // As many steps as the page has rows, however many changes there are.
        for request in [
            all.clone(),
            open.clone(),
            ChangesRequest { after: after.clone(), ..all.clone() },
            ChangesRequest { after, ..open.clone() },
            ChangesRequest { label: some("label-7"), ..all.clone() },
            ChangesRequest { label: some("label-10"), state: some("open"), ..all.clone() },
            ChangesRequest { kind: some("slower"), ..open.clone() },
            ChangesRequest { kind: some("failing"), ..all.clone() },
            ChangesRequest { without_body: true, ..all.clone() },
        ] {
            let (steps, sorts, rows) = page(&db, &request);
            assert!(rows > 0 && !sorts && steps < 100 * 60, "{steps} steps, {rows} rows: {request:?}");
        }
        // One that keeps none looks at each, once.
        let environment = Some(queryscope_store::Is::Value("label-7".into()));
        let none = ChangesRequest { environment, ..all };
        let (steps, sorts, rows) = page(&db, &none);
        assert!(rows == 0 && !sorts && i64::from(steps) < CHANGES * 10, "{steps} steps");
    }
}
