//! The seen set of a stream in the table `seen`.

use queryscope_protocol::Seq;
use queryscope_store::{SeenChange, SeqRange, seq_ranges};
use rusqlite::{Connection, OptionalExtension, params};

/// The ranges that touch a sent one: the one that begins before it, if it reaches so far, and those that begin in
/// it.
const TOUCHING: &str = "
    SELECT first, last FROM seen
    WHERE stream = ?1 AND last >= ?2 AND first <= ?3
      AND first >= coalesce((SELECT max(first) FROM seen WHERE stream = ?1 AND first <= ?2), ?2)
    ORDER BY first";

/// The last range of a stream in `seen`, as the writer knows it; none of a stream without ranges.
pub(crate) type LastRange = Option<SeqRange>;

/// Marks ascending seqs of a stream as seen and gives back the ranges that had not been. `last` is the last range of
/// the stream, and stays it: a sender counts on, and what lies behind that range needs no look at the others.
pub(crate) fn mark(
    db: &Connection,
    stream: i64,
    last: &mut LastRange,
    seqs: impl IntoIterator<Item = Seq>,
) -> rusqlite::Result<Vec<SeqRange>> {
    let mut fresh = Vec::new();
    for sent in seq_ranges(seqs) {
        let touching = match *last {
            None => Vec::new(),
            Some(known) if known.last.saturating_add(1) < sent.first => Vec::new(),
            Some(known) if known.last.saturating_add(1) == sent.first => vec![known],
            Some(_) => touching(db, stream, sent)?,
        };
        let mut change = SeenChange::of(sent, &touching);
        match touching.as_slice() {
            [only] if *only == change.merged => {}
            [only] if only.first == change.merged.first => {
                db.prepare_cached("UPDATE seen SET last = ?3 WHERE stream = ?1 AND first = ?2")?
                    .execute(params![stream, only.first.cast_signed(), change.merged.last.cast_signed()])?;
            }
            _ => replace(db, stream, &touching, change.merged)?,
        }
        // Ranges are disjoint: the last one is the merged one, unless that lies before it.
        if last.is_none_or(|known| known.first <= change.merged.last) {
            *last = Some(change.merged);
        }
        fresh.append(&mut change.fresh);
    }
    Ok(fresh)
}

/// The last range of a stream.
pub(crate) fn last(db: &Connection, stream: i64) -> rusqlite::Result<LastRange> {
    db.prepare_cached("SELECT first, last FROM seen WHERE stream = ?1 ORDER BY first DESC LIMIT 1")?
        .query_row([stream], run_of)
        .optional()
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_last_range_stays_the_last_and_what_is_fresh_is_what_was_not_sent(
            batches in prop::collection::vec(prop::collection::btree_set(1_u64..60, 1..9), 1..30)
        ) {
            let db = Connection::open_in_memory().expect("a database");
            db.execute_batch(
                "CREATE TABLE seen (stream INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
                     PRIMARY KEY (stream, first)) WITHOUT ROWID;
                 INSERT INTO seen VALUES (6, 1, 99), (8, 1, 99)",
            )
            .expect("a table");
            let mut known = last(&db, 7).expect("read");
            let mut sent = BTreeSet::new();
            for batch in batches {
                let seqs = batch.iter().map(|seq| Seq::new(*seq).expect("a seq"));
                let fresh = mark(&db, 7, &mut known, seqs).expect("marked");
                let fresh: Vec<u64> = fresh.iter().flat_map(|range| range.first..=range.last).collect();
                let expected: Vec<u64> = batch.difference(&sent).copied().collect();
                prop_assert_eq!(fresh, expected);
                sent.extend(batch);
                prop_assert_eq!(known, last(&db, 7).expect("read"));
                let stored: Vec<u64> =
                    all(&db, 7).expect("read").iter().flat_map(|range| range.first..=range.last).collect();
                prop_assert_eq!(stored, sent.iter().copied().collect::<Vec<_>>());
            }
        }
    }
}
