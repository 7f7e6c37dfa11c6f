//! Filling the columns from the table.

use std::sync::{PoisonError, RwLock};

use deadpool_postgres::Pool;
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
    let mut segment = first / step * step;
    while segment <= last {
        let end = segment + step;
        for begin in (segment..end).step_by(ROWS_AT_ONCE) {
            let bounds: [&(dyn ToSql + Sync); 2] = [&begin, &end.min(begin + ROWS_AT_ONCE as i64)];
            // All of them are here before the connection is asked for the texts they name: with rows on their way it would
            // not get to an answer.
            let rows = client.query(&page, &bounds).await?;
            let mut ready: Vec<RowState> = rows.iter().map(|row| state(row, 0)).collect();
            terms.learn(&client, &mut ready).await?;
            columns.write().unwrap_or_else(PoisonError::into_inner).load(ready.drain(..));
        }
        columns.write().unwrap_or_else(PoisonError::into_inner).finish_segment(segment);
        segment = end;
    }
    columns.write().unwrap_or_else(PoisonError::into_inner).finish_loading();
    Ok(())
}
