//! What people do to issues: `POST /api/issues/{id}/…`.
//!
//! Each reader of an open service may do so; where reading is restricted, an editor. Pages of other sites may not:
//! requests that a browser says are theirs are refused for all routes of readers, and a body must be
//! `application/json`, which no form can send.

pub(crate) mod body;

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use queryscope_issues::{Action, Condition, Note, Refusal, Version};
use queryscope_store::{AccessAction, IssueMoved, IssueStep, NoteAdded};
use serde::Deserialize;
use utoipa::ToSchema;

pub(crate) use self::body::read;
use self::body::{name, person, written};
use crate::access::{self, Principal};
use crate::app::App;
use crate::error::{ApiError, ErrorBody};
use crate::read::{Asked, IssueDetail, ProjectFilter, detail, issue_id, no_issue};

/// The ends of the paths that take a POST.
const ACTIONS: [&str; 5] = ["/acknowledge", "/mute", "/resolve", "/reopen", "/note"];

/// Whether a path takes a POST.
pub(crate) fn is_action(path: &str) -> bool {
    path.starts_with("/api/issues/") && ACTIONS.iter().any(|action| path.ends_with(action))
}

/// The person that does something to an issue.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct IssueAct {
    /// Your name, up to 200 characters. Nothing checks it, and the name of a user who logged in takes its place.
    #[schema(max_length = 200, pattern = r"^[^\x00]*$")]
    by: Option<String>,
    /// Why, up to 10,000 characters.
    #[schema(max_length = 10_000, pattern = r"^[^\x00]*$")]
    comment: Option<String>,
}

/// Until when an issue is muted: one of `until_unix_ns`, `times_worse` and `until_other`.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct IssueMuteAct {
    /// Until this time, in Unix nanoseconds; it must be to come.
    until_unix_ns: Option<i64>,
    /// Until it is so many times worse than now: more than 1, up to 1,000.
    times_worse: Option<f64>,
    /// Until a run names another version of this than the last run did.
    until_other: Option<Version>,
    /// Your name, up to 200 characters. Nothing checks it, and the name of a user who logged in takes its place.
    #[schema(max_length = 200, pattern = r"^[^\x00]*$")]
    by: Option<String>,
    /// Why, up to 10,000 characters.
    #[schema(max_length = 10_000, pattern = r"^[^\x00]*$")]
    comment: Option<String>,
}

/// A note to an issue.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct IssueNoteAct {
    /// The text, 1 to 10,000 characters, not of white space alone.
    #[schema(min_length = 1, max_length = 10_000, pattern = r"^[^\x00]*[^\s\x00][^\x00]*$")]
    text: String,
    /// Your name, up to 200 characters. Nothing checks it, and the name of a user who logged in takes its place.
    #[serde(default)]
    #[schema(max_length = 200, pattern = r"^[^\x00]*$")]
    by: Option<String>,
}

macro_rules! action {
    ($name:ident, $path:tt, $body:ident, $summary:tt, $make:ident, $noted:expr) => {
        #[doc = $summary]
        #[utoipa::path(
            post,
            path = $path,
            tag = "read",
            params(
                (
                    "id" = String, Path,
                    description = "Id of the issue",
                    example = "issue-slower-01a1faa81bd977b297ab860dd7026506"
                ),
                ProjectFilter
            ),
            request_body = $body,
            responses(
                (status = 200, description = "The issue as it is now", body = IssueDetail),
                (status = 400, description = "The body or a parameter is invalid", body = ErrorBody),
                (
                    status = 403,
                    description = "The Host is a name that is not served, or a page of another site asks",
                    body = ErrorBody
                ),
                (status = 404, description = "There is no such issue", body = ErrorBody),
                (status = 408, description = "The body did not arrive within 10 s", body = ErrorBody),
                (status = 409, description = "The state of the issue does not allow it", body = ErrorBody),
                (status = 413, description = "The body is larger than 64 KiB", body = ErrorBody),
                (status = 415, description = "The body is not application/json", body = ErrorBody),
                (status = 503, description = "Storing or reading failed", body = ErrorBody),
            )
        )]
        pub(crate) async fn $name(
            State(app): State<Arc<App>>,
            id: Result<Path<String>, PathRejection>,
            Asked(project): Asked<ProjectFilter>,
            who: Principal,
            request: Request,
        ) -> Result<Json<IssueDetail>, ApiError> {
            let id = issue_id(id)?;
            let (head, body) = request.into_parts();
            let from = access::address_of(&app, &head);
            let mut body: $body = read(Request::from_parts(head, body)).await?;
            who.sign(&mut body.by);
            // The log has who asks: a token may sign with another name.
            let by = name(body.by.clone())?;
            let actor = who.name.or(by);
            $make(&app, &id, &project, body).await?;
            let noted: Option<AccessAction> = $noted;
            if let Some(action) = noted {
                access::note(&app, action, actor, Some(id.clone()), from).await;
            }
            detail(&app, &id, &project).await.map(Json)
        }
    };
}

action!(
    acknowledge,
    "/api/issues/{id}/acknowledge",
    IssueAct,
    "Says that somebody knows of an issue.",
    make_acknowledged,
    None
);
action!(
    resolve,
    "/api/issues/{id}/resolve",
    IssueAct,
    "Says that an issue is over. It comes back, `regressed`, with a later change, or with five more bad runs.",
    make_resolved,
    None
);
action!(
    reopen,
    "/api/issues/{id}/reopen",
    IssueAct,
    "Takes back an acknowledgement, a mute or a resolution.",
    make_open,
    None
);
action!(
    mute,
    "/api/issues/{id}/mute",
    IssueMuteAct,
    "Keeps an issue quiet until a time, until it is so many times worse, or until another version runs.",
    make_muted,
    Some(AccessAction::IssueMuted)
);
action!(note, "/api/issues/{id}/note", IssueNoteAct, "Adds a note to an issue.", add_note, None);

async fn make_acknowledged(
    app: &App,
    id: &str,
    project: &ProjectFilter,
    body: IssueAct,
) -> Result<(), ApiError> {
    act(app, id, project, Action::Acknowledge, body).await
}

async fn make_resolved(app: &App, id: &str, project: &ProjectFilter, body: IssueAct) -> Result<(), ApiError> {
    act(app, id, project, Action::Resolve, body).await
}

async fn make_open(app: &App, id: &str, project: &ProjectFilter, body: IssueAct) -> Result<(), ApiError> {
    act(app, id, project, Action::Reopen, body).await
}

async fn make_muted(
    app: &App,
    id: &str,
    project: &ProjectFilter,
    body: IssueMuteAct,
) -> Result<(), ApiError> {
    let until = condition(&body)?;
    let IssueMuteAct { by, comment, .. } = body;
    act(app, id, project, Action::Mute(until), IssueAct { by, comment }).await
}

async fn add_note(app: &App, id: &str, project: &ProjectFilter, body: IssueNoteAct) -> Result<(), ApiError> {
    let note = Note { unix_ns: app.clock.unix_ns(), by: name(body.by)?, text: written(body.text)? };
    is_there(app, id, project).await?;
    match app.store.note_issue(id, note).await? {
        NoteAdded::Added => Ok(()),
        NoteAdded::Full => Err(ApiError::conflict("the issue has as many notes as it may have")),
        NoteAdded::Unknown => Err(no_issue(id)),
    }
}

fn condition(body: &IssueMuteAct) -> Result<Condition, ApiError> {
    let time = body.until_unix_ns.map(Condition::Time);
    let worse = body.times_worse.map(Condition::TimesWorse);
    let other = body.until_other.map(Condition::Other);
    let mut all = [time, worse, other].into_iter().flatten();
    match (all.next(), all.next()) {
        (Some(until), None) => Ok(until),
        _ => Err(ApiError::invalid("one of until_unix_ns, times_worse and until_other is needed")),
    }
}

async fn act(
    app: &App,
    id: &str,
    project: &ProjectFilter,
    action: Action,
    body: IssueAct,
) -> Result<(), ApiError> {
    let person = person(body.by, body.comment)?;
    is_there(app, id, project).await?;
    let step = IssueStep::Act(action, person);
    match app.store.move_issue(id, step, app.clock.unix_ns()).await? {
        IssueMoved::Moved(_) | IssueMoved::Unchanged => Ok(()),
        IssueMoved::Refused(refusal @ (Refusal::Past | Refusal::Factor | Refusal::Rate(_))) => {
            Err(ApiError::invalid(refusal.to_string()))
        }
        IssueMoved::Refused(refusal) => Err(ApiError::conflict(refusal.to_string())),
        IssueMoved::Unknown => Err(no_issue(id)),
    }
}

/// An issue of another project is none.
async fn is_there(app: &App, id: &str, project: &ProjectFilter) -> Result<(), ApiError> {
    let found = app.store.issue(id).await?;
    found.filter(|record| project.keeps(&record.issue.project)).map(drop).ok_or_else(|| no_issue(id))
}
