//! The seen set of a stream in the table `seen`.

use queryscope_protocol::Seq;
use queryscope_store::{SeenChange, SeqRange, seq_ranges};
use rusqlite::{Connection, params};

/// The ranges that touch a sent one: the one that begins before it, if it reaches so far, and those that begin in
/// it.
const TOUCHING: &str = "
    SELECT first, last FROM seen
    WHERE stream = ?1 AND last >= ?2 AND first <= ?3
      AND first >= coalesce((SELECT max(first) FROM seen WHERE stream = ?1 AND first <= ?2), ?2)
    ORDER BY first";

/// Marks ascending seqs of a stream as seen and gives back the ranges that had not been.
pub(crate) fn mark(
    db: &Connection,
    stream: i64,
    seqs: impl IntoIterator<Item = Seq>,
) -> rusqlite::Result<Vec<SeqRange>> {
    let mut fresh = Vec::new();
    for sent in seq_ranges(seqs) {
        let touching = touching(db, stream, sent)?;
        let mut change = SeenChange::of(sent, &touching);
        match touching.as_slice() {
            [only] if *only == change.merged => {}
            [only] if only.first == change.merged.first => {
                db.prepare_cached("UPDATE seen SET last = ?3 WHERE stream = ?1 AND first = ?2")?
                    .execute(params![stream, only.first.cast_signed(), change.merged.last.cast_signed()])?;
            }
            _ => replace(db, stream, &touching, change.merged)?,
        }
        fresh.append(&mut change.fresh);
    }
    Ok(fresh)
}

/// All ranges of a stream.
pub(crate) fn all(db: &Connection, stream: i64) -> rusqlite::Result<Vec<SeqRange>> {
    db.prepare_cached("SELECT first, last FROM seen WHERE stream = ?1 ORDER BY first")?
        .query_map([stream], run_of)?
        .collect()
}

fn touching(db: &Connection, stream: i64, sent: SeqRange) -> rusqlite::Result<Vec<SeqRange>> {
    let near = sent.neighbourhood();
    db.prepare_cached(TOUCHING)?
        .query_map(
            params![stream, near.first.cast_signed(), i64::try_from(near.last).unwrap_or(i64::MAX)],
            run_of,
        )?
        .collect()
}

fn replace(db: &Connection, stream: i64, ranges: &[SeqRange], merged: SeqRange) -> rusqlite::Result<()> {
    for range in ranges {
        db.prepare_cached("DELETE FROM seen WHERE stream = ?1 AND first = ?2")?
            .execute(params![stream, range.first.cast_signed()])?;
    }
    db.prepare_cached("INSERT INTO seen (stream, first, last) VALUES (?1, ?2, ?3)")?.execute(params![
        stream,
        merged.first.cast_signed(),
        merged.last.cast_signed()
    ])?;
    Ok(())
}

fn run_of(row: &rusqlite::Row<'_>) -> rusqlite::Result<SeqRange> {
    Ok(SeqRange { first: row.get::<_, i64>(0)?.cast_unsigned(), last: row.get::<_, i64>(1)?.cast_unsigned() })
}
