//! Changes of queries.

use deadpool_postgres::{Client, GenericClient, Transaction};
use queryscope_store::{CHANGE_COLUMNS, ChangesRequest, QueryKey, StoredChange, TermNumbers};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::error::DbError;
use crate::evaluation::KeyIds;
use crate::format::Format;
use crate::list::{Conditions, Value, taken};
use crate::names::TermTexts;
use crate::terms;

const PUT: &str = "
    INSERT INTO query_change (id, project, service, label, environment, host, kind, state, since_unix_ns,
        confirmed_unix_ns, recovered_unix_ns, wall_ms_a_day, body)
    SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::text[],
        $8::text[], $9::bigint[], $10::bigint[], $11::bigint[], $12::float8[], $13::bytea[])
    ON CONFLICT (id) DO UPDATE SET project = excluded.project, service = excluded.service, label = excluded.label,
        environment = excluded.environment, host = excluded.host, kind = excluded.kind, state = excluded.state,
        since_unix_ns = excluded.since_unix_ns, confirmed_unix_ns = excluded.confirmed_unix_ns,
        recovered_unix_ns = excluded.recovered_unix_ns, wall_ms_a_day = excluded.wall_ms_a_day, body = excluded.body";
const DELETE_OF: &str = "
    DELETE FROM query_change USING unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS key (project, service, label)
    WHERE (query_change.project, query_change.service, query_change.label) = (key.project, key.service, key.label)";
const DELETE_BEFORE: &str = "
    DELETE FROM query_change WHERE state <> $1 AND coalesce(recovered_unix_ns, confirmed_unix_ns) < $2";

/// Inserts changes of queries, or replaces those with their ids.
pub(crate) async fn put(
    transaction: &Transaction<'_>,
    numbers: &TermNumbers,
    changes: Vec<(KeyIds, &StoredChange)>,
) -> Result<(), DbError> {
    if changes.is_empty() {
        return Ok(());
    }
    let number = |text: &Option<String>| match text {
        None => Ok(0),
        Some(text) => numbers.get(text.as_str()).copied().ok_or(DbError::Damaged("no number of a text")),
    };
    let numbers_of = |of: fn(&StoredChange) -> &Option<String>| {
        changes.iter().map(|(_, change)| number(of(change))).collect::<Result<Vec<i64>, _>>()
    };
    let environments = numbers_of(|change| &change.environment)?;
    let hosts = numbers_of(|change| &change.host)?;
    macro_rules! column {
        ($change:ident => $value:expr) => {
            changes.iter().map(|(_, $change)| $value).collect::<Vec<_>>()
        };
    }
    let key = |of: fn(&KeyIds) -> i64| changes.iter().map(|(key, _)| of(key)).collect::<Vec<i64>>();
    let values: [&(dyn ToSql + Sync); 13] = [
        &column!(change => change.id.as_str()),
        &key(|key| key.0),
        &key(|key| key.1),
        &key(|key| key.2),
        &environments,
        &hosts,
        &column!(change => change.kind.as_str()),
        &column!(change => change.state.as_str()),
        &column!(change => change.since_unix_ns),
        &column!(change => change.confirmed_unix_ns),
        &column!(change => change.recovered_unix_ns),
        &column!(change => change.wall_ms_a_day),
        &column!(change => change.body.as_bytes()),
    ];
    transaction.execute(&transaction.prepare_cached(PUT).await?, &values).await?;
    Ok(())
}

/// One change.
pub(crate) async fn one(
    client: &Client,
    terms: &TermTexts,
    id: &str,
) -> Result<Option<StoredChange>, DbError> {
    // A text of the database cannot hold it.
    if id.contains('\0') {
        return Ok(None);
    }
    let sql = format!("SELECT {CHANGE_COLUMNS}, body FROM query_change WHERE id = $1");
    let rows = client.query(&client.prepare_cached(&sql).await?, &[&id]).await?;
    Ok(read(client, terms, &rows).await?.pop())
}

/// Changes of queries that begin with some runs: rows of `evaluated_query`, and starts.
pub(crate) async fn beginning(
    client: &impl GenericClient,
    terms: &TermTexts,
    queries: &[i64],
    since: &[i64],
) -> Result<Vec<StoredChange>, DbError> {
    let sql = format!(
        "SELECT DISTINCT {CHANGE_COLUMNS}, body FROM unnest($1::bigint[], $2::bigint[]) AS told (query, since)
         JOIN (SELECT id AS query, project, service, label FROM evaluated_query) AS of USING (query)
         JOIN query_change USING (project, service, label) WHERE since_unix_ns = told.since"
    );
    let rows = client.query(&client.prepare_cached(&sql).await?, &[&queries, &since]).await?;
    read(client, terms, &rows).await
}

/// One page.
pub(crate) async fn page(
    client: &Client,
    terms: &TermTexts,
    request: &ChangesRequest,
) -> Result<Vec<StoredChange>, DbError> {
    let texts: Vec<&str> = request.names().filter_map(|(_, text)| text).collect();
    let numbers = terms::find(client, &texts).await?;
    let Some((sql, values)) = select(request, &numbers) else { return Ok(Vec::new()) };
    let rows = client.query(&client.prepare_cached(&sql).await?, &taken(&values)).await?;
    read(client, terms, &rows).await
}

/// The statement of a page and its values; `None` where no change is on it.
fn select(request: &ChangesRequest, numbers: &TermNumbers) -> Option<(String, Vec<Value>)> {
    Conditions::select_changes('$', request, numbers, "''::bytea")
}

/// Deletes the changes of some queries.
pub(crate) async fn delete_of(
    transaction: &Transaction<'_>,
    projects: &[i64],
    services: &[i64],
    labels: &[i64],
) -> Result<(), DbError> {
    let statement = transaction.prepare_cached(DELETE_OF).await?;
    transaction.execute(&statement, &[&projects, &services, &labels]).await?;
    Ok(())
}

/// Deletes changes that were over before a time.
pub(crate) async fn delete_before(client: &mut Client, format: Format, unix_ns: i64) -> Result<(), DbError> {
    let transaction = format.begin(client).await?;
    let statement = transaction.prepare_cached(DELETE_BEFORE).await?;
    transaction.execute(&statement, &[&StoredChange::OPEN, &unix_ns]).await?;
    Ok(transaction.commit().await?)
}

async fn read(
    client: &impl GenericClient,
    terms: &TermTexts,
    rows: &[Row],
) -> Result<Vec<StoredChange>, DbError> {
    let ids = rows.iter().flat_map(|row| (1..=5).map(|column| row.get::<_, i64>(column)));
    let texts = terms.texts(client, ids.collect()).await?;
    let name = |id: i64| texts.optional(id);
    let change = |row: &Row| {
        let body = String::from_utf8(row.get(12));
        Ok(StoredChange {
            id: row.get(0),
            key: QueryKey {
                project: texts.text(row.get(1))?,
                service: name(row.get(2))?,
                label: texts.text(row.get(3))?,
            },
            environment: name(row.get(4))?,
            host: name(row.get(5))?,
            kind: row.get(6),
            state: row.get(7),
            since_unix_ns: row.get(8),
            confirmed_unix_ns: row.get(9),
            recovered_unix_ns: row.get(10),
            wall_ms_a_day: row.get(11),
            body: body.map_err(|_| DbError::Damaged("a change that is not UTF-8"))?,
        })
    };
    rows.iter().map(change).collect()
}

#[cfg(test)]
mod tests {
    use queryscope_postgres_server::shared;
    use queryscope_store::ChangePlace;

    use super::*;
    use crate::options::PostgresOptions;
    use crate::store::PostgresStore;

    /// Changes of 2,000 labels, a tenth of them open.
    const FILL: &str = "
        INSERT INTO query_change
        SELECT 'slower-' || n, 1, 0, n % 2000, 0, 0, CASE n % 3 WHEN 0 THEN 'failing' ELSE 'slower' END,
            CASE n % 10 WHEN 0 THEN 'open' ELSE 'recovered' END, n, n, NULL, n % 977,
            convert_to(repeat('x', 2000), 'UTF8')
        FROM generate_series(0, 9999) AS n;
        ANALYZE query_change";

    #[tokio::test]
    async fn a_page_is_found_by_an_index_in_its_order() {
        let address = shared();
        let store = PostgresStore::open(&address, PostgresOptions::default()).await.expect("opens");
        let (client, connection) =
            tokio_postgres::connect(&address, tokio_postgres::NoTls).await.expect("connects");
        tokio::spawn(connection);
        client.batch_execute(FILL).await.expect("changes");
        let some = |text: &str| Some(text.to_owned());
        let numbers = TermNumbers::from([("label-7".into(), 7)]);
        let all = ChangesRequest { limit: 100, ..ChangesRequest::default() };
        let open = ChangesRequest { state: some("open"), ..all.clone() };
        let after = Some(ChangePlace { wall_ms_a_day: 500.0, id: "slower-1".into() });
        for request in [
            all.clone(),
            open.clone(),
            ChangesRequest { after: after.clone(), ..all.clone() },
            ChangesRequest { after, ..open.clone() },
            ChangesRequest { label: some("label-7"), ..all.clone() },
            ChangesRequest { kind: some("slower"), ..open },
            ChangesRequest { kind: some("failing"), ..all },
        ] {
            let (sql, values) = select(&request, &numbers).expect("a statement");
            let plan = client.query(&format!("EXPLAIN {sql}"), &taken(&values)).await.expect("a plan");
            let plan: Vec<String> = plan.iter().map(|row| row.get(0)).collect();
            let plan = plan.join("\n");
            assert!(plan.contains("query_change_by_") && !plan.contains("Seq Scan"), "{request:?}\n{plan}");
            // A few changes of one label may be sorted.
            assert!(request.label.is_some() || !plan.contains("Sort"), "{request:?}\n{plan}");
        }
        queryscope_store::Store::close(&store).await.expect("closed");
    }
}
