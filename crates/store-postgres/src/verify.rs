//! Judging the database's own structure.

use deadpool_postgres::GenericClient;

use crate::error::DbError;

/// What must not be, each as a sentence and the rows that break it.
const RULES: [(&str, &str); 10] = [
    (
        "chunks belong to no query",
        "SELECT count(*) FROM chunk WHERE NOT EXISTS (SELECT 1 FROM query WHERE query.id = chunk.query)",
    ),
    (
        "queries belong to no stream",
        "SELECT count(*) FROM query WHERE NOT EXISTS (SELECT 1 FROM stream WHERE stream.id = query.stream)",
    ),
    (
        "queries are marked as running and are not",
        "SELECT count(*) FROM running
         WHERE NOT EXISTS (SELECT 1 FROM query WHERE query.id = running.query AND query.status = 0)",
    ),
    (
        "queries run and are not marked as running",
        "SELECT count(*) FROM query WHERE status = 0 AND status <> 1
         AND NOT EXISTS (SELECT 1 FROM running WHERE running.query = query.id)",
    ),
    (
        "queries are of another project than their stream",
        "SELECT count(*) FROM query JOIN stream ON stream.id = query.stream WHERE query.project <> stream.project",
    ),
    (
        "seen ranges belong to no stream",
        "SELECT count(*) FROM seen WHERE NOT EXISTS (SELECT 1 FROM stream WHERE stream.id = seen.stream)",
    ),
    ("seen ranges end before they begin", "SELECT count(*) FROM seen WHERE last < first OR first < 1"),
    (
        "seen ranges touch",
        "SELECT count(*) FROM (
             SELECT first, lag(last) OVER (PARTITION BY stream ORDER BY first) AS before FROM seen
         ) AS pair WHERE before >= first - 1",
    ),
    (
        "ended queries have neither chunks nor a recording",
        "SELECT count(*) FROM query
         WHERE sealed_day IS NULL AND NOT EXISTS (SELECT 1 FROM chunk WHERE chunk.query = query.id)",
    ),
    (
        "streams have been seen to send another number of events than they account for",
        "SELECT count(*) FROM stream WHERE
             (SELECT coalesce(sum(last - first + 1), 0) FROM seen WHERE seen.stream = stream.id) <> unkept
             + (SELECT coalesce(sum(query.events + coalesce(running.events, 0)), 0) FROM query
                LEFT JOIN running ON running.query = query.id WHERE query.stream = stream.id)",
    ),
];

/// A sentence for each rule that is broken.
pub(crate) async fn problems(client: &impl GenericClient) -> Result<Vec<String>, DbError> {
    let mut problems = Vec::new();
    for (sentence, sql) in RULES {
        let broken: i64 = client.query_one(sql, &[]).await?.get(0);
        if broken > 0 {
            problems.push(format!("{broken} {sentence}"));
        }
    }
    Ok(problems)
}
