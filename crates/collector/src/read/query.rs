//! `GET /api/queries/{id}`.

use std::sync::Arc;

use axum::Json;
use axum::extract::{FromRequestParts, Path, State};
use axum::http::request::Parts;
use queryscope_protocol::QueryId;
use queryscope_store::Query;

use super::asked::Asked;
use super::params::ProjectFilter;
use super::summary::QuerySummary;
use crate::app::App;
use crate::error::{ApiError, ErrorBody};

/// Gives one query.
#[utoipa::path(
    get,
    path = "/api/queries/{id}",
    tag = "read",
    params(QueryPath, ProjectFilter),
    responses(
        (status = 200, description = "The query", body = QuerySummary),
        (status = 400, description = "A parameter is invalid", body = ErrorBody),
        (status = 403, description = "The Host is a name that is not served", body = ErrorBody),
        (status = 404, description = "There is no such query", body = ErrorBody),
        (status = 503, description = "Reading failed", body = ErrorBody),
    )
)]
pub(crate) async fn query(
    State(app): State<Arc<App>>,
    path: QueryPath,
    Asked(project): Asked<ProjectFilter>,
) -> Result<Json<QuerySummary>, ApiError> {
    Ok(Json(find(&app, &path.id, &project).await?.into()))
}

/// The query a path names.
#[derive(Debug, utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct QueryPath {
    /// Id of the query
    #[param(example = "01a1faa8-1bd9-77b2-97ab-860dd7026506")]
    pub(crate) id: String,
}

impl<S: Send + Sync> FromRequestParts<S> for QueryPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        // Only what is no UTF-8 is rejected, and no id holds that.
        let id = Path::from_request_parts(parts, state).await;
        id.map(|Path(id)| Self { id }).map_err(|_| ApiError::not_found("there is no query of this id"))
    }
}

/// The query of an id.
///
/// # Errors
/// 404 when there is none, or none of the project.
pub(crate) async fn find(app: &App, id: &str, project: &ProjectFilter) -> Result<Query, ApiError> {
    let found = app.store.query(parse(id)?).await?;
    found.filter(|query| project.keeps(&query.project)).ok_or_else(|| unknown(id))
}

/// The id in a path; what is no id is the id of no query.
pub(crate) fn parse(id: &str) -> Result<QueryId, ApiError> {
    id.parse().map_err(|_| unknown(id))
}

/// 404 for a query there is not.
pub(crate) fn unknown(id: &str) -> ApiError {
    let shown: String = id.chars().take(80).collect();
    ApiError::not_found(format!("there is no query {shown:?}"))
}
