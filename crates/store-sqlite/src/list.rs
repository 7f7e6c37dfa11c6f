//! Pages of the list of runs.

use queryscope_columns::Found;
use queryscope_store::{
    Clause, Conditions, ListRequest, Listed, Lookup, QUERY_COLUMNS, Status, TextField, list_order,
    sorted_search,
};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use crate::row::{listed, listed_at};
use crate::search;
use crate::terms::{self, TermTexts, numbers};

/// How the values of a statement are named.
const SIGN: char = '?';

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
        let lookups = request.filter.expression.lookups();
        let found =
            lookups.iter().map(|lookup| terms::matching(db, lookup)).collect::<rusqlite::Result<Vec<_>>>()?;
        let asked = request.filter.expression.clauses.iter().filter(|clause| clause.lookup().is_some());
        let is_met_by_none = |(clause, found): (&Clause, &Vec<i64>)| {
            !clause.is_negated && matches!(clause.lookup(), Some(Lookup::Of(..))) && found.is_empty()
        };
        if asked.zip(&found).any(is_met_by_none) {
            return Ok(None);
        }
        let conditions = Conditions::of_list(SIGN, request, &numbers, &found);
        Ok(conditions.map(|conditions| Self { conditions, index: index_of(request) }))
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
        format!("FROM query AS q {} {joins} WHERE {wheres}", self.index)
    }

    /// The values, in their order.
    pub(crate) fn values(&self) -> &[Value] {
        self.conditions.values()
    }
}

/// How the rows of a page are found.
fn index_of(request: &ListRequest) -> &'static str {
    let filter = &request.filter;
    if filter.status.is_some_and(|status| status != Status::Finished) {
        // It holds all of these columns but versions.
        return "INDEXED BY query_by_status";
    }
    let asks_for_errors = |clause: &Clause| {
        !clause.is_negated && matches!(clause.lookup(), Some(Lookup::Of(TextField::Error, _)))
    };
    if filter.expression.clauses.iter().any(asks_for_errors) {
        // Few runs fail.
        "INDEXED BY query_by_error"
    } else if filter.label.is_some() {
        "INDEXED BY query_by_label"
    } else if request.sort.is_some() && filter.since_unix_ns.is_none() {
        // Every run is read: as they lie.
        "NOT INDEXED"
    } else {
        "INDEXED BY query_by_start"
    }
}

/// Reads one page. Where its places are given, as the columns have them, the queries there are read: by an index, those
/// that meet the other conditions may be few of many, and lie far behind.
pub(crate) fn page(
    db: &Connection,
    terms: &TermTexts,
    request: &ListRequest,
    places: Option<&Found>,
) -> rusqlite::Result<Vec<Listed>> {
    if let Some(places) = places {
        let found = listed_at(db, terms, places.positions().map(|place| place.tie))?;
        if let Some(listed) = places.page(request, found) {
            return Ok(listed);
        }
    }
    let sorted = sorted_search(request);
    let request = sorted.as_ref().unwrap_or(request);
    let Some(source) = Source::of(db, request)? else { return Ok(Vec::new()) };
    if let Some(text) = &request.filter.search {
        return search::page(db, terms, request, &source, text);
    }
    let sql = format!(
        "SELECT {QUERY_COLUMNS} {} {} LIMIT {} OFFSET {}",
        source.from("JOIN stream AS s ON s.id = q.stream"),
        list_order(SIGN, request),
        request.limit,
        request.offset
    );
    db.prepare_cached(&sql)?
        .query_map(params_from_iter(source.values()), |row| listed(db, terms, row))?
        .collect()
}

#[cfg(test)]
mod tests;
