//! `queryscope list`: the queries, and which of them changed.

use std::collections::HashMap;

use anyhow::Result;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::answers::{Change, Overview, Query};
use super::args::ListArgs;
use super::listing::{Cell, Column, Figure, Listing, Room};
use super::screen::{Screen, print, print_json};
use super::service::Service;
use super::style::{FAIL, PLAIN, SOFT};
use super::text::name;
use super::units::{self, duration, plural, runs as runs_text, share};
use super::words::{how_much, is_worse, median_or_quartiles, style_of};
use super::{Found, pages};

/// The column that sorts unless another is asked for.
pub(crate) const SORT: &str = "time";
/// Open changes that are read: the dashboard reads as many.
const CHANGES_MAX: usize = 1000;

const COLUMNS: &[Column] = &[
    Column { name: "query", field: "label", room: Room::Name(16), spare: 0 },
    Column { name: "service", field: "service", room: Room::Name(6), spare: 2 },
    Column { name: "usual", field: "usual_wall_ms", room: Room::Figure, spare: 0 },
    Column { name: "lately", field: "recent_wall_ms", room: Room::Figure, spare: 0 },
    Column { name: "change", field: "change", room: Room::Name(12), spare: 0 },
    Column { name: "runs", field: "runs", room: Room::Figure, spare: 0 },
    Column { name: "failed", field: "failed", room: Room::Figure, spare: 0 },
    Column { name: "time", field: "total_wall_ms", room: Room::Figure, spare: 1 },
];

/// Names of the columns.
pub(crate) fn sorts() -> Vec<&'static str> {
    COLUMNS.iter().map(|column| column.name).collect()
}

pub(crate) async fn run(args: &ListArgs, screen: Screen) -> Result<Found> {
    let service = Service::find(&args.service_at)?;
    let mut params = args.source.params();
    let mut asked = params.clone();
    asked.extend([
        ("days", args.days.to_string()),
        ("utc_offset", screen.times.utc_offset_minutes().to_string()),
        ("split", "service".into()),
    ]);
    params.extend([("state", "open".into()), ("limit", CHANGES_MAX.to_string())]);
    let (given, changes) = tokio::try_join!(
        service.get::<Given>("/api/overview", &asked),
        pages(&service, "/api/changes", params, "changes", CHANGES_MAX)
    )?;
    let Given { queries, rest: mut document } = given;
    let overview = Overview::deserialize(&document)?;
    let open = by_query(&changes.entries)?;
    let listing = listing(queries, &open, &overview, args)?;
    let found = Found::when(!listing.is_empty());
    if args.format.json {
        let shown = listing.into_entries();
        let shown: Vec<Value> =
            shown.iter().map(|entry| serde_json::from_str(entry.get())).collect::<Result<_, _>>()?;
        document["queries"] = shown.into();
        document["changes"] = changes.entries.into();
        print_json(&document)?;
    } else if args.format.csv {
        print(&listing.to_csv()?)?;
    } else {
        print(&text(&listing, &overview, args, screen))?;
    }
    Ok(found)
}

/// `/api/overview`. Its entries stay as they came: of some megabytes a few figures each are shown.
#[derive(Debug, Deserialize)]
struct Given {
    queries: Vec<Box<RawValue>>,
    #[serde(flatten)]
    rest: Value,
}

/// A query: its label and service.
type Key = (String, Option<String>);

/// Open changes by query: of several, that for the worse, and then the one that costs most.
fn by_query(entries: &[Value]) -> Result<HashMap<Key, Change>> {
    let mut open: HashMap<Key, Change> = HashMap::new();
    for entry in entries {
        let change = Change::deserialize(entry)?;
        let key = (change.label.clone().unwrap_or_default(), change.service.clone());
        match open.get(&key) {
            Some(known) if is_worse(known) || !is_worse(&change) => {}
            _ => {
                open.insert(key, change);
            }
        }
    }
    Ok(open)
}

fn listing(
    entries: Vec<Box<RawValue>>,
    open: &HashMap<Key, Change>,
    overview: &Overview,
    args: &ListArgs,
) -> Result<Listing<Box<RawValue>>> {
    let mut listing = Listing::new(COLUMNS);
    for entry in entries {
        let query: Query = serde_json::from_str(entry.get())?;
        let change = open.get(&(query.label.clone(), query.service.clone()));
        if change.is_some() || !args.changed {
            listing.push(cells(&query, change, overview), entry);
        }
    }
    listing.sort(&args.sort, args.reverse);
    listing.limit(args.limit.map_or(usize::MAX, |limit| limit as usize));
    Ok(listing)
}

fn cells(query: &Query, change: Option<&Change>, overview: &Overview) -> Vec<Cell> {
    let all_ms = overview.totals.total_wall_ms;
    let service = query.service.as_deref().map_or("–".into(), name);
    let share_of_all = (all_ms > 0.0).then(|| query.total_wall_ms / all_ms);
    let changed = match change {
        Some(change) => Cell::text(&how_much(change), Some(&change.kind))
            .ranked(Some(change.cost.wall_ms_a_day))
            .in_style(style_of(change)),
        None => Cell::text(without_change(query, overview.change_runs_min), None).in_style(SOFT),
    };
    let whole = |value: u64| Cell::whole(Some(value as i64), units::count);
    let (usual_ms, lately_ms, spread_ms) = match change.filter(|change| tells_time(change)) {
        Some(change) => (change.before.median_wall_ms, change.after.median_wall_ms, None),
        None => (query.usual_wall_ms, query.recent_wall_ms, query.recent_spread_ms),
    };
    vec![
        Cell::text(&name(&query.label), Some(&query.label)),
        Cell::text(&service, query.service.as_deref()).in_style(SOFT),
        Cell::number(usual_ms, duration),
        Cell::number(lately_ms, |median_ms| median_or_quartiles(median_ms, spread_ms)),
        changed,
        whole(query.runs),
        whole(query.failed).in_style(if query.failed > query.cancelled { FAIL } else { PLAIN }),
        Cell::figure(share(share_of_all), Figure::Number(query.total_wall_ms)),
    ]
}

/// How a query without an open change stands, in the words of the dashboard.
fn without_change(query: &Query, runs_min: Option<u64>) -> &'static str {
    if query.is_as_usual() {
        "as usual"
    } else if runs_min.is_some_and(|least| query.is_few(least)) {
        "few runs"
    } else {
        "no change"
    }
}

/// Whether a change says what the query took before it and takes since: it is of time, and not of one host alone.
fn tells_time(change: &Change) -> bool {
    matches!(&*change.kind, "slower" | "faster")
        && change.host.is_none()
        && change.before.median_wall_ms.is_some()
}

/// "34 queries, 4.09 k runs in 14 days", then the table.
fn text<E>(listing: &Listing<E>, overview: &Overview, args: &ListArgs, screen: Screen) -> String {
    let days = plural(u64::from(args.days), "day", "days");
    let all = plural(overview.totals.labels, "query", "queries");
    if listing.is_empty() {
        let line = match (overview.totals.labels, args.source.params().is_empty()) {
            (0, true) => format!("No query with a label ran in {days}"),
            (0, false) => format!("No query with a label matches the filters in {days}"),
            _ => format!("None of {all} has an open change"),
        };
        return screen.paragraph(&line, "");
    }
    let shown = listing.len() as u64;
    let part = if shown < overview.totals.labels { format!("; {shown} shown") } else { String::new() };
    let line = format!("{all}, {} in {days}{part}", runs_text(overview.totals.runs));
    format!("{}\n{}", screen.paragraph(&line, ""), listing.to_table(screen.columns))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn runs_far_apart_are_told_by_their_quartiles() {
        let query = json!({
            "label": "pages", "service": null, "runs": 40, "recent_wall_ms": 22.0, "recent_spread_ms": [2.0, 45_000.0]
        });
        let overview =
            json!({"totals": {"labels": 1, "runs": 40, "total_wall_ms": 880.0}, "change_runs_min": 8});
        let overview = serde_json::from_value(overview).expect("an overview");
        let query = serde_json::from_value(query).expect("a query");
        let mut listing = Listing::new(COLUMNS);
        listing.push(cells(&query, None, &overview), ());
        let table = listing.to_table(Some(100));
        assert!(table.contains(" 2 ms to 45 s "), "{table}");
        assert!(listing.to_csv().expect("CSV").contains(",22"), "a program reads the median");
    }

    fn said(query: Value) -> &'static str {
        without_change(&serde_json::from_value(query).expect("a query"), Some(8))
    }

    #[test]
    fn a_query_without_a_change_stands_as_on_the_dashboard() {
        let of = |recent_runs: u64, recent_wall_ms: f64| {
            json!({
                "label": "daily", "service": null, "runs": 40, "judged": true, "usual_wall_ms": 100.0,
                "usual_band_ms": [90.0, 110.0], "recent_runs": recent_runs, "recent_wall_ms": recent_wall_ms
            })
        };
        assert_eq!(
            [said(of(3, 100.0)), said(of(3, 150.0)), said(of(9, 150.0))],
            ["as usual", "few runs", "no change"]
        );
        let new = json!({
            "label": "daily", "service": null, "runs": 3, "usual_wall_ms": null, "usual_band_ms": null,
            "recent_wall_ms": 5.0
        });
        assert_eq!(said(new), "few runs");
        let failing = json!({
            "label": "daily", "service": null, "runs": 40, "judged": true, "usual_wall_ms": 100.0,
            "usual_band_ms": [90.0, 110.0], "recent_runs": 9, "recent_failed": 2, "recent_wall_ms": 100.0
        });
        assert_eq!(said(failing), "no change");
    }
}
