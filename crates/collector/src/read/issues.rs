//! `GET /api/issues` and `GET /api/issues/{id}`.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse, Response};
use queryscope_diagnosis::Change;
use queryscope_issues::{Issue, Kind, Note, State as IssueState, Transition};
use queryscope_protocol::limits::PAGE_DEFAULT;
use queryscope_store::{
    Deploy, DeploySource, DeploySpan, DeployStore, DeploySubject, IssuePlace, IssueRecord, IssuesRequest,
    StoreError, after_deploys, short_name,
};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use super::asked::{Asked, parsed};
use super::cursor;
use super::params::{ProjectFilter, is, limit};
use crate::app::App;
use crate::error::{ApiError, ErrorBody};
use crate::evaluation;

/// Form of a cursor.
const FORM: u8 = 10;
/// Issues that are read at once where those of an owner, or their owners, are asked for.
pub(super) const READ_AT_ONCE: usize = 1_000;

/// Which issues are asked for.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(crate) struct IssuesParams {
    /// Keeps issues of this project.
    #[param(example = "default")]
    project: Option<String>,
    /// Keeps issues of queries with this label.
    #[param(example = "orders/daily")]
    label: Option<String>,
    /// Keeps issues of queries with this service; empty keeps those without one.
    #[param(example = "orders-etl")]
    service: Option<String>,
    /// Keeps issues of this kind.
    #[param(value_type = Kind, inline, required = false, example = "slower")]
    kind: Option<Kind>,
    /// Keeps issues in this state, or in one of several, separated by commas: `open`, `acknowledged`, `muted`,
    /// `resolved`, `regressed`.
    #[param(value_type = String, required = false, example = "open,regressed")]
    #[serde(deserialize_with = "states")]
    state: Option<Vec<IssueState>>,
    /// Keeps issues of queries that this owner has; empty keeps those without one.
    #[param(example = "team-orders")]
    owner: Option<String>,
    /// Issues on the page.
    #[param(minimum = 1, maximum = 1000, default = 100, example = 20)]
    #[serde(deserialize_with = "limit")]
    limit: Option<u64>,
    /// Goes on where a page ended: its `next`, for the same parameters.
    #[param(pattern = "^[A-Za-z0-9_-]+$", example = "Cg")]
    cursor: Option<String>,
}

/// An issue, and what was deployed when it began.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ListedIssue {
    #[serde(flatten)]
    issue: Issue,
    /// Deploys of its service between its last good run and its first bad one, the first first; at most the last 20.
    deploys: Vec<Deploy>,
    /// These in words: `after deploy 1.4.2`; null where there are none.
    #[schema(example = "after deploy 2026.11.3")]
    after_deploys: Option<String>,
}

/// Issues of queries.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Issues {
    /// Those with the most wall time a day at stake first.
    issues: Vec<ListedIssue>,
    /// The `cursor` of the next page; null where this is the last.
    next: Option<String>,
}

/// An issue and all that happened to it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct IssueDetail {
    /// The issue.
    issue: ListedIssue,
    /// The change it is about; null where retention has deleted it, or it is about a run.
    change: Option<Change>,
    /// Its moves, the first first.
    transitions: Vec<Transition>,
    /// What people wrote to it, the first first.
    notes: Vec<Note>,
}

/// Lists what changed for the worse in queries and needs somebody, with a state that people and the service move.
///
/// There is one issue for each project, service, label and kind. It opens when the service has confirmed a change and
/// enough time is at stake, and is resolved by a person, or by the service once the change is over and five more runs
/// confirm it. A resolved issue that comes back is the same issue, `regressed`.
///
/// A page that is not the last names the next in `next` and in the `Link` header. Figures move while pages are read: an
/// issue may be on two pages or on none.
#[utoipa::path(
    get,
    path = "/api/issues",
    tag = "read",
    params(IssuesParams),
    responses(
        (
            status = 200,
            description = "The issues",
            body = Issues,
            headers(("Link" = String, description = "Address of the next page, where there is one"))
        ),
        (status = 400, description = "A parameter is invalid", body = ErrorBody),
        (status = 403, description = "The Host is a name that is not served", body = ErrorBody),
        (status = 503, description = "Reading failed", body = ErrorBody),
    )
)]
pub(crate) async fn issues(
    State(app): State<Arc<App>>,
    RawQuery(query): RawQuery,
    Asked(asked): Asked<IssuesParams>,
) -> Result<Response, ApiError> {
    let owner = asked.owner.clone();
    let request = request(asked)?;
    let limit = request.limit;
    let mut issues = page(&app, IssuesRequest { limit: limit + 1, ..request }, owner.as_deref()).await?;
    let next = cursor::cut(&mut issues, limit).map(|last| write_cursor(&IssuePlace::of(last)));
    let link = next.as_ref().map(|next| [cursor::link("/api/issues", query.as_deref(), next)]);
    let issues = listed(&app, issues).await?;
    Ok((link, Json(Issues { issues, next })).into_response())
}

/// A page of issues with their owners. The store knows no owners: of one owner, it is read until the page is full.
async fn page(app: &App, request: IssuesRequest, owner: Option<&str>) -> Result<Vec<Issue>, ApiError> {
    let limit = request.limit;
    let Some(owner) = owner else {
        let issues = app.store.issues(request).await?;
        return Ok(issues.into_iter().map(|issue| app.own(issue)).collect());
    };
    let owner = Some(owner).filter(|owner| !owner.is_empty());
    let mut request = IssuesRequest { limit: READ_AT_ONCE, ..request };
    let mut kept = Vec::new();
    loop {
        let read = app.store.issues(request.clone()).await?;
        let is_last = read.len() < READ_AT_ONCE;
        request.after = read.last().map(IssuePlace::of);
        let of_owner = read.into_iter().map(|issue| app.own(issue));
        kept.extend(of_owner.filter(|issue| issue.owner.as_deref() == owner));
        if is_last || kept.len() >= limit {
            kept.truncate(limit);
            return Ok(kept);
        }
    }
}

/// One issue, with the change it is about, its transitions and its notes.
#[utoipa::path(
    get,
    path = "/api/issues/{id}",
    tag = "read",
    params(
        (
            "id" = String, Path,
            description = "Id of the issue",
            example = "issue-slower-01a1faa81bd977b297ab860dd7026506"
        ),
        ProjectFilter
    ),
    responses(
        (status = 200, description = "The issue", body = IssueDetail),
        (status = 400, description = "A parameter is invalid", body = ErrorBody),
        (status = 403, description = "The Host is a name that is not served", body = ErrorBody),
        (status = 404, description = "There is no such issue", body = ErrorBody),
        (status = 503, description = "Reading failed", body = ErrorBody),
    )
)]
pub(crate) async fn issue(
    State(app): State<Arc<App>>,
    id: Result<Path<String>, PathRejection>,
    Asked(project): Asked<ProjectFilter>,
) -> Result<Json<IssueDetail>, ApiError> {
    let id = issue_id(id)?;
    detail(&app, &id, &project).await.map(Json)
}

/// The id in the path. Only what is no UTF-8 is rejected, and no id holds that.
pub(crate) fn issue_id(id: Result<Path<String>, PathRejection>) -> Result<String, ApiError> {
    id.map(|Path(id)| id).map_err(|_| ApiError::not_found("there is no issue of this id"))
}

/// 404 for an issue that is not there.
pub(crate) fn no_issue(id: &str) -> ApiError {
    let shown: String = id.chars().take(80).collect();
    ApiError::not_found(format!("there is no issue {shown:?}"))
}

/// An issue and all that happened to it.
///
/// # Errors
/// 404 where there is none in the project.
pub(crate) async fn detail(app: &App, id: &str, project: &ProjectFilter) -> Result<IssueDetail, ApiError> {
    let found = app.store.issue(id).await?.filter(|record| project.keeps(&record.issue.project));
    let IssueRecord { issue, transitions, notes } = found.ok_or_else(|| no_issue(id))?;
    let change = match &issue.change {
        Some(change) => app.store.change(change).await?,
        None => None,
    };
    let change = change.as_ref().map(evaluation::change).transpose()?;
    let issue = listed(app, vec![app.own(issue)]).await?.pop().ok_or_else(|| no_issue(id))?;
    Ok(IssueDetail { issue, change, transitions, notes })
}

/// Issues with the deploys between their last good run and their first bad one.
async fn listed(app: &App, issues: Vec<Issue>) -> Result<Vec<ListedIssue>, ApiError> {
    let deploys = deploys_of(app.store.deploys(), issues.iter()).await?;
    let listed = issues.into_iter().zip(deploys).map(|(issue, deploys)| {
        let after_deploys = after_deploys(&deploys);
        ListedIssue { issue, deploys, after_deploys }
    });
    Ok(listed.collect())
}

/// The deploys of each issue: those between its last good run and its first bad one that can be of its query.
///
/// # Errors
/// When the store fails.
pub(crate) async fn deploys_of<'i>(
    store: &dyn DeployStore,
    issues: impl Iterator<Item = &'i Issue> + Clone,
) -> Result<Vec<Vec<Deploy>>, StoreError> {
    let spans = issues.clone().map(deploy_span).collect();
    let mut deploys = store.deploys_between(spans).await?;
    for (deploys, issue) in deploys.iter_mut().zip(issues) {
        deploys.retain(|deploy| can_be_of(deploy, issue));
    }
    Ok(deploys)
}

/// Whether a deploy can be of the program, or the engine, that runs the query of an issue. What was posted is of the
/// whole service. A version that senders named is of the programs that name one, and of its engine.
fn can_be_of(deploy: &Deploy, issue: &Issue) -> bool {
    if deploy.source == DeploySource::Posted {
        return true;
    }
    match deploy.subject {
        DeploySubject::Program => issue.program_version.is_some(),
        DeploySubject::Engine => issue.engine_version.as_ref().is_none_or(|version| {
            deploy.engine.as_ref().is_none_or(|engine| version.split(' ').next() == Some(engine))
        }),
    }
}

/// From the last good run to the first bad one; nothing is within where one of them is not known.
fn deploy_span(issue: &Issue) -> DeploySpan {
    let known = issue.good_unix_ns.zip(issue.since_unix_ns);
    let (after_unix_ns, until_unix_ns) = known.unwrap_or((i64::MAX, i64::MIN));
    DeploySpan {
        project: issue.project.clone(),
        service: issue.service.clone(),
        environment: issue.environment.clone(),
        after_unix_ns,
        until_unix_ns,
    }
}

fn request(asked: IssuesParams) -> Result<IssuesRequest, ApiError> {
    Ok(IssuesRequest {
        project: asked.project,
        service: asked.service.as_deref().map(is),
        label: asked.label.as_deref().map(short_name),
        kind: asked.kind,
        states: asked.state.unwrap_or_default(),
        after: asked.cursor.as_deref().map(read_cursor).transpose()?,
        limit: asked.limit.map_or(PAGE_DEFAULT, |limit| limit as usize),
    })
}

pub(super) fn states<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<IssueState>>, D::Error> {
    let takes = "one or more of open, acknowledged, muted, resolved and regressed, separated by commas";
    parsed(from, takes, |text| text.split(',').map(IssueState::from_name).collect())
}

/// The cost goes by its bits: it comes back as it was.
fn write_cursor(place: &IssuePlace) -> String {
    cursor::write_page(FORM, &(place.wall_ms_a_day.to_bits(), &place.id))
}

fn read_cursor(text: &str) -> Result<IssuePlace, ApiError> {
    let (bits, id) = cursor::read_page::<(u64, String)>(FORM, text)?;
    let wall_ms_a_day = f64::from_bits(bits);
    if wall_ms_a_day.is_finite() {
        Ok(IssuePlace { wall_ms_a_day, id })
    } else {
        Err(ApiError::invalid("cursor: not the next of such a page"))
    }
}
