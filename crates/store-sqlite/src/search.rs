//! Search in labels, error texts and ids.
//!
//! Labels and errors are terms, of which there are few: those that hold the text are found first, and each
//! gives its first queries in the order of the list from its index. The page is cut from all of them together.
//! So neither a rare text reads every query nor a frequent one collects every match.

use std::collections::BTreeSet;

use queryscope_protocol::QueryId;
use queryscope_store::{ListRequest, Listed, Order, Position, order_by};
use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, params_from_iter};

use crate::list::Source;
use crate::row::listed_at;
use crate::terms::TermTexts;

/// With more terms than this, queries are read in the order of the list until enough match.
const TERMS_BY_INDEX_MAX: usize = 32;
/// A shorter part of an id is in so many of them that reading in the order of the list soon finds enough.
const RARE_ID_PART_CHARS: usize = 4;

/// The largest limit SQLite takes.
const LIMIT_MAX: usize = i64::MAX as usize;

/// Adds the functions that searching uses to a connection.
pub(crate) fn register(db: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    db.create_scalar_function("holds", 2, flags, |context| {
        let needle = context.get_raw(1).as_str()?;
        Ok(context.get_raw(0).as_str()?.to_lowercase().contains(needle))
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
    asked: &Source,
    text: &str,
) -> rusqlite::Result<Vec<Listed>> {
    let needle = text.to_lowercase();
    let skip = usize::try_from(request.offset).unwrap_or(usize::MAX);
    let end = skip.saturating_add(request.limit).min(LIMIT_MAX);
    let mut found = BTreeSet::new();
    for source in sources(db, asked, &needle)? {
        found.extend(first(db, &source, request.order, end)?);
    }
    let places: Vec<Position> = match request.order {
        Order::Oldest => found.into_iter().skip(skip).take(request.limit).collect(),
        Order::Newest => found.into_iter().rev().skip(skip).take(request.limit).collect(),
    };
    listed_at(db, terms, places.iter().map(|place| place.tie))
}

/// The first places of a source in the order of the list.
fn first(db: &Connection, source: &Source, order: Order, limit: usize) -> rusqlite::Result<Vec<Position>> {
    let sql =
        format!("SELECT q.started_unix_ns, q.id {} {} LIMIT {limit}", source.from(""), order_by("q", order));
    db.prepare_cached(&sql)?
        .query_map(params_from_iter(source.values()), |row| {
            Ok(Position { started_unix_ns: row.get(0)?, tie: row.get(1)? })
        })?
        .collect()
}

/// Sources of which every query that holds the text is in one.
fn sources(db: &Connection, asked: &Source, needle: &str) -> rusqlite::Result<Vec<Source>> {
    let terms: Vec<i64> = db
        .prepare_cached("SELECT id FROM term WHERE holds(text, ?1)")?
        .query_map([needle], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut sources = Vec::new();
    if terms.len() <= TERMS_BY_INDEX_MAX {
        for term in terms {
            sources.push(asked.with_index("INDEXED BY query_by_label", "q.label = {}", term));
            sources.push(asked.with_index("INDEXED BY query_by_error", "q.failed = {}", term));
        }
    } else {
        let list: Vec<String> = terms.iter().map(i64::to_string).collect();
        let list = format!("[{}]", list.join(","));
        sources.push(asked.with("q.label IN (SELECT value FROM json_each({}))", list.clone()));
        let failed = "q.failed IN (SELECT value FROM json_each({}))";
        sources.push(asked.with_index("INDEXED BY query_by_error", failed, list));
    }
    if needle.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-') {
        sources.push(by_id(asked, needle));
    }
    Ok(sources)
}

fn by_id(asked: &Source, needle: &str) -> Source {
    if let Ok(id) = needle.parse::<QueryId>() {
        asked.with_index("INDEXED BY query_by_id", "q.query_id = {}", id.uuid().as_bytes().to_vec())
    } else if needle.len() < RARE_ID_PART_CHARS {
        asked.with("id_holds(q.query_id, {})", needle.to_owned())
    } else {
        let ids = "q.id IN (SELECT id FROM query INDEXED BY query_by_id WHERE id_holds(query_id, {}))";
        asked.with(ids, needle.to_owned())
    }
}
