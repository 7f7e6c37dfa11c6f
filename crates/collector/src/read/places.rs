//! `GET /api/places`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use queryscope_store::Places;

use super::asked::Asked;
use super::params::{RunFilters, SourceFilters};
use crate::app::App;
use crate::error::{ApiError, ErrorBody};

/// Tells what ran where: runs by state and their wall time, by service, environment and host, the place of the most
/// wall time first. Runs that failed count with the time they took.
#[utoipa::path(
    get,
    path = "/api/places",
    tag = "read",
    params(SourceFilters, RunFilters),
    responses(
        (status = 200, description = "The places", body = Places),
        (status = 400, description = "A parameter is invalid", body = ErrorBody),
        (status = 403, description = "The Host is a name that is not served", body = ErrorBody),
        (status = 503, description = "Reading failed, or too many others read", body = ErrorBody),
    )
)]
pub(crate) async fn places(
    State(app): State<Arc<App>>,
    Asked(source): Asked<SourceFilters>,
    Asked(runs): Asked<RunFilters>,
) -> Result<Json<Places>, ApiError> {
    let (store, filter) = (Arc::clone(&app.store), runs.filter(source));
    let answer = async move { store.place_totals(filter).await };
    let (places, _turn) = app.answers.counts.analyse(answer).await?;
    Ok(Json(places))
}
