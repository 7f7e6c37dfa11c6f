//! `queryscope runs`: the runs, newest first.

use anyhow::Result;
use serde::Deserialize;
use serde_json::Value;

use super::answers::Run;
use super::args::RunsArgs;
use super::listing::{Cell, Column, Listing, Room};
use super::screen::{Screen, print, print_json};
use super::service::Service;
use super::style::{FAIL, PLAIN, SLOW, SOFT, STRONG};
use super::text::name;
use super::units::{bytes, count, duration, runs as runs_text};
use super::words::is_cancelled;
use super::{Found, pages, short_id};

/// The column that sorts unless another is asked for.
pub(crate) const SORT: &str = "started";
/// Columns that the service sorts by: of all runs.
const OF_SERVICE: [&str; 8] = [SORT, "wall", "cpu", "rows", "read", "spilled", "memory", "warnings"];
/// Runs that are read to be sorted by another column.
const SORTED_MAX: usize = 5000;
/// Runs on a page of the API.
const PAGE: usize = 1000;
/// On a line of so many columns ids are whole.
const WIDE: usize = 150;

const COLUMNS: &[Column] = &[
    Column { name: "started", field: "started_unix_ns", room: Room::Whole, spare: 0 },
    Column { name: "run", field: "query_id", room: Room::Whole, spare: 0 },
    Column { name: "status", field: "status", room: Room::Whole, spare: 0 },
    Column { name: "wall", field: "wall_ms", room: Room::Figure, spare: 0 },
    Column { name: "cpu", field: "cpu_ms", room: Room::Figure, spare: 2 },
    Column { name: "rows", field: "result_rows", room: Room::Figure, spare: 3 },
    Column { name: "read", field: "bytes_read", room: Room::Figure, spare: 7 },
    Column { name: "spilled", field: "spilled_bytes", room: Room::Figure, spare: 8 },
    Column { name: "memory", field: "peak_memory_bytes", room: Room::Figure, spare: 9 },
    Column { name: "warnings", field: "warnings", room: Room::Figure, spare: 4 },
    Column { name: "query", field: "label", room: Room::Name(20), spare: 0 },
    Column { name: "service", field: "service", room: Room::Name(6), spare: 5 },
    Column { name: "host", field: "host", room: Room::Name(6), spare: 6 },
];

/// Names of the columns.
pub(crate) fn sorts() -> Vec<&'static str> {
    COLUMNS.iter().map(|column| column.name).collect()
}

pub(crate) async fn run(args: &RunsArgs, screen: Screen) -> Result<Found> {
    let service = Service::find(&args.service_at)?;
    let is_by_time = args.sort == SORT;
    let is_sorted = OF_SERVICE.contains(&args.sort.as_str());
    let limit = args.limit as usize;
    let wanted = if is_sorted { limit } else { SORTED_MAX };
    let mut params = args.source.params();
    let since = args.since.map(|since| {
        let since_ns = i64::try_from(since.as_nanos()).unwrap_or(i64::MAX);
        screen.times.now_unix_ns.saturating_sub(since_ns).to_string()
    });
    let optional = [("label", &args.label), ("status", &args.status), ("q", &args.find), ("since", &since)];
    params.extend(optional.into_iter().filter_map(|(name, value)| Some((name, value.clone()?))));
    params.push(("limit", wanted.min(PAGE).to_string()));
    if is_sorted {
        params.push(("sort", args.sort.clone()));
        params.push(("order", if args.reverse { "asc" } else { "desc" }.into()));
    }
    let found = pages(&service, "/api/queries", params, "", wanted).await?;
    let (read, is_cut) = (found.entries.len(), found.is_cut);
    let mut listing = Listing::new(COLUMNS);
    for entry in found.entries {
        listing.push(cells(&Run::deserialize(&entry)?, screen), entry);
    }
    if !is_sorted {
        listing.sort(&args.sort, args.reverse);
        listing.limit(limit);
    }
    let found = Found::when(!listing.is_empty());
    if args.format.json {
        print_json(&Value::Array(listing.into_entries()))?;
    } else if args.format.csv {
        print(&listing.to_csv()?)?;
    } else if listing.is_empty() {
        print(&screen.paragraph("No run matches", ""))?;
    } else {
        let order = match (is_by_time, args.reverse) {
            (true, false) => "newest first".to_owned(),
            (true, true) => "oldest first".to_owned(),
            (false, _) if is_cut && !is_sorted => format!("of the newest {read} by {}", args.sort),
            (false, _) => format!("by {}", args.sort),
        };
        let more = if is_cut && is_sorted { "; there are more" } else { "" };
        let line = format!("{}, {order}{more}", runs_text(listing.len() as u64));
        print(&format!("{}\n{}", screen.paragraph(&line, ""), listing.to_table(screen.columns)))?;
    }
    Ok(found)
}

/// Runs as a table.
///
/// # Errors
/// When an entry is no run.
pub(crate) fn table(entries: &[Value], screen: Screen) -> Result<String> {
    let mut listing = Listing::new(COLUMNS);
    for entry in entries {
        listing.push(cells(&Run::deserialize(entry)?, screen), entry);
    }
    Ok(listing.to_table(screen.columns))
}

fn cells(run: &Run, screen: Screen) -> Vec<Cell> {
    let is_whole = screen.columns.is_none_or(|columns| columns >= WIDE);
    let id = if is_whole { &run.query_id } else { short_id(&run.query_id) };
    let cancelled = run.status == "failed" && is_cancelled(run.failed.as_deref());
    let status = if cancelled { "cancelled" } else { &run.status };
    let style = match status {
        "failed" => FAIL,
        "unfinished" => SLOW,
        "running" => STRONG,
        "cancelled" => SOFT,
        _ => PLAIN,
    };
    let started = |_| screen.times.at_second(run.started_unix_ns);
    let wall = match run.status.as_str() {
        "running" => {
            let so_far = (screen.times.since_ms(run.started_unix_ns) / 1000.0).floor() * 1000.0;
            Cell::number(None, |_| format!("{}…", duration(so_far))).ranked(Some(so_far)).in_style(SOFT)
        }
        _ => Cell::number(run.wall_ms, duration),
    };
    let label = run.label.as_deref().map_or("–".into(), name);
    let service = run.service.as_deref().map_or("–".into(), name);
    vec![
        Cell::whole(Some(run.started_unix_ns), started),
        Cell::text(id, Some(&run.query_id)),
        Cell::text(status, Some(&run.status)).in_style(style),
        wall,
        Cell::number(run.cpu_ms, duration),
        Cell::whole(run.result_rows, count),
        Cell::whole(run.bytes_read, bytes),
        Cell::whole(run.spilled_bytes, bytes),
        Cell::whole(run.peak_memory_bytes, bytes),
        Cell::whole(Some(run.warnings), count),
        Cell::text(&label, run.label.as_deref()),
        Cell::text(&service, run.service.as_deref()).in_style(SOFT),
        Cell::text(&name(&run.host), Some(&run.host)).in_style(SOFT),
    ]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::read::screen::Reader;
    use crate::read::units::{Times, Zone};

    const NOW_UNIX_NS: i64 = 1_795_206_683_000_000_000;

    fn shown(columns: usize) -> String {
        let run = |n: u64, status: &str, more: Value| {
            let mut run = json!({
                "query_id": format!("01a1faa8-1bd9-77b2-97ab-{n:012}"), "status": status,
                "label": "orders/daily-revenue", "service": "orders-etl", "host": "worker-1",
                "started_unix_ns": NOW_UNIX_NS - 7_000_000_000, "wall_ms": 93_500.0, "cpu_ms": 90_000.0,
                "result_rows": 1_234_567, "bytes_read": 3_221_225_472_u64, "spilled_bytes": 0,
                "peak_memory_bytes": null, "warnings": 2, "failed": null,
            });
            let Value::Object(more) = more else { panic!("members") };
            run.as_object_mut().expect("an object").extend(more);
            run
        };
        let runs = [
            run(1, "finished", json!({})),
            run(2, "failed", json!({"failed": "no such column", "result_rows": null})),
            run(3, "failed", json!({"failed": "cancelled", "label": null, "service": null})),
            run(4, "running", json!({"wall_ms": null, "cpu_ms": null, "result_rows": null, "warnings": 0})),
        ];
        let times = Times { now_unix_ns: NOW_UNIX_NS, zone: Zone::Utc };
        let screen = Screen { columns: Some(columns), times, reader: Reader::Person };
        let table = anstream::adapter::strip_str(&table(&runs, screen).expect("runs")).to_string();
        assert!(table.lines().all(|line| line.chars().count() <= columns), "{table}");
        table
    }

    #[test]
    fn runs_fit_a_small_terminal_and_fill_a_wide_one() {
        insta::assert_snapshot!(format!("{}\n{}", shown(80), shown(200)));
    }
}
