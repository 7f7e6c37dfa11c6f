//! Findings: shown by queries that ask for them, and not by TPC-H.

use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use serde_json::Value;

use crate::memory::{Followed, of_kind};

/// The rules that warn of a query.
fn warnings(profile: &Value) -> Vec<&str> {
    let findings = profile["insights"]["findings"].as_array().expect("findings");
    let warnings = findings.iter().filter(|finding| finding["level"] == "warn");
    warnings.map(|finding| finding["rule"].as_str().expect("a rule")).collect()
}

async fn provoke(sql: &str, rule: &str) {
    let followed = Followed::new();
    let table = "CREATE TABLE t AS SELECT value % 10 AS k, value AS v FROM generate_series(1, 5000)";
    followed.run(table).await.expect("a table");
    followed.run(sql).await.expect("rows");
    let finished = followed.end();
    assert!(warnings(&finished[1]).contains(&rule), "{:#}", finished[1]["insights"]);
}

#[tokio::test]
async fn a_join_that_explodes() {
    provoke("SELECT sum(a.v + b.v) FROM t a JOIN t b ON a.k = b.k", "exploding_join").await;
}

#[tokio::test]
async fn a_join_without_a_condition() {
    provoke("SELECT sum(a.v + b.v) FROM t a, t b", "cross_join").await;
}

#[tokio::test]
async fn one_partition_that_has_all_the_rows() {
    provoke("SELECT sum(a.v + b.v) FROM t a JOIN t b ON a.k = b.k", "skew").await;
}

#[tokio::test]
async fn sorts_that_do_not_fit_in_memory() {
    let runtime = RuntimeEnvBuilder::new().with_memory_limit(3 << 20, 1.0).build_arc().expect("a runtime");
    let config = SessionConfig::new().with_target_partitions(1).with_sort_spill_reservation_bytes(1 << 18);
    let followed = Followed::of(SessionContext::new_with_config_rt(config, runtime));
    followed.run("SELECT value FROM generate_series(1, 1000000) ORDER BY value % 7919").await.expect("rows");
    let profile = followed.only();
    let sort = of_kind(&profile, "SortExec")[0];
    assert!(sort["metrics"]["spilled_bytes"].as_u64() > Some(0), "{sort:#}");
    assert!(warnings(&profile).contains(&"spilling"), "{:#}", profile["insights"]);
}
