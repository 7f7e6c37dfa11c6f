//! Writing what a checker has found out, with nobody else at the database.
//!
//! All of a repair is one transaction. Whoever uses it decides what follows from the events; here is only how it is
//! written down.

use std::path::Path;

use queryscope_protocol::{QueryId, Seq, StreamId};
use queryscope_store::{Loss, Pack, Packer, PlaceColumns, Query, RecordingPlace};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, params};
use uuid::Uuid;

use crate::error::OpenError;
use crate::migrate::open_writer;
use crate::terms::TermIds;
use crate::{issues, losses, packs, put, recording, seen, segments};

/// Structure that is told by other rows: what was mended, how many rows break it now, and how they are mended.
const TOLD_BY_OTHERS: [(&str, &str); 20] = [
    (
        "deploys were such as nobody could have stored",
        "DELETE FROM deploy WHERE source NOT IN ('posted', 'seen') OR subject NOT IN ('program', 'engine')
             OR version = '' OR last_unix_ns < unix_ns",
    ),
    (
        "notes on queries were such as nobody could have written",
        "DELETE FROM query_note WHERE label = '' OR text = ''",
    ),
    (
        "views were such as nobody could have shared",
        "DELETE FROM shared_view WHERE name = '' OR (search <> '' AND search NOT LIKE '?%')",
    ),
    (
        "streams had a project without a name",
        "UPDATE stream SET project = (SELECT project FROM query WHERE query.stream = stream.id)
         WHERE project NOT IN (SELECT id FROM term)
           AND EXISTS (SELECT 1 FROM query JOIN term ON term.id = query.project WHERE query.stream = stream.id)",
    ),
    (
        "queries had another project than their stream",
        "UPDATE query SET project = (SELECT project FROM stream WHERE stream.id = query.stream)
         WHERE project <> (SELECT project FROM stream WHERE stream.id = query.stream)",
    ),
    (
        "queries were marked as running that are not there",
        "DELETE FROM running WHERE query NOT IN (SELECT id FROM query)",
    ),
    (
        "sessions were of users that are not there",
        "DELETE FROM login_session WHERE user NOT IN (SELECT name FROM login_user)",
    ),
    ("losses were noted of queries that are not there", "DELETE FROM loss WHERE query NOT IN (SELECT id FROM query)"),
    (
        "runs waited for their evaluation that are not there",
        "DELETE FROM pending_run WHERE query NOT IN (SELECT id FROM query)",
    ),
    (
        "evaluated runs were of a query or plan that is not there",
        "DELETE FROM evaluated_run
         WHERE query NOT IN (SELECT id FROM evaluated_query) OR plan NOT IN (SELECT id FROM run_plan)",
    ),
    (
        "queries had another number of evaluated runs",
        "UPDATE evaluated_query SET runs = (SELECT count(*) FROM evaluated_run WHERE query = evaluated_query.id)
         WHERE runs <> (SELECT count(*) FROM evaluated_run WHERE query = evaluated_query.id)",
    ),
    (
        "plans had another number of evaluated runs",
        "UPDATE run_plan SET runs = counted.runs FROM (
             SELECT run_plan.id, count(evaluated_run.plan) AS runs FROM run_plan
             LEFT JOIN evaluated_run ON evaluated_run.plan = run_plan.id GROUP BY run_plan.id
         ) AS counted WHERE counted.id = run_plan.id AND counted.runs <> run_plan.runs",
    ),
    (
        "changes were of queries of which no run was evaluated",
        "DELETE FROM query_change WHERE (project, service, label) NOT IN (
             SELECT project, service, label FROM evaluated_query)",
    ),
    (
        "transitions were of no issue",
        "DELETE FROM issue_transition WHERE issue NOT IN (SELECT number FROM issue)",
    ),
    ("notes were of no issue", "DELETE FROM issue_note WHERE issue NOT IN (SELECT number FROM issue)"),
    (
        "notices held no transition",
        "DELETE FROM notice WHERE CASE WHEN json_valid(body)
             THEN json_extract(body, '$.issue.id') IS NOT issue
                 OR json_extract(body, '$.transition.number') IS NOT transition ELSE 1 END",
    ),
    (
        "messages could not be read",
        "DELETE FROM delivery WHERE NOT json_valid(body)
             OR state NOT IN ('waiting', 'sent', 'refused', 'given_up', 'joined')
             OR (state = 'waiting') <> (ended_unix_ns IS NULL)",
    ),
    (
        "it was not noted whether all queries were brought forward",
        "INSERT INTO evaluation SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM evaluation)",
    ),
    (
        "seen ranges were of no stream",
        "DELETE FROM seen WHERE stream NOT IN (SELECT id FROM stream UNION SELECT stream FROM query)",
    ),
    ("seen ranges were of no events", "DELETE FROM seen WHERE last < first OR first < 1"),
];
/// Runs that run and are not in `running` are as after a restart. `status <> 1` lets SQLite use the partial index
/// `query_by_status`.
const FOLLOW: &str = "
    INSERT INTO running (query, heard_unix_ms) SELECT id, 0 FROM query
    WHERE status = 0 AND status <> 1 AND id NOT IN (SELECT query FROM running)";
/// Queries that have ended and are counted in `running` take their events over before they leave it.
const COUNT_ENDED: &str = "
    UPDATE query SET events = events + (SELECT running.events FROM running WHERE running.query = query.id)
    WHERE status <> 0 AND id IN (SELECT query FROM running)";
const LEAVE_ENDED: &str = "DELETE FROM running WHERE query IN (SELECT id FROM query WHERE status <> 0)";

/// A database that is being repaired. Nothing is kept unless [`Repair::commit`] is called.
#[derive(Debug)]
pub struct Repair {
    db: Connection,
    terms: TermIds,
    packer: Packer,
    now_unix_ms: i64,
}

/// What is stored of a query, as far as it can be read.
#[derive(Debug, Clone)]
pub struct StoredQuery {
    /// The query.
    pub id: QueryId,
    /// Its stream; `None` when that is not there.
    pub stream: Option<StoredStream>,
    /// Its project, if it can be read.
    pub project: Option<String>,
    /// Where its sealed recording is to be.
    pub sealed: Option<RecordingPlace>,
    /// Its chunks, in the order they were stored.
    pub chunks: Vec<StoredChunk>,
    /// How many events it was given, if they were counted.
    pub committed: Option<u64>,
    row: i64,
}

/// What is stored of a stream.
#[derive(Debug, Clone)]
pub struct StoredStream {
    /// The stream.
    pub id: StreamId,
    /// Its project.
    pub project: String,
    /// Its process event.
    pub process_line: String,
    row: i64,
}

/// A chunk as it is stored.
#[derive(Debug, Clone)]
pub struct StoredChunk {
    /// Its id.
    pub id: i64,
    /// Lowest and highest seq it is said to hold.
    pub range: (i64, i64),
    /// Its bytes.
    pub gzip: Vec<u8>,
}

/// A stream whose account does not balance.
#[derive(Debug, Clone, Copy)]
pub struct Unbalanced {
    /// The stream.
    pub stream_id: StreamId,
    /// Events that have been seen and are nobody's; negative when more are somebody's than have been seen.
    pub missing: i64,
}

type Done<T> = rusqlite::Result<T>;

impl Repair {
    /// Begins to repair the database at a path, which is brought up to date. Losses are recorded as found now.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn begin(path: &Path, now_unix_ms: i64) -> Result<Self, OpenError> {
        let db = open_writer(path, true)?;
        let failed = |source| OpenError::Database { path: path.to_owned(), source };
        db.execute_batch("BEGIN IMMEDIATE").map_err(failed)?;
        Ok(Self { db, terms: TermIds::default(), packer: Packer::new(), now_unix_ms })
    }

    /// Makes everything that was written durable.
    pub fn commit(self) -> Done<()> {
        self.db.execute_batch("COMMIT")
    }

    /// Builds the indexes anew from the tables when the database is not sound; what is wrong with it afterwards.
    pub fn rebuild_indexes(&self) -> Done<(bool, Vec<String>)> {
        let integrity = || -> Done<Vec<String>> {
            let lines: Vec<String> = self
                .db
                .prepare("PRAGMA integrity_check")?
                .query_map([], |row| row.get(0))?
                .collect::<Done<_>>()?;
            Ok(lines.into_iter().filter(|line| line != "ok").collect())
        };
        if integrity()?.is_empty() {
            return Ok((false, Vec::new()));
        }
        self.db.execute_batch("REINDEX")?;
        Ok((true, integrity()?))
    }

    /// Mends what is told by other rows: a sentence for each thing that was mended.
    pub fn mend_structure(&mut self) -> Done<Vec<String>> {
        let mut mended = Vec::new();
        let (written, deleted) = issues::mend(&self.db, &mut self.terms)?;
        mended.extend(counted(written, "issues were found by lists as others than they are"));
        mended.extend(counted(
            deleted,
            "issues were damaged; they are deleted, and open anew where their change lasts",
        ));
        for (what, sql) in TOLD_BY_OTHERS {
            mended.extend(counted(self.db.execute(sql, [])?, what));
        }
        let streams: Vec<i64> = self
            .db
            .prepare("SELECT id FROM stream")?
            .query_map([], |row| row.get(0))?
            .collect::<Done<_>>()?;
        let mut joined = 0;
        for stream in streams {
            joined += usize::from(self.join_seen(stream)?);
        }
        mended.extend(counted(joined, "streams had seen ranges that touch"));
        let wrong = segments::wrong(&self.db)?;
        for first_row in &wrong {
            segments::remove(&self.db, *first_row)?;
        }
        mended.extend(counted(wrong.len(), "copies of runs differed from their rows"));
        Ok(mended)
    }

    /// Marks the queries that run, and no others: a sentence for each thing that was mended.
    pub fn mend_running(&self) -> Done<Vec<String>> {
        self.db.execute(COUNT_ENDED, [])?;
        let left = self.db.execute(LEAVE_ENDED, [])?;
        let followed = self.db.execute(FOLLOW, [])?;
        Ok([
            counted(left, "queries were marked as running that have ended"),
            counted(followed, "queries ran and were not marked as running"),
        ]
        .into_iter()
        .flatten()
        .collect())
    }

    /// Joins the seen ranges of a stream that touch or overlap; whether there were any.
    fn join_seen(&self, stream: i64) -> Done<bool> {
        let mut joined: Vec<(u64, u64)> = Vec::new();
        let mut touching = false;
        for run in seen::all(&self.db, stream)? {
            match joined.last_mut() {
                Some((_, last)) if run.first <= last.saturating_add(1) => {
                    *last = run.last.max(*last);
                    touching = true;
                }
                _ => joined.push((run.first, run.last)),
            }
        }
        if touching {
            self.db.execute("DELETE FROM seen WHERE stream = ?1", [stream])?;
            for (first, last) in joined {
                self.db.execute(
                    "INSERT INTO seen (stream, first, last) VALUES (?1, ?2, ?3)",
                    (stream, first.cast_signed(), last.cast_signed()),
                )?;
            }
        }
        Ok(touching)
    }

    /// What is stored of a query; `None` when there is no such query.
    pub fn query(&self, id: QueryId) -> Done<Option<StoredQuery>> {
        let found = self
            .db
            .query_row(
                "SELECT query.id, stream, project,
                     events + coalesce((SELECT running.events FROM running WHERE running.query = query.id), 0),
                     sealed_day, sealed_version, pack_offset, pack_bytes
                 FROM query WHERE query_id = ?1",
                [id.uuid().as_bytes()],
                |row| {
                    // A value of another type counts as none.
                    let number = |column: usize| row.get::<_, Option<i64>>(column).unwrap_or(None);
                    let (version, offset, bytes) = (number(5), number(6), number(7));
                    let place = number(4).map(|day| PlaceColumns { day, version, offset, bytes });
                    Ok((row.get::<_, i64>(0)?, number(1), number(2), number(3), place))
                },
            )
            .optional()?;
        let Some((row, stream, project, committed, place)) = found else { return Ok(None) };
        Ok(Some(StoredQuery {
            id,
            stream: stream.map(|stream| self.stream(stream)).transpose()?.flatten(),
            project: project.map(|project| self.text(project)).transpose()?.flatten(),
            sealed: place.map(|columns| RecordingPlace::of_columns(id, columns)),
            chunks: self.chunks(
                "SELECT id, first_seq, last_seq, gzip FROM chunk WHERE query = ?1 ORDER BY id",
                row,
            )?,
            committed: committed.and_then(|events| u64::try_from(events).ok()),
            row,
        }))
    }

    /// Queries whose stream is not there.
    pub fn of_no_stream(&self) -> Done<Vec<QueryId>> {
        let sql = "SELECT query_id FROM query WHERE stream NOT IN (SELECT id FROM stream) AND length(query_id) = 16";
        self.db.prepare(sql)?.query_map([], |row| Ok(QueryId::new(Uuid::from_bytes(row.get(0)?))))?.collect()
    }

    /// Chunks of no query.
    pub fn orphans(&self) -> Done<Vec<StoredChunk>> {
        let orphans = "SELECT id, first_seq, last_seq, gzip FROM chunk
                       WHERE query NOT IN (SELECT id FROM query) AND ?1 = 0";
        self.chunks(orphans, 0)
    }

    fn chunks(&self, sql: &str, parameter: i64) -> Done<Vec<StoredChunk>> {
        self.db
            .prepare(sql)?
            .query_map([parameter], |row| {
                // A value of another type is damage to be looked at, too.
                let number = |column: usize| row.get(column).unwrap_or(0);
                let gzip = row.get_ref(3)?.as_bytes().unwrap_or_default().to_vec();
                Ok(StoredChunk { id: row.get(0)?, range: (number(1), number(2)), gzip })
            })?
            .collect()
    }

    fn stream(&self, row: i64) -> Done<Option<StoredStream>> {
        let found = self
            .db
            .query_row("SELECT stream_id, project, process_line FROM stream WHERE id = ?1", [row], |found| {
                Ok((found.get::<_, [u8; 16]>(0)?, found.get::<_, i64>(1)?, found.get(2)?))
            })
            .optional()?;
        let Some((id, project, process_line)) = found else { return Ok(None) };
        let Some(project) = self.text(project)? else { return Ok(None) };
        Ok(Some(StoredStream { id: StreamId::new(Uuid::from_bytes(id)), project, process_line, row }))
    }

    fn text(&self, term: i64) -> Done<Option<String>> {
        self.db.query_row("SELECT text FROM term WHERE id = ?1", [term], |row| row.get(0)).optional()
    }

    /// Writes the row of a query, which is there, as its events make it.
    pub fn put_query(&mut self, query: &Query) -> Done<()> {
        let (db, terms) = (&self.db, &mut self.terms);
        let mut update = db.prepare_cached(
            "UPDATE query SET project = ?2, service = ?3, environment = ?4, host = ?5, engine = ?6, label = ?7,
                 fingerprint = ?8, status = ?9, known = ?10, started_unix_ns = ?11, wall_ms = ?12, cpu_ms = ?13,
                 result_rows = ?14, failed = ?15, warnings = ?16, rules = ?17, engine_version = ?18,
                 program_version = ?19, bytes_read = ?20, spilled_bytes = ?21, peak_memory_bytes = ?22
             WHERE query_id = ?1",
        )?;
        put::bind(db, terms, query, &mut update)?;
        update.raw_execute()?;
        Ok(())
    }

    /// Sets how many events a query was given and how many of these are lost; those that were not known to be are
    /// recorded.
    pub fn set_account(&self, query: &StoredQuery, committed: u64, lost: u64) -> Done<()> {
        let known = "SELECT events FROM loss WHERE query = ?1";
        let known: u64 = self.db.query_row(known, [query.row], |row| row.get(0)).optional()?.unwrap_or(0);
        if let Some(stream) = &query.stream {
            if lost < known {
                // Some were found again.
                let sql = "DELETE FROM recorded_loss WHERE stream_id = ?1 AND query_id = ?2";
                self.db.execute(sql, (stream.id.uuid().as_bytes(), query.id.uuid().as_bytes()))?;
            }
            let found = if lost < known { lost } else { lost - known };
            self.record_loss(stream.id, Some(query.id), found)?;
        }
        self.db.execute("UPDATE running SET events = 0 WHERE query = ?1", [query.row])?;
        self.db.execute("UPDATE query SET events = ?2 WHERE id = ?1", (query.row, committed))?;
        self.db.execute("DELETE FROM loss WHERE query = ?1", [query.row])?;
        if lost > 0 {
            self.db.execute("INSERT INTO loss (query, events) VALUES (?1, ?2)", (query.row, lost))?;
        }
        Ok(())
    }

    fn record_loss(&self, stream_id: StreamId, query_id: Option<QueryId>, events: u64) -> Done<()> {
        let found_unix_ms = Some(self.now_unix_ms);
        if events == 0 {
            return Ok(());
        }
        losses::record(&self.db, &Loss { stream_id, query_id, events, found_unix_ms })
    }

    /// Marks events of a stream as seen; how many had not been.
    pub fn mark_seen(&self, stream: StreamId, seqs: impl IntoIterator<Item = Seq>) -> Done<u64> {
        let sql = "SELECT id FROM stream WHERE stream_id = ?1";
        let row = self.db.query_row(sql, [stream.uuid().as_bytes()], |row| row.get(0)).optional()?;
        let Some(row) = row else { return Ok(0) };
        let fresh = seen::mark(&self.db, row, &mut seen::last(&self.db, row)?, seqs)?;
        Ok(fresh.iter().map(|run| run.last - run.first + 1).sum())
    }

    /// Points a query to a recording, or to none.
    pub fn point_to(&self, query: &StoredQuery, place: Option<&RecordingPlace>) -> Done<()> {
        recording::point(&self.db, query.row, place.and_then(|place| place.columns(query.id)))
    }

    /// The queries whose recordings are in a pack.
    pub fn of_pack(&self, pack: Pack) -> Done<Vec<QueryId>> {
        self.db
            .prepare(
                "SELECT query_id FROM query
                 WHERE pack_offset IS NOT NULL AND sealed_day = ?1 AND sealed_version = ?2",
            )?
            .query_map(params![pack.day, pack.number.cast_signed()], |row| {
                Ok(QueryId::new(Uuid::from_bytes(row.get(0)?)))
            })?
            .collect()
    }

    /// Counts anew how many runs point to packs: a sentence where that was counted otherwise.
    pub fn mend_packs(&self) -> Done<Option<String>> {
        Ok(counted(packs::recount(&self.db)?, "packs were pointed to by another number of runs"))
    }

    /// Adds a chunk of these lines, ascending by seq.
    pub fn add_chunk(&mut self, query: &StoredQuery, lines: &[(Seq, &[u8])]) -> Done<()> {
        let (Some((first, _)), Some((last, _))) = (lines.first(), lines.last()) else { return Ok(()) };
        let gzip = self.packer.pack(lines.iter().map(|(_, line)| *line));
        self.db.execute(
            "INSERT INTO chunk (query, first_seq, last_seq, gzip) VALUES (?1, ?2, ?3, ?4)",
            params![query.row, first.get().cast_signed(), last.get().cast_signed(), gzip],
        )?;
        Ok(())
    }

    /// Takes a chunk out.
    pub fn remove_chunk(&self, id: i64) -> Done<()> {
        self.db.execute("DELETE FROM chunk WHERE id = ?1", [id]).map(|_| ())
    }

    /// Gives a chunk to the query its events are of.
    pub fn give_chunk(&self, id: i64, query: &StoredQuery) -> Done<()> {
        self.db.execute("UPDATE chunk SET query = ?2 WHERE id = ?1", (id, query.row)).map(|_| ())
    }

    /// Takes out a query of which no event is left; what was counted of it is its stream's.
    pub fn remove_query(&self, query: &StoredQuery) -> Done<()> {
        if let (Some(stream), Some(committed)) = (&query.stream, query.committed) {
            self.db
                .execute("UPDATE stream SET unkept = unkept + ?2 WHERE id = ?1", (stream.row, committed))?;
        }
        for sql in [
            "DELETE FROM running WHERE query = ?1",
            "DELETE FROM loss WHERE query = ?1",
            "DELETE FROM pending_run WHERE query = ?1",
            "DELETE FROM query WHERE id = ?1",
        ] {
            self.db.execute(sql, [query.row])?;
        }
        Ok(())
    }

    /// The values of a query's row, for whoever wants to look at what was taken out.
    pub fn values(&self, query: &StoredQuery) -> Done<Vec<(String, String)>> {
        let mut statement = self.db.prepare("SELECT * FROM query WHERE id = ?1")?;
        let names: Vec<String> = statement.column_names().map(Into::into).collect();
        statement.query_row([query.row], |row| {
            names
                .into_iter()
                .enumerate()
                .map(|(at, name)| {
                    let value: Value = row.get(at)?;
                    let text = match (&*name, &value) {
                        (
                            "project" | "service" | "environment" | "host" | "engine" | "engine_version"
                            | "program_version" | "label" | "fingerprint" | "failed" | "rules",
                            Value::Integer(term),
                        ) => self.text(*term)?.unwrap_or_default(),
                        (_, Value::Blob(bytes)) => {
                            Uuid::from_slice(bytes).map(|id| id.to_string()).unwrap_or_default()
                        }
                        (_, Value::Text(text)) => text.clone(),
                        (_, Value::Integer(number)) => number.to_string(),
                        (_, Value::Real(number)) => number.to_string(),
                        (_, Value::Null) => String::new(),
                    };
                    Ok((name, text))
                })
                .collect()
        })
    }

    /// Makes the row of a query's stream anew, as its process event tells. What no query keeps of it is not known.
    pub fn restore_stream(&mut self, query: &StoredQuery, id: StreamId, process_line: &str) -> Done<bool> {
        let Some(project) = &query.project else { return Ok(false) };
        let project = self.terms.id(&self.db, project)?;
        let made = self.db.execute(
            "INSERT OR IGNORE INTO stream (id, stream_id, project, process_line)
             SELECT stream, ?2, ?3, ?4 FROM query WHERE id = ?1 AND stream NOT IN (SELECT id FROM stream)",
            params![query.row, id.uuid().as_bytes(), project, process_line],
        )?;
        Ok(made == 1)
    }

    /// Streams whose accounts do not balance.
    pub fn unbalanced(&self) -> Done<Vec<Unbalanced>> {
        let mut statement = self.db.prepare(crate::verify::UNBALANCED)?;
        let found = statement.query_map([], |row| {
            let [seen, given, unkept]: [i64; 3] = [row.get(1)?, row.get(2)?, row.get(3)?];
            let stream_id = StreamId::new(Uuid::from_bytes(row.get(0)?));
            Ok(Unbalanced { stream_id, missing: seen - given - unkept })
        })?;
        found.collect()
    }

    /// Counts the events of a stream that are missing among those no query keeps, and records them as lost.
    pub fn balance(&self, stream: Unbalanced) -> Done<()> {
        self.db.execute(
            "UPDATE stream SET unkept = max(unkept + ?2, 0) WHERE stream_id = ?1",
            (stream.stream_id.uuid().as_bytes(), stream.missing),
        )?;
        self.record_loss(stream.stream_id, None, u64::try_from(stream.missing).unwrap_or(0))
    }
}

fn counted(rows: usize, what: &str) -> Option<String> {
    (rows > 0).then(|| format!("{rows} {what}"))
}
