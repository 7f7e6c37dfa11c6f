//! `GET /api/compare`.

mod shape;

use std::sync::Arc;

use axum::Json;
use axum::extract::{RawQuery, State};
use queryscope_insights::compare as compare_profiles;
use queryscope_protocol::Profile;
use queryscope_store::Query;

use super::params::{Params, ProjectFilter};
use super::stored::{Stored, find};
use super::usual::usual;
use crate::app::App;
use crate::error::{ApiError, ErrorBody};

use shape::{Basis, Comparison};

/// Compares two runs.
///
/// Nodes are matched over both plans, also where the plan changed, and the difference of the wall times is accounted
/// for in whole nanoseconds: its parts sum to it exactly. Without `base`, the run is compared with the usual one: of
/// the up to 100 finished runs of its plan and label that began before it, else of those of its label, the one whose
/// wall time is nearest their median.
#[utoipa::path(
    get,
    path = "/api/compare",
    tag = "read",
    params(
        ("run" = String, Query, description = "Id of the query to judge; it may still run", example = "01a1faa8-1bd9-77b2-97ab-860dd7026506"),
        ("base" = Option<String>, Query, description = "Id of the query to compare it with", example = "01a1f582-c3a4-71d0-9f0e-0d6f0bb3d1c5"),
        ProjectFilter
    ),
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
    RawQuery(query): RawQuery,
) -> Result<Json<Comparison>, ApiError> {
    let params = Params::of(query.as_deref());
    let project = params.text("project")?;
    let run = params.text("run")?.ok_or_else(|| ApiError::invalid("run: is needed, the id of a query"))?;
    let run = find(&app, run, project).await?;
    let (base, basis, runs) = match params.text("base")? {
        Some(base) => (find(&app, base, project).await?, Basis::Named, None),
        None => usual_base(&app, &run).await?,
    };
    let (base, run) = (Stored::read(&app, base).await?, Stored::read(&app, run).await?);
    let profiles: [Profile<'_>; 2] = [base.profile()?, run.profile()?];
    let compared = compare_profiles(&profiles[0], &profiles[1]);
    Ok(Json(Comparison::of(base.query.clone(), run.query.clone(), basis, runs, compared)))
}

async fn usual_base(app: &App, run: &Query) -> Result<(Query, Basis, Option<usize>), ApiError> {
    let usual = usual(app, run).await?;
    let (base, alike, runs) = usual.ok_or_else(|| {
        let reason = "no earlier run of its plan or label has finished, there is nothing to compare it with";
        ApiError::not_found(format!("query {}: {reason}", run.query_id))
    })?;
    Ok((base, alike.into(), Some(runs)))
}
