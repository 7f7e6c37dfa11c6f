//! `GET /api/facets`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use queryscope_store::Facets;

use super::asked::Asked;
use super::params::{RunFilters, SourceFilters};
use crate::app::App;
use crate::error::{ApiError, ErrorBody};

/// Counts queries by service, environment, host, versions of engine and program, and status.
///
/// Each field is counted under the filters on the others, the most frequent value first. A value that occurs
/// under the filters on project, label and time is listed also when it has no queries under the rest.
#[utoipa::path(
    get,
    path = "/api/facets",
    tag = "read",
    params(SourceFilters, RunFilters),
    responses(
        (status = 200, description = "Counts by field", body = Facets),
        (status = 400, description = "A parameter is invalid", body = ErrorBody),
        (status = 403, description = "The Host is a name that is not served", body = ErrorBody),
        (status = 503, description = "Reading failed", body = ErrorBody),
    )
)]
pub(crate) async fn facets(
    State(app): State<Arc<App>>,
    Asked(source): Asked<SourceFilters>,
    Asked(runs): Asked<RunFilters>,
) -> Result<Json<Facets>, ApiError> {
    let (store, filter) = (Arc::clone(&app.store), runs.filter(source));
    let (facets, _turn) = app.answers.counts.analyse(async move { store.facets(filter).await }).await?;
    Ok(Json(facets))
}
