//! `GET /api/routes` and `GET /api/owners`.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use queryscope_delivery::Config;
use queryscope_issues::Kind;
use queryscope_store::{IssuePlace, IssuesRequest, RouteRecord};
use serde::Serialize;
use utoipa::ToSchema;

use super::asked::Asked;
use super::issues::READ_AT_ONCE;
use super::params::ProjectFilter;
use crate::app::App;
use crate::error::{ApiError, ErrorBody};

/// Where messages of issues go, by the file of settings.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Routes)]
pub(crate) struct RoutesAnswer {
    /// The routes, in the order of the file; none without a file.
    routes: Vec<RouteAnswer>,
    /// The rules of owners, in the order of the file: the last that matches counts.
    owners: Vec<OwnerAnswer>,
}

/// A route, and what became of its messages. Secrets and addresses are not shown.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Route)]
pub(crate) struct RouteAnswer {
    /// Its name.
    name: String,
    /// The name of its receiver.
    receiver: String,
    /// The type of its receiver: `webhook`, `slack`, `alertmanager` or `email`.
    r#type: &'static str,
    /// Keeps issues of these projects; empty keeps all.
    projects: Vec<String>,
    /// Keeps issues of these services; empty keeps all.
    services: Vec<String>,
    /// Keeps issues whose label matches one of these patterns; empty keeps all.
    labels: Vec<String>,
    /// Keeps issues of these kinds; empty keeps all but `data_grew`.
    kinds: Vec<Kind>,
    /// Keeps issues of these owners; empty keeps all.
    owners: Vec<String>,
    /// Messages that wait.
    waiting: u64,
    /// When the oldest that waits was made, in Unix nanoseconds.
    waiting_since_unix_ns: Option<i64>,
    /// Messages that were sent in the last seven days.
    sent: u64,
    /// When one was sent last, in Unix nanoseconds.
    sent_unix_ns: Option<i64>,
    /// Messages that were refused or given up in the last seven days.
    failed: u64,
    /// Why an attempt failed last.
    last_error: Option<String>,
    /// When that was, in Unix nanoseconds.
    last_error_unix_ns: Option<i64>,
}

/// A rule of owners.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OwnerRule)]
pub(crate) struct OwnerAnswer {
    /// What the pattern is held against: `label` or `path`.
    matches: &'static str,
    /// The pattern.
    pattern: String,
    /// The owner.
    owner: String,
}

/// Owners of queries.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Owners)]
pub(crate) struct OwnersAnswer {
    /// Their names, in alphabetical order.
    owners: Vec<String>,
}

/// Lists the routes by which messages of issues go, with what became of them, and the rules of owners.
///
/// The file that `--config` names holds them; they are changed there.
#[utoipa::path(
    get,
    path = "/api/routes",
    tag = "read",
    responses(
        (status = 200, description = "The routes", body = RoutesAnswer),
        (status = 403, description = "The Host is a name that is not served", body = ErrorBody),
        (status = 503, description = "Reading failed", body = ErrorBody),
    )
)]
pub(crate) async fn routes(State(app): State<Arc<App>>) -> Result<Json<RoutesAnswer>, ApiError> {
    let Some(config) = &app.settings.delivery else {
        return Ok(Json(RoutesAnswer { routes: Vec::new(), owners: Vec::new() }));
    };
    let records = app.store.outbox().route_records().await?;
    let records = records.into_iter().map(|record| (record.route.clone(), record)).collect();
    Ok(Json(RoutesAnswer { routes: answers(config, records), owners: rules(config) }))
}

/// Lists the owners of queries, by the file of settings; of one project, the owners of its issues.
#[utoipa::path(
    get,
    path = "/api/owners",
    tag = "read",
    params(ProjectFilter),
    responses(
        (status = 200, description = "The owners", body = OwnersAnswer),
        (status = 400, description = "A parameter is invalid", body = ErrorBody),
        (status = 403, description = "The Host is a name that is not served", body = ErrorBody),
        (status = 503, description = "Reading failed", body = ErrorBody),
    )
)]
pub(crate) async fn owners(
    State(app): State<Arc<App>>,
    Asked(project): Asked<ProjectFilter>,
) -> Result<Json<OwnersAnswer>, ApiError> {
    let Some(config) = &app.settings.delivery else {
        return Ok(Json(OwnersAnswer { owners: Vec::new() }));
    };
    let owners = match project.name() {
        None => config.owners.names().into_iter().map(ToOwned::to_owned).collect(),
        Some(project) => owners_in(&app, project).await?,
    };
    Ok(Json(OwnersAnswer { owners }))
}

/// The owners of the issues of a project: the file names no projects, and another project's owners are not told.
async fn owners_in(app: &App, project: &str) -> Result<Vec<String>, ApiError> {
    let mut request =
        IssuesRequest { project: Some(project.to_owned()), limit: READ_AT_ONCE, ..IssuesRequest::default() };
    let mut owners = BTreeSet::new();
    loop {
        let read = app.store.issues(request.clone()).await?;
        let is_last = read.len() < READ_AT_ONCE;
        request.after = read.last().map(IssuePlace::of);
        owners.extend(read.into_iter().filter_map(|issue| app.own(issue).owner));
        if is_last {
            return Ok(owners.into_iter().collect());
        }
    }
}

fn answers(config: &Config, mut records: HashMap<String, RouteRecord>) -> Vec<RouteAnswer> {
    let answer = |route: &queryscope_delivery::Route| {
        let record = records.remove(&route.name).unwrap_or_default();
        let (last_error, last_error_unix_ns) = record.last_error.unzip();
        RouteAnswer {
            name: route.name.clone(),
            receiver: route.receiver.clone(),
            r#type: config.receiver(route).type_name(),
            projects: route.projects.clone(),
            services: route.services.clone(),
            labels: route.labels.clone(),
            kinds: route.kinds.clone(),
            owners: route.owners.clone(),
            waiting: record.waiting,
            waiting_since_unix_ns: record.waiting_since_unix_ns,
            sent: record.sent,
            sent_unix_ns: record.sent_unix_ns,
            failed: record.failed,
            last_error,
            last_error_unix_ns,
        }
    };
    config.routes.iter().map(answer).collect()
}

fn rules(config: &Config) -> Vec<OwnerAnswer> {
    let rule = |rule: &queryscope_delivery::OwnerRule| OwnerAnswer {
        matches: rule.looks_at(),
        pattern: rule.pattern().to_owned(),
        owner: rule.owner().to_owned(),
    };
    config.owners.rules().iter().map(rule).collect()
}
