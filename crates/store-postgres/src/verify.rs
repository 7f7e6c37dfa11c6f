//! Judging the database's own structure.

use deadpool_postgres::Client;
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::DbError;
use crate::{issues, outbox, segments};

/// What must not be: how it is said, and the rows of which it is true. A rule selects what a row is, and its id.
/// Each is asked in one statement, so that what collectors write meanwhile breaks none.
const RULES: [(&str, &str); 22] = [
    (
        "its project has no name",
        "SELECT 'stream', stream_id::text FROM stream
         WHERE NOT EXISTS (SELECT 1 FROM term WHERE term.id = stream.project)",
    ),
    (
        "it belongs to no query",
        "SELECT 'chunk', id::text FROM chunk WHERE NOT EXISTS (SELECT 1 FROM query WHERE query.id = chunk.query)",
    ),
    (
        "it belongs to no stream",
        "SELECT 'query', query_id::text FROM query
         WHERE NOT EXISTS (SELECT 1 FROM stream WHERE stream.id = query.stream)",
    ),
    (
        "it is marked as running and is not",
        "SELECT CASE WHEN query.id IS NULL THEN 'row of query' ELSE 'query' END,
             coalesce(query.query_id::text, running.query::text)
         FROM running LEFT JOIN query ON query.id = running.query WHERE query.status IS DISTINCT FROM 0",
    ),
    (
        "it runs and is not marked as running",
        "SELECT 'query', query_id::text FROM query WHERE status = 0 AND status <> 1
         AND NOT EXISTS (SELECT 1 FROM running WHERE running.query = query.id)",
    ),
    (
        "it is of another project than its stream",
        "SELECT 'query', query_id::text FROM query JOIN stream ON stream.id = query.stream
         WHERE query.project <> stream.project",
    ),
    (
        "it has seen ranges and is not there",
        "SELECT DISTINCT 'row of stream', stream::text FROM seen
         WHERE NOT EXISTS (SELECT 1 FROM stream WHERE stream.id = seen.stream)",
    ),
    (
        "a seen range ends before it begins",
        "SELECT 'stream', stream_id::text FROM seen JOIN stream ON stream.id = seen.stream
         WHERE last < first OR first < 1",
    ),
    (
        "seen ranges touch",
        "SELECT DISTINCT 'stream', stream_id::text FROM (
             SELECT stream, first, lag(last) OVER (PARTITION BY stream ORDER BY first) AS before FROM seen
         ) AS pair JOIN stream ON stream.id = pair.stream WHERE before >= first - 1",
    ),
    (
        "it has neither chunks nor a recording",
        "SELECT 'query', query_id::text FROM query
         WHERE sealed_day IS NULL AND NOT EXISTS (SELECT 1 FROM chunk WHERE chunk.query = query.id)",
    ),
    (
        "another number of runs points to it",
        "SELECT 'pack', lpad(to_hex(pack.number), 16, '0') FROM pack
         LEFT JOIN (SELECT sealed_day AS day, sealed_version AS number, count(*) AS runs FROM query
                    WHERE pack_offset IS NOT NULL GROUP BY 1, 2) AS held USING (day, number)
         WHERE pack.runs <> coalesce(held.runs, 0)",
    ),
    (
        "its recording is in a pack that is not known",
        "SELECT 'query', query_id::text FROM query WHERE pack_offset IS NOT NULL AND NOT EXISTS (
             SELECT 1 FROM pack WHERE pack.day = query.sealed_day AND pack.number = query.sealed_version)",
    ),
    (
        "a run waits for its evaluation and its query is not there",
        "SELECT 'row of query', query::text FROM pending_run
         WHERE NOT EXISTS (SELECT 1 FROM query WHERE query.id = pending_run.query)",
    ),
    (
        "its query or plan is not there",
        "SELECT 'evaluated run', query_id::text FROM evaluated_run
         WHERE NOT EXISTS (SELECT 1 FROM evaluated_query WHERE evaluated_query.id = evaluated_run.query)
            OR NOT EXISTS (SELECT 1 FROM run_plan WHERE run_plan.id = evaluated_run.plan)",
    ),
    (
        "it has another number of evaluated runs",
        "SELECT 'row of evaluated_query', id::text FROM evaluated_query
         WHERE runs <> (SELECT count(*) FROM evaluated_run WHERE evaluated_run.query = evaluated_query.id)",
    ),
    (
        "it has another number of evaluated runs",
        "SELECT 'row of run_plan', run_plan.id::text FROM run_plan
         LEFT JOIN evaluated_run ON evaluated_run.plan = run_plan.id
         GROUP BY run_plan.id, run_plan.runs HAVING count(evaluated_run.plan) <> run_plan.runs",
    ),
    (
        "no run of its query was evaluated",
        "SELECT 'change', id FROM query_change WHERE NOT EXISTS (
             SELECT 1 FROM evaluated_query AS query
             WHERE (query.project, query.service, query.label)
                 = (query_change.project, query_change.service, query_change.label))",
    ),
    (
        "its issue is not there",
        "SELECT 'row of issue_transition', issue::text FROM issue_transition AS moved
         WHERE NOT EXISTS (SELECT 1 FROM issue WHERE issue.number = moved.issue)
         UNION SELECT 'row of issue_note', issue::text FROM issue_note AS note
         WHERE NOT EXISTS (SELECT 1 FROM issue WHERE issue.number = note.issue)",
    ),
    (
        "it is a message of no state",
        "SELECT 'delivery', number::text FROM delivery
         WHERE state NOT IN ('waiting', 'sent', 'refused', 'given_up', 'joined')
             OR (state = 'waiting') <> (ended_unix_ns IS NULL)",
    ),
    (
        "nobody knows what it may do",
        "SELECT 'user', name FROM login_user WHERE role NOT IN ('viewer', 'editor', 'admin')
         UNION ALL SELECT 'token', name FROM token WHERE scope NOT IN ('ingest', 'read', 'admin', 'invitation')",
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
const UNBALANCED: &str = "
    WITH counted AS (SELECT stream, sum(last - first + 1)::bigint AS events FROM seen GROUP BY stream),
         given AS (
             SELECT stream, sum(query.events + coalesce(running.events, 0))::bigint AS events
             FROM query LEFT JOIN running ON running.query = query.id GROUP BY stream
         )
    SELECT stream_id, coalesce(counted.events, 0), coalesce(given.events, 0), unkept FROM stream
    LEFT JOIN counted ON counted.stream = stream.id LEFT JOIN given ON given.stream = stream.id
    WHERE coalesce(counted.events, 0) <> coalesce(given.events, 0) + unkept";

/// A sentence for each row that breaks a rule.
pub(crate) async fn problems(client: &mut Client) -> Result<Vec<String>, DbError> {
    let mut problems = Vec::new();
    for (sentence, rule) in RULES {
        let sql = format!(
            "SELECT kind, id, count(*) OVER () FROM ({rule}) AS broken (kind, id) ORDER BY id LIMIT {NAMED_MAX}"
        );
        let rows = client.query(&sql, &[]).await?;
        let named = |row: &Row| format!("{} {}: {sentence}", row.get::<_, &str>(0), row.get::<_, &str>(1));
        problems.extend(rows.iter().map(named));
        let count: i64 = rows.first().map_or(0, |row| row.get(2));
        if count > rows.len() as i64 {
            problems.push(format!("{} more: {sentence}", count - rows.len() as i64));
        }
    }
    problems.extend(issues::problems(client).await?);
    problems.extend(outbox::problems(client).await?);
    let unbalanced = client.query(UNBALANCED, &[]).await?;
    problems.extend(unbalanced.iter().map(|row| {
        let [seen, given, unkept]: [i64; 3] = [row.get(1), row.get(2), row.get(3)];
        format!(
            "stream {}: {seen} events are seen, its queries were given {given} and {unkept} are no query's",
            row.get::<_, Uuid>(0)
        )
    }));
    problems.extend(
        segments::wrong(client)
            .await?
            .iter()
            .map(|first| format!("copy of queries from row {first}: it does not say what their rows say")),
    );
    Ok(problems)
}
