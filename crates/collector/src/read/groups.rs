//! `GET /api/groups`.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{RawQuery, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use queryscope_store::{GroupBy, GroupEntry, GroupPlace, GroupsRequest};
use serde::Serialize;
use utoipa::ToSchema;

use super::answers::Reader;
use super::conditional::tag;
use super::cursor;
use super::params::{Params, RunFilters, SourceFilters, filter};
use super::part::{Part, PartParams};
use super::stream::{self, Shape, write_json};
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

/// Form of a cursor: by label and by plan.
const BY_LABEL: u8 = 3;
const BY_FINGERPRINT: u8 = 4;

/// Groups queries by label or plan, the group run most recently first. Queries without one belong to no group.
///
/// With `limit`, every page that is not the last carries a `Link` header with `rel="next"`. A group that runs again
/// moves to the front and is not on later pages.
#[utoipa::path(
    get,
    path = "/api/groups",
    tag = "read",
    params(SourceFilters, RunFilters, GroupParams, PartParams),
    responses(
        (
            status = 200,
            description = "The groups",
            body = Vec<Group>,
            headers(("Link" = String, description = "Address of the next page, where there is one"))
        ),
        (status = 400, description = "A parameter is invalid", body = ErrorBody),
        (status = 403, description = "The Host is a name that is not served", body = ErrorBody),
        (status = 503, description = "Reading failed, or too many others read", body = ErrorBody),
    )
)]
pub(crate) async fn groups(
    State(app): State<Arc<App>>,
    Extension(reader): Extension<Reader>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let params = Params::of(query.as_deref());
    let by = params.value("by", "label or fingerprint", |text| match text {
        "label" => Some(GroupBy::Label),
        "fingerprint" => Some(GroupBy::Fingerprint),
        _ => None,
    })?;
    let by = by.unwrap_or_default();
    let form = if by == GroupBy::Label { BY_LABEL } else { BY_FINGERPRINT };
    let Part { limit, after } = Part::<GroupPlace>::of(&params, form)?;
    let request = GroupsRequest { filter: filter(&params)?, by, after, limit };
    let store = Arc::clone(&app.store);
    let lane = app.answers.lane(request.limit.is_some() || request.filter.label.is_some());
    let (groups, turn) = lane.analyse(async move { store.groups(request).await }).await?;
    let next = groups.next.map(|next| cursor::write_page(form, &next));
    let link = next.map(|next| [cursor::link("/api/groups", query.as_deref(), &next)]);
    let tag = [(header::ETAG, tag([groups.entries.bytes()]))];
    let shape =
        Shape { head: b"[".to_vec(), tail: b"]", write: |group, to| write_json(&Group::from(group), to) };
    let answer = stream::answer(&app.answers, &reader, groups.entries, shape).await?;
    drop(turn);
    Ok((tag, link, answer).into_response())
}
