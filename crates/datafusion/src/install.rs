//! How a session is made to report its queries.

use std::sync::Arc;

use datafusion::execution::{SessionState, SessionStateBuilder};
use datafusion::prelude::SessionContext;
use queryscope_client::{Telemetry, TelemetryBuilder};

use crate::clock::tasks_are_measured;
use crate::planner::{FollowingPlanner, PlanningBegins};

/// Begins to say what to follow and where to send it: a [`Telemetry`] of the engine DataFusion.
pub fn telemetry() -> TelemetryBuilder {
    Telemetry::builder().engine("datafusion", datafusion::DATAFUSION_VERSION)
}

/// Makes every query of a context report itself, from now on.
///
/// Clones of the context and the data frames it makes from now on report as well. A telemetry that was installed
/// before is replaced. Prepared statements are forgotten: install before you prepare any.
pub fn install(context: &SessionContext, telemetry: &Telemetry) {
    rebuild(context, |builder| with_telemetry(builder, telemetry));
}

/// Makes the queries of a context report themselves no more. Prepared statements are forgotten.
pub fn uninstall(context: &SessionContext) {
    rebuild(context, without_telemetry);
}

/// Makes every query of the session that is built report itself.
///
/// ```
/// # use datafusion::execution::SessionStateBuilder;
/// # use datafusion::prelude::SessionContext;
/// # fn session(telemetry: &queryscope_datafusion::Telemetry) -> SessionContext {
/// let builder = SessionStateBuilder::new().with_default_features();
/// SessionContext::new_with_state(queryscope_datafusion::with_telemetry(builder, telemetry).build())
/// # }
/// ```
pub fn with_telemetry(builder: SessionStateBuilder, telemetry: &Telemetry) -> SessionStateBuilder {
    tasks_are_measured();
    let mut builder = without_telemetry(builder);
    builder.analyzer().get_or_insert_default().rules.insert(0, Arc::new(PlanningBegins));
    let state_planner = builder.query_planner().take();
    let planner =
        state_planner.unwrap_or_else(|| Arc::clone(SessionStateBuilder::new().build().query_planner()));
    builder.with_query_planner(Arc::new(FollowingPlanner::around(&planner, telemetry)))
}

fn without_telemetry(mut builder: SessionStateBuilder) -> SessionStateBuilder {
    if let Some(analyzer) = builder.analyzer() {
        analyzer
            .rules
            .retain(|rule| rule.name() != datafusion::optimizer::AnalyzerRule::name(&PlanningBegins));
    }
    if let Some(planner) = builder.query_planner() {
        *planner = FollowingPlanner::within(planner);
    }
    builder
}

/// Builds the state of a context anew, in place.
fn rebuild(context: &SessionContext, change: impl FnOnce(SessionStateBuilder) -> SessionStateBuilder) {
    let state: Arc<_> = context.state_ref();
    let mut state = state.write();
    let id = state.session_id().to_owned();
    let builder = SessionStateBuilder::new_from_existing(SessionState::clone(&state)).with_session_id(id);
    *state = change(builder).build();
}
