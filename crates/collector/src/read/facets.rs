//! `GET /api/facets`.

use std::sync::Arc;

use axum::Json;
use axum::extract::{RawQuery, State};
use serde::Serialize;
use utoipa::ToSchema;

use super::params::{Params, RunFilters, SourceFilters, filter};
use crate::app::App;
use crate::error::{ApiError, ErrorBody};

/// How many queries each value of a field has.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "service": [{"value": "orders-etl", "runs": 40}, {"value": null, "runs": 0}],
    "environment": [{"value": "prod", "runs": 40}],
    "host": [{"value": "worker-1", "runs": 40}],
    "status": [{"value": "finished", "runs": 39}, {"value": "failed", "runs": 1}]
}))]
pub(crate) struct Facets {
    /// What the sending processes are.
    service: Vec<FacetValue>,
    /// Where they run.
    environment: Vec<FacetValue>,
    /// Their machines.
    host: Vec<FacetValue>,
    /// States of the queries.
    status: Vec<FacetValue>,
}

/// A value and how many queries have it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FacetValue {
    /// The value; null is that of queries without the field.
    value: Option<String>,
    /// Queries that have it.
    runs: u64,
}

/// Counts queries by service, environment, host and status.
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
    RawQuery(query): RawQuery,
) -> Result<Json<Facets>, ApiError> {
    let (store, filter) = (Arc::clone(&app.store), filter(&Params::of(query.as_deref()))?);
    let (facets, _turn) = app.answers.counts.analyse(async move { store.facets(filter).await }).await?;
    let values = |values: Vec<queryscope_store::FacetValue>| {
        values.into_iter().map(|value| FacetValue { value: value.value, runs: value.runs }).collect()
    };
    Ok(Json(Facets {
        service: values(facets.service),
        environment: values(facets.environment),
        host: values(facets.host),
        status: values(facets.status),
    }))
}
