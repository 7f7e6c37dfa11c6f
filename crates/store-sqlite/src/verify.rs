//! Judging the database's own structure.

use rusqlite::Connection;
use rusqlite::types::ValueRef;
use uuid::Uuid;

use crate::{issues, segments};

/// What must not be: how it is said, and the rows of which it is true. A rule selects what a row is, and its id.
const RULES: [(&str, &str); 27] = [
    (
        "its id is no UUID",
        "SELECT 'row of query', id FROM query WHERE typeof(query_id) <> 'blob' OR length(query_id) <> 16",
    ),
    (
        "its id is no UUID",
        "SELECT 'row of stream', id FROM stream WHERE typeof(stream_id) <> 'blob' OR length(stream_id) <> 16",
    ),
    (
        "its project has no name",
        "SELECT 'stream', stream_id FROM stream WHERE project NOT IN (SELECT id FROM term)",
    ),
    ("it belongs to no query", "SELECT 'chunk', id FROM chunk WHERE query NOT IN (SELECT id FROM query)"),
    (
        "it belongs to no stream",
        "SELECT 'query', query_id FROM query WHERE stream NOT IN (SELECT id FROM stream)",
    ),
    (
        "it is marked as running and is not",
        "SELECT 'query', query_id FROM running JOIN query ON query.id = running.query WHERE status <> 0
         UNION ALL SELECT 'row of query', query FROM running WHERE query NOT IN (SELECT id FROM query)",
    ),
    (
        "it runs and is not marked as running",
        "SELECT 'query', query_id FROM query
         WHERE status = 0 AND status <> 1 AND id NOT IN (SELECT query FROM running)",
    ),
    (
        "it is of another project than its stream",
        "SELECT 'query', query_id FROM query JOIN stream ON stream.id = query.stream
         WHERE query.project <> stream.project",
    ),
    (
        "it has seen ranges and is not there",
        "SELECT DISTINCT 'row of stream', stream FROM seen WHERE stream NOT IN (SELECT id FROM stream)",
    ),
    (
        "a seen range ends before it begins",
        "SELECT 'stream', stream_id FROM seen JOIN stream ON stream.id = seen.stream WHERE last < first OR first < 1",
    ),
    (
        "it has ended and has neither chunks nor a recording",
        "SELECT 'query', query_id FROM query
         WHERE sealed_day IS NULL AND NOT EXISTS (SELECT 1 FROM chunk WHERE chunk.query = query.id)",
    ),
    (
        "another number of runs points to it",
        "SELECT 'pack', printf('%016x', pack.number) FROM pack
         LEFT JOIN (SELECT sealed_day AS day, sealed_version AS number, count(*) AS runs FROM query
                    WHERE pack_offset IS NOT NULL GROUP BY 1, 2) AS held USING (day, number)
         WHERE pack.runs <> coalesce(held.runs, 0)",
    ),
    (
        "its recording is in a pack that is not known",
        "SELECT 'query', query_id FROM query
         WHERE pack_offset IS NOT NULL AND (sealed_day, sealed_version) NOT IN (SELECT day, number FROM pack)",
    ),
    (
        "events are lost of it and it is not there",
        "SELECT 'row of query', query FROM loss WHERE query NOT IN (SELECT id FROM query)",
    ),
    (
        "a run of it waits for its evaluation and it is not there",
        "SELECT 'row of query', query FROM pending_run WHERE query NOT IN (SELECT id FROM query)",
    ),
    (
        "its query or plan is not there",
        "SELECT 'evaluated run', query_id FROM evaluated_run
         WHERE query NOT IN (SELECT id FROM evaluated_query) OR plan NOT IN (SELECT id FROM run_plan)",
    ),
    (
        "it has another number of evaluated runs",
        "SELECT 'row of evaluated_query', id FROM evaluated_query
         WHERE runs <> (SELECT count(*) FROM evaluated_run WHERE query = evaluated_query.id)",
    ),
    (
        "it has another number of evaluated runs",
        "SELECT 'row of run_plan', run_plan.id FROM run_plan
         LEFT JOIN evaluated_run ON evaluated_run.plan = run_plan.id
         GROUP BY run_plan.id HAVING count(evaluated_run.plan) <> run_plan.runs",
    ),
    (
        "no run of its query was evaluated",
        "SELECT 'change', id FROM query_change WHERE (project, service, label) NOT IN (
             SELECT project, service, label FROM evaluated_query)",
    ),
    (
        "its issue is not there",
        "SELECT 'row of issue_transition', issue FROM issue_transition WHERE issue NOT IN (SELECT number FROM issue)
         UNION SELECT 'row of issue_note', issue FROM issue_note WHERE issue NOT IN (SELECT number FROM issue)",
    ),
    (
        "its user is not there",
        "SELECT 'session of user', user FROM login_session WHERE user NOT IN (SELECT name FROM login_user)",
    ),
    (
        "nobody knows what it may do",
        "SELECT 'user', name FROM login_user WHERE role NOT IN ('viewer', 'editor', 'admin')
         UNION ALL SELECT 'token', name FROM token WHERE scope NOT IN ('ingest', 'read', 'admin', 'invitation')",
    ),
    (
        "it holds no transition",
        "SELECT 'notice', issue || '.' || transition FROM notice WHERE CASE WHEN json_valid(body)
             THEN json_extract(body, '$.issue.id') IS NOT issue
                 OR json_extract(body, '$.transition.number') IS NOT transition ELSE 1 END",
    ),
    (
        "it is a message of no state, or cannot be read",
        "SELECT 'delivery', number FROM delivery WHERE NOT json_valid(body)
             OR state NOT IN ('waiting', 'sent', 'refused', 'given_up', 'joined')
             OR (state = 'waiting') <> (ended_unix_ns IS NULL)",
    ),
    (
        "it does not say whether all queries were brought forward",
        "SELECT 'table evaluation', 'of one row' WHERE (SELECT count(*) FROM evaluation) <> 1",
    ),
    (
        "it is no deploy that anybody could have stored",
        "SELECT 'deploy', id FROM deploy
         WHERE source NOT IN ('posted', 'seen') OR subject NOT IN ('program', 'engine') OR version = ''
             OR last_unix_ns < unix_ns",
    ),
    (
        "nobody could have written it",
        "SELECT 'note on a query', id FROM query_note WHERE label = '' OR text = ''
         UNION ALL SELECT 'shared view', name FROM shared_view
         WHERE name = '' OR (search <> '' AND search NOT LIKE '?%')",
    ),
];
/// Rows of a rule that are named; further ones are counted.
const NAMED_MAX: usize = 1000;

/// Streams whose accounts do not balance: how many events have been seen, its queries were given, are no query's.
/// A stream or query of a version that did not count has none.
pub(crate) const UNBALANCED: &str = "
    WITH counted AS (SELECT stream, sum(last - first + 1) AS events FROM seen GROUP BY stream),
         given AS (
             SELECT stream, sum(query.events + coalesce(running.events, 0)) AS events,
                 count(*) - count(query.events) AS uncounted
             FROM query LEFT JOIN running ON running.query = query.id GROUP BY stream
         )
    SELECT stream_id, coalesce(counted.events, 0) AS seen, coalesce(given.events, 0) AS given, unkept FROM stream
    LEFT JOIN counted ON counted.stream = stream.id LEFT JOIN given ON given.stream = stream.id
    WHERE unkept IS NOT NULL AND coalesce(uncounted, 0) = 0
      AND coalesce(counted.events, 0) <> coalesce(given.events, 0) + unkept";

/// A sentence for each row that breaks a rule, and what SQLite finds itself. What cannot be read is a problem, too,
/// and the others are judged all the same.
pub(crate) fn problems(db: &Connection) -> Vec<String> {
    let mut problems = Vec::new();
    let failed = |what: &str, error: &rusqlite::Error| format!("database: {what} cannot be judged: {error}");
    match integrity(db) {
        Ok(found) => problems.extend(found),
        Err(error) => problems.push(failed("its integrity", &error)),
    }
    for (sentence, sql) in RULES {
        match broken(db, sentence, sql) {
            Ok(found) => problems.extend(found),
            Err(error) => problems.push(failed(&format!("where {sentence:?}"), &error)),
        }
    }
    match segments::wrong(db) {
        Ok(found) => {
            problems.extend(found.iter().map(|first| {
                format!("copy of queries from row {first}: it does not say what their rows say")
            }))
        }
        Err(error) => problems.push(failed("what is copied of queries", &error)),
    }
    match issues::problems(db) {
        Ok(found) => problems.extend(found),
        Err(error) => problems.push(failed("what happened to issues", &error)),
    }
    match unbalanced(db) {
        Ok(found) => problems.extend(found),
        Err(error) => problems.push(failed("how many events are missing", &error)),
    }
    problems
}

fn integrity(db: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = db.prepare("PRAGMA integrity_check")?;
    let lines = statement.query_map([], |row| row.get::<_, String>(0))?;
    let lines: Vec<String> = lines.collect::<rusqlite::Result<_>>()?;
    Ok(lines.iter().filter(|line| *line != "ok").map(|line| format!("database: {line}")).collect())
}

fn broken(db: &Connection, sentence: &str, sql: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = db.prepare(sql)?;
    let mut rows = statement.query([])?;
    let (mut found, mut count) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        count += 1;
        if count <= NAMED_MAX {
            let kind: String = row.get(0)?;
            found.push(format!("{kind} {}: {sentence}", id_of(row.get_ref(1)?)));
        }
    }
    if count > NAMED_MAX {
        found.push(format!("{} more: {sentence}", count - NAMED_MAX));
    }
    Ok(found)
}

fn unbalanced(db: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = db.prepare(UNBALANCED)?;
    let found = statement.query_map([], |row| {
        let [seen, given, unkept]: [i64; 3] = [row.get(1)?, row.get(2)?, row.get(3)?];
        let id = id_of(row.get_ref(0)?);
        Ok(format!(
            "stream {id}: {seen} events are seen, its queries were given {given} and {unkept} are no query's"
        ))
    })?;
    found.collect()
}

fn id_of(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Blob(bytes) => {
            Uuid::from_slice(bytes).map_or_else(|_| "of no UUID".into(), |id| id.to_string())
        }
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
        _ => "of no id".into(),
    }
}
