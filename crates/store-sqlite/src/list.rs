//! Pages of the list of runs.

use queryscope_columns::still_there;
use queryscope_store::{
    Conditions, ListRequest, Listed, Position, QUERY_COLUMNS, QueryFilter, Status, order_by,
};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use crate::row::{listed, listed_at};
use crate::search;
use crate::terms::{TermTexts, numbers};

/// From the column whose index most often leaves most rows to the one that leaves least.
const INDEXED: [&str; 6] = ["project", "environment", "service", "host", "label", "fingerprint"];

/// Queries that meet conditions, and the index that serves these best.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    conditions: Conditions<Value>,
    index: String,
}

impl Source {
    /// What a page asks, its search left out; `None` when no query can match.
    fn of(db: &Connection, request: &ListRequest) -> rusqlite::Result<Option<Self>> {
        let numbers = numbers(db, request.filter.names().filter_map(|(_, text)| text))?;
        let conditions = Conditions::of_list('?', request, &numbers);
        Ok(conditions.map(|conditions| Self { conditions, index: index_of(&request.filter) }))
    }

    /// These and one more condition, on a value that stands where its text says `{}`.
    pub(crate) fn with(&self, clause: &str, value: impl Into<Value>) -> Self {
        let mut more = self.clone();
        more.conditions.add(clause, value);
        more
    }

    /// As [`Source::with`], where the one more is served by an index.
    pub(crate) fn with_index(&self, index: &str, clause: &str, value: impl Into<Value>) -> Self {
        Self { index: index.into(), ..self.with(clause, value) }
    }

    /// `query AS q` by the index, with the conditions.
    pub(crate) fn from(&self, joins: &str) -> String {
        let wheres = self.conditions.clause();
        format!("FROM query AS q INDEXED BY {} {joins} WHERE {wheres}", self.index)
    }

    /// The values, in their order.
    pub(crate) fn values(&self) -> &[Value] {
        self.conditions.values()
    }
}

fn index_of(filter: &QueryFilter) -> String {
    if filter.status.is_some_and(|status| status != Status::Finished) {
        // It holds all of these columns.
        return "query_by_status".into();
    }
    // Of what lacks a name there may be most; versions have no index.
    let given = |of: &str| filter.names().any(|(column, text)| column == of && text.is_some());
    let version = given("engine_version") || given("program_version");
    let absent = |of: &str| !version && filter.names().any(|(column, _)| column == of);
    let rarest = INDEXED.into_iter().rfind(|column| given(column));
    let rarest = rarest.or_else(|| INDEXED.into_iter().rfind(|column| absent(column)));
    format!("query_by_{}", rarest.unwrap_or("start"))
}

/// Reads one page. Where its places are given, as the columns have them, the queries there are read: by an index, those
/// that meet the other conditions may be few of many, and lie far behind.
pub(crate) fn page(
    db: &Connection,
    terms: &TermTexts,
    request: &ListRequest,
    places: Option<&[Position]>,
) -> rusqlite::Result<Vec<Listed>> {
    if let Some(places) = places {
        let found = listed_at(db, terms, places.iter().map(|place| place.tie))?;
        if let Some(listed) = still_there(request, places, found) {
            return Ok(listed);
        }
    }
    let Some(source) = Source::of(db, request)? else { return Ok(Vec::new()) };
    if let Some(text) = &request.filter.search {
        return search::page(db, terms, request, &source, text);
    }
    let sql = format!(
        "SELECT {QUERY_COLUMNS} {} {} LIMIT {} OFFSET {}",
        source.from("JOIN stream AS s ON s.id = q.stream"),
        order_by("q", request.order),
        request.limit,
        request.offset
    );
    db.prepare_cached(&sql)?
        .query_map(params_from_iter(source.values()), |row| listed(db, terms, row))?
        .collect()
}

#[cfg(test)]
mod tests;
