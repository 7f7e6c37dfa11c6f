//! The rows of `top`: running runs, or their labels.

use std::collections::BTreeMap;

use super::app::{App, Running};
use crate::read::listing::{Cell, Column, Listing, Room};
use crate::read::style::{PLAIN, SLOW, SOFT};
use crate::read::text::name;
use crate::read::units::{Times, UNKNOWN, count, duration, threads};
use crate::read::words::{node_name, remaining_short};

/// The column that sorts at first.
pub(crate) const SORT: &str = "elapsed";

const COLUMNS: &[Column] = &[
    Column { name: "elapsed", field: "elapsed_ms", room: Room::Figure, spare: 0 },
    Column { name: "query", field: "label", room: Room::Name(16), spare: 0 },
    Column { name: "remaining", field: "remaining_ms", room: Room::Whole, spare: 0 },
    Column { name: "threads", field: "threads", room: Room::Figure, spare: 0 },
    Column { name: "busiest node", field: "busiest", room: Room::Name(12), spare: 0 },
    Column { name: "rows", field: "rows_read", room: Room::Figure, spare: 2 },
    Column { name: "ended", field: "nodes", room: Room::Figure, spare: 3 },
    Column { name: "host", field: "host", room: Room::Name(6), spare: 1 },
    Column { name: "service", field: "service", room: Room::Name(6), spare: 4 },
];

const GROUP_COLUMNS: &[Column] = &[
    Column { name: "elapsed", field: "elapsed_ms", room: Room::Figure, spare: 0 },
    Column { name: "query", field: "label", room: Room::Name(16), spare: 0 },
    Column { name: "running", field: "running", room: Room::Figure, spare: 0 },
    Column { name: "late", field: "late", room: Room::Figure, spare: 0 },
    Column { name: "threads", field: "threads", room: Room::Figure, spare: 0 },
    Column { name: "hosts", field: "hosts", room: Room::Figure, spare: 1 },
];

fn columns(is_grouped: bool) -> &'static [Column] {
    if is_grouped { GROUP_COLUMNS } else { COLUMNS }
}

/// Whether rows can be sorted by a column.
pub(crate) fn has_column(name: &str, is_grouped: bool) -> bool {
    columns(is_grouped).iter().any(|column| column.name == name)
}

/// The column behind another.
pub(crate) fn after(sort: &str, is_grouped: bool) -> &'static str {
    let columns = columns(is_grouped);
    let place = columns.iter().position(|column| column.name == sort).map_or(0, |place| place + 1);
    columns[place % columns.len()].name
}

/// The runs that the filter and the opened group keep.
pub(crate) fn kept(app: &App) -> Vec<&Running> {
    let text = app.filter.to_lowercase();
    let has = |field: Option<&str>| field.is_some_and(|field| field.to_lowercase().contains(&text));
    let all = app.running.iter().flat_map(BTreeMap::values);
    let is_of_group =
        |label: Option<&str>| app.group.as_deref().is_none_or(|group| group == label.unwrap_or_default());
    all.filter(|Running { run, .. }| is_of_group(run.label.as_deref()))
        .filter(|Running { run, .. }| {
            text.is_empty()
                || has(run.label.as_deref())
                || has(run.service.as_deref())
                || has(Some(&run.host))
                || has(Some(&run.query_id))
        })
        .collect()
}

/// The rows as they are sorted, each with the id of its run or the label of its group.
pub(crate) fn listing(app: &App, times: Times) -> Listing<String> {
    let mut listing = if app.is_grouped { groups(app, times) } else { runs(app, times) };
    listing.sort(app.sort, app.reverse);
    listing
}

/// How long a run has run. The clock of this machine may differ from that of the service: the last sample is a floor.
pub(crate) fn elapsed_ms(running: &Running, times: Times) -> f64 {
    let sampled = running.pulse.as_ref().map_or(0.0, |pulse| pulse.elapsed_ms);
    times.since_ms(running.run.started_unix_ns).max(sampled)
}

/// Its busy threads at the last sample.
pub(crate) fn busy(running: &Running) -> Option<f64> {
    running.pulse.as_ref()?.threads.last().copied()
}

/// Whether it takes longer than nearly all earlier runs.
pub(crate) fn is_late(running: &Running) -> bool {
    running.progress.as_ref().is_some_and(|progress| progress.is_late)
}

fn runs(app: &App, times: Times) -> Listing<String> {
    let mut listing = Listing::new(COLUMNS);
    for running in kept(app) {
        let Running { run, pulse, progress } = running;
        let style = if is_late(running) { SLOW } else { PLAIN };
        let label = run.label.as_deref().map_or("–".into(), name);
        let service = run.service.as_deref().map_or("–".into(), name);
        let busiest = pulse.as_ref().and_then(|pulse| pulse.busiest.as_ref());
        let busiest = busiest.map(|node| node_name(&node.kind, node.id));
        let nodes = pulse.as_ref().filter(|pulse| pulse.nodes > 0);
        let ended = nodes.map_or(UNKNOWN.into(), |pulse| format!("{} of {}", pulse.done, pulse.nodes));
        let told = progress.as_ref();
        let at_most = told.and_then(|progress| progress.remaining_ms).map(|remaining| remaining.p90);
        let left = told.and_then(remaining_short).unwrap_or_default();
        let cells = vec![
            Cell::number(Some(elapsed_ms(running, times)), whole_seconds).in_style(style),
            Cell::text(&label, run.label.as_deref()),
            Cell::text(&left, None).ranked(at_most).in_style(style),
            Cell::number(busy(running), threads),
            Cell::text(busiest.as_deref().unwrap_or(UNKNOWN), busiest.as_deref()),
            Cell::whole(pulse.as_ref().and_then(|pulse| pulse.rows_read), count),
            Cell::text(&ended, None).ranked(nodes.map(|pulse| pulse.done as f64 / pulse.nodes as f64)),
            Cell::text(&name(&run.host), Some(&run.host)).in_style(SOFT),
            Cell::text(&service, run.service.as_deref()).in_style(SOFT),
        ];
        listing.push(cells, run.query_id.clone());
    }
    listing
}

fn groups(app: &App, times: Times) -> Listing<String> {
    let mut groups: BTreeMap<&str, Vec<&Running>> = BTreeMap::new();
    for running in kept(app) {
        groups.entry(running.run.label.as_deref().unwrap_or_default()).or_default().push(running);
    }
    let mut listing = Listing::new(GROUP_COLUMNS);
    for (label, runs) in groups {
        let longest = runs.iter().map(|running| elapsed_ms(running, times)).fold(0.0, f64::max);
        let busy: Vec<f64> = runs.iter().filter_map(|running| busy(running)).collect();
        let late = runs.iter().filter(|running| is_late(running)).count();
        let mut hosts: Vec<&str> = runs.iter().map(|running| running.run.host.as_str()).collect();
        hosts.sort_unstable();
        hosts.dedup();
        let whole = |number: usize| Cell::whole(Some(number as i64), count);
        let shown = if label.is_empty() { "–".into() } else { name(label) };
        let cells = vec![
            Cell::number(Some(longest), whole_seconds),
            Cell::text(&shown, Some(label).filter(|label| !label.is_empty())),
            whole(runs.len()),
            whole(late).in_style(if late > 0 { SLOW } else { PLAIN }),
            Cell::number((!busy.is_empty()).then(|| busy.iter().sum()), threads),
            whole(hosts.len()),
        ];
        listing.push(cells, label.to_owned());
    }
    listing
}

/// A duration that does not change faster than it is read.
fn whole_seconds(ms: Option<f64>) -> String {
    duration(ms.map(|ms| (ms / 1000.0).floor() * 1000.0))
}
