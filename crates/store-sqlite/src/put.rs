//! What a row of the table `query` takes from the run it stands for.

use queryscope_columns::{Figures, Origin, Plan, QueryState, state_of};
use queryscope_store::Query;
use rusqlite::types::Value;
use rusqlite::{Connection, Statement};

use crate::terms::TermIds;

/// Binds the first 22 parameters of a statement: the id, project, service, environment, host, engine, label,
/// fingerprint, status, known, start, wall time, CPU time, rows, error, warnings, rules, the versions of the engine and
/// of the program, and bytes read, spilled and in memory. Gives back what the columns keep of the row.
pub(crate) fn bind(
    db: &Connection,
    terms: &mut TermIds,
    query: &Query,
    statement: &mut Statement<'_>,
) -> rusqlite::Result<QueryState> {
    let engine = terms.optional(db, query.engine.as_deref())?;
    if let Some(engine) = engine {
        terms.note_engine(db, engine)?;
    }
    let origin = Origin {
        project: terms.id(db, &query.project)?,
        service: terms.optional(db, query.service.as_deref())?,
        environment: terms.optional(db, query.environment.as_deref())?,
        host: terms.id(db, &query.host)?,
        program_version: terms.optional(db, query.program_version.as_deref())?,
    };
    let plan = Plan {
        label: terms.optional(db, query.label.as_deref())?,
        fingerprint: terms.optional(db, query.fingerprint.as_deref())?,
        rules: rules_id(db, terms, &query.rules)?,
        engine_version: terms.optional(db, query.engine_version.as_deref())?,
    };
    let values: [Value; 21] = [
        origin.project.into(),
        origin.service.into(),
        origin.environment.into(),
        origin.host.into(),
        engine.into(),
        plan.label.into(),
        plan.fingerprint.into(),
        query.status.number().into(),
        query.known.number().into(),
        query.started_unix_ns.into(),
        query.wall_ms.into(),
        query.cpu_ms.into(),
        query.result_rows.into(),
        terms.optional(db, query.failed.as_deref())?.into(),
        query.warnings.into(),
        plan.rules.into(),
        plan.engine_version.into(),
        origin.program_version.into(),
        query.bytes_read.into(),
        query.spilled_bytes.into(),
        query.peak_memory_bytes.into(),
    ];
    statement.raw_bind_parameter(1, query.query_id.uuid().as_bytes())?;
    for (index, value) in (2..).zip(values) {
        statement.raw_bind_parameter(index, value)?;
    }
    // As SQLite gives it back: NaN is stored as NULL, and -0.0 as 0.
    let wall_ms = query.wall_ms.filter(|ms| !ms.is_nan()).map(|ms| ms + 0.0);
    let (started_unix_ns, status) = (query.started_unix_ns, state_of(query.status, query.failed.as_deref()));
    Ok(QueryState { started_unix_ns, wall_ms, figures: Figures::of(query), origin, plan, status })
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
