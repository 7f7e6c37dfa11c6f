//! Findings: shown by queries that ask for them, and not by TPC-H.

use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::logical_expr::{ColumnarValue, Volatility, create_udf};
use datafusion::prelude::{CsvReadOptions, ParquetReadOptions, SessionConfig, SessionContext};
use serde_json::Value;

use crate::memory::{Followed, of_kind};
use queryscope_tpch::QUERIES;

/// The rules that warn of a query.
fn warnings(profile: &Value) -> Vec<&str> {
    let findings = profile["insights"]["findings"].as_array().expect("findings");
    let warnings = findings.iter().filter(|finding| finding["level"] == "warn");
    warnings.map(|finding| finding["rule"].as_str().expect("a rule")).collect()
}

async fn provoke(sql: &str, rule: &str) {
    provoke_in(Followed::new(), sql, rule).await;
}

async fn provoke_in(followed: Followed, sql: &str, rule: &str) {
    let file = tempfile::Builder::new().suffix(".csv").tempfile().expect("a file");
    let rows: Vec<String> = (1..=5000).map(|v| format!("{},{v}\n", v % 10)).collect();
    std::fs::write(file.path(), format!("k,v\n{}", rows.concat())).expect("a table");
    let path = file.path().to_str().expect("UTF-8");
    followed.ctx.register_csv("t", path, CsvReadOptions::new()).await.expect("a table");
    followed.run(sql).await.expect("rows");
    let profile = followed.only();
    assert!(warnings(&profile).contains(&rule), "{profile:#}");
}

/// A session that runs what is asked for as it is asked for.
fn literal_minded() -> Followed {
    let state = SessionStateBuilder::new()
        .with_config(SessionConfig::new().with_target_partitions(1))
        .with_default_features()
        .with_optimizer_rules(vec![])
        .with_physical_optimizer_rules(vec![])
        .build();
    Followed::of(SessionContext::new_with_state(state))
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
    let followed = Followed::new();
    let table = "CREATE TABLE m AS SELECT value % 10 AS k, value AS v FROM generate_series(1, 5000)";
    followed.run(table).await.expect("a table");
    followed.run("SELECT sum(a.v + b.v) FROM m a JOIN m b ON a.k = b.k").await.expect("rows");
    let finished = followed.end();
    assert!(warnings(&finished[1]).contains(&"skew"), "{:#}", finished[1]);
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

#[tokio::test]
async fn groups_of_what_is_unique() {
    provoke("SELECT v, sum(k) FROM t GROUP BY v", "redundant_aggregation").await;
}

#[tokio::test]
async fn the_same_groups_twice() {
    let groups = "SELECT k, sum(v) AS s FROM t GROUP BY k";
    let sql = format!("SELECT a.k, a.s + b.s FROM ({groups}) a JOIN ({groups}) b ON a.k = b.k");
    provoke(&sql, "repeated_subplan").await;
}

// DataFusion's optimiser mends these three by itself; a session without it, or with other rules, does not.

#[tokio::test]
async fn a_filter_behind_the_groups_it_would_spare() {
    let sql = "SELECT * FROM (SELECT v, sum(k) AS s FROM t GROUP BY v) WHERE v < 100";
    provoke_in(literal_minded(), sql, "late_filter").await;
}

#[tokio::test]
async fn columns_nobody_asks_for() {
    provoke_in(literal_minded(), "SELECT k FROM t", "unused_columns").await;
}

#[tokio::test]
async fn a_sort_for_the_first_rows() {
    let sql = "SELECT value FROM generate_series(1, 100000) ORDER BY value % 7919 LIMIT 5";
    provoke_in(literal_minded(), sql, "sort_under_limit").await;
}

#[tokio::test]
async fn very_many_small_files() {
    let folder = tempfile::tempdir().expect("a folder");
    for number in 0..150 {
        let file = folder.path().join(format!("{number}.csv"));
        std::fs::write(file, format!("a,b\n{number},1\n")).expect("a file");
    }
    let followed = Followed::new();
    let path = folder.path().to_str().expect("UTF-8");
    followed.ctx.register_csv("files", path, CsvReadOptions::new()).await.expect("a table");
    followed.run("SELECT sum(a) FROM files").await.expect("rows");
    let profile = followed.only();
    assert!(warnings(&profile).contains(&"small_files"), "{profile:#}");
}

/// DataFusion hands whole columns to functions of the program; the name says that this one is slow nevertheless.
#[tokio::test]
async fn code_of_the_program() {
    let followed = Followed::new();
    // So slow that it has its share of the time whatever else the machine does.
    let same = |arguments: &[ColumnarValue]| {
        std::thread::sleep(std::time::Duration::from_millis(100));
        Ok(arguments[0].clone())
    };
    let types = (vec![DataType::Int64], DataType::Int64);
    let udf = create_udf("python_udf", types.0, types.1, Volatility::Volatile, Arc::new(same));
    followed.ctx.register_udf(udf);
    provoke_in(followed, "SELECT sum(python_udf(v)) FROM t", "user_code").await;
}

#[tokio::test]
async fn row_groups_that_statistics_cannot_skip() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.parquet");
    let path = path.to_str().expect("UTF-8");
    let config = SessionConfig::new().with_target_partitions(1);
    let followed = Followed::of(SessionContext::new_with_config(
        config.set_bool("datafusion.execution.parquet.pushdown_filters", true),
    ));
    let write = format!(
        "COPY (SELECT value % 100 AS k, value AS v FROM generate_series(1, 20000)) TO '{path}' \
         OPTIONS ('format.max_row_group_size' '1000')"
    );
    followed.run(&write).await.expect("a file");
    followed.ctx.register_parquet("t", path, ParquetReadOptions::new()).await.expect("a table");
    followed.run("SELECT sum(v) FROM t WHERE k = 7").await.expect("rows");
    let finished = followed.end();
    assert!(warnings(&finished[1]).contains(&"unpruned_row_groups"), "{:#}", finished[1]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tpch_is_warned_of_nothing() {
    let followed = Followed::of(crate::tpch::session().await);
    for sql in QUERIES {
        followed.run(sql).await.expect("rows");
    }
    for (number, profile) in (1..).zip(followed.end()) {
        assert_eq!(warnings(&profile), Vec::<&str>::new(), "query {number}: {:#}", profile["insights"]);
    }
}
