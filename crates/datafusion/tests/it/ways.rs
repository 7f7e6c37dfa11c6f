//! Every way in which a session runs a query is followed, once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use datafusion::arrow::array::RecordBatch;
use datafusion::catalog::Session;
use datafusion::dataframe::DataFrameWriteOptions;
use datafusion::error::Result;
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::context::QueryPlanner;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_planner::{DefaultPhysicalPlanner, PhysicalPlanner};
use datafusion::prelude::{SessionContext, col, lit};
use futures_util::StreamExt;
use opentelemetry::Context;
use opentelemetry::trace::{SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId, TraceState};
use serde_json::Value;

use crate::memory::{Followed, of_kind};

fn rows(profile: &Value) -> &Value {
    &profile["result_rows"]
}

async fn with_numbers() -> Followed {
    let followed = Followed::new();
    followed
        .run("CREATE TABLE numbers AS SELECT value AS n FROM generate_series(1, 1000)")
        .await
        .expect("a table");
    followed
}

#[tokio::test]
async fn sql_tells_of_its_plan_and_counters() {
    let followed = Followed::new();
    followed.run("SELECT count(*) FROM generate_series(1, 1000) WHERE value % 2 = 0").await.expect("rows");
    let profile = followed.only();
    assert_eq!((&profile["failed"], rows(&profile)), (&Value::Null, &1.into()));
    assert_eq!(profile["schema"], "datafusion-telemetry/profile@1");
    assert_eq!(profile["query_metrics"]["threads"], 4);
    assert!(
        profile["planning_ms"].as_f64() > Some(0.0) && profile["cpu_ms"].as_f64() > Some(0.0),
        "{profile:#}"
    );
    let filter = of_kind(&profile, "FilterExec")[0];
    assert_eq!((&filter["metrics"]["rows_in"], &filter["metrics"]["rows_out"]), (&1000.into(), &500.into()));
    assert_eq!(filter["metrics"]["done"], true);
    assert_eq!(filter["properties"]["predicate"], "value % 2 = 0");
}

#[tokio::test]
async fn create_table_as_insert_and_copy() {
    let followed = with_numbers().await;
    let file = tempfile::tempdir().expect("a folder");
    let path = file.path().join("numbers.parquet");
    followed.run("INSERT INTO numbers SELECT n + 1000 FROM numbers").await.expect("inserted");
    followed.run(&format!("COPY numbers TO '{}'", path.display())).await.expect("copied");
    let frame = followed.ctx.table("numbers").await.expect("a table");
    let other = file.path().join("other.csv");
    frame.write_csv(&other.to_string_lossy(), DataFrameWriteOptions::new(), None).await.expect("written");
    let finished = followed.end();
    let sinks: Vec<_> = finished.iter().skip(1).map(|profile| of_kind(profile, "DataSinkExec")[0]).collect();
    let written: Vec<_> = sinks.iter().map(|sink| &sink["metrics"]["rows_written"]).collect();
    assert_eq!(written, [&Value::from(1000), &2000.into(), &2000.into()]);
    assert_eq!(sinks[1]["properties"]["format"], "parquet");
    assert_eq!(sinks[1]["properties"]["destination"], path.to_string_lossy().as_ref());
    assert!(sinks[1]["metrics"]["bytes_written"].as_u64() > Some(0));
    assert_eq!(finished.len(), 4, "what a statement leaves to collect is no query");
}

#[tokio::test]
async fn data_frames_views_and_what_is_prepared() {
    let followed = with_numbers().await;
    let frame = followed.ctx.table("numbers").await.expect("a table");
    frame.filter(col("n").gt(lit(990))).expect("a filter").collect().await.expect("rows");
    followed.run("CREATE VIEW few AS SELECT n FROM numbers WHERE n > 995").await.expect("a view");
    followed.run("SELECT * FROM few").await.expect("rows");
    followed.run("PREPARE above(INT) AS SELECT n FROM numbers WHERE n > $1").await.expect("prepared");
    for least in [1000, 998] {
        followed.run(&format!("EXECUTE above({least})")).await.expect("rows");
    }
    let rows: Vec<_> = followed.end().iter().skip(1).map(|profile| rows(profile).clone()).collect();
    assert_eq!(rows, [10, 5, 0, 2]);
}

#[tokio::test]
async fn explain_is_no_query_and_explain_analyze_is_one() {
    let followed = Followed::new();
    followed.run("EXPLAIN SELECT 1").await.expect("a plan");
    let rows = followed.run("EXPLAIN ANALYZE SELECT 1").await.expect("a plan");
    let text = format!("{rows:?}");
    assert!(text.contains("ProjectionExec") || text.contains("PlaceholderRowExec"), "{text}");
    let profile = followed.only();
    assert_eq!(of_kind(&profile, "AnalyzeExec").len(), 1);
    assert!(profile["plan"]["physical"].as_array().is_some_and(|nodes| nodes.len() > 1));
}

#[tokio::test]
async fn a_plan_that_runs_twice_is_two_queries() {
    let followed = with_numbers().await;
    let frame = followed.ctx.sql("SELECT n FROM numbers WHERE n <= 10").await.expect("a plan");
    let plan = frame.create_physical_plan().await.expect("a plan");
    for _ in 0..2 {
        datafusion::physical_plan::collect(Arc::clone(&plan), followed.ctx.task_ctx()).await.expect("rows");
    }
    let finished = followed.end();
    let twice: Vec<_> = finished[1..].iter().collect();
    assert_eq!(twice.iter().map(|profile| rows(profile)).collect::<Vec<_>>(), [10, 10]);
    let filters: Vec<_> =
        twice.iter().map(|profile| &of_kind(profile, "FilterExec")[0]["metrics"]["rows_in"]).collect();
    assert_eq!(filters, [1000, 1000], "the second run counts from nought");
    assert_ne!(twice[0]["query_id"], twice[1]["query_id"]);
    let selectivity = |profile: &Value| {
        let custom = of_kind(profile, "FilterExec")[0]["metrics"]["custom"].clone();
        let custom = custom.as_array().expect("counters").clone();
        custom.iter().find(|each| each["key"] == "selectivity_total").map(|each| each["value"].clone())
    };
    assert_eq!(selectivity(twice[0]), Some(1000.into()));
    assert_eq!(selectivity(twice[1]), Some(1000.into()), "nor do the engine's metrics carry over");
}

#[tokio::test]
async fn recursion_counts_every_round() {
    let followed = Followed::new();
    let sql = "WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 20) SELECT * FROM n";
    let batches = followed.run(sql).await.expect("rows");
    assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 20);
    let profile = followed.only();
    assert_eq!(rows(&profile), 20);
    let work = of_kind(&profile, "WorkTableExec")[0];
    assert_eq!((&work["metrics"]["rows_out"], &work["metrics"]["done"]), (&20.into(), &true.into()));
    // The engine's counters are of all rounds, too, though each round has nodes of its own.
    let custom = &of_kind(&profile, "FilterExec")[0]["metrics"]["custom"];
    let custom = custom.as_array().expect("counters");
    let total = custom.iter().find(|each| each["key"] == "selectivity_total").map(|each| &each["value"]);
    assert_eq!(total, Some(&20.into()), "{custom:#?}");
}

#[tokio::test]
async fn labels_belong_to_the_future_and_the_line() {
    let followed = Followed::new();
    let line = line!() + 1;
    let labelled = queryscope_datafusion::label("nightly/orders", async { followed.run("SELECT 1").await });
    labelled.await.expect("rows");
    followed.run("SELECT 2").await.expect("rows");
    let finished = followed.end();
    assert_eq!((&finished[0]["label"], &finished[1]["label"]), (&"nightly/orders".into(), &Value::Null));
    let site = &finished[0]["call_site"];
    assert_eq!((&site["lineno"], &site["filepath"]), (&line.into(), &file!().into()));
    assert!(site["function"].as_str().expect("a name").ends_with("labels_belong_to_the_future_and_the_line"));
}

#[tokio::test]
async fn a_session_reports_no_more_once_it_is_uninstalled() {
    let followed = Followed::new();
    queryscope_datafusion::install(&followed.ctx, &followed.telemetry);
    followed.run("SELECT 1").await.expect("rows");
    let id = followed.ctx.session_id();
    queryscope_datafusion::uninstall(&followed.ctx);
    assert_eq!(followed.ctx.session_id(), id);
    followed.run("SELECT 2").await.expect("rows");
    followed.only();
}

#[tokio::test]
async fn columns_make_another_plan_and_literals_do_not() {
    let followed = Followed::new();
    // Names that SQL has to quote.
    let table =
        "CREATE TABLE t AS SELECT value AS n, 'a' AS name, 'a' AS \"Type\" FROM generate_series(1, 9)";
    followed.run(table).await.expect("a table");
    let groups = [
        ["SELECT * FROM t WHERE name = 'a'", "SELECT * FROM t WHERE name = 'b'"],
        ["SELECT * FROM t WHERE \"Type\" = 'a'", "SELECT * FROM t WHERE \"Type\" = 'b'"],
        ["SELECT sum(n + 5) FROM t ORDER BY 1", "SELECT sum(n + 6) FROM t ORDER BY 1"],
        ["SELECT count(*) FROM t GROUP BY name || 'a'", "SELECT count(*) FROM t GROUP BY name || 'b'"],
        [
            "SELECT count(*) FROM t GROUP BY \"Type\" || 'a'",
            "SELECT count(*) FROM t GROUP BY \"Type\" || 'b'",
        ],
    ];
    for sql in groups.as_flattened() {
        followed.run(sql).await.expect("rows");
    }
    let finished = followed.end();
    let prints: Vec<_> = finished[1..].iter().map(|profile| &profile["fingerprint"]).collect();
    for (pair, sql) in prints.chunks(2).zip(groups) {
        assert_eq!(pair[0], pair[1], "{sql:?}");
    }
    let different: std::collections::BTreeSet<_> = prints.iter().map(|print| print.as_str()).collect();
    assert_eq!(different.len(), groups.len(), "{prints:?}");
}

/// A planner of the program's own.
#[derive(Debug, Default)]
struct Own {
    asked: AtomicUsize,
}

#[async_trait::async_trait]
impl QueryPlanner for Own {
    async fn create_physical_plan(
        &self,
        logical: &LogicalPlan,
        session: &dyn Session,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.asked.fetch_add(1, Relaxed);
        DefaultPhysicalPlanner::default().create_physical_plan(logical, session).await
    }
}

#[tokio::test]
async fn a_session_keeps_its_own_planner() {
    let own = Arc::new(Own::default());
    let planner = Arc::clone(&own);
    let state = SessionStateBuilder::new().with_default_features().with_query_planner(planner).build();
    let followed = Followed::of(SessionContext::new_with_state(state));
    followed.run("SELECT 1").await.expect("rows");
    assert_eq!(own.asked.load(Relaxed), 1);
    queryscope_datafusion::uninstall(&followed.ctx);
    followed.run("SELECT 2").await.expect("rows");
    assert_eq!(own.asked.load(Relaxed), 2);
    followed.only();
}

#[tokio::test]
async fn streams_of_partitions_are_one_query() {
    let followed = with_numbers().await;
    let frame =
        followed.ctx.sql("SELECT n FROM numbers UNION ALL SELECT n FROM numbers").await.expect("a plan");
    let streams = frame.execute_stream_partitioned().await.expect("streams");
    assert!(streams.len() > 1);
    for mut stream in streams {
        while stream.next().await.is_some() {}
    }
    let finished = followed.end();
    assert_eq!((finished.len(), rows(&finished[1])), (2, &2000.into()));
}

#[tokio::test]
async fn the_active_trace_goes_with_the_query() {
    let followed = Followed::new();
    let (trace, span) = (TraceId::from(0xabc), SpanId::from(0x12));
    let active = SpanContext::new(trace, span, TraceFlags::SAMPLED, true, TraceState::default());
    let entered = Context::new().with_remote_span_context(active).attach();
    followed.run("SELECT 1").await.expect("rows");
    drop(entered);
    followed.run("SELECT 2").await.expect("rows");
    let finished = followed.end();
    assert_eq!(finished[0]["trace_id"], "00000000000000000000000000000abc");
    assert_eq!(finished[0]["span_id"], "0000000000000012");
    assert_eq!(finished[1].get("trace_id"), None);
}
