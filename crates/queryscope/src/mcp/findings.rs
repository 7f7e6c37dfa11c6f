//! Findings: of a run, of the last run of a label, or the rules that warn in the newest runs of all queries.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::Result;
use serde::Deserialize;

use super::answer::{Answer, BYTES_MAX, Unread, compact, listed, query_link, run_link};
use super::source_is_known;
use crate::read::args::SourceArgs;
use crate::read::screen::Screen;
use crate::read::service::{NotFound, Service};
use crate::read::text::{line, name};
use crate::read::units::runs as runs_text;
use crate::read::{pages, show};

/// Runs that are looked through for rules that warn.
const LOOKED_AT: usize = 1000;
/// Bytes of the list, so that links and notes have room.
const LIST_BYTES: usize = BYTES_MAX - 2500;

/// Findings of one run.
pub(super) async fn of_run(service: &Service, run: &str, screen: Screen) -> Result<Answer> {
    let told = show::ask(service, run).await?;
    let label =
        told.run.label.as_deref().map_or_else(|| "no label".to_owned(), |label| name(label).into_owned());
    let mut text = format!("{label}, run {}\n", line(&told.run.query_id));
    if let Some(site) = told.call_site() {
        let _ = writeln!(text, "called at: {site}");
    }
    text += &compact(&told.parts(screen).findings);
    Ok(Answer::of(&text)
        .with_link(run_link(service.url(), &told.run.query_id))
        .with_note("run shows the plan that the numbers of nodes are of."))
}

/// Findings of the last run of a label that finished.
pub(super) async fn of_label(
    service: &Service,
    label: &str,
    source: &SourceArgs,
    screen: Screen,
) -> Result<Answer> {
    let mut params = source.params();
    params.extend([("label", label.to_owned()), ("status", "finished".into()), ("limit", "1".into())]);
    let runs: Vec<Warned> = service.get("/api/queries", &params).await?;
    match runs.first() {
        Some(run) => of_run(service, &run.query_id, screen).await,
        None => Err(NotFound(format!("no run of {:?} has finished", name(label))).into()),
    }
}

#[derive(Debug, Deserialize)]
struct Warned {
    query_id: String,
    label: Option<String>,
    service: Option<String>,
    #[serde(default)]
    rules: Vec<String>,
}

/// How often a rule warns in a query.
struct Count {
    runs: u64,
    last_run: String,
}

/// The rules that warn in the newest runs, by query.
pub(super) async fn of_newest_runs(service: &Service, source: &SourceArgs) -> Result<Answer> {
    let mut params = source.params();
    params.push(("limit", LOOKED_AT.to_string()));
    let found = pages(service, "/api/queries", params, "", LOOKED_AT).await?;
    let number = found.entries.len();
    let mut counts: BTreeMap<(String, Option<String>, String), Count> = BTreeMap::new();
    let mut all: BTreeMap<(String, Option<String>), u64> = BTreeMap::new();
    for entry in found.entries {
        let run: Warned = serde_json::from_value(entry)?;
        let label = run.label.unwrap_or_default();
        *all.entry((label.clone(), run.service.clone())).or_default() += 1;
        for rule in run.rules {
            let key = (label.clone(), run.service.clone(), rule);
            // The newest run is the first.
            let count =
                counts.entry(key).or_insert_with(|| Count { runs: 0, last_run: run.query_id.clone() });
            count.runs += 1;
        }
    }
    let newest = format!("newest {}", runs_text(number as u64));
    let answer = |data: &str| Answer::of(data).with_link(format!("{}/queries", service.url()));
    if number == 0 {
        source_is_known(service, source).await?;
    }
    if counts.is_empty() {
        return Ok(answer(&format!("No rule warned in the {newest}.")));
    }
    let mut sorted: Vec<_> = counts.iter().collect();
    sorted.sort_by_key(|(_, count)| Reverse(count.runs));
    let items: Vec<String> = sorted
        .into_iter()
        .map(|((label, of, rule), count)| {
            let runs = all.get(&(label.clone(), of.clone())).copied().unwrap_or(count.runs);
            let shown = if label.is_empty() { "no label".into() } else { name(label) };
            let which = of.as_deref().map(|of| format!(" (service {})", name(of))).unwrap_or_default();
            let page = query_link(service.url(), label, Some(of.as_deref().unwrap_or_default()));
            format!(
                "{}: {shown}{which}, in {} of {}, last in run {}\n  page: {page}\n",
                line(rule),
                count.runs,
                runs_text(runs),
                line(&count.last_run)
            )
        })
        .collect();
    let list = listed(&items, Unread::None, "rules of queries, in fewer runs,", LIST_BYTES);
    Ok(answer(&format!("Rules that warned in the {newest}, by query:\n{list}"))
        .with_note("findings with run says the node, the evidence and the fix."))
}
