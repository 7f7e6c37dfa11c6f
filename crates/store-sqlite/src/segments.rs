//! Copies of the columns' segments, kept beside the rows so that a start need not read these.

use std::time::{Duration, Instant};

use queryscope_columns::{Index, ROWS, SegmentCopy};
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use crate::load;

/// A segment is copied once it has stayed as it is for this long.
const LOOK_EVERY: Duration = Duration::from_secs(10);

/// Last row of a segment, counted from its first.
const LAST: i64 = ROWS as i64 - 1;

/// Decides when the writer copies which segment.
#[derive(Debug)]
pub(crate) struct Copier {
    due: Vec<i64>,
    looked: Instant,
    /// What SQLite counts of commits on other connections, when the columns began to follow this one.
    others: i64,
}

impl Copier {
    pub(crate) fn new(db: &Connection, now: Instant) -> rusqlite::Result<Self> {
        // A debug build has smaller segments.
        db.execute("DELETE FROM segment WHERE last <> first + ?1", [LAST])?;
        Ok(Self { due: Vec::new(), looked: now, others: commits_of_others(db)? })
    }

    /// Copies a segment if one is due, for which commits wait some milliseconds; whether it did.
    pub(crate) fn run(&mut self, db: &mut Connection, index: &Index, now: Instant) -> rusqlite::Result<bool> {
        if self.due.is_empty() && now.duration_since(self.looked) >= LOOK_EVERY {
            self.looked = now;
            self.due = index.uncopied();
        }
        let Some(row) = self.due.pop() else { return Ok(false) };
        let Some(copy) = index.copy(row) else { return Ok(true) };
        let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // What another process has written is not in the columns.
        if commits_of_others(&transaction)? == self.others {
            write(&transaction, &copy)?;
        }
        transaction.commit()?;
        Ok(true)
    }
}

/// A number that changes when another connection commits.
pub(crate) fn commits_of_others(db: &Connection) -> rusqlite::Result<i64> {
    db.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))
}

fn write(db: &Connection, copy: &SegmentCopy) -> rusqlite::Result<()> {
    let [cpu, result_rows, bytes_read, spilled_bytes, peak_memory_bytes, warnings] = &copy.figures;
    db.prepare_cached(
        "INSERT OR REPLACE INTO segment
             (first, last, origins, plans, row, origin, plan, status, started_unix_ns, wall_ms, engine_versions,
             program_versions, cpu, result_rows, bytes_read, spilled_bytes, peak_memory_bytes, warnings,
             cancelled)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)",
    )?
    .execute(params![
        copy.first_row,
        copy.first_row + LAST,
        copy.origins,
        copy.plans,
        copy.row,
        copy.origin,
        copy.plan,
        copy.status,
        copy.started_unix_ns,
        copy.wall_ms,
        (!copy.engine_versions.is_empty()).then_some(&copy.engine_versions),
        (!copy.program_versions.is_empty()).then_some(&copy.program_versions),
        cpu,
        result_rows,
        bytes_read,
        spilled_bytes,
        peak_memory_bytes,
        warnings,
        copy.cancelled,
    ])?;
    Ok(())
}

/// The copy of the segment that begins with a row, if there is one.
pub(crate) fn read(db: &Connection, first_row: i64) -> rusqlite::Result<Option<SegmentCopy>> {
    db.prepare_cached(
        "SELECT first, origins, plans, row, origin, plan, status, started_unix_ns, wall_ms, engine_versions,
             program_versions, cpu, result_rows, bytes_read, spilled_bytes, peak_memory_bytes, warnings,
             cancelled
         FROM segment
         WHERE first = ?1 AND last = ?2",
    )?
    .query_row([first_row, first_row + LAST], |row| {
        // A value of another type is damage, as an array of another length is.
        let array = |column: usize| -> rusqlite::Result<Vec<u8>> {
            Ok(row.get_ref(column)?.as_bytes().unwrap_or_default().to_vec())
        };
        Ok(SegmentCopy {
            first_row: row.get(0)?,
            origins: array(1)?,
            plans: array(2)?,
            row: array(3)?,
            origin: array(4)?,
            plan: array(5)?,
            status: array(6)?,
            cancelled: array(17)?,
            started_unix_ns: array(7)?,
            wall_ms: array(8)?,
            engine_versions: array(9)?,
            program_versions: array(10)?,
            figures: [array(11)?, array(12)?, array(13)?, array(14)?, array(15)?, array(16)?],
        })
    })
    .optional()
}

/// First rows of the copies that do not say what the rows say.
pub(crate) fn wrong(db: &Connection) -> rusqlite::Result<Vec<i64>> {
    let copies: Vec<i64> = db
        .prepare("SELECT first FROM segment WHERE last = first + ?1")?
        .query_map([LAST], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut wrong = Vec::new();
    for first in copies {
        let copied = read(db, first).ok().flatten();
        // A row that cannot be read is in no answer, and found elsewhere.
        let says = load::rows(db, first, first + ROWS as i64).unwrap_or_default();
        if !copied.is_some_and(|copy| copy.says(&says)) {
            wrong.push(first);
        }
    }
    Ok(wrong)
}

/// Takes a copy out.
pub(crate) fn remove(db: &Connection, first_row: i64) -> rusqlite::Result<()> {
    db.execute("DELETE FROM segment WHERE first = ?1", [first_row]).map(|_| ())
}

#[cfg(test)]
mod tests;
