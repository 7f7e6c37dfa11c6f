//! `GET /api/queries/{id}`.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, State};
use queryscope_protocol::QueryId;

use super::params::{Params, ProjectFilter};
use super::summary::QuerySummary;
use crate::app::App;
use crate::error::{ApiError, ErrorBody};

/// Gives one query.
#[utoipa::path(
    get,
    path = "/api/queries/{id}",
    tag = "read",
    params(("id" = String, Path, description = "Id of the query", example = "01a1faa8-1bd9-77b2-97ab-860dd7026506"), ProjectFilter),
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
    id: Result<Path<String>, PathRejection>,
    RawQuery(query): RawQuery,
) -> Result<Json<QuerySummary>, ApiError> {
    let id = text(id)?;
    let params = Params::of(query.as_deref());
    let project = params.text("project")?;
    let found = app.store.query(parse(&id)?).await?;
    found
        .filter(|query| project.is_none_or(|project| project == query.project))
        .map(|query| Json(query.into()))
        .ok_or_else(|| unknown(&id))
}

/// The id in a path as it was sent.
pub(crate) fn text(id: Result<Path<String>, PathRejection>) -> Result<String, ApiError> {
    // Only what is no UTF-8 is rejected, and no id holds that.
    id.map(|Path(id)| id).map_err(|_| ApiError::not_found("there is no query of this id"))
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
