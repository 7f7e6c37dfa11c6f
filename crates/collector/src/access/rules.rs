//! What each route of readers needs. A route without a rule needs an administrator of all projects.

use axum::http::Method;
use queryscope_store::Role;

use crate::{act, manage, page, security};

/// What a route needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rule {
    /// The least role; `None` where anybody may ask.
    pub(super) least: Option<Role>,
    pub(super) reach: Reach,
}

/// What an answer is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Of one project, which its parameter `project` names.
    Project,
    /// Of all projects.
    Everything,
    /// Of tokens, users and sessions, whose handlers keep an administrator of one project to those of that project.
    Managed,
    /// Of no project: the same for everybody who may ask.
    Nothing,
    /// A page: without data.
    Page,
}

/// Paths that tell of one project, whose handlers take the parameter `project`.
const OF_A_PROJECT: &[&str] = &[
    "/api/changes",
    "/api/changes/{id}",
    "/api/compare",
    "/api/deploys",
    "/api/differences",
    "/api/export/findings",
    "/api/export/issues",
    "/api/export/nodes",
    "/api/export/runs",
    "/api/facets",
    "/api/groups",
    "/api/issues",
    "/api/issues/{id}",
    "/api/live",
    "/api/live/{id}",
    "/api/notes",
    "/api/notes/{id}",
    "/api/overview",
    "/api/owners",
    "/api/places",
    "/api/queries",
    "/api/queries/{id}",
    "/api/queries/{id}/insights",
    "/api/queries/{id}/progress",
    "/api/queries/{id}/recording",
    "/api/senders",
    "/api/series",
    "/api/versions",
    "/api/views",
    "/api/views/{name}",
];

/// The rule of a path of the router, for a method.
pub(super) fn rule(path: &str, method: &Method) -> Option<Rule> {
    let needs = |least, reach| Some(Rule { least: Some(least), reach });
    if OF_A_PROJECT.contains(&path) {
        let only_reads = matches!(*method, Method::GET | Method::HEAD);
        return needs(if only_reads { Role::Viewer } else { Role::Editor }, Reach::Project);
    }
    if act::is_action(path) {
        return needs(Role::Editor, Reach::Project);
    }
    if page::PAGES.contains(&path) {
        return needs(Role::Viewer, Reach::Page);
    }
    if page::FILES.contains(&path) || super::login::PATHS.contains(&path) {
        return Some(Rule { least: None, reach: Reach::Nothing });
    }
    match path {
        // The tools for agents ask the routes above as whoever asks them: these say what may be told and changed.
        "/api/access" | "/api/openapi.json" | security::AGENTS => needs(Role::Viewer, Reach::Nothing),
        "/metrics" | "/api/routes" | "/api/service" => needs(Role::Viewer, Reach::Everything),
        "/api/audit" => needs(Role::Admin, Reach::Everything),
        path if manage::is_managed(path) => needs(Role::Admin, Reach::Managed),
        _ => None,
    }
}

/// What a path without a rule needs.
pub(super) const STRICTEST: Rule = Rule { least: Some(Role::Admin), reach: Reach::Everything };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_route_of_the_document_has_a_rule_and_those_of_a_project_take_it() {
        let document = crate::openapi();
        let document = serde_json::to_value(&document).expect("JSON");
        for (path, methods) in document["paths"].as_object().expect("paths") {
            if path.starts_with("/v1/") {
                continue;
            }
            for (method, operation) in methods.as_object().expect("methods") {
                let rule = method.to_uppercase().parse().ok().and_then(|method| rule(path, &method));
                let rule = rule.unwrap_or_else(|| panic!("{method} {path} has no rule"));
                let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
                let takes = parameters.iter().any(|parameter| parameter["name"] == "project");
                let told = rule.reach == Reach::Project;
                assert_eq!(takes, told, "{method} {path} takes a project, its rule says whether");
                let changes = method != "get";
                assert!(!changes || rule.least > Some(Role::Viewer), "{method} {path} changes something");
            }
        }
    }
}
