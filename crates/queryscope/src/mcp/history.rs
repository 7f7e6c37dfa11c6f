//! How a query did: its usual time and changes in a line, its plans, and its last runs.

use anyhow::Result;
use serde_json::Value;
use std::fmt::Write as _;

use super::answer::{Answer, compact, query_link};
use crate::read::answers::{Change, Overview, Version};
use crate::read::args::SourceArgs;
use crate::read::screen::Screen;
use crate::read::service::{NotFound, Service};
use crate::read::text::{line, name};
use crate::read::units::{duration, plural, runs as runs_text};
use crate::read::words::{change_line, query_line, state_words};
use crate::read::{pages, run_name, runs, show};

/// Days that are looked at.
const DAYS: u32 = 14;
/// Changes that are read.
const CHANGES_MAX: usize = 100;
/// Plans that are told, the last first.
const PLANS_MAX: usize = 8;
/// Changes that are over and told, the last first.
const ENDED_MAX: usize = 5;

pub(super) async fn history(
    service: &Service,
    label: &str,
    source: &SourceArgs,
    limit: usize,
    screen: Screen,
) -> Result<Answer> {
    let mut params = source.params();
    params.push(("label", label.to_owned()));
    let with = |more: &[(&'static str, String)]| {
        let mut all = params.clone();
        all.extend_from_slice(more);
        all
    };
    let of_overview = with(&[("days", DAYS.to_string()), ("split", "service".into())]);
    let of_changes = with(&[("limit", CHANGES_MAX.to_string())]);
    let of_runs = with(&[("limit", limit.to_string())]);
    let (overview, changes, versions, runs) = tokio::try_join!(
        service.get::<Overview>("/api/overview", &of_overview),
        pages(service, "/api/changes", of_changes, "changes", CHANGES_MAX),
        service.get::<Vec<Version>>("/api/versions", &params),
        pages(service, "/api/queries", of_runs, "", limit)
    )?;
    if runs.entries.is_empty() {
        return Err(NotFound(format!("no run of {:?} is stored", name(label))).into());
    }
    let changes: Vec<Change> =
        changes.entries.into_iter().map(serde_json::from_value).collect::<Result<_, _>>()?;
    let mut text = format!("{}\n", name(label));
    if let Some(newest) = runs.entries[0]["query_id"].as_str()
        && let Some(site) = show::call_site_of(service, newest).await
    {
        let _ = writeln!(text, "called at: {site}");
    }
    text += &of_services(&overview, &changes, screen);
    text += &plans(versions, screen);
    text += &last_runs(&runs.entries, runs.is_cut, screen)?;
    let link = query_link(service.url(), label, source.service.as_deref());
    Ok(Answer::of(&text)
        .with_link(link)
        .with_note("why_slower says what changed; plan_diff compares LABEL@PLAN."))
}

/// For each service what is usual, or what changed.
fn of_services(overview: &Overview, changes: &[Change], screen: Screen) -> String {
    let mut services: Vec<Option<&str>> = Vec::new();
    let of_queries = overview.queries.iter().map(|query| query.service.as_deref());
    for service in of_queries.chain(changes.iter().map(|change| change.service.as_deref())) {
        if !services.contains(&service) {
            services.push(service);
        }
    }
    let mut text = String::new();
    for service in services {
        let query = overview.queries.iter().find(|query| query.service.as_deref() == service);
        let of_service = changes.iter().filter(|change| change.service.as_deref() == service);
        let (open, mut ended): (Vec<&Change>, Vec<&Change>) =
            of_service.partition(|change| change.state == "open");
        let which = service.map(|service| format!("service {}: ", name(service))).unwrap_or_default();
        let _ = writeln!(text, "{which}{}", query_line(query, &open, DAYS, screen.times));
        ended.sort_by_key(|change| std::cmp::Reverse(change.since_unix_ns));
        for change in ended.into_iter().take(ENDED_MAX) {
            let state = state_words(change, screen.times);
            let _ = writeln!(text, "  earlier: {}, {state}", change_line(change, screen.times));
        }
    }
    text
}

fn plans(mut versions: Vec<Version>, screen: Screen) -> String {
    versions.sort_by_key(|version| version.first_started_unix_ns);
    let number = versions.len();
    let mut text = format!("\nPlans: {number}\n");
    for (place, version) in versions.iter().enumerate().rev().take(PLANS_MAX) {
        let last = version.last_started_unix_ns.map(|at| format!(", last {}", screen.times.at(at)));
        let cancelled = match version.cancelled {
            0 => String::new(),
            cancelled => format!(", {cancelled} cancelled"),
        };
        let rules: Vec<&str> = version.rules.iter().map(String::as_str).collect();
        let rules =
            if rules.is_empty() { String::new() } else { format!(", warnings: {}", rules.join(", ")) };
        let _ = writeln!(
            text,
            "  {} ({}): median {} in {}, {} failed{cancelled}, first {}{}{}",
            run_name::letter(place),
            line(&version.fingerprint),
            duration(version.usual_wall_ms),
            runs_text(version.runs),
            version.failed.saturating_sub(version.cancelled),
            screen.times.at(version.first_started_unix_ns),
            last.unwrap_or_default(),
            line(&rules),
        );
    }
    if number > PLANS_MAX {
        let _ = writeln!(
            text,
            "  ({} that ran first earlier are left out.)",
            plural((number - PLANS_MAX) as u64, "plan", "plans")
        );
    }
    text
}

fn last_runs(entries: &[Value], is_cut: bool, screen: Screen) -> Result<String> {
    let more = if is_cut { "; older ones are left out" } else { "" };
    let table = compact(&runs::table(entries, screen)?);
    Ok(format!("\nLast {}, the newest first{more}\n{table}", runs_text(entries.len() as u64)))
}
