//! The 22 queries of TPC-H at a small scale, or at that of `TPCH_SCALE`.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::OnceLock;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::execution::memory_pool::MemoryPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::{SessionConfig, SessionContext};
use serde_json::Value;

use crate::memory::Followed;
use queryscope_tpch::{PeakPool, QUERIES, register, write};

fn folder() -> &'static PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let scale = std::env::var("TPCH_SCALE").map_or(0.01, |scale| scale.parse().expect("a scale"));
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("tpch-{scale}"));
        write(&folder, scale).expect("the tables");
        folder
    })
}

pub(crate) async fn session() -> SessionContext {
    let ctx = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(4));
    register(&ctx, folder()).await.expect("the tables");
    ctx
}

fn sorted_lines(batches: &[RecordBatch]) -> Vec<String> {
    let text = pretty_format_batches(batches).expect("a table").to_string();
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

/// The rows each node gave in the run of a plan, by the engine's own metrics, in the order of the ids.
fn rows_of(plan: &Arc<dyn ExecutionPlan>, rows: &mut Vec<(String, Option<u64>)>) {
    let counted = plan.metrics().and_then(|metrics| metrics.output_rows()).map(|rows| rows as u64);
    rows.push((plan.name().to_owned(), counted));
    plan.children().into_iter().for_each(|child| rows_of(child, rows));
}

/// The engine's counters of each node, those left out that timing or dynamic filters decide.
fn counters_of(profile: &Value) -> Vec<(String, Vec<String>)> {
    let nodes = profile["plan"]["physical"].as_array().expect("nodes");
    let counters = nodes.iter().map(|node| {
        let custom = node["metrics"]["custom"].as_array().map_or(&[][..], Vec::as_slice);
        let named =
            custom.iter().filter(|each| each["key"].as_str().is_some_and(|key| EXPECTED.contains(&key)));
        let mut names: Vec<_> = named.map(|each| each["key"].to_string()).collect();
        names.sort();
        (node["kind"].to_string(), names)
    });
    counters.collect()
}

const EXPECTED: &[&str] = &[
    "elapsed_compute",
    "build_time",
    "build_input_rows",
    "input_rows",
    "fetch_time",
    "repartition_time",
    "selectivity_total",
    "time_elapsed_processing",
    "time_elapsed_opening",
    "metadata_load_time",
    "time_calculating_group_ids",
    "aggregate_arguments_time",
    "emitting_time",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn results_are_the_same_and_rows_are_what_the_engine_says() {
    let plain = session().await;
    let followed = Followed::of(session().await);
    let mut expected = Vec::new();
    for (number, sql) in QUERIES.iter().enumerate() {
        let without = plain.sql(sql).await.expect("a plan").collect().await.expect("rows");
        let plan = followed.ctx.sql(sql).await.expect("a plan").create_physical_plan().await.expect("a plan");
        let with = datafusion::physical_plan::collect(Arc::clone(&plan), followed.ctx.task_ctx())
            .await
            .expect("rows");
        assert_eq!(sorted_lines(&without), sorted_lines(&with), "query {}", number + 1);
        let mut rows = Vec::new();
        rows_of(&plan, &mut rows);
        expected.push((with.iter().map(RecordBatch::num_rows).sum::<usize>(), rows));
    }
    // Once more, with plans that are dropped as soon as they run.
    for sql in QUERIES {
        followed.run(sql).await.expect("rows");
    }
    let finished = followed.end();
    assert_eq!(finished.len(), 44);
    for (number, (held, dropped)) in finished[..22].iter().zip(&finished[22..]).enumerate() {
        assert_eq!(counters_of(held), counters_of(dropped), "query {}", number + 1);
    }
    for (number, (profile, (result_rows, rows))) in finished.iter().zip(expected).enumerate() {
        assert_eq!((&profile["failed"], &profile["result_rows"]), (&Value::Null, &result_rows.into()));
        let nodes = profile["plan"]["physical"].as_array().expect("nodes");
        assert_eq!(nodes.len(), rows.len());
        for (node, (kind, rows)) in nodes.iter().zip(rows) {
            assert_eq!(node["kind"], kind.as_str());
            assert_eq!(node["metrics"]["done"], true, "query {}: {node}", number + 1);
            assert_ne!(node["role"], "unknown");
            if let Some(rows) = rows {
                assert_eq!(node["metrics"]["rows_out"], rows, "query {}: {node}", number + 1);
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_node_says_what_it_does_and_for_which_logical_node() {
    let followed = Followed::of(session().await);
    for sql in QUERIES {
        followed.run(sql).await.expect("rows");
    }
    for (number, profile) in followed.end().iter().enumerate() {
        let logical = profile["plan"]["logical"].as_array().expect("nodes");
        assert!(
            logical[0]["properties"]["sql"].as_str().is_some_and(|sql| sql.starts_with("SELECT")),
            "{}",
            logical[0]
        );
        for node in profile["plan"]["physical"].as_array().expect("nodes") {
            let properties = &node["properties"];
            let says = |name: &str| properties[name].is_string() || properties[name].is_array();
            let expected = match node["role"].as_str().expect("a role") {
                "scan" => says("table") && says("projection") && says("table_columns"),
                "selection" => says("predicate"),
                "join" | "semi_anti_join" => says("how") && says("left_keys") && says("right_keys"),
                "theta_join" => says("how") && says("predicate"),
                "sort" | "top_k" => says("order"),
                "aggregation" | "projection" | "map" | "rename" => says("expressions"),
                "distinct" => says("keys"),
                _ => true,
            };
            assert!(expected, "query {}: {node:#}", number + 1);
            let text = properties.to_string();
            assert!(!text.contains("Some(") && !text.contains("an expression"), "{text}");
            if node["role"] == "scan" {
                let twin = properties["logical_id"]
                    .as_u64()
                    .unwrap_or_else(|| panic!("query {}: {node:#}", number + 1));
                let table = logical[twin as usize]["properties"]["table"].as_str().expect("a table");
                let file = properties["table"].as_str().expect("a path");
                assert!(file.ends_with(&format!("/{table}.parquet")), "query {}: {table} {file}", number + 1);
            }
        }
    }
}

/// Peaks of the pool by query, on one thread and in one partition so that they repeat.
async fn peaks(follow: bool) -> Vec<usize> {
    let pool = Arc::new(PeakPool::default());
    let runtime =
        RuntimeEnvBuilder::new().with_memory_pool(Arc::clone(&pool) as _).build_arc().expect("a runtime");
    let config = SessionConfig::new().with_target_partitions(1);
    let ctx = SessionContext::new_with_config_rt(config, runtime);
    register(&ctx, folder()).await.expect("the tables");
    let followed = follow.then(|| Followed::of(ctx.clone()));
    let mut peaks = Vec::new();
    for sql in QUERIES {
        pool.forget();
        ctx.sql(sql).await.expect("a plan").collect().await.expect("rows");
        assert_eq!(pool.reserved(), 0, "nothing is left of {sql}");
        peaks.push(pool.peak());
    }
    drop(followed);
    peaks
}

#[tokio::test]
async fn no_query_needs_more_memory() {
    let (plain, followed) = (peaks(false).await, peaks(true).await);
    assert!(plain.iter().sum::<usize>() > 1_000_000, "{plain:?}");
    assert_eq!(plain, followed);
}
