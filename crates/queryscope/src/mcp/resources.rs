//! Resources: runs and issues by their ids.

use anyhow::Result;
use rmcp::model::{ErrorData, ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::Value;

use super::answer::{decoded, error_text};
use super::{issues, tools};
use crate::read::pages;
use crate::read::screen::Screen;
use crate::read::service::{NotFound, Service};

const RUN: &str = "queryscope://run/";
const ISSUE: &str = "queryscope://issue/";
/// Issues that are listed.
const LISTED_MAX: usize = 50;

/// How resources are named.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(format!("{RUN}{{id}}"), "run")
            .with_title("A run")
            .with_description("One run: figures, findings and plan, as the tool run tells them")
            .with_mime_type("text/plain"),
        ResourceTemplate::new(format!("{ISSUE}{{id}}"), "issue")
            .with_title("An issue")
            .with_description("One issue: its change, history and notes, as the tool issues tells them")
            .with_mime_type("text/plain"),
    ]
}

/// The issues that want somebody. Their names are ids: a label could hold anything.
pub(super) async fn listed(service: &Service) -> Result<Vec<Resource>> {
    let params = vec![("state", "open,regressed,acknowledged".to_owned()), ("limit", LISTED_MAX.to_string())];
    let found = pages(service, "/api/issues", params, "issues", LISTED_MAX).await?;
    let named = |entry: &Value| {
        let id = entry["id"].as_str()?.to_owned();
        Some(Resource::new(format!("{ISSUE}{id}"), id).with_mime_type("text/plain"))
    };
    Ok(found.entries.iter().filter_map(named).collect())
}

/// One of them.
///
/// # Errors
/// When there is none, or it cannot be read.
pub(super) async fn read(service: &Service, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let id = |kind: &str| decoded(uri.strip_prefix(kind)?).filter(|id| !id.is_empty());
    let screen = Screen::of_an_agent();
    let told = match (id(RUN), id(ISSUE)) {
        (Some(run), _) => tools::run(service, &run, screen).await,
        (None, Some(issue)) => issues::issue(service, &issue, screen).await,
        (None, None) => {
            let reason = format!("a resource is {RUN} or {ISSUE} and an id");
            return Err(ErrorData::resource_not_found(reason, None));
        }
    };
    match told {
        Ok(answer) => Ok(ReadResourceResult::new(vec![ResourceContents::text(answer.text(), uri)])),
        Err(error) if error.is::<NotFound>() => Err(ErrorData::resource_not_found(error_text(&error), None)),
        Err(error) => Err(ErrorData::internal_error(error_text(&error), None)),
    }
}
