//! What a query's text gives away does not leave when it is masked.

use datafusion::prelude::SessionContext;
use queryscope_datafusion::Redaction;

use crate::memory::Followed;

/// A word that nothing else here holds.
const SECRET: &str = "xyzzy42";

/// Ways to put a literal into a query of a table `t` with the columns `name`, `n` and `bytes`.
const LITERALS: &[&str] = &[
    "SELECT n FROM t WHERE name = 'xyzzy42'",
    "SELECT n FROM t WHERE name IN ('a', 'xyzzy42', 'it''s xyzzy42')",
    "SELECT n FROM t WHERE name LIKE '%xyzzy42_' OR name ~ 'xyzzy42.*'",
    "SELECT n FROM t WHERE (name IS DISTINCT FROM 'xyzzy42') AND bytes = X'00'",
    "SELECT CASE WHEN n > 1 THEN 'xyzzy42' ELSE name END FROM t",
    "SELECT name || ' xyzzy42', count(*) FROM t GROUP BY name || ' xyzzy42'",
    "SELECT count(*) FILTER (WHERE name <> 'xyzzy42') FROM t ORDER BY 1",
    "SELECT n FROM t WHERE name > (SELECT max(name) FROM t WHERE name < 'xyzzy42')",
    "SELECT a.n FROM t a JOIN t b ON a.n = b.n AND a.name || b.name <> 'xyzzy42'",
    "SELECT lag(name, 1, 'xyzzy42') OVER (PARTITION BY name = 'xyzzy42' ORDER BY n) FROM t",
    "EXPLAIN ANALYZE SELECT n FROM t WHERE name = 'xyzzy42'",
    "SELECT CAST('xyzzy42' || name AS INT) FROM t",
];

#[tokio::test]
async fn no_literal_leaves() {
    let followed = Followed::masked(SessionContext::new(), Redaction::none().literals());
    let plain = Followed::of(SessionContext::new());
    let table =
        "CREATE TABLE t AS SELECT * FROM (VALUES ('a', 1, X'00'), ('b', 2, X'01')) AS v(name, n, bytes)";
    for session in [&followed, &plain] {
        session.run(table).await.expect("a table");
        for sql in LITERALS {
            let ran = session.run(sql).await;
            assert!(ran.is_ok() || sql.contains("CAST"), "{sql}: {ran:?}");
        }
    }
    let leaving = followed.end();
    assert_eq!(leaving.len(), LITERALS.len() + 1);
    for (profile, sql) in leaving[1..].iter().zip(LITERALS) {
        assert!(!profile.to_string().contains(SECRET), "{sql}: {profile:#}");
        assert_eq!(profile["redacted"], serde_json::json!(["literals"]), "{sql}");
    }
    for (profile, sql) in plain.end()[1..].iter().zip(LITERALS) {
        assert!(profile.to_string().contains(SECRET), "{sql} plants nothing");
    }
}

#[tokio::test]
async fn rows_of_values_are_not_told_at_all() {
    let followed = Followed::of(SessionContext::new());
    followed.run("CREATE TABLE t (name VARCHAR, n BIGINT)").await.expect("a table");
    followed.run("SELECT * FROM (VALUES ('xyzzy42', 1)) AS v(a, b)").await.expect("rows");
    followed.run("INSERT INTO t VALUES ('xyzzy42', 4)").await.expect("rows");
    for profile in followed.end() {
        assert!(!profile.to_string().contains(SECRET), "{profile:#}");
    }
}

#[tokio::test]
async fn no_path_leaves() {
    let followed = Followed::masked(SessionContext::new(), Redaction::none().paths());
    let folder = tempfile::Builder::new().prefix(SECRET).tempdir().expect("a folder");
    let path = folder.path().join("numbers.csv");
    let path = path.to_str().expect("UTF-8");
    followed.run(&format!("COPY (SELECT 1 AS n) TO '{path}'")).await.expect("copied");
    followed.ctx.register_csv("t", path, datafusion::prelude::CsvReadOptions::new()).await.expect("a table");
    followed.run("SELECT n FROM t").await.expect("rows");
    followed
        .run(&format!("COPY (SELECT 1 AS n) TO '/dev/null/{SECRET}/a.csv'"))
        .await
        .expect_err("no folder");
    let finished = followed.end();
    assert_eq!(finished.len(), 3);
    for profile in finished {
        assert!(!profile.to_string().contains(SECRET), "{profile:#}");
        assert_eq!(profile["redacted"], serde_json::json!(["paths"]));
    }
}
