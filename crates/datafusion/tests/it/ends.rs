//! However a query ends, it is told of.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int64Array};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::streaming::StreamingTable;
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{ColumnarValue, Expr, LogicalPlan, TableType, Volatility, create_udf};
use datafusion::physical_plan::streaming::PartitionStream;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use datafusion::prelude::{SessionConfig, SessionContext};
use futures_util::{FutureExt, StreamExt};
use serde_json::Value;

use crate::memory::{Followed, of_kind};

const MANY: &str = "SELECT value FROM generate_series(1, 1000000)";

/// A function that panics, or fails, at a number.
fn with_trap(followed: &Followed, panics: bool) {
    let trap = move |arguments: &[ColumnarValue]| -> Result<ColumnarValue> {
        let numbers = ColumnarValue::values_to_arrays(arguments)?;
        let numbers = numbers[0].as_any().downcast_ref::<Int64Array>().expect("numbers");
        if numbers.iter().flatten().any(|number| number == 5000) {
            assert!(!panics, "the trap has sprung");
            return Err(DataFusionError::Execution("the trap has sprung".into()));
        }
        Ok(ColumnarValue::Array(Arc::new(numbers.clone()) as ArrayRef))
    };
    let udf =
        create_udf("trap", vec![DataType::Int64], DataType::Int64, Volatility::Volatile, Arc::new(trap));
    followed.ctx.register_udf(udf);
}

fn failed(profile: &Value) -> &str {
    profile["failed"].as_str().unwrap_or_else(|| panic!("{profile:#}"))
}

#[tokio::test]
async fn an_error_while_running_is_told_in_the_engines_words() {
    let followed = Followed::new();
    with_trap(&followed, false);
    let sql = "SELECT sum(trap(value)) FROM generate_series(1, 10000)";
    let error = followed.run(sql).await.expect_err("the trap");
    let profile = followed.only();
    assert_eq!(failed(&profile), error.strip_backtrace());
    assert!(failed(&profile).contains("the trap has sprung"));
    assert!(!of_kind(&profile, "AggregateExec").is_empty());
}

#[tokio::test]
async fn a_panic_is_a_failure() {
    let followed = Followed::new();
    with_trap(&followed, true);
    let ctx = followed.ctx.clone();
    let task = tokio::spawn(async move {
        ctx.sql("SELECT trap(value) FROM generate_series(1, 10000)").await?.collect().await
    });
    let outcome = task.await;
    assert!(!matches!(outcome, Ok(Ok(_))), "{outcome:?}");
    let profile = followed.only();
    assert!(failed(&profile).contains("panic"), "{}", failed(&profile));
}

/// Not on the way out of a task, where the thread still panics when the stream is dropped.
#[tokio::test]
async fn a_panic_that_the_program_catches_is_a_failure() {
    let config = SessionConfig::new().with_target_partitions(1);
    let followed = Followed::of(SessionContext::new_with_config(config));
    with_trap(&followed, true);
    let frame = followed.ctx.sql("SELECT trap(value) FROM generate_series(1, 10000)").await.expect("a plan");
    let mut stream = frame.execute_stream().await.expect("a stream");
    let caught = AssertUnwindSafe(async { while stream.next().await.is_some() {} }).catch_unwind().await;
    assert!(caught.is_err(), "no panic");
    drop(stream);
    assert_eq!(failed(&followed.only()), "panicked");
}

/// A table whose scan panics as soon as it is executed.
#[derive(Debug)]
struct Panics(SchemaRef);

impl PartitionStream for Panics {
    fn schema(&self) -> &SchemaRef {
        &self.0
    }

    fn execute(&self, _context: Arc<TaskContext>) -> SendableRecordBatchStream {
        panic!("a table that panics: this text in the output of the tests is expected")
    }
}

#[tokio::test]
async fn a_panic_before_the_first_row_is_a_failure() {
    let followed = Followed::new();
    let table = StreamingTable::try_new(numbers(), vec![Arc::new(Panics(numbers()))]).expect("a table");
    followed.ctx.register_table("panics", Arc::new(table)).expect("a table");
    let caught = AssertUnwindSafe(followed.run("SELECT n FROM panics")).catch_unwind().await;
    assert!(!matches!(caught, Ok(Ok(_))), "no panic");
    assert!(failed(&followed.only()).contains("panic"));
}

#[tokio::test]
async fn what_is_dropped_was_cancelled() {
    let followed = Followed::new();
    let frame = followed.ctx.sql(MANY).await.expect("a plan");
    let mut stream = frame.execute_stream().await.expect("a stream");
    let first = stream.next().await.expect("a batch").expect("rows").num_rows();
    drop(stream);
    let profile = followed.only();
    assert_eq!(failed(&profile), "cancelled");
    assert_eq!(profile["result_rows"], first);
}

#[tokio::test]
async fn a_stream_that_nobody_polls_was_cancelled() {
    let followed = Followed::new();
    let frame = followed.ctx.sql(MANY).await.expect("a plan");
    drop(frame.execute_stream().await.expect("a stream"));
    assert_eq!(failed(&followed.only()), "cancelled");
}

#[tokio::test]
async fn a_limit_that_leaves_the_rest_is_no_cancellation() {
    let followed = Followed::new();
    followed.run(&format!("{MANY} WHERE value % 3 = 0 LIMIT 5")).await.expect("rows");
    let profile = followed.only();
    assert_eq!((&profile["failed"], &profile["result_rows"]), (&Value::Null, &5.into()));
    let nodes = profile["plan"]["physical"].as_array().expect("nodes");
    assert!(nodes.iter().all(|node| node["metrics"]["done"] == true), "{nodes:#?}");
}

#[tokio::test]
async fn partitions_nobody_asks_for_do_not_keep_a_query_running() {
    let followed = Followed::new();
    followed.run("CREATE TABLE t AS SELECT value FROM generate_series(1, 10)").await.expect("a table");
    let frame = followed.ctx.sql("SELECT value FROM t WHERE value > 3").await.expect("a plan");
    let plan = frame.create_physical_plan().await.expect("a plan");
    let mut stream = plan.execute(0, followed.ctx.task_ctx()).expect("a stream");
    drop(plan);
    while stream.next().await.is_some() {}
    assert_eq!(followed.end()[1]["failed"], Value::Null);
}

#[tokio::test]
async fn a_partition_that_is_asked_for_again_begins_another_query() {
    let followed = Followed::new();
    followed.run("CREATE TABLE t AS SELECT value FROM generate_series(1, 10)").await.expect("a table");
    let frame = followed.ctx.sql("SELECT value FROM t UNION ALL SELECT value FROM t").await.expect("a plan");
    let plan = frame.create_physical_plan().await.expect("a plan");
    assert!(plan.output_partitioning().partition_count() > 1);
    for _ in 0..2 {
        let mut stream = plan.execute(0, followed.ctx.task_ctx()).expect("a stream");
        while stream.next().await.is_some() {}
    }
    drop(plan);
    let finished = followed.end();
    let outcomes: Vec<_> = finished[1..].iter().map(|profile| &profile["failed"]).collect();
    assert_eq!(outcomes, [&Value::Null, &Value::Null], "both read what they asked for");
}

/// What becomes of the planning of a scan.
#[derive(Debug)]
enum Planning {
    Fails,
    Panics,
    Hangs,
    /// It plans something else.
    Plans(LogicalPlan),
}

fn numbers() -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new("n", DataType::Int64, false)]))
}

#[async_trait::async_trait]
impl TableProvider for Planning {
    fn schema(&self) -> SchemaRef {
        numbers()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        session: &dyn Session,
        _projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        _limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match self {
            Self::Fails => Err(DataFusionError::Plan("the table is broken".into())),
            Self::Panics => panic!("a table that panics: this text in the output of the tests is expected"),
            Self::Hangs => std::future::pending().await,
            Self::Plans(plan) => session.create_physical_plan(plan).await,
        }
    }
}

#[tokio::test]
async fn a_plan_that_can_not_be_made_is_told() {
    let followed = Followed::new();
    followed.ctx.register_table("broken", Arc::new(Planning::Fails)).expect("a table");
    let error = queryscope_datafusion::label("broken", followed.run("SELECT n FROM broken")).await;
    let profile = followed.only();
    assert_eq!(failed(&profile), error.expect_err("broken").strip_backtrace());
    assert_eq!((&profile["label"], &profile["plan"]["physical"]), (&"broken".into(), &Value::Array(vec![])));
}

#[tokio::test]
async fn planning_that_is_given_up_or_panics_is_told() {
    let followed = Followed::new();
    followed.ctx.register_table("hangs", Arc::new(Planning::Hangs)).expect("a table");
    followed.ctx.register_table("panics", Arc::new(Planning::Panics)).expect("a table");
    let run = queryscope_datafusion::label("given up", followed.run("SELECT n FROM hangs"));
    assert!(run.now_or_never().is_none(), "it hangs, and is dropped");
    let caught = AssertUnwindSafe(followed.run("SELECT n FROM panics")).catch_unwind().await;
    assert!(caught.is_err(), "no panic");
    let finished = followed.end();
    let told: Vec<_> = finished.iter().map(|profile| (&profile["label"], failed(profile))).collect();
    assert_eq!(told, [(&"given up".into(), "cancelled"), (&Value::Null, "panicked")]);
}

#[tokio::test]
async fn what_is_planned_within_planning_is_part_of_it() {
    let followed = Followed::new();
    followed.ctx.register_table("broken", Arc::new(Planning::Fails)).expect("a table");
    for (name, sql) in
        [("five", "SELECT value AS n FROM generate_series(1, 5)"), ("fails", "SELECT n FROM broken")]
    {
        let plan = followed.ctx.state().create_logical_plan(sql).await.expect("a plan");
        followed.ctx.register_table(name, Arc::new(Planning::Plans(plan))).expect("a table");
    }
    followed.run("SELECT n FROM five").await.expect("rows");
    followed.run("SELECT n FROM fails").await.expect_err("broken");
    let finished = followed.end();
    assert_eq!(finished.len(), 2, "{finished:#?}");
    assert_eq!((&finished[0]["failed"], &finished[0]["result_rows"]), (&Value::Null, &5.into()));
    assert!(failed(&finished[1]).contains("the table is broken"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn queries_of_many_tasks_are_counted_exactly() {
    let followed = Followed::new();
    followed.run("CREATE TABLE t AS SELECT value FROM generate_series(1, 1000)").await.expect("a table");
    let tasks: Vec<_> = (0..32)
        .map(|number| {
            let ctx = followed.ctx.clone();
            tokio::spawn(queryscope_datafusion::label(format!("task {number}"), async move {
                ctx.sql(&format!("SELECT value FROM t WHERE value <= {number}")).await?.collect().await
            }))
        })
        .collect();
    for task in tasks {
        task.await.expect("no panic").expect("rows");
    }
    let mut told: Vec<_> = followed.end()[1..]
        .iter()
        .map(|profile| {
            (profile["label"].as_str().expect("a label").to_owned(), profile["result_rows"].as_u64())
        })
        .collect();
    told.sort();
    let mut expected: Vec<_> = (0..32).map(|number| (format!("task {number}"), Some(number))).collect();
    expected.sort();
    assert_eq!(told, expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn ten_thousand_short_queries_are_told_once_each() {
    const TASKS: u64 = 20;
    const QUERIES: u64 = 500;
    let followed = Followed::new();
    let tasks: Vec<_> = (0..TASKS)
        .map(|_| {
            let ctx = followed.ctx.clone();
            tokio::spawn(async move {
                for number in 0..QUERIES {
                    let mut stream = ctx.sql("SELECT 1").await?.execute_stream().await?;
                    if number % 2 == 0 {
                        while stream.next().await.transpose()?.is_some() {}
                    }
                }
                Ok::<_, DataFusionError>(())
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("no panic").expect("rows");
    }
    followed.until_told(TASKS * QUERIES).await;
    let finished = followed.end();
    let cancelled = finished.iter().filter(|profile| profile["failed"] == "cancelled").count() as u64;
    let ids: std::collections::BTreeSet<_> =
        finished.iter().map(|profile| profile["query_id"].as_str()).collect();
    assert_eq!((ids.len() as u64, cancelled), (TASKS * QUERIES, TASKS * QUERIES / 2));
}
