//! Runs that wait for their evaluation.

use deadpool_postgres::Client;
use queryscope_protocol::{QueryId, Seq};
use queryscope_store::{PendingRun, QueryKey};

use crate::error::DbError;
use crate::list::bound;
use crate::names::TermTexts;

pub(crate) const APPEND: &str =
    "INSERT INTO pending_run (query, seq) SELECT * FROM unnest($1::bigint[], $2::bigint[])";
const PAGE: &str = "
    SELECT p.query, q.project, q.service, q.label, q.query_id, q.started_unix_ns, p.seq
    FROM pending_run AS p JOIN query AS q ON q.id = p.query
    WHERE p.query > $1 ORDER BY p.query LIMIT $2";
/// Runs after a place.
pub(crate) async fn page(
    client: &Client,
    terms: &TermTexts,
    after: Option<i64>,
    limit: usize,
) -> Result<Vec<PendingRun>, DbError> {
    let page = client.prepare_cached(PAGE).await?;
    let rows = client.query(&page, &[&after.unwrap_or(i64::MIN), &bound(limit)]).await?;
    let ids = rows.iter().flat_map(|row| {
        let names: [Option<i64>; 3] = [row.get(1), row.get(2), row.get(3)];
        names.into_iter().flatten()
    });
    let texts = terms.texts(client, ids.collect()).await?;
    rows.iter()
        .map(|row| {
            let key = QueryKey {
                project: texts.text(row.get(1))?,
                service: texts.optional(row.get::<_, Option<i64>>(2))?,
                label: texts.text(row.get(3))?,
            };
            Ok(PendingRun {
                place: row.get(0),
                key,
                query_id: QueryId::new(row.get(4)),
                started_unix_ns: row.get(5),
                seq: Seq::new(row.get::<_, i64>(6).cast_unsigned())
                    .map_err(|_| DbError::Damaged("no number of an event"))?,
            })
        })
        .collect()
}
