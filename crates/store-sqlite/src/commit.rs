//! One batch, written in a transaction the caller began.

use std::collections::HashMap;

use queryscope_columns::QueryState;
use queryscope_store::{
    Change, ChunkInfo, Committed, FreshPart, Known, Packer, Query, QueryPart, Report, Status, StoreError,
    StreamBatch, StreamProcess,
};
use rusqlite::{Connection, OptionalExtension, params};

use crate::error::{damaged, store_error};
use crate::streams::{self, Stream, Streams};
use crate::terms::TermIds;
use crate::{inbox, put, seen};

/// A statement that writes a query's row takes over what `running` has counted.
const UPDATE_STATUS: &str = "
    UPDATE query SET status = ?2,
        events = events + ?3 + coalesce((SELECT running.events FROM running WHERE running.query = ?1), 0)
    WHERE id = ?1";
/// A query was heard of. Its events are counted here, unless its row is written and counts them (?4).
const HEARD: &str = "
    INSERT INTO running (query, heard_unix_ms, events) VALUES (?1, ?2, iif(?4, 0, ?3))
    ON CONFLICT (query) DO UPDATE SET heard_unix_ms = excluded.heard_unix_ms,
        events = iif(?4, 0, events + excluded.events)";
const STREAM_UNKEPT: &str = "UPDATE stream SET unkept = unkept + ?2 WHERE id = ?1";

/// What the writer keeps from batch to batch.
#[derive(Debug)]
pub(crate) struct Committer {
    terms: TermIds,
    streams: Streams,
    packer: Packer,
    next_chunk: i64,
    next_query: i64,
    /// What has changed since it was last taken, while `noting` is set.
    changes: Vec<Change>,
    noting: bool,
    /// Rows that were put in and have not changed since: what the columns keep of them.
    inserted: HashMap<i64, QueryState>,
}

/// What is stored of a query before a batch.
struct Stored {
    row: i64,
    status: Status,
    known: Known,
}

impl Committer {
    /// Ids of chunks and rows of queries go on after the largest in use; within a run of the process none is used
    /// twice. After a restart the id of a row that was deleted may be: it is only known to cursors of lists, which
    /// name the start beside it. None is of a segment that has been copied.
    pub(crate) fn new(db: &Connection) -> rusqlite::Result<Self> {
        let next = |sql| db.query_row(sql, [], |row| row.get::<_, i64>(0)).map(|last| last + 1);
        Ok(Self {
            terms: TermIds::default(),
            streams: Streams::default(),
            packer: Packer::new(),
            next_chunk: next("SELECT coalesce(max(id), 0) FROM chunk")?,
            next_query: next(
                "SELECT max((SELECT coalesce(max(id), 0) FROM query), (SELECT coalesce(max(last), 0) FROM segment))",
            )?,
            changes: Vec::new(),
            noting: false,
            inserted: HashMap::new(),
        })
    }

    /// Begins a group: notes changes from now on or does not.
    pub(crate) fn begin(&mut self, noting: bool) {
        self.changes.clear();
        self.noting = noting;
    }

    /// A transaction has begun, in which batches are written.
    pub(crate) fn begin_transaction(&mut self, db: &Connection) -> rusqlite::Result<()> {
        self.streams.begin(db)
    }

    /// Forgets what a group that was undone has stored.
    pub(crate) fn forget(&mut self) {
        self.terms.forget();
        self.streams.forget();
        self.changes.clear();
        self.inserted.clear();
    }

    /// What the columns keep of rows that were put in since this was last called, and have not changed since.
    pub(crate) fn take_inserted(&mut self) -> HashMap<i64, QueryState> {
        std::mem::take(&mut self.inserted)
    }

    /// What the group has changed; `None` when it was not noted.
    pub(crate) fn take_changes(&mut self) -> Option<Vec<Change>> {
        self.noting.then(|| std::mem::take(&mut self.changes))
    }

    /// Writes a batch. Refusals ([`StoreError::ForeignStream`], [`StoreError::ForeignQuery`]) come before
    /// anything is written.
    pub(crate) fn commit(&mut self, db: &Connection, batch: &StreamBatch) -> Result<Committed, StoreError> {
        let project = self.terms.id(db, &batch.project).map_err(store_error)?;
        let stream = self.streams.take(db, batch.process.id).map_err(store_error)?;
        let stored = match check(db, batch, project, stream.as_ref()) {
            Ok(stored) => stored,
            Err(refusal) => {
                if let Some(stream) = stream {
                    self.streams.hold(batch.process.id, stream);
                }
                return Err(refusal);
            }
        };
        self.write(db, batch, project, stream, stored).map_err(store_error)
    }

    fn write(
        &mut self,
        db: &Connection,
        batch: &StreamBatch,
        project: i64,
        stream: Option<Stream>,
        stored: Vec<Option<Stored>>,
    ) -> rusqlite::Result<Committed> {
        let mut stream = match stream {
            Some(stream) => stream,
            None => streams::insert(db, batch, project)?,
        };
        let first_sent = stream.process_other_than(&batch.process);
        let process = first_sent.as_ref().unwrap_or(&batch.process);
        let seqs = batch.seqs();
        let fresh = seen::mark(db, stream.row, &mut stream.last, seqs.iter().copied())?;
        let accepted: u64 = fresh.iter().map(|run| run.last - run.first + 1).sum();
        let mut unkept = accepted;
        let mut ended = Vec::new();
        for (part, stored) in batch.parts.iter().zip(stored) {
            let part = part.fresh(&fresh, &mut self.packer);
            let part = part.map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
            let Some(part) = part else { continue };
            unkept -= part.events as u64;
            if self.write_part(db, batch, process, stream.row, stored, &part)? {
                ended.push(part.query_id);
            }
        }
        if unkept > 0 {
            db.prepare_cached(STREAM_UNKEPT)?.execute((stream.row, unkept))?;
        }
        self.streams.hold(batch.process.id, stream);
        Ok(Committed { accepted, duplicates: seqs.len() as u64 - accepted, ended })
    }

    /// Writes the new events of a query: whether they ended it.
    fn write_part(
        &mut self,
        db: &Connection,
        batch: &StreamBatch,
        process: &StreamProcess,
        stream: i64,
        stored: Option<Stored>,
        part: &FreshPart<'_>,
    ) -> rusqlite::Result<bool> {
        let report = &*part.report;
        let mut query = Query::first(&batch.project, process, part.query_id, report);
        let new = stored.is_none();
        let mut moved = new;
        let known_before = stored.as_ref().map(|stored| stored.known);
        let events = part.events;
        let row = match stored {
            None => self.insert_query(db, stream, &query, events)?,
            Some(stored) => {
                // Only what the new events say is at hand; what they do not move is not written.
                let before = Query { status: stored.status, known: stored.known, ..query.clone() };
                query = before.clone();
                query.hear(report);
                moved = (query.status, query.known) != (before.status, before.known);
                self.inserted.remove(&stored.row);
                if query.known != before.known {
                    self.update_facts(db, stored.row, report, &query, events)?;
                } else if moved || query.status != Status::Running {
                    db.prepare_cached(UPDATE_STATUS)?.execute(params![
                        stored.row,
                        query.status.number(),
                        events
                    ])?;
                }
                stored.row
            }
        };
        let has_ended = query.has_just_ended(known_before);
        if let Some(seq) = query.ended_by(known_before, report) {
            inbox::append(db, row, seq)?;
        }
        if query.status == Status::Running {
            db.prepare_cached(HEARD)?.execute(params![row, batch.received_unix_ms, events, moved])?;
        } else if !new {
            db.prepare_cached("DELETE FROM running WHERE query = ?1")?.execute([row])?;
        }
        db.prepare_cached(
            "INSERT INTO chunk (id, query, first_seq, last_seq, gzip) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![
            self.next_chunk,
            row,
            part.first.get().cast_signed(),
            part.last.get().cast_signed(),
            part.gzip
        ])?;
        if self.noting {
            let bytes = part.gzip.len() as u64;
            self.changes.push(Change {
                query_id: part.query_id,
                status: query.status,
                moved,
                new: new.then(|| Box::new(query)),
                chunk: Some(ChunkInfo { id: self.next_chunk, first: part.first, last: part.last, bytes }),
            });
        }
        self.next_chunk += 1;
        Ok(has_ended)
    }

    fn insert_query(
        &mut self,
        db: &Connection,
        stream: i64,
        query: &Query,
        events: usize,
    ) -> rusqlite::Result<i64> {
        let mut insert = db.prepare_cached(
            "INSERT INTO query (query_id, project, service, environment, host, engine, label, fingerprint, status,
                 known, started_unix_ns, wall_ms, cpu_ms, result_rows, failed, warnings, rules, engine_version,
                 program_version, bytes_read, spilled_bytes, peak_memory_bytes, id, stream, events)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21,
                 ?22, ?23, ?24, ?25)",
        )?;
        let state = put::bind(db, &mut self.terms, query, &mut insert)?;
        insert.raw_bind_parameter(23, self.next_query)?;
        insert.raw_bind_parameter(24, stream)?;
        insert.raw_bind_parameter(25, events)?;
        insert.raw_execute()?;
        self.inserted.insert(self.next_query, state);
        self.next_query += 1;
        Ok(self.next_query - 1)
    }

    fn update_facts(
        &mut self,
        db: &Connection,
        row: i64,
        report: &Report,
        query: &Query,
        events: usize,
    ) -> rusqlite::Result<()> {
        let terms = &mut self.terms;
        let started =
            report.finished.as_ref().or(report.started.as_ref()).and_then(|facts| facts.started_unix_ns);
        db.prepare_cached(
            "UPDATE query SET label = ?2, fingerprint = ?3, status = ?4, known = ?5,
                 started_unix_ns = coalesce(?6, started_unix_ns), wall_ms = ?7, cpu_ms = ?8, result_rows = ?9,
                 failed = ?10, warnings = ?11, rules = ?12, engine_version = ?14,
                 bytes_read = ?15, spilled_bytes = ?16, peak_memory_bytes = ?17,
                 events = events + ?13 + coalesce((SELECT running.events FROM running WHERE running.query = ?1), 0)
             WHERE id = ?1",
        )?
        .execute(params![
            row,
            terms.optional(db, query.label.as_deref())?,
            terms.optional(db, query.fingerprint.as_deref())?,
            query.status.number(),
            query.known.number(),
            started,
            query.wall_ms,
            query.cpu_ms,
            query.result_rows,
            terms.optional(db, query.failed.as_deref())?,
            query.warnings,
            put::rules_id(db, terms, &query.rules)?,
            events,
            terms.optional(db, query.engine_version.as_deref())?,
            query.bytes_read,
            query.spilled_bytes,
            query.peak_memory_bytes,
        ])?;
        Ok(())
    }
}

/// What is stored of the queries of a batch, part by part.
///
/// # Errors
/// When the stream is of another project, or a query of another stream.
fn check(
    db: &Connection,
    batch: &StreamBatch,
    project: i64,
    stream: Option<&Stream>,
) -> Result<Vec<Option<Stored>>, StoreError> {
    if stream.is_some_and(|stream| stream.project != project) {
        return Err(StoreError::ForeignStream(batch.process.id));
    }
    let mut stored = Vec::with_capacity(batch.parts.len());
    for part in &batch.parts {
        let found = find_query(db, part).map_err(store_error)?;
        if found.as_ref().is_some_and(|(owner, _)| stream.is_none_or(|stream| *owner != stream.row)) {
            return Err(StoreError::ForeignQuery(part.query_id));
        }
        stored.push(found.map(|(_, stored)| stored));
    }
    Ok(stored)
}

/// Stream of a part's query, and what is stored of it.
fn find_query(db: &Connection, part: &QueryPart) -> rusqlite::Result<Option<(i64, Stored)>> {
    db.prepare_cached("SELECT stream, id, status, known FROM query WHERE query_id = ?1")?
        .query_row([part.query_id.uuid().as_bytes()], |row| {
            let status = Status::of_number(row.get(2)?).ok_or_else(|| damaged(2, "unknown status"))?;
            let known = Known::of_number(row.get(3)?).ok_or_else(|| damaged(3, "unknown origin of facts"))?;
            Ok((row.get(0)?, Stored { row: row.get(1)?, status, known }))
        })
        .optional()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use queryscope_store::testsuite::{batch, facts, stream_id};
    use rusqlite::TransactionBehavior;

    use super::*;
    use crate::load;
    use crate::migrate::open_writer;
    use crate::seen;

    struct Fixture {
        _folder: tempfile::TempDir,
        path: PathBuf,
        db: Connection,
        committer: Committer,
    }

    impl Fixture {
        fn new() -> Self {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("a.db");
            let db = open_writer(&path, true).expect("a new database");
            let committer = Committer::new(&db).expect("read");
            Self { _folder: folder, path, db, committer }
        }

        /// Writes batches in a transaction, which is committed or rolled back; how many events of each were new.
        fn write(&mut self, batches: &[StreamBatch], keep: bool) -> Vec<u64> {
            let Self { db, committer, .. } = self;
            let transaction =
                db.transaction_with_behavior(TransactionBehavior::Immediate).expect("a transaction");
            committer.begin_transaction(&transaction).expect("begun");
            let write = |batch| committer.commit(&transaction, batch).expect("stored").accepted;
            let accepted = batches.iter().map(write).collect();
            if keep {
                transaction.commit().expect("committed");
            } else {
                transaction.rollback().expect("undone");
                committer.forget();
            }
            accepted
        }
    }

    #[test]
    fn new_rows_are_of_no_segment_that_has_been_copied() {
        let folder = tempfile::tempdir().expect("a folder");
        let db = open_writer(&folder.path().join("a.db"), true).expect("a new database");
        let next = || Committer::new(&db).expect("read").next_query;
        assert_eq!(next(), 1);
        // Its last rows have been deleted before it was copied, all later ones since.
        db.execute_batch(
            "INSERT INTO segment (first, last, origins, plans, row, origin, plan, status, started_unix_ns, wall_ms)
                 VALUES (8, 15, x'', x'', x'', x'', x'', x'', x'', x'')",
        )
        .expect("a copy");
        assert_eq!(next(), 16);
    }

    #[test]
    fn what_is_known_of_new_rows_is_what_would_be_read() {
        let mut store = Fixture::new();
        let of = |query, seq, label| batch(1).finished(query, seq, facts(label)).build();
        let mut failed = facts("c");
        (failed.failed, failed.rules, failed.warnings) = (Some("no".into()), vec!["spilling".into()], 1);
        (failed.wall_ms, failed.started_unix_ns, failed.fingerprint) = (-0.0, None, Some("f".into()));
        (failed.engine_version, failed.cpu_ms) = (Some("1.2".into()), Some(2.5));
        failed.bytes_read = Some(12_345_678_901);
        let mut named = batch(2).engine("polars").finished(3, 2, failed).build();
        (named.process.service, named.process.program_version) = (Some("s".into()), Some("2".into()));
        named.process.environment = Some("e".into());
        let more = batch(1).progress(9, [4]).build();
        store.write(&[of(1, 2, "a"), of(2, 3, "b"), named, more], true);
        let inserted = store.committer.take_inserted();
        assert_eq!(inserted.len(), 4);
        for (row, state) in inserted {
            assert_eq!(load::read(&store.db, row).expect("read").query, Some(state));
        }
        // Rows that change, also in the transaction that put them in, are read.
        store.write(&[batch(1).progress(8, [5]).build(), of(8, 6, "x"), of(9, 7, "y")], true);
        assert_eq!(store.committer.take_inserted().len(), 0);
    }

    #[test]
    fn what_is_rolled_back_is_not_known_any_more() {
        let mut store = Fixture::new();
        let sent = [batch(1).engine("polars").finished(1, 2, facts("a")).build()];
        for _ in 0..2 {
            assert_eq!(store.write(&sent, false), [1]);
            assert!(store.committer.take_inserted().is_empty());
        }
        assert_eq!(store.write(&sent, true), [1]);
        let next = [batch(1).finished(2, 3, facts("a")).build()];
        assert_eq!(store.write(&next, false), [1], "the range of a known stream grows and is set back");
        assert_eq!(store.write(&next, true), [1]);
        assert_eq!(store.write(&[sent, next].concat(), true), [0, 0]);
        let engines: i64 =
            store.db.query_row("SELECT count(*) FROM engine", [], |row| row.get(0)).expect("read");
        assert_eq!(engines, 1);
    }

    #[test]
    fn what_others_commit_to_a_known_stream_is_noticed() {
        let mut store = Fixture::new();
        let of = |seqs: std::ops::Range<u64>| [batch(1).progress(1, seqs).build()];
        assert_eq!(store.write(&of(2..5), true), [3]);
        let other = Connection::open(&store.path).expect("opens");
        other.execute("UPDATE seen SET last = 8", []).expect("changed");
        assert_eq!(store.write(&of(5..11), true), [2]);
        let row = store.committer.streams.take(&store.db, stream_id(1)).expect("read").expect("stored").row;
        let ranges = seen::all(&store.db, row).expect("read");
        assert_eq!((ranges.len(), ranges[0].first, ranges[0].last), (1, 2, 10));
    }
}
