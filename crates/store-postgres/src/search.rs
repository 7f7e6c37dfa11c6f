//! Search in labels, error texts and ids.
//!
//! Labels and errors are terms, of which there are few: those that hold the text are found first, and each
//! gives its first queries in the order of the list from its index. The page is cut from all of them together.
//! So neither a rare text reads every query nor a frequent one collects every match.

use deadpool_postgres::GenericClient;
use queryscope_protocol::QueryId;
use queryscope_store::{ListRequest, QUERY_COLUMNS, order_by};

use crate::error::DbError;
use crate::list::{Conditions, bound, offset};

/// With more terms than this, queries are read in the order of the list until enough match.
const TERMS_BY_INDEX_MAX: usize = 32;

const TERMS: &str = "SELECT id FROM term WHERE position($1::bytea IN folded) > 0";

/// The statement that reads one page of the queries that hold a text; `None` when none can.
pub(crate) async fn sql(
    client: &impl GenericClient,
    conditions: &mut Conditions,
    request: &ListRequest,
    text: &str,
) -> Result<Option<String>, DbError> {
    let needle = text.to_lowercase();
    let found = client.query(&client.prepare_cached(TERMS).await?, &[&needle.as_bytes()]).await?;
    let terms: Vec<i64> = found.iter().map(|row| row.get(0)).collect();
    let sources = sources(conditions, terms, &needle);
    if sources.is_empty() {
        return Ok(None);
    }
    let clause = conditions.clause();
    let order = order_by("q", request.order);
    let end = conditions.value(bound(request.limit).saturating_add(offset(request)));
    let (limit, skip) = (conditions.value(bound(request.limit)), conditions.value(offset(request)));
    let first: Vec<String> = sources
        .iter()
        .map(|source| {
            format!(
                "(SELECT q.started_unix_ns, q.id FROM query AS q WHERE {clause} AND {source} {order} LIMIT {end})"
            )
        })
        .collect();
    let places = order_by("place", request.order);
    Ok(Some(format!(
        "WITH place AS (
             SELECT * FROM ({}) AS place {places} LIMIT {limit} OFFSET {skip}
         )
         SELECT {QUERY_COLUMNS} FROM place JOIN query AS q ON q.id = place.id JOIN stream AS s ON s.id = q.stream
         {places}",
        first.join(" UNION ")
    )))
}

/// Conditions of which a query that holds the text meets at least one.
fn sources(conditions: &mut Conditions, terms: Vec<i64>, needle: &str) -> Vec<String> {
    let mut sources = Vec::new();
    if terms.len() <= TERMS_BY_INDEX_MAX {
        for term in terms {
            let term = conditions.value(term);
            sources.extend([format!("q.label = {term}"), format!("q.failed = {term}")]);
        }
    } else {
        let terms = conditions.value(terms);
        sources.extend([format!("q.label = ANY({terms})"), format!("q.failed = ANY({terms})")]);
    }
    if let Ok(id) = needle.parse::<QueryId>() {
        let id = conditions.value(id.uuid());
        sources.push(format!("q.query_id = {id}"));
    } else if needle.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-') {
        let part = conditions.value(needle.to_owned());
        sources.push(format!("position({part} IN q.query_id::text) > 0"));
    }
    sources
}
