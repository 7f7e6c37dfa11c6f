//! Filling the columns from the table.

use std::sync::{PoisonError, RwLock};

use deadpool_postgres::{Client, GenericClient, Pool};
use queryscope_columns::{Columns, ROWS, RowState};

use crate::error::DbError;
use crate::names::TermTexts;
use crate::row::{STATE_COLUMNS, state};
use crate::segments;

/// Rows taken over at once: who follows the commits waits for these.
const ROWS_AT_ONCE: usize = 4_096;

const BOUNDS: &str = "SELECT coalesce(min(id), 0), coalesce(max(id), -1) FROM query";

/// Loads all rows there are, in the order of their ids, while commits go on: those are followed from before.
pub(crate) async fn load(pool: &Pool, terms: &TermTexts, columns: &RwLock<Columns>) -> Result<(), DbError> {
    let client = pool.get().await?;
    let bounds = client.query_one(BOUNDS, &[]).await?;
    let (first, last): (i64, i64) = (bounds.get(0), bounds.get(1));
    let step = ROWS as i64;
    let mut segment = first / step * step;
    while segment <= last {
        if !load_copy(&client, terms, columns, segment).await? {
            load_rows(&client, terms, columns, segment).await?;
        }
        segment += step;
    }
    columns.write().unwrap_or_else(PoisonError::into_inner).finish_loading();
    Ok(())
}

/// Loads a segment from its copy; `false` where there is none that can be used.
async fn load_copy(
    client: &Client,
    terms: &TermTexts,
    columns: &RwLock<Columns>,
    segment: i64,
) -> Result<bool, DbError> {
    let Some(copy) = segments::read(client, segment).await? else { return Ok(false) };
    let whole = terms.know(client, copy.terms()).await?.is_empty()
        && columns.write().unwrap_or_else(PoisonError::into_inner).load_copy(&copy);
    if !whole {
        tracing::error!(row = segment, "a copy of queries is damaged: their rows are read");
    }
    Ok(whole)
}

async fn load_rows(
    client: &Client,
    terms: &TermTexts,
    columns: &RwLock<Columns>,
    segment: i64,
) -> Result<(), DbError> {
    for (begin, end) in pages(segment, segment + ROWS as i64) {
        let mut ready = page(client, begin, end).await?;
        terms.learn(client, &mut ready).await?;
        columns.write().unwrap_or_else(PoisonError::into_inner).load(ready);
    }
    columns.write().unwrap_or_else(PoisonError::into_inner).finish_segment(segment);
    Ok(())
}

/// Stretches of ids, none of them of more rows than are taken over at once.
pub(crate) fn pages(begin: i64, end: i64) -> impl Iterator<Item = (i64, i64)> {
    (begin..end).step_by(ROWS_AT_ONCE).map(move |begin| (begin, end.min(begin + ROWS_AT_ONCE as i64)))
}

/// What the rows of a stretch of ids say. All of them are here before the connection is asked for the texts they name: with
/// rows on their way it would not get to an answer.
pub(crate) async fn page(
    client: &impl GenericClient,
    begin: i64,
    end: i64,
) -> Result<Vec<RowState>, DbError> {
    let sql = format!("SELECT {STATE_COLUMNS} FROM query AS q WHERE id >= $1 AND id < $2 ORDER BY id");
    let rows = client.query(&client.prepare_cached(&sql).await?, &[&begin, &end]).await?;
    Ok(rows.iter().map(|row| state(row, 0)).collect())
}
