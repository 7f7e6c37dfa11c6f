//! A group of batches, committed in one transaction.
//!
//! Rows are locked in one order by everybody: streams by id, then queries by number. Three waits for the database: for
//! what is stored, for the numbers of new rows, for the writes; and one for the commit.

use std::collections::{BTreeMap, BTreeSet};

use deadpool_postgres::{Pool, Transaction};
use futures_util::future::try_join_all;
use queryscope_protocol::{QueryId, StreamId};
use queryscope_store::{Committed, Status, StoreError, StreamBatch, TermNumbers, seq_ranges};
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use crate::error::DbError;
use crate::format::{FOUND, Format};
use crate::group::{Group, QueryChange, Stored, StoredQuery, StoredStream, group, texts_of};
use crate::inbox::APPEND;
use crate::row::{known_of, status_of};
use crate::terms::TermIds;

const NEW_STREAMS: &str = "
    INSERT INTO stream (stream_id, project, process_line)
    SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::bytea[]) AS new (stream_id, project, line)
    WHERE NOT EXISTS (SELECT 1 FROM stream WHERE stream.stream_id = new.stream_id)
    ORDER BY stream_id ON CONFLICT (stream_id) DO NOTHING RETURNING id";
const STREAMS: &str = "
    SELECT id, stream_id, project, process_line FROM stream WHERE stream_id = ANY($1) ORDER BY stream_id
    FOR NO KEY UPDATE";
const QUERIES: &str = "
    SELECT query_id, id, stream, status, known FROM query WHERE query_id = ANY($1) ORDER BY id FOR NO KEY UPDATE";
/// The ranges that touch runs: the one that begins before, and those that begin within.
const SEEN: &str = "
    SELECT DISTINCT stream.id, range.first, range.last
    FROM unnest($1::uuid[], $2::bigint[], $3::bigint[]) AS run (stream_id, first, last)
    JOIN stream ON stream.stream_id = run.stream_id
    JOIN LATERAL (
        (SELECT first, last FROM seen WHERE seen.stream = stream.id AND seen.first < run.first
         ORDER BY first DESC LIMIT 1)
        UNION ALL
        SELECT first, last FROM seen WHERE seen.stream = stream.id AND seen.first BETWEEN run.first AND run.last
    ) AS range ON range.last >= run.first";
const IDS: &str = "
    SELECT ARRAY(SELECT nextval('query_id') FROM generate_series(1, $1::bigint)),
           ARRAY(SELECT nextval('chunk_id') FROM generate_series(1, $2::bigint))";

const INSERT_QUERIES: &str = "
    INSERT INTO query (id, query_id, stream, project, service, environment, host, engine, label, fingerprint,
        status, known, started_unix_ns, wall_ms, cpu_ms, result_rows, failed, warnings, rules, events, engine_version,
        program_version, bytes_read, spilled_bytes, peak_memory_bytes)
    SELECT * FROM unnest($1::bigint[], $2::uuid[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[],
        $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::smallint[], $12::smallint[], $13::bigint[],
        $14::float8[], $15::float8[], $16::bigint[], $17::bigint[], $18::bigint[], $19::bigint[], $20::bigint[],
        $21::bigint[], $22::bigint[], $23::bigint[], $24::bigint[], $25::bigint[])";
/// A statement that writes a query's row takes over what `running` has counted.
const UPDATE_FACTS: &str = "
    UPDATE query SET label = new.label, fingerprint = new.fingerprint, status = new.status, known = new.known,
        started_unix_ns = coalesce(new.started, query.started_unix_ns), wall_ms = new.wall_ms, cpu_ms = new.cpu_ms,
        result_rows = new.result_rows, failed = new.failed, warnings = new.warnings, rules = new.rules,
        engine_version = new.engine_version, bytes_read = new.bytes_read, spilled_bytes = new.spilled_bytes,
        peak_memory_bytes = new.peak_memory_bytes,
        events = query.events + new.events
            + coalesce((SELECT running.events FROM running WHERE running.query = query.id), 0)
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::smallint[], $5::smallint[], $6::bigint[],
        $7::float8[], $8::float8[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[],
        $14::bigint[], $15::bigint[], $16::bigint[], $17::bigint[])
        AS new (id, label, fingerprint, status, known, started, wall_ms, cpu_ms, result_rows, failed, warnings,
            rules, events, engine_version, bytes_read, spilled_bytes, peak_memory_bytes)
    WHERE query.id = new.id";
const UPDATE_STATUS: &str = "
    UPDATE query SET status = new.status, events = query.events + new.events
        + coalesce((SELECT running.events FROM running WHERE running.query = query.id), 0)
    FROM unnest($1::bigint[], $2::smallint[], $3::bigint[]) AS new (id, status, events)
    WHERE query.id = new.id";
/// Queries were heard of. Events are counted here, unless the query's row is written and counts them.
const HEARD: &str = "
    INSERT INTO running (query, heard_unix_ms, events)
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[])
    ON CONFLICT (query) DO UPDATE SET heard_unix_ms = excluded.heard_unix_ms,
        events = running.events + excluded.events";
const HEARD_AND_WRITTEN: &str = "
    INSERT INTO running (query, heard_unix_ms, events) SELECT *, 0 FROM unnest($1::bigint[], $2::bigint[])
    ON CONFLICT (query) DO UPDATE SET heard_unix_ms = excluded.heard_unix_ms, events = 0";
const ENDED: &str = "DELETE FROM running WHERE query = ANY($1)";
const CHUNKS: &str = "
    INSERT INTO chunk (id, query, first_seq, last_seq, gzip)
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bytea[])";
const TELL: &str = "
    INSERT INTO change (query, query_id, status, moved, new, chunk, first_seq, last_seq, bytes)
    SELECT * FROM unnest($1::bigint[], $2::uuid[], $3::smallint[], $4::boolean[], $5::boolean[], $6::bigint[],
        $7::bigint[], $8::bigint[], $9::bigint[])";
const SEEN_GONE: &str = "
    DELETE FROM seen USING unnest($1::bigint[], $2::bigint[]) AS gone (stream, first)
    WHERE seen.stream = gone.stream AND seen.first = gone.first";
const SEEN_NEW: &str = "
    INSERT INTO seen (stream, first, last) SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[])";
/// Nearly all ranges grow. An insertion that finds them in conflict would cost twice as much.
const SEEN_GROWN: &str = "
    UPDATE seen SET last = grown.last
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS grown (stream, first, last)
    WHERE seen.stream = grown.stream AND seen.first = grown.first";
const UNKEPT: &str = "
    UPDATE stream SET unkept = unkept + more.events FROM unnest($1::bigint[], $2::bigint[]) AS more (stream, events)
    WHERE stream.id = more.stream";
const ENGINES: &str = "
    INSERT INTO engine (term) SELECT term FROM unnest($1::bigint[]) AS new (term)
    WHERE NOT EXISTS (SELECT 1 FROM engine WHERE engine.term = new.term)
    ORDER BY term ON CONFLICT (term) DO NOTHING";
const UNUSED_STREAMS: &str = "DELETE FROM stream WHERE id = ANY($1)";

/// A result for each batch.
pub(crate) type Results = Vec<Result<Committed, StoreError>>;

/// Commits batches; `None` when they must be tried one by one.
///
/// # Errors
/// Nothing is stored, unless the connection was lost while it was committed: then nobody knows, and a resend finds
/// out.
pub(crate) async fn commit(
    pool: &Pool,
    format: Format,
    terms: &TermIds,
    batches: &[&StreamBatch],
) -> Result<Option<Results>, DbError> {
    let mut client = pool.get().await?;
    let projects: BTreeSet<&str> = batches.iter().map(|batch| batch.project.as_str()).collect();
    let projects = terms.numbers(&client, projects).await?;
    let transaction = client.transaction().await?;
    let stored = lock(&transaction, format, batches, &projects).await?;
    let group = group(batches.iter().copied(), |project| projects.get(project).copied(), stored)?;
    if group.is_to_split && batches.len() > 1 {
        return Ok(None);
    }
    let lists = rule_lists(&group.queries);
    // Elsewhere, so that they are there for others at once, and stay when this is undone.
    let numbers = terms.numbers(&pool.get().await?, texts_of(&group.queries, &lists)).await?;
    write(&transaction, &group, &numbers, &lists).await?;
    transaction.commit().await?;
    Ok(Some(group.results))
}

/// Locks the streams and queries of batches, and reads what is stored of them.
async fn lock(
    transaction: &Transaction<'_>,
    format: Format,
    batches: &[&StreamBatch],
    projects: &TermNumbers,
) -> Result<Stored, DbError> {
    let mut firsts: BTreeMap<Uuid, &StreamBatch> = BTreeMap::new();
    for batch in batches {
        firsts.entry(batch.process.id.uuid()).or_insert(batch);
    }
    let streams: Vec<Uuid> = firsts.keys().copied().collect();
    let owners: Vec<i64> = firsts.values().map(|batch| projects[batch.project.as_str()]).collect();
    let lines: Vec<&[u8]> = firsts.values().map(|batch| batch.process.line.as_bytes()).collect();
    let parts = batches.iter().flat_map(|batch| &batch.parts);
    let queries: BTreeSet<Uuid> = parts.map(|part| part.query_id.uuid()).collect();
    let queries: Vec<Uuid> = queries.into_iter().collect();
    let runs = Runs::of(batches);
    let found = transaction.prepare_cached(FOUND).await?;
    let new_streams = transaction.prepare_cached(NEW_STREAMS).await?;
    let lock_streams = transaction.prepare_cached(STREAMS).await?;
    let lock_queries = transaction.prepare_cached(QUERIES).await?;
    let seen = transaction.prepare_cached(SEEN).await?;
    // Sent together and done in this order, each with all that was committed before it began.
    let ((), new_streams, streams, queries, seen) = tokio::try_join!(
        biased;
        async { format.judge(&transaction.query_one(&found, &[]).await?) },
        async { Ok::<_, DbError>(transaction.query(&new_streams, &[&streams, &owners, &lines]).await?) },
        async { Ok::<_, DbError>(transaction.query(&lock_streams, &[&streams]).await?) },
        async { Ok::<_, DbError>(transaction.query(&lock_queries, &[&queries]).await?) },
        async { Ok::<_, DbError>(transaction.query(&seen, &[&runs.streams, &runs.firsts, &runs.lasts]).await?) },
    )?;
    let mut stored = Stored::default();
    let new: BTreeSet<i64> = new_streams.iter().map(|row| row.get(0)).collect();
    for row in &streams {
        let process_line = String::from_utf8(row.get(3));
        let stream = StoredStream {
            row: row.get(0),
            project: row.get(2),
            process_line: process_line.map_err(|_| DbError::Damaged("a process event that is not UTF-8"))?,
            new: new.contains(&row.get(0)),
        };
        stored.streams.insert(StreamId::new(row.get(1)), stream);
    }
    for row in &queries {
        let (status, known) = (status_of(row.get(3))?, known_of(row.get(4))?);
        let query = StoredQuery { row: row.get(1), stream: row.get(2), status, known };
        stored.queries.insert(QueryId::new(row.get(0)), query);
    }
    for row in &seen {
        let (first, last): (i64, i64) = (row.get(1), row.get(2));
        stored.seen.entry(row.get(0)).or_default().insert(first.cast_unsigned(), last.cast_unsigned());
    }
    Ok(stored)
}

/// The neighbourhoods of the runs of batches, column by column.
#[derive(Default)]
struct Runs {
    streams: Vec<Uuid>,
    firsts: Vec<i64>,
    lasts: Vec<i64>,
}

impl Runs {
    fn of(batches: &[&StreamBatch]) -> Self {
        let mut runs = Self::default();
        for batch in batches {
            for run in seq_ranges(batch.seqs()) {
                let near = run.neighbourhood();
                runs.streams.push(batch.process.id.uuid());
                runs.firsts.push(near.first.cast_signed());
                runs.lasts.push(i64::try_from(near.last).unwrap_or(i64::MAX));
            }
        }
        runs
    }
}

/// The rules of each query as one text.
fn rule_lists(queries: &[QueryChange]) -> Vec<Option<String>> {
    let list =
        |rules: &Vec<String>| (!rules.is_empty()).then(|| serde_json::Value::from(rules.clone()).to_string());
    queries.iter().map(|change| list(&change.query.rules)).collect()
}

/// A statement that is to be run, with its values.
struct Write<'v> {
    sql: &'static str,
    values: Vec<Box<dyn ToSql + Sync + Send + 'v>>,
}

macro_rules! write_of {
    ($sql:expr, $($values:expr),+ $(,)?) => {
        Write { sql: $sql, values: vec![$(Box::new($values)),+] }
    };
}

macro_rules! column {
    ($rows:expr, $row:ident => $value:expr) => {
        $rows.iter().map(|$row| $value).collect::<Vec<_>>()
    };
}

async fn write(
    transaction: &Transaction<'_>,
    group: &Group<'_>,
    numbers: &TermNumbers,
    lists: &[Option<String>],
) -> Result<(), DbError> {
    let new = group.queries.iter().filter(|change| change.row.is_none()).count() as i64;
    let ids = transaction.prepare_cached(IDS).await?;
    let ids = transaction.query_one(&ids, &[&new, &(group.chunks.len() as i64)]).await?;
    let (mut query_ids, chunk_ids) = (ids.get::<_, Vec<i64>>(0).into_iter(), ids.get::<_, Vec<i64>>(1));
    let damaged = || DbError::Damaged("no numbers for new rows");
    let rows: Vec<i64> = group
        .queries
        .iter()
        .map(|change| change.row.or_else(|| query_ids.next()).ok_or_else(damaged))
        .collect::<Result<_, _>>()?;
    let writes = writes(group, &Texts { numbers, lists }, &rows, chunk_ids)?;
    let mut statements = Vec::with_capacity(writes.len());
    for write in &writes {
        statements.push(transaction.prepare_cached(write.sql).await?);
    }
    let values: Vec<Vec<&(dyn ToSql + Sync)>> = writes
        .iter()
        .map(|write| write.values.iter().map(|value| &**value as &(dyn ToSql + Sync)).collect())
        .collect();
    // Sent together and done in this order.
    let done =
        statements.iter().zip(&values).map(|(statement, values)| transaction.execute(statement, values));
    try_join_all(done).await?;
    Ok(())
}

struct Texts<'t> {
    numbers: &'t TermNumbers,
    lists: &'t [Option<String>],
}

impl Texts<'_> {
    fn number(&self, text: &str) -> Result<i64, DbError> {
        self.numbers.get(text).copied().ok_or(DbError::Damaged("no number of a text"))
    }

    fn optional(&self, text: Option<&str>) -> Result<Option<i64>, DbError> {
        text.map(|text| self.number(text)).transpose()
    }
}

fn writes<'v>(
    group: &'v Group<'_>,
    texts: &Texts<'_>,
    rows: &[i64],
    chunk_ids: Vec<i64>,
) -> Result<Vec<Write<'v>>, DbError> {
    let mut writes = Vec::new();
    // In the order of their rows, as everybody locks them.
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_unstable_by_key(|place| rows[*place]);
    let all =
        || order.iter().map(|place| (&group.queries[*place], rows[*place], texts.lists[*place].as_deref()));
    let engines: BTreeSet<i64> = all()
        .filter(|(change, ..)| change.row.is_none())
        .filter_map(|(change, ..)| texts.optional(change.query.engine.as_deref()).transpose())
        .collect::<Result<_, _>>()?;
    if !engines.is_empty() {
        writes.push(write_of!(ENGINES, engines.into_iter().collect::<Vec<_>>()));
    }
    let (mut inserted, mut told) = (Vec::new(), Vec::new());
    for (change, row, list) in all() {
        if change.row.is_none() {
            inserted.push(Inserted::of(change, row, list, texts)?);
        } else if change.told {
            told.push(Inserted::of(change, row, list, texts)?);
        }
    }
    if !inserted.is_empty() {
        writes.push(insert(&inserted));
    }
    if !told.is_empty() {
        writes.push(update(&told));
    }
    let moved = || all().filter(|(change, ..)| change.row.is_some() && !change.told && change.is_written());
    if moved().next().is_some() {
        writes.push(write_of!(
            UPDATE_STATUS,
            moved().map(|(_, row, _)| row).collect::<Vec<_>>(),
            moved().map(|(change, ..)| i16::from(change.query.status.number())).collect::<Vec<_>>(),
            moved().map(|(change, ..)| change.events).collect::<Vec<_>>(),
        ));
    }
    let heard = |written: bool| {
        all().filter(move |(change, ..)| {
            change.query.status == Status::Running && change.is_written() == written
        })
    };
    if heard(false).next().is_some() {
        writes.push(write_of!(
            HEARD,
            heard(false).map(|(_, row, _)| row).collect::<Vec<_>>(),
            heard(false).map(|(change, ..)| change.heard_unix_ms).collect::<Vec<_>>(),
            heard(false).map(|(change, ..)| change.events).collect::<Vec<_>>(),
        ));
    }
    if heard(true).next().is_some() {
        writes.push(write_of!(
            HEARD_AND_WRITTEN,
            heard(true).map(|(_, row, _)| row).collect::<Vec<_>>(),
            heard(true).map(|(change, ..)| change.heard_unix_ms).collect::<Vec<_>>(),
        ));
    }
    let ended: Vec<i64> = all()
        .filter(|(change, ..)| change.row.is_some() && change.query.status != Status::Running)
        .map(|(_, row, _)| row)
        .collect();
    if !ended.is_empty() {
        writes.push(write_of!(ENDED, ended));
    }
    if !group.chunks.is_empty() {
        writes.extend(chunks(group, rows, chunk_ids));
    }
    if !group.ended.is_empty() {
        writes.push(write_of!(
            APPEND,
            column!(group.ended, ended => rows[ended.0]),
            column!(group.ended, ended => ended.1.get().cast_signed()),
        ));
    }
    if !group.seen_gone.is_empty() {
        let (streams, firsts): (Vec<i64>, Vec<i64>) = group.seen_gone.iter().copied().unzip();
        writes.push(write_of!(SEEN_GONE, streams, firsts));
    }
    for (sql, ranges) in [(SEEN_NEW, &group.seen_new), (SEEN_GROWN, &group.seen_grown)] {
        if !ranges.is_empty() {
            writes.push(write_of!(
                sql,
                column!(ranges, range => range.0),
                column!(ranges, range => range.1),
                column!(ranges, range => range.2),
            ));
        }
    }
    if !group.unkept.is_empty() {
        let (streams, events): (Vec<i64>, Vec<i64>) = group.unkept.iter().unzip();
        writes.push(write_of!(UNKEPT, streams, events));
    }
    if !group.unused_streams.is_empty() {
        writes.push(write_of!(UNUSED_STREAMS, group.unused_streams.clone()));
    }
    Ok(writes)
}

/// A row of a query, in numbers.
struct Inserted<'q> {
    change: &'q QueryChange,
    row: i64,
    project: i64,
    service: Option<i64>,
    environment: Option<i64>,
    host: i64,
    engine: Option<i64>,
    label: Option<i64>,
    fingerprint: Option<i64>,
    failed: Option<i64>,
    rules: Option<i64>,
    engine_version: Option<i64>,
    program_version: Option<i64>,
}

impl<'q> Inserted<'q> {
    fn of(change: &'q QueryChange, row: i64, list: Option<&str>, texts: &Texts<'_>) -> Result<Self, DbError> {
        let query = &change.query;
        Ok(Self {
            change,
            row,
            project: texts.number(&query.project)?,
            service: texts.optional(query.service.as_deref())?,
            environment: texts.optional(query.environment.as_deref())?,
            host: texts.number(&query.host)?,
            engine: texts.optional(query.engine.as_deref())?,
            label: texts.optional(query.label.as_deref())?,
            fingerprint: texts.optional(query.fingerprint.as_deref())?,
            failed: texts.optional(query.failed.as_deref())?,
            rules: texts.optional(list)?,
            engine_version: texts.optional(query.engine_version.as_deref())?,
            program_version: texts.optional(query.program_version.as_deref())?,
        })
    }
}

fn insert<'v>(rows: &[Inserted<'_>]) -> Write<'v> {
    write_of!(
        INSERT_QUERIES,
        column!(rows, row => row.row),
        column!(rows, row => row.change.query.query_id.uuid()),
        column!(rows, row => row.change.stream),
        column!(rows, row => row.project),
        column!(rows, row => row.service),
        column!(rows, row => row.environment),
        column!(rows, row => row.host),
        column!(rows, row => row.engine),
        column!(rows, row => row.label),
        column!(rows, row => row.fingerprint),
        column!(rows, row => i16::from(row.change.query.status.number())),
        column!(rows, row => i16::from(row.change.query.known.number())),
        column!(rows, row => row.change.query.started_unix_ns),
        column!(rows, row => row.change.query.wall_ms),
        column!(rows, row => row.change.query.cpu_ms),
        column!(rows, row => row.change.query.result_rows),
        column!(rows, row => row.failed),
        column!(rows, row => i64::from(row.change.query.warnings)),
        column!(rows, row => row.rules),
        column!(rows, row => row.change.events),
        column!(rows, row => row.engine_version),
        column!(rows, row => row.program_version),
        column!(rows, row => row.change.query.bytes_read),
        column!(rows, row => row.change.query.spilled_bytes),
        column!(rows, row => row.change.query.peak_memory_bytes),
    )
}

fn update<'v>(rows: &[Inserted<'_>]) -> Write<'v> {
    write_of!(
        UPDATE_FACTS,
        column!(rows, row => row.row),
        column!(rows, row => row.label),
        column!(rows, row => row.fingerprint),
        column!(rows, row => i16::from(row.change.query.status.number())),
        column!(rows, row => i16::from(row.change.query.known.number())),
        column!(rows, row => row.change.started_unix_ns),
        column!(rows, row => row.change.query.wall_ms),
        column!(rows, row => row.change.query.cpu_ms),
        column!(rows, row => row.change.query.result_rows),
        column!(rows, row => row.failed),
        column!(rows, row => i64::from(row.change.query.warnings)),
        column!(rows, row => row.rules),
        column!(rows, row => row.change.events),
        column!(rows, row => row.engine_version),
        column!(rows, row => row.change.query.bytes_read),
        column!(rows, row => row.change.query.spilled_bytes),
        column!(rows, row => row.change.query.peak_memory_bytes),
    )
}

fn chunks<'v>(group: &'v Group<'_>, rows: &[i64], ids: Vec<i64>) -> [Write<'v>; 2] {
    let all = &group.chunks;
    let queries = column!(all, chunk => rows[chunk.query]);
    let firsts = column!(all, chunk => chunk.first.get().cast_signed());
    let lasts = column!(all, chunk => chunk.last.get().cast_signed());
    let tell = write_of!(
        TELL,
        queries.clone(),
        column!(all, chunk => group.queries[chunk.query].query.query_id.uuid()),
        column!(all, chunk => i16::from(chunk.status.number())),
        column!(all, chunk => chunk.moved),
        column!(all, chunk => chunk.new),
        ids.clone(),
        firsts.clone(),
        lasts.clone(),
        column!(all, chunk => chunk.gzip.len() as i64),
    );
    [write_of!(CHUNKS, ids, queries, firsts, lasts, column!(all, chunk => &*chunk.gzip)), tell]
}
