//! `GET /api/groups`.

use std::sync::Arc;

use axum::extract::{RawQuery, State};
use queryscope_store::{GroupBy, GroupEntry};
use serde::Serialize;
use utoipa::ToSchema;

use super::params::{Params, RunFilters, SourceFilters, filter};
use super::pieces::LongJson;
use crate::app::App;
use crate::error::{ApiError, ErrorBody};

/// What queries are grouped by.
#[derive(Debug, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "says what `groups` reads")]
pub(crate) struct GroupParams {
    /// `label`, which is the default, or `fingerprint` for their plan.
    #[param(inline, required = false, example = "label")]
    by: GroupByName,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = GroupBy)]
#[expect(dead_code, reason = "names what `by` takes in the document")]
pub(crate) enum GroupByName {
    /// By label.
    Label,
    /// By plan.
    Fingerprint,
}

/// The queries of one label or plan.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "key": "orders/daily",
    "runs": 14,
    "failed": 1,
    "last_started_unix_ns": 1_795_206_683_609_778_763_i64,
    "total_wall_ms": 5308.4,
    "usual_wall_ms": 408.1,
    "rules": ["exploding_join"],
    "recent_wall_ms": [401.2, 408.1, 415.7]
}))]
pub(crate) struct Group {
    /// The label or the fingerprint.
    key: String,
    /// Queries, of every state.
    runs: u64,
    /// Those of them that failed.
    failed: u64,
    /// When the last of them started, in Unix nanoseconds.
    last_started_unix_ns: i64,
    /// Wall time of those that finished, together, in milliseconds.
    total_wall_ms: f64,
    /// Median wall time of those that finished, in milliseconds; null when none did.
    usual_wall_ms: Option<f64>,
    /// Rules that warned in any of them, by name.
    rules: Vec<String>,
    /// Wall times of the last 30 that finished, the oldest first, in milliseconds.
    recent_wall_ms: Vec<f64>,
}

impl From<GroupEntry> for Group {
    fn from(group: GroupEntry) -> Self {
        Self {
            key: group.key,
            runs: group.runs,
            failed: group.failed,
            last_started_unix_ns: group.last_started_unix_ns,
            total_wall_ms: group.total_wall_ms,
            usual_wall_ms: group.usual_wall_ms,
            rules: group.rules,
            recent_wall_ms: group.recent_wall_ms,
        }
    }
}

/// Groups queries by label or plan, the group run most recently first. Queries without one belong to no group.
#[utoipa::path(
    get,
    path = "/api/groups",
    tag = "read",
    params(SourceFilters, RunFilters, GroupParams),
    responses(
        (status = 200, description = "The groups", body = Vec<Group>),
        (status = 400, description = "A parameter is invalid", body = ErrorBody),
        (status = 403, description = "The Host is a name that is not served", body = ErrorBody),
        (status = 503, description = "Reading failed", body = ErrorBody),
    )
)]
pub(crate) async fn groups(
    State(app): State<Arc<App>>,
    RawQuery(query): RawQuery,
) -> Result<LongJson<Vec<Group>>, ApiError> {
    let params = Params::of(query.as_deref());
    let by = params.value("by", "label or fingerprint", |text| match text {
        "label" => Some(GroupBy::Label),
        "fingerprint" => Some(GroupBy::Fingerprint),
        _ => None,
    })?;
    let groups = app.store.groups(filter(&params)?, by.unwrap_or_default()).await?;
    Ok(LongJson(groups.into_iter().map(Into::into).collect()))
}
