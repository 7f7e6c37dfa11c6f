//! Copies of the columns' segments, kept beside the rows so that a start need not read these.
//!
//! A copy must say what the rows say while others write to them, and nobody is to wait for it. So it is made under a
//! mark: who changes a row afterwards takes the mark out with its transaction, as it takes out a copy that is made. Who
//! has changed one before, and may not have seen the mark, is waited for; then the rows are read, and what they say is
//! put where the mark is, if it still is there.

use std::time::Duration;

use deadpool_postgres::{Client, GenericClient, Pool};
use queryscope_columns::{Index, ROWS, RowState, SegmentCopy, parts};
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use crate::columns;
use crate::error::DbError;
use crate::format::Format;
use crate::snapshot::snapshot;

/// Last row of a segment, counted from its first.
const LAST: i64 = ROWS as i64 - 1;
/// How long to wait for those who wrote when the mark was set: looks, and the pause before each.
const LOOKS_MAX: usize = 100;
const LOOK_PAUSE: Duration = Duration::from_millis(100);

/// Of builds with segments of another size, of those who set a mark and are no more, and of versions that do not copy
/// all that is copied now: the cancelled runs came last.
const TIDY: &str = "
    DELETE FROM segment WHERE last <> first + $1 OR (origins IS NULL AND marked < now() - interval '10 minutes')
        OR (origins IS NOT NULL AND cancelled IS NULL)";
const MARK: &str =
    "INSERT INTO segment (first, last, mark) VALUES ($1, $2, $3) ON CONFLICT (last) DO NOTHING";
/// Every transaction that has written anything by now has a number below it. (That at which a snapshot ends is
/// another: of those that run, some may be beyond.)
const NOW: &str = "SELECT pg_current_xact_id()::text";
const ALL_ENDED: &str = "SELECT pg_snapshot_xmin(pg_current_snapshot()) >= $1::text::xid8";
const FILL: &str = "
    UPDATE segment SET origins = $3, plans = $4, row = $5, origin = $6, plan = $7, status = $8, started_unix_ns = $9,
        wall_ms = $10, engine_versions = $11, program_versions = $12, cpu = $13,
        result_rows = $14, bytes_read = $15, spilled_bytes = $16, peak_memory_bytes = $17, warnings = $18,
        cancelled = $19
    WHERE last = $1 AND mark = $2";
const READ: &str = "
    SELECT origins, plans, row, origin, plan, status, started_unix_ns, wall_ms, engine_versions, program_versions, cpu,
        result_rows, bytes_read, spilled_bytes, peak_memory_bytes, warnings, cancelled
    FROM segment
    WHERE first = $1 AND last = $2 AND cancelled IS NOT NULL";
const MADE: &str =
    "SELECT first FROM segment WHERE last = first + $1 AND cancelled IS NOT NULL ORDER BY first";
const REMOVE: &str = "DELETE FROM segment WHERE last = $1";

/// Copies segments that have stayed as they are since this was last called, one after the other.
pub(crate) async fn copy_settled(pool: &Pool, format: Format, index: &Index) -> Result<(), DbError> {
    let due = index.uncopied();
    if due.is_empty() {
        return Ok(());
    }
    let mut client = pool.get().await?;
    tidy(&mut client, format).await?;
    for first in due {
        if copy(&mut client, format, first, LOOKS_MAX).await? {
            index.note_copied(first);
        }
    }
    Ok(())
}

/// Takes out what nobody reads or makes.
async fn tidy(client: &mut Client, format: Format) -> Result<(), DbError> {
    let transaction = format.begin(client).await?;
    transaction.execute(TIDY, &[&LAST]).await?;
    Ok(transaction.commit().await?)
}

/// Copies a segment, unless somebody else does or has, or it changes meanwhile; `false` when that is to be tried again
/// later, because somebody writes for too long.
async fn copy(client: &mut Client, format: Format, first: i64, looks: usize) -> Result<bool, DbError> {
    let Some(mark) = Mark::set(client, format, first).await? else { return Ok(true) };
    for _ in 0..looks {
        if mark.is_seen(client).await? {
            let copy = mark.read(client).await?;
            mark.fill(client, format, &copy).await?;
            return Ok(true);
        }
        tokio::time::sleep(LOOK_PAUSE).await;
    }
    remove(client, format, first).await?;
    Ok(false)
}

/// A place for the copy of a segment.
#[derive(Debug)]
struct Mark {
    first: i64,
    id: Uuid,
    /// Those who write and have not seen it have numbers below.
    unseen_before: String,
}

impl Mark {
    /// `None` where there is one, or a copy.
    async fn set(client: &mut Client, format: Format, first: i64) -> Result<Option<Self>, DbError> {
        let id = queryscope_store::random_id();
        let transaction = format.begin(client).await?;
        let set = transaction.execute(MARK, &[&first, &(first + LAST), &id]).await?;
        transaction.commit().await?;
        if set == 0 {
            return Ok(None);
        }
        let unseen_before = client.query_one(NOW, &[]).await?.get(0);
        Ok(Some(Self { first, id, unseen_before }))
    }

    /// Whether all who still write saw it.
    async fn is_seen(&self, client: &Client) -> Result<bool, DbError> {
        Ok(client.query_one(ALL_ENDED, &[&self.unseen_before]).await?.get(0))
    }

    /// What the rows say, now that it is seen.
    async fn read(&self, client: &Client) -> Result<SegmentCopy, DbError> {
        Ok(SegmentCopy::of(self.first, rows(client, self.first).await?))
    }

    /// Puts the copy where the mark is; `false` when a row has changed since that was set.
    async fn fill(&self, client: &mut Client, format: Format, copy: &SegmentCopy) -> Result<bool, DbError> {
        let transaction = format.begin(client).await?;
        let [cpu, result_rows, bytes_read, spilled_bytes, peak_memory_bytes, warnings] = &copy.figures;
        let values: [&(dyn ToSql + Sync); 19] = [
            &(self.first + LAST),
            &self.id,
            &copy.origins,
            &copy.plans,
            &copy.row,
            &copy.origin,
            &copy.plan,
            &copy.status,
            &copy.started_unix_ns,
            &copy.wall_ms,
            &copy.engine_versions,
            &copy.program_versions,
            cpu,
            result_rows,
            bytes_read,
            spilled_bytes,
            peak_memory_bytes,
            warnings,
            &copy.cancelled,
        ];
        let filled = transaction.execute(FILL, &values).await?;
        transaction.commit().await?;
        Ok(filled == 1)
    }
}

/// What the rows of a segment say.
async fn rows(client: &impl GenericClient, first: i64) -> Result<Vec<RowState>, DbError> {
    let mut rows = Vec::with_capacity(ROWS);
    for (begin, end) in parts(first) {
        rows.extend(columns::rows(client, begin, end).await?);
    }
    // A damaged query is in no answer.
    rows.retain(|row| row.query.is_some());
    Ok(rows)
}

/// The copy of the segment that begins with a row, if there is one.
pub(crate) async fn read(
    client: &impl GenericClient,
    first_row: i64,
) -> Result<Option<SegmentCopy>, DbError> {
    let statement = client.prepare_cached(READ).await?;
    let row = client.query_opt(&statement, &[&first_row, &(first_row + LAST)]).await?;
    Ok(row.map(|row| {
        // One that is missing is damage, as an array of another length is.
        let array = |column: usize| row.get::<_, Option<Vec<u8>>>(column).unwrap_or_default();
        SegmentCopy {
            first_row,
            origins: array(0),
            plans: array(1),
            row: array(2),
            origin: array(3),
            plan: array(4),
            status: array(5),
            cancelled: array(16),
            started_unix_ns: array(6),
            wall_ms: array(7),
            engine_versions: array(8),
            program_versions: array(9),
            figures: std::array::from_fn(|figure| array(10 + figure)),
        }
    }))
}

/// First rows of the copies that do not say what the rows say, each judged at one moment.
pub(crate) async fn wrong(client: &mut Client) -> Result<Vec<i64>, DbError> {
    let made = client.query(MADE, &[&LAST]).await?;
    let mut wrong = Vec::new();
    for first in made.iter().map(|row| row.get(0)) {
        let moment = snapshot(client).await?;
        let copy = read(&moment, first).await?;
        let rows = rows(&moment, first).await?;
        moment.commit().await?;
        if copy.is_some_and(|copy| !copy.says(&rows)) {
            wrong.push(first);
        }
    }
    Ok(wrong)
}

/// Takes out the copies that do not say what the rows say; gives back how many.
pub(crate) async fn remove_wrong(client: &mut Client, format: Format) -> Result<usize, DbError> {
    let wrong = wrong(client).await?;
    for first in &wrong {
        remove(client, format, *first).await?;
    }
    Ok(wrong.len())
}

async fn remove(client: &mut Client, format: Format, first_row: i64) -> Result<(), DbError> {
    let transaction = format.begin(client).await?;
    transaction.execute(REMOVE, &[&(first_row + LAST)]).await?;
    Ok(transaction.commit().await?)
}

#[cfg(test)]
mod tests;
