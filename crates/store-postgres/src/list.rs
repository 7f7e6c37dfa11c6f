//! Pages of the list of queries.

use std::collections::BTreeMap;

use deadpool_postgres::GenericClient;
use queryscope_store::{Is, ListRequest, Listed, Order, Position, QueryFilter};
use tokio_postgres::types::ToSql;

use crate::error::DbError;
use crate::names::TermTexts;
use crate::row::{COLUMNS, listed};
use crate::{search, terms};

/// Conditions on `query AS q`, and the values they take.
#[derive(Debug, Default)]
pub(crate) struct Conditions {
    clauses: Vec<String>,
    values: Vec<Box<dyn ToSql + Sync + Send>>,
}

impl Conditions {
    /// What a filter asks, its search left out; `None` when no query can match.
    async fn of(client: &impl GenericClient, filter: &QueryFilter) -> Result<Option<Self>, DbError> {
        let mut conditions = Self::default();
        let host = filter.host.clone().map(Is::Value);
        let project = filter.project.clone().map(Is::Value);
        let columns = BTreeMap::from([
            ("q.project", &project),
            ("q.environment", &filter.environment),
            ("q.service", &filter.service),
            ("q.host", &host),
            ("q.fingerprint", &filter.fingerprint),
            ("q.label", &filter.label),
        ]);
        let text = |is: &Option<Is>| match is {
            Some(Is::Value(text)) => Some(text.clone()),
            _ => None,
        };
        let texts: Vec<String> = columns.values().filter_map(|is| text(is)).collect();
        let numbers = terms::find(client, &texts.iter().map(String::as_str).collect::<Vec<_>>()).await?;
        for (column, is) in columns {
            match is {
                None => {}
                Some(Is::Absent) => conditions.clauses.push(format!("{column} IS NULL")),
                Some(Is::Value(text)) => match numbers.get(text.as_str()) {
                    Some(term) => conditions.add(&format!("{column} = {{}}"), *term),
                    None => return Ok(None),
                },
            }
        }
        if let Some(status) = filter.status {
            conditions.add("q.status = {}", i16::from(status.number()));
            if status.number() != 1 {
                // In these words the partial index offers itself.
                conditions.clauses.push("q.status <> 1".into());
            }
        }
        if let Some(since) = filter.since_unix_ns {
            conditions.add("q.started_unix_ns >= {}", since);
        }
        if let Some(until) = filter.until_unix_ns {
            conditions.add("q.started_unix_ns <= {}", until);
        }
        Ok(Some(conditions))
    }

    /// A place for a value in a statement.
    pub(crate) fn value(&mut self, value: impl ToSql + Sync + Send + 'static) -> String {
        self.values.push(Box::new(value));
        format!("${}", self.values.len())
    }

    fn add(&mut self, clause: &str, value: impl ToSql + Sync + Send + 'static) {
        let place = self.value(value);
        self.clauses.push(clause.replace("{}", &place));
    }

    /// Goes on after a place in an order.
    fn page(&mut self, request: &ListRequest) {
        if let Some(after) = request.after {
            let beyond = match request.order {
                Order::Newest => "<",
                Order::Oldest => ">",
            };
            let (started, tie) = (self.value(after.started_unix_ns), self.value(after.tie));
            self.clauses.push(format!("(q.started_unix_ns, q.id) {beyond} ({started}, {tie})"));
        }
    }

    /// All of them as one.
    pub(crate) fn clause(&self) -> String {
        if self.clauses.is_empty() { "TRUE".into() } else { self.clauses.join(" AND ") }
    }

    /// The values, in their order.
    pub(crate) fn values(&self) -> Vec<&(dyn ToSql + Sync)> {
        self.values.iter().map(|value| &**value as &(dyn ToSql + Sync)).collect()
    }
}

/// The order of a list, by the columns of a table.
pub(crate) fn order_by(table: &str, order: Order) -> String {
    match order {
        Order::Newest => format!("ORDER BY {table}.started_unix_ns DESC, {table}.id DESC"),
        Order::Oldest => format!("ORDER BY {table}.started_unix_ns, {table}.id"),
    }
}

/// Reads one page. Where its places are given, as the columns have them, the queries there are read: by an index, those
/// that meet the other conditions may be few of many, and lie far behind.
pub(crate) async fn page(
    client: &impl GenericClient,
    terms: &TermTexts,
    request: &ListRequest,
    places: Option<&[Position]>,
) -> Result<Vec<Listed>, DbError> {
    let Some(mut conditions) = Conditions::of(client, &request.filter).await? else { return Ok(Vec::new()) };
    if let Some(places) = places
        && let Some(listed) = page_by_places(client, terms, request, &conditions, places).await?
    {
        return Ok(listed);
    }
    conditions.page(request);
    let sql = if let Some(text) = &request.filter.search {
        let Some(sql) = search::sql(client, &mut conditions, request, text).await? else {
            return Ok(Vec::new());
        };
        sql
    } else {
        let clause = conditions.clause();
        let order = order_by("q", request.order);
        let (limit, offset) = (conditions.value(bound(request.limit)), conditions.value(offset(request)));
        format!(
            "SELECT {COLUMNS} FROM query AS q JOIN stream AS s ON s.id = q.stream
             WHERE {clause} {order} LIMIT {limit} OFFSET {offset}"
        )
    };
    let rows = client.query(&client.prepare_cached(&sql).await?, &conditions.values()).await?;
    listed(client, terms, &rows).await
}

/// The queries at places; `None` where one of them is no longer there.
async fn page_by_places(
    client: &impl GenericClient,
    terms: &TermTexts,
    request: &ListRequest,
    conditions: &Conditions,
    places: &[Position],
) -> Result<Option<Vec<Listed>>, DbError> {
    let rows: Vec<i64> = places.iter().map(|place| place.tie).collect();
    let mut values = conditions.values();
    values.push(&rows);
    // By the rows alone, whatever the database takes a condition to leave of all queries.
    let sql = format!(
        "SELECT {COLUMNS} FROM (SELECT * FROM query WHERE id = ANY(${}) OFFSET 0) AS q
         JOIN stream AS s ON s.id = q.stream WHERE {} {}",
        values.len(),
        conditions.clause(),
        order_by("q", request.order)
    );
    let rows = client.query(&client.prepare_cached(&sql).await?, &values).await?;
    let listed = listed(client, terms, &rows).await?;
    let found = listed.iter().map(|listed| &listed.position);
    Ok(found.eq(places).then_some(listed))
}

/// A number of rows, as the database takes it.
pub(crate) fn bound(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

pub(crate) fn offset(request: &ListRequest) -> i64 {
    i64::try_from(request.offset).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
