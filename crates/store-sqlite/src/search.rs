//! Search in labels, error texts and ids.
//!
//! Three sources each give their first matches in the order of the list; the page is cut from them together.
//! So a rare text is found without reading every query, and a frequent one without collecting every match.

use std::collections::BTreeSet;

use queryscope_protocol::QueryId;
use queryscope_store::{ListRequest, Listed, Order, Position};
use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, OptionalExtension, params_from_iter};

use crate::list::{Conditions, order_by};
use crate::row::{COLUMNS, listed};
use crate::terms::TermTexts;

/// With more labels than this that match, queries are read in the order of the list until enough match.
const LABELS_BY_INDEX_MAX: usize = 16;

/// Adds the functions that searching uses to a connection.
pub(crate) fn register(db: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    db.create_scalar_function("holds", 2, flags, |context| {
        let needle = context.get_raw(1).as_str()?;
        Ok(context.get_raw(0).as_str_or_null()?.is_some_and(|text| text.to_lowercase().contains(needle)))
    })?;
    db.create_scalar_function("id_holds", 2, flags, |context| {
        let bytes: [u8; 16] = context.get(0)?;
        let mut text = [0; uuid::fmt::Hyphenated::LENGTH];
        let text: &str = uuid::Uuid::from_bytes(bytes).as_hyphenated().encode_lower(&mut text);
        Ok(memchr::memmem::find(text.as_bytes(), context.get_raw(1).as_str()?.as_bytes()).is_some())
    })
}

/// Reads one page of the queries that hold a text.
pub(crate) fn page(
    db: &Connection,
    terms: &TermTexts,
    request: &ListRequest,
    conditions: &Conditions,
    text: &str,
) -> rusqlite::Result<Vec<Listed>> {
    let needle = text.to_lowercase();
    let end = usize::try_from(request.offset).unwrap_or(usize::MAX).saturating_add(request.limit);
    let mut found = BTreeSet::new();
    for source in [
        by_label(db, conditions, &needle)?,
        Some(by_error(conditions, &needle)),
        by_id(db, conditions, &needle)?,
    ]
    .into_iter()
    .flatten()
    {
        for position in first(db, &source, request.order, end)? {
            found.insert(position);
        }
    }
    let skip = usize::try_from(request.offset).unwrap_or(usize::MAX);
    let places: Vec<Position> = match request.order {
        Order::Oldest => found.into_iter().skip(skip).take(request.limit).collect(),
        Order::Newest => found.into_iter().rev().skip(skip).take(request.limit).collect(),
    };
    let sql = format!("SELECT {COLUMNS} FROM query AS q JOIN stream AS s ON s.id = q.stream WHERE q.id = ?1");
    let mut statement = db.prepare_cached(&sql)?;
    places.iter().map(|place| statement.query_row([place.tie], |row| listed(db, terms, row))).collect()
}

/// The first places of a source in the order of the list.
fn first(
    db: &Connection,
    source: &Conditions,
    order: Order,
    limit: usize,
) -> rusqlite::Result<Vec<Position>> {
    let sql =
        format!("SELECT q.started_unix_ns, q.id {} {} LIMIT {limit}", source.source(""), order_by(order));
    db.prepare(&sql)?
        .query_map(params_from_iter(source.values()), |row| {
            Ok(Position { started_unix_ns: row.get(0)?, tie: row.get(1)? })
        })?
        .collect()
}

fn by_label(db: &Connection, conditions: &Conditions, needle: &str) -> rusqlite::Result<Option<Conditions>> {
    let labels: Vec<String> = db
        .prepare_cached("SELECT id FROM term WHERE holds(text, ?1)")?
        .query_map([needle], |row| row.get::<_, i64>(0).map(|id| id.to_string()))?
        .collect::<rusqlite::Result<_>>()?;
    if labels.is_empty() {
        return Ok(None);
    }
    let mut source = conditions.clone();
    if labels.len() <= LABELS_BY_INDEX_MAX {
        source.index("query_by_label");
    }
    source.and("q.label IN (SELECT value FROM json_each({}))", format!("[{}]", labels.join(",")));
    Ok(Some(source))
}

fn by_error(conditions: &Conditions, needle: &str) -> Conditions {
    let mut source = conditions.clone();
    source.index("query_by_status");
    source.and("q.status = 2 AND q.status <> 1 AND holds(q.failed, {})", needle.to_owned());
    source
}

fn by_id(db: &Connection, conditions: &Conditions, needle: &str) -> rusqlite::Result<Option<Conditions>> {
    if !needle.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-') {
        return Ok(None);
    }
    let row: Option<i64> = match needle.parse::<QueryId>() {
        Err(_) => None,
        Ok(id) => db
            .prepare_cached("SELECT id FROM query WHERE query_id = ?1")?
            .query_row([id.uuid().as_bytes()], |row| row.get(0))
            .optional()?,
    };
    let mut source = conditions.clone();
    match row {
        Some(row) => source.compare("q.id =", row),
        None => {
            source.and(
                "q.id IN (SELECT id FROM query INDEXED BY query_by_id WHERE id_holds(query_id, {}))",
                needle.to_owned(),
            );
        }
    }
    Ok(Some(source))
}
