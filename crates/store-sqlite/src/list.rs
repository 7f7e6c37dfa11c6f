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

/// Queries that meet conditions, and the index that serves these best.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    conditions: Conditions<Value>,
    index: &'static str,
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
    pub(crate) fn with_index(&self, index: &'static str, clause: &str, value: impl Into<Value>) -> Self {
        Self { index, ..self.with(clause, value) }
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

fn index_of(filter: &QueryFilter) -> &'static str {
    if filter.status.is_some_and(|status| status != Status::Finished) {
        // It holds all columns that are asked for but versions.
        "query_by_status"
    } else if filter.label.is_some() {
        "query_by_label"
    } else {
        "query_by_start"
    }
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
