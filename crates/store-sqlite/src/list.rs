//! Pages of the list of queries.

use queryscope_columns::{Selection, Snapshot};
use queryscope_store::{Is, ListRequest, Listed, Order, Position, QueryFilter, Status};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use crate::names::DatabaseNames;
use crate::row::{COLUMNS, listed};
use crate::search;
use crate::terms::{TermTexts, find};

/// Conditions on `query AS q`, the values they take, and the index that serves them best.
#[derive(Debug, Clone)]
pub(crate) struct Conditions {
    clauses: Vec<String>,
    values: Vec<Value>,
    index: &'static str,
}

impl Conditions {
    /// What a filter asks, its search left out; `None` when no query can match.
    pub(crate) fn of(db: &Connection, filter: &QueryFilter) -> rusqlite::Result<Option<Self>> {
        let mut conditions = Self { clauses: Vec::new(), values: Vec::new(), index: "query_by_start" };
        let host = filter.host.clone().map(Is::Value);
        let project = filter.project.clone().map(Is::Value);
        // From the index that most often leaves most rows to the one that leaves least. Of what lacks a value there may
        // be most.
        let columns = [
            (&project, "q.project", "query_by_project"),
            (&filter.environment, "q.environment", "query_by_environment"),
            (&filter.service, "q.service", "query_by_service"),
            (&host, "q.host", "query_by_host"),
            (&filter.label, "q.label", "query_by_label"),
            (&filter.fingerprint, "q.fingerprint", "query_by_fingerprint"),
        ];
        let absent = |(is, ..): &(&Option<Is>, &str, &str)| matches!(is, Some(Is::Absent));
        let (absent, given): (Vec<_>, Vec<_>) = columns.into_iter().partition(absent);
        for (is, column, index) in absent.into_iter().chain(given) {
            match is {
                None => continue,
                Some(Is::Absent) => conditions.clauses.push(format!("{column} IS NULL")),
                Some(Is::Value(text)) => match find(db, text)? {
                    Some(term) => conditions.compare(&format!("{column} ="), term),
                    None => return Ok(None),
                },
            }
            conditions.index = index;
        }
        if let Some(status) = filter.status {
            conditions.compare("q.status =", i64::from(status.number()));
            if status != Status::Finished {
                // In these words the partial index offers itself, which holds all of these columns.
                conditions.clauses.push("q.status <> 1".into());
                conditions.index = "query_by_status";
            }
        }
        if let Some(since) = filter.since_unix_ns {
            conditions.compare("q.started_unix_ns >=", since);
        }
        if let Some(until) = filter.until_unix_ns {
            conditions.compare("q.started_unix_ns <=", until);
        }
        Ok(Some(conditions))
    }

    fn compare(&mut self, left: &str, value: impl Into<Value>) {
        self.values.push(value.into());
        self.clauses.push(format!("{left} ?{}", self.values.len()));
    }

    /// These and one more, on a value that stands where its text says `{}`.
    pub(crate) fn with(&self, clause: &str, value: impl Into<Value>) -> Self {
        let mut more = self.clone();
        more.values.push(value.into());
        more.clauses.push(clause.replace("{}", &format!("?{}", more.values.len())));
        more
    }

    /// As [`Conditions::with`], where the one more is served by an index.
    pub(crate) fn with_index(&self, index: &'static str, clause: &str, value: impl Into<Value>) -> Self {
        Self { index, ..self.with(clause, value) }
    }

    /// Goes on after a place in an order.
    pub(crate) fn page(&mut self, request: &ListRequest) {
        if let Some(after) = request.after {
            let beyond = match request.order {
                Order::Newest => "<",
                Order::Oldest => ">",
            };
            self.values.extend([after.started_unix_ns.into(), after.tie.into()]);
            let last = self.values.len();
            self.clauses.push(format!("(q.started_unix_ns, q.id) {beyond} (?{}, ?{last})", last - 1));
        }
    }

    /// `query AS q` by the index, with the conditions.
    pub(crate) fn source(&self, joins: &str) -> String {
        format!("FROM query AS q INDEXED BY {} {joins} WHERE {}", self.index, self.wheres())
    }

    fn wheres(&self) -> String {
        if self.clauses.is_empty() { "TRUE".into() } else { self.clauses.join(" AND ") }
    }

    /// The values, in their order.
    pub(crate) fn values(&self) -> impl Iterator<Item = &Value> {
        self.values.iter()
    }
}

/// The order of a list.
pub(crate) const fn order_by(order: Order) -> &'static str {
    match order {
        Order::Newest => "ORDER BY q.started_unix_ns DESC, q.id DESC",
        Order::Oldest => "ORDER BY q.started_unix_ns, q.id",
    }
}

/// Reads one page. Where the columns are given they say which queries it holds: by an index, those that meet the other
/// conditions may be few of many, and lie far behind.
pub(crate) fn page(
    db: &Connection,
    terms: &TermTexts,
    request: &ListRequest,
    columns: Option<&Snapshot>,
) -> rusqlite::Result<Vec<Listed>> {
    let Some(mut conditions) = Conditions::of(db, &request.filter)? else { return Ok(Vec::new()) };
    conditions.page(request);
    if let Some(text) = &request.filter.search {
        return search::page(db, terms, request, &conditions, text);
    }
    if let Some(columns) = columns
        && let Some(listed) = page_by_columns(db, terms, request, &conditions, columns)?
    {
        return Ok(listed);
    }
    let sql = format!(
        "SELECT {COLUMNS} {} {} LIMIT {} OFFSET {}",
        conditions.source("JOIN stream AS s ON s.id = q.stream"),
        order_by(request.order),
        request.limit,
        request.offset
    );
    db.prepare_cached(&sql)?
        .query_map(params_from_iter(conditions.values()), |row| listed(db, terms, row))?
        .collect()
}

/// The page as the columns have it; `None` where a query of it is no longer what they say.
fn page_by_columns(
    db: &Connection,
    terms: &TermTexts,
    request: &ListRequest,
    conditions: &Conditions,
    columns: &Snapshot,
) -> rusqlite::Result<Option<Vec<Listed>>> {
    let selection = Selection::of(&DatabaseNames { db, terms }, &request.filter)?;
    let places = queryscope_columns::page(columns, &selection, request);
    let conditions = conditions.with("q.id = {}", Value::Null);
    let sql = format!(
        "SELECT {COLUMNS} FROM query AS q NOT INDEXED JOIN stream AS s ON s.id = q.stream WHERE {}",
        conditions.wheres()
    );
    let mut statement = db.prepare_cached(&sql)?;
    for (number, value) in (1..).zip(conditions.values()) {
        statement.raw_bind_parameter(number, value)?;
    }
    let mut read = |place: &Position| {
        statement.raw_bind_parameter(conditions.values.len(), place.tie)?;
        let there = statement.raw_query().next()?.map(|row| listed(db, terms, row)).transpose()?;
        Ok(there.filter(|there| there.position == *place))
    };
    places.iter().map(&mut read).collect()
}

#[cfg(test)]
mod tests;
