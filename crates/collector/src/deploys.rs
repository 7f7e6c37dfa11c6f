//! Deploys: `POST /v1/deploys`, `GET /api/deploys`, and versions that senders name.

mod seen;

use std::sync::Arc;

use axum::Json;
use axum::extract::{RawQuery, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use queryscope_protocol::limits::PAGE_DEFAULT;
use queryscope_store::{
    Deploy, DeployPlace, DeploySource, DeploySubject, DeploysRequest, NAME_CHARS, PostedDeploy, Role,
    random_id, short_name,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::access::Principal;
use crate::act::body::{bounded, moment, read};
use crate::app::App;
use crate::error::{ApiError, ErrorBody};
use crate::read::{Asked, PROJECT_DEFAULT, cursor, limit, unix_ns};
use crate::security;
use crate::tokens::Bearer;

pub(crate) use self::seen::{SeenVersions, flush, run};

/// Where deploys are posted.
pub(crate) const PATH: &str = "/v1/deploys";

/// Form of a cursor.
const FORM: u8 = 12;
/// Characters of a commit and of an address.
const COMMIT_CHARS_MAX: usize = 200;
const URL_CHARS_MAX: usize = 2_000;

/// A deploy, as a build system posts it.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeployBody {
    /// The service that was deployed, as its processes name it, up to 512 characters; left out for programs that name
    /// none.
    #[serde(default)]
    #[schema(max_length = 512, pattern = r"^[^\x00]*$", example = "orders-etl")]
    service: Option<String>,
    /// The environment it was deployed to, up to 512 characters; left out for all.
    #[serde(default)]
    #[schema(max_length = 512, pattern = r"^[^\x00]*$", example = "prod")]
    environment: Option<String>,
    /// The version, 1 to 512 characters, best the one that processes name as their own.
    #[schema(
        min_length = 1,
        max_length = 512,
        pattern = r"^[^\x00]*[^\s\x00][^\x00]*$",
        example = "2026.11.3"
    )]
    version: String,
    /// The commit, up to 200 characters.
    #[serde(default)]
    #[schema(max_length = 200, pattern = r"^[^\x00]*$", example = "4f2a9c1")]
    commit: Option<String>,
    /// Where people read more: an address with http or https, up to 2,000 characters; empty for none.
    #[serde(default)]
    #[schema(
        max_length = 2000,
        pattern = r"^(https?://[^\x00]*)?$",
        example = "https://ci.example/builds/17"
    )]
    url: Option<String>,
    /// When it began, in Unix nanoseconds, at most an hour ahead; left out for now.
    #[serde(default)]
    #[schema(minimum = 0, example = 1_795_000_000_000_000_000_i64)]
    unix_ns: Option<i64>,
}

/// Tells of a deploy.
///
/// An issue names the deploys between its last good run and its first bad one, so post when the deploy begins, or give
/// its time. The call is idempotent: where the last deploy before it, of the same service and environment, has the same
/// version and commit, it is that one, answered with 200. So a build that posts again says nothing new, and a way back
/// to an earlier version is a deploy of its own.
///
/// Versions that processes name themselves are deploys without a call. One that was posted as well is the posted one.
/// The token is one for sending, whose project the deploy is of, or one of an administrator. Where users log in,
/// editors post with their session.
#[utoipa::path(
    post,
    path = "/v1/deploys",
    tag = "ingest",
    security(("token" = [])),
    request_body = DeployBody,
    responses(
        (status = 200, description = "The deploy that had been posted before", body = Deploy),
        (status = 201, description = "The deploy, stored", body = Deploy),
        (status = 400, description = "The body is invalid", body = ErrorBody),
        (status = 401, description = "The token is missing or wrong", body = ErrorBody),
        (status = 403, description = "Who asks is no editor, or a page of another site asks", body = ErrorBody),
        (status = 408, description = "The body did not arrive within 10 s", body = ErrorBody),
        (status = 413, description = "The body is larger than 64 KiB", body = ErrorBody),
        (status = 415, description = "The body is not application/json", body = ErrorBody),
        (status = 503, description = "Storing failed: send again", body = ErrorBody),
    )
)]
pub(crate) async fn post(State(app): State<Arc<App>>, request: Request) -> Result<Response, ApiError> {
    let now_unix_ns = app.clock.unix_ns();
    let (project, request) = project(&app, request, now_unix_ns / 1_000_000).await?;
    let deploy = deploy(project, read(request).await?, now_unix_ns)?;
    let posted = app.store.deploys().post_deploy(deploy).await.inspect_err(|error| app.watch(error))?;
    let PostedDeploy { deploy, is_new } = posted;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(deploy)).into_response())
}

/// The project of who posts.
async fn project(app: &App, request: Request, unix_ms: i64) -> Result<(String, Request), ApiError> {
    let who = match app.tokens.bearer(request.headers(), unix_ms) {
        Bearer::Reader(who) => who,
        Bearer::None if app.settings.reading.is_restricted() => {
            security::check(app, &request)?;
            let (head, body) = request.into_parts();
            let who = Principal::of(app, &head).await?;
            return Ok((of_editor(who, "this needs the role editor")?, Request::from_parts(head, body)));
        }
        Bearer::None | Bearer::Unknown | Bearer::Sender => {
            return Ok((app.tokens.project(request.headers())?, request));
        }
    };
    Ok((of_editor(who, "the token is for reading: one for sending is needed")?, request))
}

fn of_editor(who: Principal, refusal: &str) -> Result<String, ApiError> {
    if who.role < Role::Editor {
        return Err(ApiError::new(StatusCode::FORBIDDEN, refusal));
    }
    Ok(who.project.unwrap_or_else(|| PROJECT_DEFAULT.into()))
}

fn deploy(project: String, body: DeployBody, now_unix_ns: i64) -> Result<Deploy, ApiError> {
    let version = bounded("version", Some(body.version), NAME_CHARS)?;
    let version = version.ok_or_else(|| ApiError::invalid("version: must not be empty"))?;
    let url = bounded("url", body.url, URL_CHARS_MAX)?;
    if url.as_ref().is_some_and(|url| !url.starts_with("https://") && !url.starts_with("http://")) {
        return Err(ApiError::invalid("url: must begin with https:// or http://"));
    }
    let unix_ns = moment(body.unix_ns, now_unix_ns)?;
    Ok(Deploy {
        id: format!("deploy-{}", random_id().simple()),
        project,
        service: bounded("service", body.service, NAME_CHARS)?,
        environment: bounded("environment", body.environment, NAME_CHARS)?,
        source: DeploySource::Posted,
        subject: DeploySubject::Program,
        engine: None,
        version,
        commit: bounded("commit", body.commit, COMMIT_CHARS_MAX)?,
        url,
        unix_ns,
        last_unix_ns: unix_ns,
    })
}

/// Which deploys are asked for.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(crate) struct DeploysParams {
    /// Keeps deploys of this project.
    #[param(example = "default")]
    project: Option<String>,
    /// Keeps deploys of this service; empty keeps those of programs without one.
    #[param(example = "orders-etl")]
    service: Option<String>,
    /// Keeps deploys to this environment, those that were posted for all included; empty keeps those that name none.
    #[param(example = "prod")]
    environment: Option<String>,
    /// Keeps deploys at or after this, in Unix nanoseconds.
    #[param(example = 1_794_000_000_000_000_000_i64)]
    #[serde(deserialize_with = "unix_ns")]
    since: Option<i64>,
    /// Keeps deploys at or before this, in Unix nanoseconds.
    #[param(example = 1_796_000_000_000_000_000_i64)]
    #[serde(deserialize_with = "unix_ns")]
    until: Option<i64>,
    /// Deploys on the page.
    #[param(minimum = 1, maximum = 1000, default = 100, example = 20)]
    #[serde(deserialize_with = "limit")]
    limit: Option<u64>,
    /// Goes on where a page ended: its `next`, for the same parameters.
    #[param(pattern = "^[A-Za-z0-9_-]+$", example = "DA")]
    cursor: Option<String>,
}

/// Deploys of services.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Deploys {
    /// The last one first.
    deploys: Vec<Deploy>,
    /// The `cursor` of the next page; null where this is the last.
    next: Option<String>,
}

/// Lists deploys: those that were posted, and versions of programs and engines that processes named after another one.
///
/// A version counts once for each service and environment, from the start of its first run. A process of an earlier
/// version that goes on, or comes later, is no deploy.
#[utoipa::path(
    get,
    path = "/api/deploys",
    operation_id = "deploys",
    tag = "read",
    params(DeploysParams),
    responses(
        (
            status = 200,
            description = "The deploys",
            body = Deploys,
            headers(("Link" = String, description = "Address of the next page, where there is one"))
        ),
        (status = 400, description = "A parameter is invalid", body = ErrorBody),
        (status = 403, description = "The Host is a name that is not served", body = ErrorBody),
        (status = 503, description = "Reading failed", body = ErrorBody),
    )
)]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    RawQuery(query): RawQuery,
    Asked(asked): Asked<DeploysParams>,
) -> Result<Response, ApiError> {
    let after =
        asked.cursor.as_deref().map(|text| cursor::read_page::<(i64, String)>(FORM, text)).transpose()?;
    let limit = asked.limit.map_or(PAGE_DEFAULT, |limit| limit as usize);
    let request = DeploysRequest {
        project: asked.project,
        service: asked.service.as_deref().map(short_name),
        environment: asked.environment.as_deref().map(short_name),
        since_unix_ns: asked.since,
        until_unix_ns: asked.until,
        after: after.map(|(unix_ns, id)| DeployPlace { unix_ns, id }),
        limit: limit + 1,
    };
    let mut deploys = app.store.deploys().list_deploys(request).await?;
    let last = cursor::cut(&mut deploys, limit);
    let next = last.map(|last| cursor::write_page(FORM, &(last.unix_ns, &last.id)));
    let link = next.as_ref().map(|next| [cursor::link("/api/deploys", query.as_deref(), next)]);
    Ok((link, Json(Deploys { deploys, next })).into_response())
}
