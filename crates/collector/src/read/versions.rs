//! `GET /api/versions`.

use std::sync::Arc;

use axum::Json;
use axum::extract::{RawQuery, State};
use queryscope_store::VersionEntry;
use serde::Serialize;
use utoipa::ToSchema;

use super::params::{Params, filter};
use crate::app::App;
use crate::error::{ApiError, ErrorBody};

/// The filters that versions take beside the label.
#[derive(Debug, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "says what `filter` reads")]
pub(crate) struct VersionFilters {
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
    /// Keeps queries that started at or after this, in Unix nanoseconds.
    #[param(example = 1_794_000_000_000_000_000_i64)]
    since: Option<i64>,
    /// Keeps queries that started at or before this, in Unix nanoseconds.
    #[param(example = 1_796_000_000_000_000_000_i64)]
    until: Option<i64>,
}

/// The queries of a label with one plan.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "fingerprint": "238b6af6d50a",
    "runs": 12,
    "failed": 0,
    "first_started_unix_ns": 1_794_106_683_609_778_763_i64,
    "last_started_unix_ns": 1_795_206_683_609_778_763_i64,
    "usual_wall_ms": 408.1,
    "rules": ["exploding_join"],
    "latest_query_id": "01a1faa8-1bd9-77b2-97ab-860dd7026506"
}))]
pub(crate) struct Version {
    /// Hash of the plan.
    fingerprint: String,
    /// Queries, of every state.
    runs: u64,
    /// Those of them that failed.
    failed: u64,
    /// When the first of them started, in Unix nanoseconds.
    first_started_unix_ns: i64,
    /// When the last of them started, in Unix nanoseconds.
    last_started_unix_ns: i64,
    /// Median wall time of those that finished, in milliseconds.
    usual_wall_ms: f64,
    /// Rules that warned in any of them, by name.
    rules: Vec<String>,
    /// The last of them, whatever its state.
    latest_query_id: String,
}

impl From<VersionEntry> for Version {
    fn from(version: VersionEntry) -> Self {
        Self {
            fingerprint: version.fingerprint,
            runs: version.runs,
            failed: version.failed,
            first_started_unix_ns: version.first_started_unix_ns,
            last_started_unix_ns: version.last_started_unix_ns,
            usual_wall_ms: version.usual_wall_ms,
            rules: version.rules,
            latest_query_id: version.latest_query_id.to_string(),
        }
    }
}

/// Gives each plan a label finished with at least once, the plan that ran last first. Needs `label`.
#[utoipa::path(
    get,
    path = "/api/versions",
    tag = "read",
    params(
        ("label" = String, Query, description = "The label; empty is that of queries without one", example = "orders/daily"),
        VersionFilters
    ),
    responses(
        (status = 200, description = "The plans", body = Vec<Version>),
        (status = 400, description = "A parameter is invalid, or label is missing", body = ErrorBody),
        (status = 403, description = "The Host is a name that is not served", body = ErrorBody),
        (status = 503, description = "Reading failed", body = ErrorBody),
    )
)]
pub(crate) async fn versions(
    State(app): State<Arc<App>>,
    RawQuery(query): RawQuery,
) -> Result<Json<Vec<Version>>, ApiError> {
    let filter = filter(&Params::of(query.as_deref()))?;
    if filter.label.is_none() {
        return Err(ApiError::invalid("label: is needed, versions are those of one label"));
    }
    let store = Arc::clone(&app.store);
    let (versions, _turn) = app.answers.counts.analyse(async move { store.versions(filter).await }).await?;
    Ok(Json(versions.into_iter().map(Into::into).collect()))
}
