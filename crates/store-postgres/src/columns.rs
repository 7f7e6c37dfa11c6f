//! Filling the columns from the table.

use deadpool_postgres::{Client, GenericClient, Pool};
use queryscope_columns::{Index, RowState, SegmentCopy, Segments, Source};

use crate::error::DbError;
use crate::names::TermTexts;
use crate::row::{STATE_COLUMNS, state};
use crate::segments;

const BOUNDS: &str = "SELECT coalesce(min(id), 0), coalesce(max(id), -1) FROM query";

/// Loads all rows there are, in the order of their ids, while commits go on: those are followed from before.
pub(crate) async fn load(pool: &Pool, terms: &TermTexts, index: &Index) -> Result<(), DbError> {
    let client = pool.get().await?;
    let bounds = client.query_one(BOUNDS, &[]).await?;
    let left = Segments::of(bounds.get(0), bounds.get(1));
    index.fill(&Rows { client, terms }, &left).await?;
    index.finish();
    Ok(())
}

/// A table of queries, and the copies beside it. What the texts of its numbers are is known once it was read.
struct Rows<'t> {
    client: Client,
    terms: &'t TermTexts,
}

impl Source for Rows<'_> {
    type Error = DbError;

    async fn copy(&self, first_row: i64) -> Result<Option<SegmentCopy>, DbError> {
        let Some(copy) = segments::read(&self.client, first_row).await? else { return Ok(None) };
        let is_known = self.terms.know(&self.client, copy.terms()).await?.is_empty();
        if !is_known {
            tracing::error!(row = first_row, "a copy of runs names no texts: their rows are read");
        }
        Ok(is_known.then_some(copy))
    }

    async fn rows(&self, begin: i64, end: i64) -> Result<Vec<RowState>, DbError> {
        let mut ready = rows(&self.client, begin, end).await?;
        self.terms.learn(&self.client, &mut ready).await?;
        Ok(ready)
    }
}

/// What the rows from one to before another say. All of them are here before the connection is asked for the texts they
/// name: with rows on their way it would not get to an answer.
pub(crate) async fn rows(
    client: &impl GenericClient,
    begin: i64,
    end: i64,
) -> Result<Vec<RowState>, DbError> {
    let sql = format!("SELECT {STATE_COLUMNS} FROM query AS q WHERE id >= $1 AND id < $2 ORDER BY id");
    let rows = client.query(&client.prepare_cached(&sql).await?, &[&begin, &end]).await?;
    Ok(rows.iter().map(|row| state(row, 0)).collect())
}
