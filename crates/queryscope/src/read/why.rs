//! `queryscope why`: what changed in a query, since when, why, and at what cost.

use anyhow::Result;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answers::{Cause, Change, Overview, Query};
use super::args::{SourceArgs, WhyArgs};
use super::screen::{Reader, Screen, print, print_json};
use super::service::{NotFound, Service};
use super::style::{STRONG, bar, heading, painted};
use super::text::{name, pad, pad_start};
use super::units::{duration, runs as runs_text, share};
use super::words::{
    before_and_after, cause_name, cause_words, cost_line, evidence, first_cause, how_much, is_worse,
    node_name, place, query_line, state_words, style_of,
};
use super::{Found, pages};

/// Days of runs that are looked at where no change is open: as the page of a query does at first.
const DAYS: u32 = 14;
/// Changes of one query that are read: as many as the dashboard reads.
const CHANGES_MAX: usize = 100;
const BAR_COLUMNS: usize = 10;
/// Columns of a cause's name.
const CAUSE_COLUMNS: usize = 16;

pub(crate) async fn run(args: &WhyArgs, screen: Screen) -> Result<Found> {
    let service = Service::find(&args.service_at)?;
    let answer = ask(&service, &args.label, &args.source).await?;
    if args.format.json {
        print_json(&answer.to_json())?;
    } else {
        print(&answer.text(screen))?;
    }
    Ok(Found::Something)
}

/// What the service knows of a query.
pub(crate) struct Answer {
    label: String,
    overview: Overview,
    /// The queries as the service gives them.
    queries: Value,
    /// The changes as the service gives them.
    entries: Vec<Value>,
    pub(crate) changes: Vec<Change>,
}

/// Asks what changed in a query.
///
/// # Errors
/// [`NotFound`] where it never ran.
pub(crate) async fn ask(service: &Service, label: &str, source: &SourceArgs) -> Result<Answer> {
    let mut params = source.params();
    params.push(("label", label.to_owned()));
    let mut asked = params.clone();
    asked.extend([("days", DAYS.to_string()), ("split", "service".into())]);
    let mut of_changes = params.clone();
    of_changes.push(("limit", CHANGES_MAX.to_string()));
    let (mut overview, changes) = tokio::try_join!(
        service.get::<Value>("/api/overview", &asked),
        pages(service, "/api/changes", of_changes, "changes", CHANGES_MAX)
    )?;
    let told = Overview::deserialize(&overview)?;
    if told.queries.is_empty() && changes.entries.is_empty() {
        params.push(("limit", "1".into()));
        let runs: Vec<Value> = service.get("/api/queries", &params).await?;
        if runs.is_empty() {
            let which = if source.params().is_empty() { "" } else { " matches the filters, or" };
            return Err(NotFound(format!(
                "no run of {:?}{which} is stored: queryscope list names the queries",
                name(label)
            ))
            .into());
        }
    }
    let parsed = changes.entries.iter().cloned().map(serde_json::from_value);
    Ok(Answer {
        label: label.to_owned(),
        overview: told,
        queries: overview["queries"].take(),
        changes: parsed.collect::<Result<_, _>>()?,
        entries: changes.entries,
    })
}

impl Answer {
    fn to_json(&self) -> Value {
        json!({
            "change_runs_min": self.overview.change_runs_min,
            "queries": self.queries,
            "changes": self.entries,
        })
    }

    /// What is printed.
    pub(crate) fn text(&self, screen: Screen) -> String {
        text(&self.label, &self.overview, &self.changes, screen)
    }

    /// Runs that are typical for the open changes, those for the worse first.
    pub(crate) fn examples(&self) -> Vec<&str> {
        let mut open: Vec<&Change> = self.changes.iter().filter(|change| change.state == "open").collect();
        open.sort_by_key(|change| !is_worse(change));
        open.iter().filter_map(|change| change.examples.run.as_deref()).collect()
    }
}

fn text(label: &str, overview: &Overview, changes: &[Change], screen: Screen) -> String {
    let mut text = format!("{}\n", painted(&name(label), STRONG));
    let services: Vec<Option<&str>> = services(overview, changes);
    for service in &services {
        let of_service = |change: &&Change| change.service.as_deref() == *service;
        let open: Vec<&Change> =
            changes.iter().filter(of_service).filter(|change| change.state == "open").collect();
        let query = overview.queries.iter().find(|query| query.service.as_deref() == *service);
        if services.len() > 1 {
            let title = service.map_or("no service".into(), |service| format!("service {}", name(service)));
            text += &heading(&title);
        }
        text += &screen.paragraph(&with_full_stop(query_line(query, &open, DAYS, screen.times)), "");
        if open.is_empty() {
            text += &too_few(query, overview.change_runs_min, screen);
        }
        for change in &open {
            text += &panel(change, open.len() > 1, screen);
        }
        let mut ended: Vec<&Change> =
            changes.iter().filter(of_service).filter(|change| change.state != "open").collect();
        ended.sort_by_key(|change| std::cmp::Reverse(change.since_unix_ns));
        text += &earlier(&ended, screen);
    }
    text
}

/// The services that the label runs in, or had a change in.
fn services<'a>(overview: &'a Overview, changes: &'a [Change]) -> Vec<Option<&'a str>> {
    let mut services: Vec<Option<&str>> = Vec::new();
    let of_queries = overview.queries.iter().map(|query| query.service.as_deref());
    for service in of_queries.chain(changes.iter().map(|change| change.service.as_deref())) {
        if !services.contains(&service) {
            services.push(service);
        }
    }
    if services.is_empty() { vec![None] } else { services }
}

/// Whether runs of these days alone could tell of a change.
fn too_few(query: Option<&Query>, runs_min: Option<u64>, screen: Screen) -> String {
    match (query, runs_min) {
        (Some(query), Some(runs_min)) if query.runs < runs_min => {
            let line = format!(
                "A change can be found from {} on; these {DAYS} days have fewer.",
                runs_text(runs_min)
            );
            screen.soft(&line, "")
        }
        _ => String::new(),
    }
}

/// An open change: both sides, its causes, and what it costs.
fn panel(change: &Change, is_one_of_several: bool, screen: Screen) -> String {
    let mut text = String::from("\n");
    if is_one_of_several {
        let place = place(change);
        let place = if place.is_empty() { place } else { format!(" · {place}") };
        let title = format!("{} since {}{place}", how_much(change), screen.times.at(change.since_unix_ns));
        text += &screen.painted(&title, "", style_of(change).bold());
    }
    text += &sides(change, screen);
    let cost = cost_line(change);
    if !cost.is_empty() {
        text += &screen.hanging("cost    ", &cost);
    }
    text += &screen.hanging("since   ", &format!("run {}", super::text::line(&change.since_query_id)));
    // What is explained in full needs no word on the rest.
    let causes: Vec<&Cause> =
        change.causes.iter().filter(|cause| cause.kind != "unexplained" || cause.share > 0.0).collect();
    text += &heading("Causes");
    if causes.is_empty() {
        let line = match change.kind.as_str() {
            "failing" => "Why runs fail is in their errors.",
            _ => "The cause is not known.",
        };
        text += &screen.soft(line, "  ");
    }
    for cause in causes {
        text += &cause_lines(cause, screen);
    }
    if !change.harmless.is_empty() {
        let harmless = change.harmless.join("; ");
        let line = format!("Changed as well, and is no cause: {}.", super::text::line(&harmless));
        text += &screen.soft(&line, "  ");
    }
    // Without a base the service takes the typical run from before the change.
    if let (Some(_), Some(run)) = (&change.examples.base, &change.examples.run) {
        text.push('\n');
        text += &screen.paragraph("Compare a typical run since with one before, node by node:", "");
        let run = super::text::line(run);
        let asked = match screen.reader {
            Reader::Person => format!("queryscope diff {run}"),
            Reader::Agent => format!("plan_diff with run {run}"),
        };
        text += &screen.hanging("  ", &asked);
    }
    text
}

/// Both sides of a change: medians with their intervals of 95 %, or the runs that failed.
fn sides(change: &Change, screen: Screen) -> String {
    let mut text = String::new();
    let most = [&change.before, &change.after].map(|side| side.median_wall_ms.unwrap_or(0.0));
    let most = most[0].max(most[1]);
    for (title, side) in [("before", &change.before), ("after", &change.after)] {
        let (share_of_most, figure, basis) = if change.kind == "failing" {
            let failed = (side.runs > 0).then(|| side.failed as f64 / side.runs as f64);
            (failed, share(failed), format!("{} of {} failed", side.failed, runs_text(side.runs)))
        } else {
            let interval = match (side.low_ms, side.high_ms) {
                (Some(low), Some(high)) => {
                    format!(", 95 % interval {} to {}", duration(low), duration(high))
                }
                _ => String::new(),
            };
            let basis = format!("median of {}{interval}", runs_text(side.runs.saturating_sub(side.failed)));
            (
                side.median_wall_ms.filter(|_| most > 0.0).map(|ms| ms / most),
                duration(side.median_wall_ms),
                basis,
            )
        };
        let meter = bar(share_of_most.unwrap_or(0.0), BAR_COLUMNS);
        let head = format!("{title:6}  {meter}  {}  ", pad_start(&figure, 11));
        text += &screen.hanging(&head, &basis);
    }
    text
}

fn cause_lines(cause: &Cause, screen: Screen) -> String {
    let title = cause_name(&cause.kind, &cause.evidence, cause.wall_ms < 0.0);
    let mut text = if cause.share > 0.0 {
        let ms = if cause.wall_ms == 0.0 { String::new() } else { duration(cause.wall_ms.abs()) };
        let figures =
            format!("{}  {}  {ms}", bar(cause.share, BAR_COLUMNS), pad_start(&share(cause.share), 6));
        format!("  {}  {}\n", painted(&pad(&title, CAUSE_COLUMNS), STRONG), figures.trim_end())
    } else {
        format!("  {}\n", painted(&title, STRONG))
    };
    let node = cause.node.as_ref().map(|node| node_name(&node.kind, node.id));
    let words = cause_words(cause);
    // Most sentences name the node.
    let node = node.filter(|node| !words.contains(node.as_str())).map(|node| format!(" ({node})"));
    text += &screen.paragraph(&format!("{words}{}", node.unwrap_or_default()), "    ");
    let evidence = evidence(cause);
    if !evidence.is_empty() {
        text += &screen.soft(&evidence, "    ");
    }
    text
}

/// Changes that are over, the last first.
fn earlier(ended: &[&Change], screen: Screen) -> String {
    if ended.is_empty() {
        return String::new();
    }
    let mut text = heading("Earlier changes");
    for change in ended {
        let place = place(change);
        let place = if place.is_empty() { place } else { format!(", {place}") };
        let line = format!(
            "{} since {}{place}: {}",
            how_much(change),
            screen.times.at(change.since_unix_ns),
            state_words(change, screen.times)
        );
        text += &screen.paragraph(&line, "  ");
        text += &screen.soft(&format!("{}. {}", before_and_after(change), first_cause(change)), "    ");
    }
    text
}

fn with_full_stop(line: String) -> String {
    if line.ends_with(['.', '!', '?']) { line } else { format!("{line}.") }
}

#[cfg(test)]
mod tests;
