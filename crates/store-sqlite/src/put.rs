//! What a row of the table `query` takes from the run it stands for.

use queryscope_store::Query;
use rusqlite::types::Value;
use rusqlite::{Connection, Statement};

use crate::terms::TermIds;

/// Binds the first 19 parameters of a statement: the id, project, service, environment, host, engine, label,
/// fingerprint, status, known, start, wall time, CPU time, rows, error, warnings, rules, and the versions of the engine
/// and of the program.
pub(crate) fn bind(
    db: &Connection,
    terms: &mut TermIds,
    query: &Query,
    statement: &mut Statement<'_>,
) -> rusqlite::Result<()> {
    let engine = terms.optional(db, query.engine.as_deref())?;
    if let Some(engine) = engine {
        db.prepare_cached("INSERT OR IGNORE INTO engine (term) VALUES (?1)")?.execute([engine])?;
    }
    let values: [Value; 18] = [
        terms.id(db, &query.project)?.into(),
        terms.optional(db, query.service.as_deref())?.into(),
        terms.optional(db, query.environment.as_deref())?.into(),
        terms.id(db, &query.host)?.into(),
        engine.into(),
        terms.optional(db, query.label.as_deref())?.into(),
        terms.optional(db, query.fingerprint.as_deref())?.into(),
        query.status.number().into(),
        query.known.number().into(),
        query.started_unix_ns.into(),
        query.wall_ms.into(),
        query.cpu_ms.into(),
        query.result_rows.into(),
        terms.optional(db, query.failed.as_deref())?.into(),
        query.warnings.into(),
        rules_id(db, terms, &query.rules)?.into(),
        terms.optional(db, query.engine_version.as_deref())?.into(),
        terms.optional(db, query.program_version.as_deref())?.into(),
    ];
    statement.raw_bind_parameter(1, query.query_id.uuid().as_bytes())?;
    for (index, value) in (2..).zip(values) {
        statement.raw_bind_parameter(index, value)?;
    }
    Ok(())
}

/// The number of a list of rules; none of the empty one.
pub(crate) fn rules_id(
    db: &Connection,
    terms: &mut TermIds,
    rules: &[String],
) -> rusqlite::Result<Option<i64>> {
    if rules.is_empty() {
        return Ok(None);
    }
    let list = serde_json::to_string(rules)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    terms.id(db, &list).map(Some)
}
