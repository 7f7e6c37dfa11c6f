//! Pages of the list of runs.

use deadpool_postgres::GenericClient;
use queryscope_columns::Found;
use queryscope_store::{ListRequest, Listed, QUERY_COLUMNS, list_order, sorted_search};
use tokio_postgres::types::ToSql;

use crate::error::DbError;
use crate::names::TermTexts;
use crate::row::{listed, listed_at};
use crate::{search, terms};

/// How the values of a statement are named.
const SIGN: char = '$';

/// A value in a statement.
#[derive(Debug)]
pub(crate) struct Value(Box<dyn ToSql + Sync + Send>);

impl<T: ToSql + Sync + Send + 'static> From<T> for Value {
    fn from(value: T) -> Self {
        Self(Box::new(value))
    }
}

pub(crate) type Conditions = queryscope_store::Conditions<Value>;

/// Values as a statement takes them.
pub(crate) fn taken(values: &[Value]) -> Vec<&(dyn ToSql + Sync)> {
    values.iter().map(|value| &*value.0 as &(dyn ToSql + Sync)).collect()
}

/// Reads one page. Where its places are given, as the columns have them, the queries there are read: by an index, those
/// that meet the other conditions may be few of many, and lie far behind.
pub(crate) async fn page(
    client: &impl GenericClient,
    terms: &TermTexts,
    request: &ListRequest,
    places: Option<&Found>,
) -> Result<Vec<Listed>, DbError> {
    if let Some(places) = places {
        let rows: Vec<i64> = places.positions().map(|place| place.tie).collect();
        let found = listed_at(client, terms, &rows).await?;
        if let Some(listed) = places.page(request, found) {
            return Ok(listed);
        }
    }
    let sorted = sorted_search(request);
    let request = sorted.as_ref().unwrap_or(request);
    let texts: Vec<&str> = request.filter.names().filter_map(|(_, text)| text).collect();
    let numbers = terms::find(client, &texts).await?;
    let found = terms::matching(client, &request.filter.expression.lookups()).await?;
    let conditions = Conditions::of_list(SIGN, request, &numbers, &found);
    let Some(mut conditions) = conditions else { return Ok(Vec::new()) };
    let sql = if let Some(text) = &request.filter.search {
        let Some(sql) = search::sql(client, &mut conditions, request, text).await? else {
            return Ok(Vec::new());
        };
        sql
    } else {
        let clause = conditions.clause();
        let order = list_order(SIGN, request);
        let (limit, offset) = (conditions.value(bound(request.limit)), conditions.value(offset(request)));
        format!(
            "SELECT {QUERY_COLUMNS} FROM query AS q JOIN stream AS s ON s.id = q.stream
             WHERE {clause} {order} LIMIT {limit} OFFSET {offset}"
        )
    };
    let rows = client.query(&client.prepare_cached(&sql).await?, &taken(conditions.values())).await?;
    listed(client, terms, &rows).await
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
