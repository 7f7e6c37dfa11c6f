//! One batch, written in a transaction the caller began.

use std::borrow::Cow;

use queryscope_store::{
    Change, ChunkInfo, Committed, FreshPart, Known, Packer, Query, QueryPart, Report, Status, StoreError,
    StreamBatch, StreamProcess,
};
use rusqlite::{Connection, OptionalExtension, params};

use crate::error::{damaged, store_error};
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
    pub(crate) terms: TermIds,
    packer: Packer,
    next_chunk: i64,
    next_query: i64,
    /// What has changed since it was last taken, while `noting` is set.
    changes: Vec<Change>,
    noting: bool,
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
            packer: Packer::new(),
            next_chunk: next("SELECT coalesce(max(id), 0) FROM chunk")?,
            next_query: next(
                "SELECT max((SELECT coalesce(max(id), 0) FROM query), (SELECT coalesce(max(last), 0) FROM segment))",
            )?,
            changes: Vec::new(),
            noting: false,
        })
    }

    /// Begins a group: forgets the changes of one that was undone, and notes changes from now on or does not.
    pub(crate) fn begin(&mut self, noting: bool) {
        self.changes.clear();
        self.noting = noting;
    }

    /// What the group has changed; `None` when it was not noted.
    pub(crate) fn take_changes(&mut self) -> Option<Vec<Change>> {
        self.noting.then(|| std::mem::take(&mut self.changes))
    }

    /// Writes a batch. Refusals ([`StoreError::ForeignStream`], [`StoreError::ForeignQuery`]) come before
    /// anything is written.
    pub(crate) fn commit(&mut self, db: &Connection, batch: &StreamBatch) -> Result<Committed, StoreError> {
        let project = self.terms.id(db, &batch.project).map_err(store_error)?;
        let stream = find_stream(db, batch).map_err(store_error)?;
        if stream.as_ref().is_some_and(|stream| stream.project != project) {
            return Err(StoreError::ForeignStream(batch.process.id));
        }
        let mut stored = Vec::with_capacity(batch.parts.len());
        for part in &batch.parts {
            let found = find_query(db, part).map_err(store_error)?;
            if found
                .as_ref()
                .is_some_and(|(owner, _)| stream.as_ref().is_none_or(|stream| *owner != stream.row))
            {
                return Err(StoreError::ForeignQuery(part.query_id));
            }
            stored.push(found.map(|(_, stored)| stored));
        }
        let process = match &stream {
            Some(stream) => batch.process.as_first_sent(&stream.process_line),
            None => Cow::Borrowed(&batch.process),
        };
        let row = stream.as_ref().map(|stream| stream.row);
        self.write(db, batch, &process, project, row, stored).map_err(store_error)
    }

    fn write(
        &mut self,
        db: &Connection,
        batch: &StreamBatch,
        process: &StreamProcess,
        project: i64,
        stream: Option<i64>,
        stored: Vec<Option<Stored>>,
    ) -> rusqlite::Result<Committed> {
        let stream = match stream {
            Some(stream) => stream,
            None => insert_stream(db, batch, project)?,
        };
        let seqs = batch.seqs();
        let fresh = seen::mark(db, stream, seqs.iter().copied())?;
        let accepted: u64 = fresh.iter().map(|run| run.last - run.first + 1).sum();
        let mut unkept = accepted;
        let mut ended = Vec::new();
        for (part, stored) in batch.parts.iter().zip(stored) {
            let part = part.fresh(&fresh, &mut self.packer);
            let part = part.map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
            let Some(part) = part else { continue };
            unkept -= part.events as u64;
            if self.write_part(db, batch, process, stream, stored, &part)? {
                ended.push(part.query_id);
            }
        }
        if unkept > 0 {
            db.prepare_cached(STREAM_UNKEPT)?.execute((stream, unkept))?;
        }
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
        } else {
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
                 program_version, id, stream, events)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21,
                 ?22)",
        )?;
        put::bind(db, &mut self.terms, query, &mut insert)?;
        insert.raw_bind_parameter(20, self.next_query)?;
        insert.raw_bind_parameter(21, stream)?;
        insert.raw_bind_parameter(22, events)?;
        insert.raw_execute()?;
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
        ])?;
        Ok(())
    }
}

/// A stream as it is stored.
struct Stream {
    row: i64,
    project: i64,
    process_line: String,
}

/// The stream of a batch.
fn find_stream(db: &Connection, batch: &StreamBatch) -> rusqlite::Result<Option<Stream>> {
    db.prepare_cached("SELECT id, project, process_line FROM stream WHERE stream_id = ?1")?
        .query_row([batch.process.id.uuid().as_bytes()], |row| {
            Ok(Stream { row: row.get(0)?, project: row.get(1)?, process_line: row.get(2)? })
        })
        .optional()
}

fn insert_stream(db: &Connection, batch: &StreamBatch, project: i64) -> rusqlite::Result<i64> {
    db.prepare_cached(
        "INSERT INTO stream (stream_id, project, process_line, unkept) VALUES (?1, ?2, ?3, 0)",
    )?
    .execute(params![batch.process.id.uuid().as_bytes(), project, batch.process.line])?;
    Ok(db.last_insert_rowid())
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
    use super::*;
    use crate::migrate::open_writer;

    #[test]
    fn new_rows_are_of_no_segment_that_has_been_copied() {
        let folder = tempfile::tempdir().expect("a folder");
        let db = open_writer(&folder.path().join("a.db"), true).expect("a new database");
        let next = || Committer::new(&db).expect("read").next_query;
        assert_eq!(next(), 1);
        // Its last rows have been deleted before it was copied, all later ones since.
        db.execute_batch(
            "INSERT INTO segment VALUES (8, 15, x'', x'', x'', x'', x'', x'', x'', x'', x'', NULL)",
        )
        .expect("a copy");
        assert_eq!(next(), 16);
    }
}
