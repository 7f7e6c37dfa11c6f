//! Judging the database's own structure.

use rusqlite::Connection;

/// What must not be, each as a sentence and the rows that break it.
const RULES: [(&str, &str); 8] = [
    ("chunks belong to no query", "SELECT count(*) FROM chunk WHERE query NOT IN (SELECT id FROM query)"),
    ("queries belong to no stream", "SELECT count(*) FROM query WHERE stream NOT IN (SELECT id FROM stream)"),
    (
        "queries are marked as running and are not",
        "SELECT count(*) FROM running WHERE query NOT IN (SELECT id FROM query WHERE status = 0)",
    ),
    (
        "queries run and are not marked as running",
        "SELECT count(*) FROM query WHERE status = 0 AND status <> 1 AND id NOT IN (SELECT query FROM running)",
    ),
    (
        "queries are of another project than their stream",
        "SELECT count(*) FROM query JOIN stream ON stream.id = query.stream WHERE query.project <> stream.project",
    ),
    (
        "seen ranges belong to no stream",
        "SELECT count(*) FROM seen WHERE stream NOT IN (SELECT id FROM stream)",
    ),
    ("seen ranges end before they begin", "SELECT count(*) FROM seen WHERE last < first OR first < 1"),
    (
        "ended queries have neither chunks nor a recording",
        "
        SELECT count(*) FROM query
        WHERE sealed_day IS NULL AND NOT EXISTS (SELECT 1 FROM chunk WHERE chunk.query = query.id)",
    ),
];

/// A sentence for each rule that is broken, and what SQLite finds itself.
pub(crate) fn problems(db: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut problems = Vec::new();
    let mut integrity = db.prepare("PRAGMA integrity_check")?;
    for line in integrity.query_map([], |row| row.get::<_, String>(0))? {
        let line = line?;
        if line != "ok" {
            problems.push(format!("database: {line}"));
        }
    }
    for (sentence, sql) in RULES {
        let broken: u64 = db.query_row(sql, [], |row| row.get(0))?;
        if broken > 0 {
            problems.push(format!("{broken} {sentence}"));
        }
    }
    Ok(problems)
}
