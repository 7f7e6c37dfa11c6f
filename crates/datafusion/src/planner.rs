//! The hook: a query planner around the session's own.

use std::any::Any;
use std::cell::Cell;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::config::ConfigOptions;
use datafusion::error::Result;
use datafusion::execution::context::QueryPlanner;
use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::AnalyzerRule;
use datafusion::physical_plan::ExecutionPlan;
use queryscope_client::{Query, Telemetry};

use crate::follow::follow;
use crate::run::{CANCELLED, PANICKED, Planned};
use crate::scope::Scope;
use crate::trace;

thread_local! {
    /// When the planning under way on this thread began, until the planner takes it.
    static PLANNING_SINCE: Cell<Option<Instant>> = const { Cell::new(None) };
    /// Whether this thread plans a query that is followed: what it plans within is part of it.
    static WITHIN: Cell<bool> = const { Cell::new(false) };
}

/// The first rule of the analyzer, which is where planning begins. Changes nothing.
#[derive(Debug)]
pub(crate) struct PlanningBegins;

impl AnalyzerRule for PlanningBegins {
    fn analyze(&self, plan: LogicalPlan, _config: &ConfigOptions) -> Result<LogicalPlan> {
        PLANNING_SINCE.set(Some(queryscope_client::now()));
        Ok(plan)
    }

    fn name(&self) -> &'static str {
        "queryscope_planning_begins"
    }
}

/// Plans as the planner within, and follows what it planned.
#[derive(Debug)]
pub(crate) struct FollowingPlanner {
    planner: Arc<dyn QueryPlanner + Send + Sync>,
    telemetry: Telemetry,
}

impl FollowingPlanner {
    /// Puts a planner around another; a planner of ours is replaced.
    pub(crate) fn around(planner: &Arc<dyn QueryPlanner + Send + Sync>, telemetry: &Telemetry) -> Self {
        Self { planner: Self::within(planner), telemetry: telemetry.clone() }
    }

    /// The planner without ours.
    pub(crate) fn within(
        planner: &Arc<dyn QueryPlanner + Send + Sync>,
    ) -> Arc<dyn QueryPlanner + Send + Sync> {
        let ours = (&**planner as &dyn Any).downcast_ref::<Self>();
        Arc::clone(ours.map_or(planner, |ours| &ours.planner))
    }
}

#[async_trait]
impl QueryPlanner for FollowingPlanner {
    async fn create_physical_plan(
        &self,
        logical: &LogicalPlan,
        session: &dyn Session,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let since = PLANNING_SINCE.take().unwrap_or_else(queryscope_client::now);
        let planned = self.planner.create_physical_plan(logical, session);
        if WITHIN.get() || runs_nothing(logical) {
            return planned.await;
        }
        let mut unplanned = Unplanned {
            telemetry: &self.telemetry,
            query: Some(trace::describe(Query::new())),
            scope: Scope::current(),
            since,
        };
        let plan = (Within { planning: planned })
            .await
            .inspect_err(|error| unplanned.failed(&error.strip_backtrace()))?;
        let threads = session.config().target_partitions();
        let followed =
            follow(Arc::clone(&plan), logical.clone(), threads, &self.telemetry, unplanned.planned());
        Ok(followed.unwrap_or_else(|error| {
            log::warn!("a query is not followed: {error}");
            plan
        }))
    }
}

/// A query while it is planned. Dropped before it has a plan, it was cancelled, or its planning panicked.
struct Unplanned<'t> {
    telemetry: &'t Telemetry,
    /// None once it is planned or told of.
    query: Option<Query>,
    scope: Option<Arc<Scope>>,
    since: Instant,
}

impl Unplanned<'_> {
    fn planned(mut self) -> Planned {
        let query = self.query.take().unwrap_or_default();
        Planned { query, scope: self.scope.take(), planning: self.since.elapsed() }
    }

    fn failed(&mut self, error: &str) {
        let Some(query) = self.query.take() else { return };
        let query = query.started(self.since);
        let query = match &self.scope {
            Some(scope) => scope.describe(query),
            None => query,
        };
        self.telemetry.failed(query, error);
    }
}

impl Drop for Unplanned<'_> {
    fn drop(&mut self) {
        self.failed(if std::thread::panicking() { PANICKED } else { CANCELLED });
    }
}

/// Plans that are not worth a query: a plain EXPLAIN, and what DDL leaves to collect.
fn runs_nothing(logical: &LogicalPlan) -> bool {
    match logical {
        LogicalPlan::Explain(_) => true,
        LogicalPlan::EmptyRelation(empty) => !empty.produce_one_row && empty.schema.fields().is_empty(),
        _ => false,
    }
}

/// Marks the thread while a future plans.
struct Within<F> {
    planning: F,
}

impl<F: Future + Unpin> Future for Within<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        struct Marked;

        impl Drop for Marked {
            fn drop(&mut self) {
                WITHIN.set(false);
            }
        }

        WITHIN.set(true);
        let _until = Marked;
        Pin::new(&mut self.planning).poll(context)
    }
}
