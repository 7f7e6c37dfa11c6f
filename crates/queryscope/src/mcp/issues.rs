//! Issues: what changed for the worse and needs somebody.

use anyhow::Result;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Write as _;

use super::answer::{Answer, BYTES_MAX, Unread, listed, query_link, run_link};
use crate::read::answers::Change;
use crate::read::pages;
use crate::read::screen::Screen;
use crate::read::service::{Service, segment};
use crate::read::show;
use crate::read::style::joined;
use crate::read::text::{block, line, name};
use crate::read::units::{Times, duration, ratio, share};
use crate::read::words::{cause_words, change_line, cost_line, node_name};

/// States of issues that are not over.
const NOT_OVER: &str = "open,regressed,acknowledged,muted";
/// Bytes of the list, so that links and notes have room.
const LIST_BYTES: usize = BYTES_MAX - 2500;
/// Transitions and notes that are told, the last ones.
const TOLD_MAX: usize = 20;
/// Lines of a note or a comment.
const LINES_MAX: usize = 10;

/// An issue in `/api/issues`.
#[derive(Debug, Deserialize)]
pub(super) struct Issue {
    pub(super) id: String,
    pub(super) state: String,
    /// `None` where it is about one run.
    pub(super) change: Option<String>,
    pub(super) label: String,
    pub(super) service: Option<String>,
    kind: String,
    opened_unix_ns: i64,
    moved_unix_ns: i64,
    environment: Option<String>,
    host: Option<String>,
    wall_ms_a_day: f64,
    severity: f64,
    detail: Option<String>,
    /// The file that ran the query last.
    call_site: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Detail {
    issue: Issue,
    change: Option<Change>,
    #[serde(default)]
    transitions: Vec<Transition>,
    #[serde(default)]
    notes: Vec<Note>,
}

#[derive(Debug, Deserialize)]
struct Transition {
    unix_ns: i64,
    from: Option<String>,
    to: String,
    actor: Option<String>,
    by: Option<String>,
    reason: Option<String>,
    comment: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Note {
    unix_ns: i64,
    by: Option<String>,
    text: String,
}

/// Which issues are asked for.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    pub(super) state: Option<String>,
    pub(super) label: Option<String>,
    pub(super) service: Option<String>,
    pub(super) project: Option<String>,
    pub(super) limit: usize,
}

pub(super) async fn issues(service: &Service, wanted: Wanted, screen: Screen) -> Result<Answer> {
    let state = wanted.state.unwrap_or_else(|| NOT_OVER.to_owned());
    let mut params = vec![("state", state.clone()), ("limit", wanted.limit.to_string())];
    let optional = [("label", wanted.label), ("service", wanted.service), ("project", wanted.project)];
    params.extend(optional.into_iter().filter_map(|(name, value)| Some((name, value?))));
    let found = pages(service, "/api/issues", params, "issues", wanted.limit).await?;
    let mut items = Vec::new();
    for entry in found.entries {
        let issue: Issue = serde_json::from_value(entry)?;
        items.push(item(&issue, service.url(), screen.times));
    }
    let answer = |data: &str| Answer::of(data).with_link(format!("{}/", service.url()));
    if items.is_empty() {
        let state = line(&state).replace(',', ", ");
        return Ok(answer(&format!("No issue in a state of these matches: {state}.")));
    }
    let list = listed(&items, Unread::when(found.is_cut), "issues with less at stake", LIST_BYTES);
    Ok(answer(&list).with_note("issues with id tells one with its history; why_slower says why."))
}

/// "1. issue-slower-… (open): orders/daily (service etl) 2.4x slower, 12 min a day at stake, opened 18 Nov 02:05"
fn item(issue: &Issue, base: &str, times: Times) -> String {
    let page = query_link(base, &issue.label, Some(issue.service.as_deref().unwrap_or_default()));
    let site = issue.call_site.as_deref().map(|site| format!("  called at: {}\n", line(site)));
    format!("{}\n{}  page: {page}\n", head(issue, times), site.unwrap_or_default())
}

fn head(issue: &Issue, times: Times) -> String {
    let severity = match issue.kind.as_str() {
        "slower" => format!("{} slower", ratio(issue.severity)),
        "data_grew" => format!("{} slower as its data grew", ratio(issue.severity)),
        "failing" => format!("{} of its runs fail", share(issue.severity)),
        other => match &issue.detail {
            Some(detail) => format!("{}, {}", line(&other.replace('_', " ")), line(detail)),
            None => line(&other.replace('_', " ")).into_owned(),
        },
    };
    let named = |word: &str, text: &Option<String>| {
        text.as_deref().map(|text| format!(" {word} {}", name(text))).unwrap_or_default()
    };
    // What a late run takes is no time a day, and a run that is missing takes none.
    let stake = match &issue.change {
        Some(_) => format!(", {} a day at stake", duration(issue.wall_ms_a_day)),
        None => String::new(),
    };
    format!(
        "{} ({}): {}{}{}{}: {severity}{stake}, opened {}, moved {}",
        line(&issue.id),
        line(&issue.state),
        name(&issue.label),
        named("of service", &issue.service),
        named("in", &issue.environment),
        named("on host", &issue.host),
        times.at(issue.opened_unix_ns),
        times.at(issue.moved_unix_ns),
    )
}

/// One issue with its change, history and notes.
pub(super) async fn issue(service: &Service, id: &str, screen: Screen) -> Result<Answer> {
    let detail: Value = service.get(&format!("/api/issues/{}", segment(id)), &[]).await?;
    told(service, detail, screen).await
}

/// Says that an issue is over.
pub(super) async fn resolve(
    service: &Service,
    id: &str,
    comment: &str,
    by: &str,
    screen: Screen,
) -> Result<Answer> {
    let body = json!({"comment": comment, "by": by});
    let detail = service.post(&format!("/api/issues/{}/resolve", segment(id)), &body).await?;
    told(service, detail, screen).await
}

async fn told(service: &Service, detail: Value, screen: Screen) -> Result<Answer> {
    let Detail { issue, change, transitions, notes } = serde_json::from_value(detail)?;
    let times = screen.times;
    let mut text = format!("{}\n", head(&issue, times));
    let mut links =
        vec![query_link(service.url(), &issue.label, Some(issue.service.as_deref().unwrap_or_default()))];
    if let Some(change) = &change {
        let _ = writeln!(text, "change: {}", change_line(change, times));
        for cause in change.causes.iter().take(3) {
            let node = cause.node.as_ref().map(|node| format!("{}: ", node_name(&node.kind, node.id)));
            let _ = writeln!(text, "cause: {}{}", node.unwrap_or_default(), cause_words(cause));
        }
        let cost = cost_line(change);
        if !cost.is_empty() {
            let _ = writeln!(text, "cost: {cost}");
        }
        if let Some(run) = &change.examples.run {
            let _ = writeln!(text, "example run since: {}", line(run));
            if let Some(site) = show::call_site_of(service, run).await {
                let _ = writeln!(text, "called at: {site}");
            }
            links.push(run_link(service.url(), run));
        }
    }
    text += &history(&transitions, times);
    text += &written(&notes, times);
    let answer = Answer::of(&text).with_note("why_slower with the label says what changed and why.");
    Ok(links.into_iter().fold(answer, Answer::with_link))
}

fn history(transitions: &[Transition], times: Times) -> String {
    let mut text = format!("\nHistory, {} moves\n", transitions.len());
    for move_ in last(transitions) {
        let from = move_.from.as_deref().map(|from| format!("{} to ", line(from))).unwrap_or_default();
        let who = move_.by.as_deref().or(move_.actor.as_deref()).unwrap_or("service");
        let reason = move_.reason.as_deref().map(|reason| format!(": {}", line(reason))).unwrap_or_default();
        let _ =
            writeln!(text, "{}  {from}{} by {}{reason}", times.at(move_.unix_ns), line(&move_.to), name(who));
        text += &lines(move_.comment.as_deref().unwrap_or_default());
    }
    text
}

fn written(notes: &[Note], times: Times) -> String {
    if notes.is_empty() {
        return String::new();
    }
    let mut text = format!("\nNotes, {} in all\n", notes.len());
    for note in last(notes) {
        let by = note.by.as_deref().map_or_else(|| "somebody".into(), name);
        let _ = write!(text, "{}  {by}\n{}", times.at(note.unix_ns), lines(&note.text));
    }
    text
}

fn last<T>(all: &[T]) -> &[T] {
    &all[all.len().saturating_sub(TOLD_MAX)..]
}

/// A text of a person, behind a margin.
fn lines(text: &str) -> String {
    let lines = block(text);
    let mut shown = joined(lines.iter().take(LINES_MAX).map(|line| format!("  {line}")));
    if lines.len() > LINES_MAX {
        let _ = writeln!(shown, "  ({} more lines are left out.)", lines.len() - LINES_MAX);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::units::Zone;

    #[test]
    fn an_issue_of_one_run_has_no_change() {
        let issue: Issue = serde_json::from_value(json!({
            "id": "issue-late-1", "state": "open", "change": null, "label": "orders/daily", "service": "etl",
            "kind": "late", "detail": "has run for 2 min", "opened_unix_ns": 0, "moved_unix_ns": 0,
            "wall_ms_a_day": 60_000.0, "severity": 2.0,
        }))
        .expect("an issue");
        let said = head(&issue, Times { now_unix_ns: 0, zone: Zone::Utc });
        assert!(said.contains(": late, has run for 2 min, opened"), "{said}");
    }
}
