//! Filling the columns from the table.

use std::sync::{PoisonError, RwLock};

use deadpool_postgres::Pool;
use futures_util::TryStreamExt;
use queryscope_columns::{Columns, ROWS, RowState};
use tokio_postgres::types::ToSql;

use crate::error::DbError;
use crate::names::TermTexts;
use crate::row::{STATE_COLUMNS, state};

/// Rows taken over at once: who follows the commits waits for these.
const ROWS_AT_ONCE: usize = 4_096;

const BOUNDS: &str = "SELECT coalesce(min(id), 0), coalesce(max(id), -1) FROM query";

/// Loads all rows there are, in the order of their ids, while commits go on: those are followed from before.
pub(crate) async fn load(pool: &Pool, terms: &TermTexts, columns: &RwLock<Columns>) -> Result<(), DbError> {
    let client = pool.get().await?;
    let bounds = client.query_one(BOUNDS, &[]).await?;
    let (first, last): (i64, i64) = (bounds.get(0), bounds.get(1));
    let sql = format!("SELECT {STATE_COLUMNS} FROM query AS q WHERE id >= $1 AND id < $2 ORDER BY id");
    let page = client.prepare_cached(&sql).await?;
    let step = ROWS as i64;
    let mut begin = first / step * step;
    while begin <= last {
        let bounds: [&(dyn ToSql + Sync); 2] = [&begin, &(begin + step)];
        let mut rows = std::pin::pin!(client.query_raw(&page, bounds).await?);
        let mut ready: Vec<RowState> = Vec::with_capacity(ROWS_AT_ONCE.min(ROWS));
        while let Some(row) = rows.try_next().await? {
            ready.push(state(&row, 0));
            if ready.len() == ROWS_AT_ONCE {
                take(&client, terms, columns, &mut ready).await?;
            }
        }
        take(&client, terms, columns, &mut ready).await?;
        columns.write().unwrap_or_else(PoisonError::into_inner).finish_segment(begin);
        begin += step;
    }
    columns.write().unwrap_or_else(PoisonError::into_inner).finish_loading();
    Ok(())
}

async fn take(
    client: &deadpool_postgres::Client,
    terms: &TermTexts,
    columns: &RwLock<Columns>,
    ready: &mut Vec<RowState>,
) -> Result<(), DbError> {
    terms.learn(client, ready).await?;
    columns.write().unwrap_or_else(PoisonError::into_inner).load(ready.drain(..));
    Ok(())
}
