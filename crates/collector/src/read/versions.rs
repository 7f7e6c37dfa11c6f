//! `GET /api/versions`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use queryscope_history::Version;
use queryscope_store::{QueryFilter, Status};
use serde::Deserialize;

use super::asked::Asked;
use super::params::{RunFilters, SourceFilters, unix_ns};
use crate::app::App;
use crate::error::{ApiError, ErrorBody};

/// Which versions are asked for.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(crate) struct VersionParams {
    /// The label; empty is that of queries without one
    #[param(value_type = String, required = true, example = "orders/daily")]
    label: Option<String>,
    /// Keeps queries of this project.
    #[param(example = "default")]
    project: Option<String>,
    /// Keeps queries from processes with this service; empty keeps those without one.
    #[param(example = "orders-etl")]
    service: Option<String>,
    /// Keeps queries from processes with this environment; empty keeps those without one.
    #[param(example = "prod")]
    environment: Option<String>,
    /// Keeps queries from processes on this host.
    #[param(example = "worker-1")]
    host: Option<String>,
    /// Keeps queries with this plan fingerprint.
    #[param(example = "238b6af6d50a")]
    fingerprint: Option<String>,
    /// Keeps queries in this state.
    #[param(value_type = Status, inline, required = false, example = "finished")]
    status: Option<Status>,
    /// Keeps queries that started at or after this, in Unix nanoseconds.
    #[param(example = 1_794_000_000_000_000_000_i64)]
    #[serde(deserialize_with = "unix_ns")]
    since: Option<i64>,
    /// Keeps queries that started at or before this, in Unix nanoseconds.
    #[param(example = 1_796_000_000_000_000_000_i64)]
    #[serde(deserialize_with = "unix_ns")]
    until: Option<i64>,
}

impl VersionParams {
    fn filter(self) -> QueryFilter {
        let Self { label, project, service, environment, host, fingerprint, status, since, until } = self;
        let source = SourceFilters { project, label, service, environment, host };
        RunFilters { fingerprint, status, since, until, ..RunFilters::default() }.filter(source)
    }
}

/// Gives each plan a label finished with at least once, the plan that ran last first. Needs `label`.
#[utoipa::path(
    get,
    path = "/api/versions",
    tag = "read",
    params(VersionParams),
    responses(
        (status = 200, description = "The plans", body = Vec<Version>),
        (status = 400, description = "A parameter is invalid, or label is missing", body = ErrorBody),
        (status = 403, description = "The Host is a name that is not served", body = ErrorBody),
        (status = 503, description = "Reading failed", body = ErrorBody),
    )
)]
pub(crate) async fn versions(
    State(app): State<Arc<App>>,
    Asked(params): Asked<VersionParams>,
) -> Result<Json<Vec<Version>>, ApiError> {
    let filter = params.filter();
    if filter.label.is_none() {
        return Err(ApiError::invalid("label: is needed, versions are those of one label"));
    }
    let store = Arc::clone(&app.store);
    let (versions, _turn) = app.answers.counts.analyse(async move { store.versions(filter).await }).await?;
    Ok(Json(versions))
}
