//! `GET /api/groups`.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{RawQuery, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use queryscope_history::Group;
use queryscope_store::{GroupBy, GroupsRequest};
use serde::Deserialize;

use super::answers::Reader;
use super::asked::Asked;
use super::conditional::tag;
use super::cursor;
use super::params::{RunFilters, SourceFilters};
use super::part::{Part, PartParams};
use super::stream::{self, Shape, write_json};
use crate::app::App;
use crate::error::{ApiError, ErrorBody};

/// What queries are grouped by.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(crate) struct GroupParams {
    /// `label`, which is the default, or `fingerprint` for their plan.
    #[param(value_type = GroupBy, inline, required = false, example = "label")]
    by: Option<GroupBy>,
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
            body = Vec<Group<'static>>,
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
    Asked(source): Asked<SourceFilters>,
    Asked(runs): Asked<RunFilters>,
    Asked(grouped): Asked<GroupParams>,
    Asked(part): Asked<PartParams>,
) -> Result<Response, ApiError> {
    let by = grouped.by.unwrap_or_default();
    let form = match by {
        GroupBy::Label => BY_LABEL,
        GroupBy::Fingerprint => BY_FINGERPRINT,
    };
    let Part { limit, after } = part.part(form)?;
    let request = GroupsRequest { filter: runs.filter(source), by, after, limit };
    let store = Arc::clone(&app.store);
    let lane = app.answers.lane(request.limit.is_some() || request.filter.label.is_some());
    let (groups, turn) = lane.analyse(async move { store.groups(request).await }).await?;
    let next = groups.next.map(|next| cursor::write_page(form, &next));
    let link = next.map(|next| [cursor::link("/api/groups", query.as_deref(), &next)]);
    let tag = [(header::ETAG, tag([groups.entries.bytes()]))];
    let write = Box::new(|group: Group<'static>, to: &mut Vec<u8>| write_json(&group, to));
    let shape = Shape { head: b"[".to_vec(), tail: b"]", write };
    let answer = stream::answer(&app.answers, &reader, groups.entries, shape).await?;
    drop(turn);
    Ok((tag, link, answer).into_response())
}
