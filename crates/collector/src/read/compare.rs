//! `GET /api/compare`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use queryscope_diagnosis::{Account, Context, RunFeatures};
use queryscope_insights::{self as insights, Difference, NodePair, Outlines};
use queryscope_protocol::Profile;
use queryscope_store::{Query, QueryFilter, short_name};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::asked::Asked;
use super::diagnosed::{change_between, open_change};
use super::params::{ProjectFilter, is, unix_ns};
use super::query::find;
use super::stored::Stored;
use super::summary::QuerySummary;
use super::usual::{Alike, typical, usual};
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
    /// Fingerprint of the physical plan of the base.
    base_physical_fingerprint: String,
    /// That of the run.
    run_physical_fingerprint: String,
    /// Id of the change of the query between them, newest first: the base began before it, and the run since, before
    /// runs were as usual again. Null where there is none.
    change: Option<String>,
    /// What the difference in wall time is made of, as a change tells it.
    account: Account,
    /// What is different between the plans, in the words of a planner; the changes of order first.
    differences: Vec<Difference>,
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
    /// It is a typical one of the runs that were asked for.
    Chosen,
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
    /// Instead of `base`: a typical run with this plan fingerprint
    #[param(example = "238b6af6d50a")]
    base_fingerprint: Option<String>,
    /// Instead of `base`: a typical run of this version of the program
    #[param(example = "2026.11.3")]
    base_program_version: Option<String>,
    /// Instead of `base`: a typical run from a process on this host
    #[param(example = "worker-1")]
    base_host: Option<String>,
    /// Instead of `base`: a typical run that started at or after this, in Unix nanoseconds
    #[param(example = 1_794_000_000_000_000_000_i64)]
    #[serde(deserialize_with = "unix_ns")]
    base_since: Option<i64>,
    /// Instead of `base`: a typical run that started at or before this, in Unix nanoseconds
    #[param(example = 1_796_000_000_000_000_000_i64)]
    #[serde(deserialize_with = "unix_ns")]
    base_until: Option<i64>,
}

impl CompareParams {
    /// The runs of which a typical one is the base; `None` where none are asked for so.
    fn among(&self) -> Option<QueryFilter> {
        let Self { base_fingerprint, base_program_version, base_host, base_since, base_until, .. } = self;
        let filter = QueryFilter {
            fingerprint: base_fingerprint.as_deref().map(is),
            program_version: base_program_version.as_deref().map(is),
            host: base_host.as_deref().map(short_name),
            since_unix_ns: *base_since,
            until_unix_ns: *base_until,
            ..QueryFilter::default()
        };
        let names = filter.fingerprint.is_some() || filter.program_version.is_some() || filter.host.is_some();
        (names || base_since.is_some() || base_until.is_some()).then_some(filter)
    }
}

/// Compares two runs.
///
/// Nodes are matched over both plans, also where the plan changed, and the difference of the wall times is accounted
/// for in whole nanoseconds, as that of a change is: its parts sum to it exactly. What the change between both runs
/// puts down to a host or a version, the account does as well. Without `base`, a run since the open change of its
/// query, where there is one, is compared with a typical run from before the change. Any other run is compared
/// with the usual one: of the up to 100 finished runs of its plan, label and service that began before it, else of
/// those of its label and service, the one whose wall time is nearest their median. `base_fingerprint`,
/// `base_program_version`, `base_host`, `base_since` and `base_until` ask for a typical run among those of its label
/// and service that they keep: of the 100 newest finished ones, before or after it, the one nearest their median.
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
    let id = asked.run.as_ref().ok_or_else(|| ApiError::invalid("run: is needed, the id of a query"))?;
    let run = find(&app, id, &project).await?;
    let (base, basis, runs) = match (&asked.base, asked.among()) {
        (Some(_), Some(_)) => {
            let reason = "base: not allowed together with other parameters that choose the base";
            return Err(ApiError::invalid(reason));
        }
        (Some(base), None) => (find(&app, base, &project).await?, Basis::Named, None),
        (None, Some(among)) => chosen_base(&app, &run, among).await?,
        (None, None) => usual_base(&app, &run).await?,
    };
    let change = change_between(&app, &base, &run).await?;
    let (base, run) = (Stored::read(&app, base).await?, Stored::read(&app, run).await?);
    let profiles: [Profile<'_>; 2] = [base.profile()?, run.profile()?];
    let mut outlines = Outlines::default();
    let [then, now] = [(&base, &profiles[0]), (&run, &profiles[1])].map(|(run, profile)| {
        let Query { query_id, started_unix_ns, host, environment, program_version, .. } = &run.query;
        let context = Context {
            host: Some(host.as_str().into()),
            environment: environment.as_deref().map(Into::into),
            program_version: program_version.as_deref().map(Into::into),
        };
        RunFeatures::from_profile(*query_id, *started_unix_ns, profile, &context, &mut outlines)
    });
    let account = Account::of(&then, &now, change.as_ref().map_or(&[], |change| change.causes.as_slice()));
    let change = change.map(|change| change.id);
    let insights::Comparison { same_plan, differences, nodes } =
        insights::compare(&profiles[0], &profiles[1]);
    let (base, run) = (base.query.clone().into(), run.query.clone().into());
    Ok(Json(Comparison {
        base,
        run,
        basis,
        runs,
        same_plan,
        base_physical_fingerprint: then.physical().to_string(),
        run_physical_fingerprint: now.physical().to_string(),
        change,
        account,
        differences,
        nodes,
    }))
}

async fn chosen_base(
    app: &App,
    run: &Query,
    among: QueryFilter,
) -> Result<(Query, Basis, Option<usize>), ApiError> {
    let typical = typical(app, run, among).await?;
    let (base, runs) = typical.ok_or_else(|| {
        let reason = "no other finished run of its label and service is of those asked for";
        ApiError::not_found(format!("query {}: {reason}", run.query_id))
    })?;
    Ok((base, Basis::Chosen, Some(runs)))
}

async fn usual_base(app: &App, run: &Query) -> Result<(Query, Basis, Option<usize>), ApiError> {
    let change = open_change(app, run).await?.filter(|change| change.since_unix_ns <= run.started_unix_ns);
    if let Some(change) = change {
        if let Some(base) = change.examples.base.as_ref().and_then(|base| base.parse().ok())
            && let Some(base) = app.store.query(base).await?
        {
            return Ok((base, Basis::BeforeChange, usize::try_from(change.before.runs).ok()));
        }
        // Retention deleted it: another one from before the change is as good.
        let earlier = QueryFilter { until_unix_ns: Some(change.since_unix_ns - 1), ..QueryFilter::default() };
        if let Some((base, runs)) = typical(app, run, earlier).await? {
            return Ok((base, Basis::BeforeChange, Some(runs)));
        }
    }
    let usual = usual(app, run).await?;
    let (base, alike, runs) = usual.ok_or_else(|| {
        let reason =
            "no earlier run of its plan or label has finished in its service: nothing to compare it with";
        ApiError::not_found(format!("query {}: {reason}", run.query_id))
    })?;
    Ok((base, alike.into(), Some(runs)))
}
