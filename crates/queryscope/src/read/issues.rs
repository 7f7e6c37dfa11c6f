//! `queryscope issues`: what changed for the worse in queries, and who knows of it.

use std::collections::HashMap;

use anstyle::Style;
use anyhow::Result;
use queryscope_issues::{Kind, State};
use serde::Deserialize;
use serde_json::{Value, json};

use super::answers::{Cause, Change, Issue};
use super::args::IssuesArgs;
use super::listing::{Cell, Column, Listing, Room};
use super::screen::{Screen, print, print_json};
use super::service::Service;
use super::style::{FAIL, PLAIN, SLOW, SOFT, STRONG};
use super::text::{line, name};
use super::units::{Times, duration, plural, ratio, share};
use super::words::{capital, cause_name, first_cause};
use super::{Found, pages};

/// The column that sorts unless another is asked for.
pub(crate) const SORT: &str = "stake";
/// States of issues that want somebody: those that the dashboard shows first.
pub(crate) const OPEN: [&str; 3] = [State::Open.name(), State::Regressed.name(), State::Acknowledged.name()];
/// Issues that are read.
const ISSUES_MAX: usize = 10_000;
/// Issues on a page of the API.
const PAGE: usize = 1000;
/// Open changes that are read: the dashboard reads as many.
const CHANGES_MAX: usize = 1000;

const COLUMNS: &[Column] = &[
    Column { name: "stake", field: "wall_ms_a_day", room: Room::Figure, spare: 0 },
    Column { name: "query", field: "label", room: Room::Name(16), spare: 0 },
    Column { name: "issue", field: "kind", room: Room::Name(12), spare: 0 },
    Column { name: "cause", field: "cause", room: Room::Name(14), spare: 1 },
    Column { name: "state", field: "state", room: Room::Whole, spare: 0 },
    Column { name: "since", field: "since_unix_ns", room: Room::Whole, spare: 2 },
    Column { name: "service", field: "service", room: Room::Name(6), spare: 3 },
    Column { name: "environment", field: "environment", room: Room::Name(6), spare: 5 },
    Column { name: "host", field: "host", room: Room::Name(6), spare: 4 },
    Column { name: "id", field: "id", room: Room::Whole, spare: 6 },
];

/// Names of the columns.
pub(crate) fn sorts() -> Vec<&'static str> {
    COLUMNS.iter().map(|column| column.name).collect()
}

/// The column behind another.
pub(crate) fn after(sort: &str) -> &'static str {
    let place = COLUMNS.iter().position(|column| column.name == sort).map_or(0, |place| place + 1);
    COLUMNS[place % COLUMNS.len()].name
}

/// Names of the states.
pub(crate) fn states() -> [&'static str; State::ALL.len()] {
    State::ALL.map(State::name)
}

/// Names of the kinds.
pub(crate) fn kinds() -> [&'static str; Kind::ALL.len()] {
    Kind::ALL.map(Kind::name)
}

/// An issue, and the change it is about where that is open.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    pub(crate) issue: Issue,
    pub(crate) change: Option<Change>,
}

impl Known {
    /// "2.4x slower", "fails in 90 % of its runs", "1.5x slower as its data grew".
    pub(crate) fn what(&self) -> String {
        let severity = self.issue.severity;
        match self.issue.kind.as_str() {
            "slower" => format!("{} slower", ratio(severity)),
            "failing" => format!("{} of runs fail", share(severity)),
            "data_grew" => format!("{} slower as its data grew", ratio(severity)),
            "late" => format!("late, {} what nine tenths of its runs took", ratio(severity)),
            "missing" => format!("missing, {} its usual gap", ratio(severity)),
            "new_finding" => {
                line(&format!("warns of {}", self.issue.findings.join(", ").replace('_', " "))).into_owned()
            }
            other => line(&other.replace('_', " ")).into_owned(),
        }
    }

    /// Why, in the service's words; empty where it is not known.
    pub(crate) fn why(&self) -> String {
        let why = match (&self.change, &self.issue.detail) {
            (Some(change), _) => first_cause(change),
            (None, Some(detail)) => format!("{}.", capital(&line(detail))),
            (None, None) => String::new(),
        };
        match &self.issue.after_deploys {
            Some(after) if why.is_empty() => format!("{}.", capital(&line(after))),
            Some(after) => format!("{why} {}.", capital(&line(after))),
            None => why,
        }
    }

    /// Wall time at stake a day: of what is not over, and of changes alone. What a late run takes is no time a day, and
    /// what a finding costs is not known.
    pub(crate) fn stake_ms_a_day(&self) -> Option<f64> {
        let is_open = matches!(self.issue.state.as_str(), "open" | "regressed" | "acknowledged");
        (is_open && self.issue.change.is_some()).then_some(self.issue.wall_ms_a_day)
    }

    /// When its runs changed; when it was opened first, where its change is not open.
    pub(crate) fn since_unix_ns(&self) -> i64 {
        self.change.as_ref().map_or(self.issue.opened_unix_ns, |change| change.since_unix_ns)
    }

    fn cause(&self) -> Option<&Cause> {
        self.change.as_ref()?.causes.first()
    }

    /// Red is for failures alone; what somebody knows of is no news.
    pub(crate) fn style(&self) -> Style {
        match (self.issue.kind.as_str(), self.issue.state.as_str()) {
            (_, "acknowledged" | "muted" | "resolved") => SOFT,
            ("failing", _) => FAIL,
            ("slower" | "late" | "missing" | "new_finding", _) => SLOW,
            _ => PLAIN,
        }
    }
}

/// What is asked of a service, and what it answered.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    /// As the API gives them, in the order of `known`.
    entries: Vec<Value>,
    changes: Vec<Value>,
    pub(crate) known: Vec<Known>,
}

/// Reads issues with the changes they are about, those with the most at stake first.
///
/// # Errors
/// As those of [`Service::get`].
pub(crate) async fn ask(service: &Service, params: Vec<(&'static str, String)>) -> Result<Answer> {
    let kept = |name: &str| matches!(name, "project" | "service" | "label");
    let mut of_changes: Vec<_> = params.iter().filter(|(name, _)| kept(name)).cloned().collect();
    of_changes.extend([("state", "open".into()), ("limit", CHANGES_MAX.to_string())]);
    let mut of_issues = params;
    of_issues.push(("limit", PAGE.to_string()));
    let (issues, changes) = tokio::try_join!(
        pages(service, "/api/issues", of_issues, "issues", ISSUES_MAX),
        pages(service, "/api/changes", of_changes, "changes", CHANGES_MAX)
    )?;
    let open: Vec<Change> = changes.entries.iter().map(Change::deserialize).collect::<Result<_, _>>()?;
    let open: HashMap<String, Change> = open.into_iter().map(|change| (change.id.clone(), change)).collect();
    let known = issues.entries.iter().map(|entry| {
        let issue = Issue::deserialize(entry)?;
        let change = issue.change.as_ref().and_then(|id| open.get(id)).cloned();
        Ok(Known { issue, change })
    });
    let known = known.collect::<Result<_>>()?;
    Ok(Answer { entries: issues.entries, changes: changes.entries, known })
}

pub(crate) async fn run(args: &IssuesArgs, screen: Screen) -> Result<Found> {
    let service = Service::find(&args.service_at)?;
    let states = (!args.all).then(|| args.state.join(","));
    let all = [
        ("label", &args.label),
        ("project", &args.project),
        ("service", &args.service),
        ("kind", &args.kind),
        ("owner", &args.owner),
        ("state", &states),
    ];
    let params = all.into_iter().filter_map(|(name, value)| Some((name, value.clone()?))).collect();
    let Answer { entries, changes, known } = ask(&service, params).await?;
    let mut listing = Listing::new(COLUMNS);
    for (known, entry) in known.iter().zip(entries) {
        listing.push(cells(known, screen.times), entry);
    }
    listing.sort(&args.sort, args.reverse);
    listing.limit(args.limit.map_or(usize::MAX, |limit| limit as usize));
    let found = Found::when(!listing.is_empty());
    if args.format.json {
        // Those that the shown issues are about.
        let entries = listing.into_entries();
        let of_shown = |change: &Value| entries.iter().any(|issue| issue["change"] == change["id"]);
        let changes: Vec<Value> = changes.into_iter().filter(of_shown).collect();
        print_json(&json!({"issues": entries, "changes": changes}))?;
    } else if args.format.csv {
        print(&listing.to_csv()?)?;
    } else {
        let line = match (listing.len(), known.len()) {
            (0, _) if args.all || args.has_filter() => "No issue matches".to_owned(),
            (0, _) => format!("No issue is {}", args.state.join(" or ")),
            (shown, all) if shown < all => format!("{}; {shown} shown", sum_line(&known)),
            _ => sum_line(&known),
        };
        print(&screen.paragraph(&line, ""))?;
        if found == Found::Something {
            print(&format!("\n{}", listing.to_table(screen.columns)))?;
        }
    }
    Ok(found)
}

/// "3 issues, 2 h 05 min of wall time a day at stake".
pub(crate) fn sum_line(known: &[Known]) -> String {
    let at_stake: f64 = known.iter().filter_map(Known::stake_ms_a_day).sum();
    let issues = plural(known.len() as u64, "issue", "issues");
    format!("{issues}, {} of wall time a day at stake", duration(at_stake))
}

/// The issues in the order they are read, each with its id.
pub(crate) fn rows<'k>(known: impl IntoIterator<Item = &'k Known>, times: Times) -> Listing<String> {
    let mut listing = Listing::new(COLUMNS);
    for known in known {
        listing.push(cells(known, times), known.issue.id.clone());
    }
    listing
}

fn cells(known: &Known, times: Times) -> Vec<Cell> {
    let issue = &known.issue;
    let named = |text: &Option<String>| {
        let shown = text.as_deref().map_or("–".into(), name);
        Cell::text(&shown, text.as_deref()).in_style(SOFT)
    };
    let state = match issue.state.as_str() {
        "open" | "regressed" => STRONG,
        _ => SOFT,
    };
    let cause = known.cause();
    vec![
        Cell::number(known.stake_ms_a_day(), duration),
        Cell::text(&name(&issue.label), Some(&issue.label)),
        Cell::text(&known.what(), Some(&issue.kind)).in_style(known.style()),
        Cell::text(
            &cause.map_or("–".into(), |cause| cause_name(&cause.kind, &cause.evidence, false)),
            cause.map(|cause| cause.kind.as_str()),
        ),
        Cell::text(&issue.state, Some(&issue.state)).in_style(state),
        Cell::whole(Some(known.since_unix_ns()), |_| times.at(known.since_unix_ns())),
        named(&issue.service),
        named(&issue.environment),
        named(&issue.host),
        Cell::text(&issue.id, Some(&issue.id)).in_style(SOFT),
    ]
}

#[cfg(test)]
pub(crate) mod tests;
