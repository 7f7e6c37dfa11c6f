//! `GET /api/compare`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use queryscope_insights::{self as insights, Account, NodePair};
use queryscope_protocol::Profile;
use queryscope_store::Query;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::asked::Asked;
use super::diagnosed::open_change;
use super::params::ProjectFilter;
use super::query::find;
use super::stored::Stored;
use super::summary::QuerySummary;
use super::usual::{Alike, usual};
use crate::app::App;
use crate::error::{ApiError, ErrorBody};

/// Two runs side by side.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Comparison {
    /// What the run is compared with.
    base: QuerySummary,
    /// The run.
    run: QuerySummary,
    /// How the base was chosen.
    basis: Basis,
    /// Of how many runs the base is the usual one; null where it was named.
    runs: Option<usize>,
    /// Whether both ran the same physical plan: no node came, went or changed its shape.
    same_plan: bool,
    /// What the difference in wall time is made of.
    account: Account,
    /// Nodes of both physical plans: those of the run in its order, then those only the base has.
    nodes: Vec<NodePair>,
}

/// How the base of a comparison was chosen.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = ComparisonBasis)]
enum Basis {
    /// It was named.
    Named,
    /// It is the usual run of the plan.
    Plan,
    /// It is the usual run of the label: no earlier run of the plan has finished.
    Label,
    /// It is a typical run from before the open change of the query.
    BeforeChange,
}

impl From<Alike> for Basis {
    fn from(alike: Alike) -> Self {
        match alike {
            Alike::Plan => Self::Plan,
            Alike::Label => Self::Label,
        }
    }
}

/// Which runs are compared.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(crate) struct CompareParams {
    /// Id of the query to judge; it may still run
    #[param(value_type = String, required = true, example = "01a1faa8-1bd9-77b2-97ab-860dd7026506")]
    run: Option<String>,
    /// Id of the query to compare it with
    #[param(example = "01a1f582-c3a4-71d0-9f0e-0d6f0bb3d1c5")]
    base: Option<String>,
}

/// Compares two runs.
///
/// Nodes are matched over both plans, also where the plan changed, and the difference of the wall times is accounted
/// for in whole nanoseconds: its parts sum to it exactly. Without `base`, a run since the open change of its
/// query, where there is one, is compared with a typical run from before the change. Any other run is compared
/// with the usual one: of the up to 100 finished runs of its plan, label and service that began before it, else of
/// those of its label and service, the one whose wall time is nearest their median.
#[utoipa::path(
    get,
    path = "/api/compare",
    tag = "read",
    params(CompareParams, ProjectFilter),
    responses(
        (status = 200, description = "What is different", body = Comparison),
        (status = 400, description = "A parameter is invalid, or run is missing", body = ErrorBody),
        (status = 403, description = "The Host is a name that is not served", body = ErrorBody),
        (
            status = 404,
            description = "There is no such query, nothing to compare it with, or a plan has not been sent",
            body = ErrorBody
        ),
        (status = 410, description = "A query is known, and its recording is missing", body = ErrorBody),
        (status = 422, description = "A profile that was sent cannot be read", body = ErrorBody),
        (status = 503, description = "Reading failed, or a recording is damaged", body = ErrorBody),
    )
)]
pub(crate) async fn compare(
    State(app): State<Arc<App>>,
    Asked(asked): Asked<CompareParams>,
    Asked(project): Asked<ProjectFilter>,
) -> Result<Json<Comparison>, ApiError> {
    let run = asked.run.ok_or_else(|| ApiError::invalid("run: is needed, the id of a query"))?;
    let run = find(&app, &run, &project).await?;
    let (base, basis, runs) = match asked.base {
        Some(base) => (find(&app, &base, &project).await?, Basis::Named, None),
        None => usual_base(&app, &run).await?,
    };
    let (base, run) = (Stored::read(&app, base).await?, Stored::read(&app, run).await?);
    let profiles: [Profile<'_>; 2] = [base.profile()?, run.profile()?];
    let insights::Comparison { same_plan, account, nodes } = insights::compare(&profiles[0], &profiles[1]);
    let (base, run) = (base.query.clone().into(), run.query.clone().into());
    Ok(Json(Comparison { base, run, basis, runs, same_plan, account, nodes }))
}

async fn usual_base(app: &App, run: &Query) -> Result<(Query, Basis, Option<usize>), ApiError> {
    if let Some(change) = open_change(app, run).await?
        && change.since_unix_ns <= run.started_unix_ns
        && let Some(base) = change.examples.base.and_then(|base| base.parse().ok())
        && let Some(base) = app.store.query(base).await?
    {
        return Ok((base, Basis::BeforeChange, usize::try_from(change.before.runs).ok()));
    }
    let usual = usual(app, run).await?;
    let (base, alike, runs) = usual.ok_or_else(|| {
        let reason =
            "no earlier run of its plan or label has finished in its service: nothing to compare it with";
        ApiError::not_found(format!("query {}: {reason}", run.query_id))
    })?;
    Ok((base, alike.into(), Some(runs)))
}
