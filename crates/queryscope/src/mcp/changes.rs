//! What got worse: the open changes, those with the most wall time a day at stake first.

use std::collections::HashMap;
use std::fmt::Write as _;

use anyhow::Result;
use futures_util::{StreamExt, stream};
use serde_json::Value;

use super::answer::{Answer, BYTES_MAX, Unread, listed, query_link};
use super::issues::Issue;
use super::source_is_known;
use crate::read::answers::{Cause, Change};
use crate::read::args::SourceArgs;
use crate::read::pages;
use crate::read::screen::Screen;
use crate::read::service::Service;
use crate::read::show;
use crate::read::text::{line, name};
use crate::read::units::{duration, share};
use crate::read::words::{cause_name, cause_words, change_line, cost_line, evidence, node_name, place};

/// Changes that are read.
const CHANGES_MAX: usize = 1000;
/// Changes whose call sites are read: each costs a recording.
const SITES_MAX: usize = 10;
/// Recordings that are read at the same time.
const SITES_AT_ONCE: usize = 4;
/// Causes of a change that are told.
const CAUSES_MAX: usize = 3;
/// Bytes of the list, so that links and notes have room.
const LIST_BYTES: usize = BYTES_MAX - 2500;

pub(super) async fn what_got_worse(
    service: &Service,
    source: &SourceArgs,
    hours: Option<u32>,
    limit: usize,
    screen: Screen,
) -> Result<Answer> {
    let mut params = source.params();
    params.extend([("state", "open".into()), ("limit", CHANGES_MAX.to_string())]);
    if let Some(hours) = hours {
        let since = screen.times.now_unix_ns.saturating_sub(i64::from(hours) * 3_600_000_000_000);
        params.push(("since", since.to_string()));
    }
    let mut of_issues: Vec<(&'static str, String)> =
        source.params().into_iter().filter(|(name, _)| matches!(*name, "project" | "service")).collect();
    of_issues.push(("limit", CHANGES_MAX.to_string()));
    let (found, issues) = tokio::try_join!(
        pages(service, "/api/changes", params, "changes", CHANGES_MAX),
        pages(service, "/api/issues", of_issues, "issues", CHANGES_MAX)
    )?;
    let issues = by_change(issues.entries)?;
    let mut worse: Vec<(Change, String)> = Vec::new();
    for entry in found.entries {
        let id = entry["id"].as_str().unwrap_or_default().to_owned();
        let change: Change = serde_json::from_value(entry)?;
        if matches!(change.kind.as_str(), "slower" | "failing" | "data_grew") {
            worse.push((change, id));
        }
    }
    if worse.is_empty() {
        source_is_known(service, source).await?;
        let of = source.words();
        let since =
            hours.map_or_else(|| "is open".into(), |hours| format!("began in the last {hours} hours"));
        return Ok(Answer::of(&format!("Nothing got worse: no change for the worse{of} {since}.")));
    }
    let total = worse.len();
    worse.truncate(limit);
    let examples: Vec<Option<String>> =
        worse.iter().take(SITES_MAX).map(|(change, _)| change.examples.run.clone()).collect();
    let sites: Vec<Option<String>> = stream::iter(examples)
        .map(|run| async move { show::call_site_of(service, run.as_deref()?).await })
        .buffered(SITES_AT_ONCE)
        .collect()
        .await;
    let items: Vec<String> = worse
        .iter()
        .enumerate()
        .map(|(place, (change, id))| {
            let site = sites.get(place).and_then(Option::as_deref);
            item(place + 1, change, issues.get(id), site, service.url(), screen)
        })
        .collect();
    let unread = if found.is_cut { Unread::Unknown } else { Unread::Some(total - items.len()) };
    let unread = if unread == Unread::Some(0) { Unread::None } else { unread };
    let list = listed(&items, unread, "changes with less at stake", LIST_BYTES);
    Ok(Answer::of(&list).with_link(format!("{}/", service.url())).with_note(
        "why_slower says more of a label; plan_diff compares its example run with one from before.",
    ))
}

fn by_change(entries: Vec<Value>) -> Result<HashMap<String, Issue>> {
    let issues = entries.into_iter().map(serde_json::from_value::<Issue>);
    Ok(issues
        .collect::<Result<Vec<_>, _>>()?
        .into_iter()
        .filter_map(|issue| Some((issue.change.clone()?, issue)))
        .collect())
}

fn item(
    number: usize,
    change: &Change,
    issue: Option<&Issue>,
    site: Option<&str>,
    base: &str,
    screen: Screen,
) -> String {
    let label = change.label.as_deref().unwrap_or_default();
    let of =
        change.service.as_deref().map(|service| format!(" (service {})", name(service))).unwrap_or_default();
    let place = place(change);
    let place = if place.is_empty() { place } else { format!(", {place}") };
    let mut text = format!("{number}. {}{of}: {}{place}.\n", name(label), change_line(change, screen.times));
    for cause in change.causes.iter().filter(|cause| is_told(cause)).take(CAUSES_MAX) {
        let _ = writeln!(text, "   cause: {}", cause_line(cause));
    }
    let cost = cost_line(change);
    if !cost.is_empty() {
        let _ = writeln!(text, "   cost: {cost}");
    }
    if let Some(run) = &change.examples.run {
        let _ = writeln!(text, "   example run since: {}", line(run));
    }
    if let Some(site) = site {
        let _ = writeln!(text, "   called at: {site}");
    }
    if let Some(issue) = issue {
        let _ = writeln!(text, "   issue: {} ({})", line(&issue.id), line(&issue.state));
    }
    let _ = writeln!(
        text,
        "   page: {}",
        query_link(base, label, Some(change.service.as_deref().unwrap_or_default()))
    );
    text
}

fn is_told(cause: &Cause) -> bool {
    cause.kind != "unexplained" || cause.share > 0.0
}

/// "More rows, 83 % (54 s), node Scan #3: Scan #3 reads 4x the rows. rows 40 k, before 10 k (4.0x)"
fn cause_line(cause: &Cause) -> String {
    let mut text = cause_name(&cause.kind, &cause.evidence, cause.wall_ms < 0.0);
    if cause.share > 0.0 {
        let _ = write!(text, ", {}", share(cause.share));
        if cause.wall_ms != 0.0 {
            let _ = write!(text, " ({})", duration(cause.wall_ms.abs()));
        }
    }
    if let Some(node) = &cause.node {
        let _ = write!(text, ", node {}", node_name(&node.kind, node.id));
    }
    let _ = write!(text, ": {}", cause_words(cause));
    let evidence = evidence(cause);
    if !evidence.is_empty() {
        let _ = write!(text, " {evidence}");
    }
    text
}
