//! Which figures of a measurement become rows, beside which floor and goal.

use crate::beside;
use crate::fill::Filled;
use crate::floor::Floor;
use crate::ingest::Measured;
use crate::latency::Percentiles;
use crate::live;
use crate::million::{Cost, Million};
use crate::process::Aftermath;
use crate::reads;
use crate::report::{Goal, Row};
use crate::workload::Workload;

/// The floor itself.
pub(crate) fn of_floor(floor: &Floor) -> Vec<Row> {
    vec![
        Row::new("floor: inflate, read, pack W1", floor.w1_mb_per_cpu_s, "MB/CPU s"),
        Row::new("floor: inflate", floor.inflate_ms_per_mb, "ms/MB"),
        Row::new("floor: read", floor.read_ms_per_mb, "ms/MB"),
        Row::new("floor: pack", floor.pack_ms_per_mb, "ms/MB"),
        Row::new("floor: SQLite commits of one row", floor.commits_per_s, "/s"),
        Row::new("floor: fdatasync of 4 KB", floor.syncs_per_s, "/s"),
    ]
}

/// Readers of the live stream, and W3 beside them.
pub(crate) fn of_live(measured: &live::Measured) -> Vec<Row> {
    let kind = if measured.deaf { "readers that never read" } else { "readers" };
    let row = |what: &str, value, unit| {
        Row::new(format!("live, {} {kind}: {what}", measured.subscribers), value, unit)
    };
    let floor = measured.floor.as_deref();
    let soon = beside(
        row("commit to socket, p99", measured.after_commit.p99_ms, "ms"),
        floor.map(|floor| floor.after_commit.p99_ms),
    );
    let asked = measured.subscribers <= 1_000;
    let mut rows = Vec::new();
    if !measured.deaf {
        rows.extend([
            beside(
                row("commit to socket, p50", measured.after_commit.p50_ms, "ms"),
                floor.map(|floor| floor.after_commit.p50_ms),
            ),
            if asked { soon.goal(Goal::AtMost(50.0)) } else { soon },
            row("post to socket, p99", measured.after_post.p99_ms, "ms"),
            row("a reader got", measured.bytes_per_reader as f64 / 1e3, "KB"),
        ]);
    }
    rows.extend(measured.memory_peak_mb.map(|mb| row("memory", mb, "MB").goal(Goal::AtMost(500.0))));
    if let (Some(alone), Some(loaded)) = (&measured.alone, &measured.beside) {
        let (before, with) = (alone.account.latency, loaded.account.latency);
        rows.push(row("W3 p50 without them", before.p50_ms, "ms"));
        rows.push(row("W3 p50", with.p50_ms, "ms"));
        rows.push(row("W3 p99 without them", before.p99_ms, "ms"));
        rows.push(row("W3 p99", with.p99_ms, "ms"));
        let ratio = row("W3 p99 to that without them", measured.ratio().unwrap_or_default(), "");
        rows.push(beside(ratio, floor.and_then(live::Measured::ratio)).goal(Goal::AtMost(1.1)));
    }
    rows
}

/// Medians over several rounds.
pub(crate) fn of_live_rounds(rounds: &[live::Measured]) -> Vec<Row> {
    let median = |figure: &dyn Fn(&live::Measured) -> Option<f64>| {
        let mut figures: Vec<f64> = rounds.iter().filter_map(figure).collect();
        figures.sort_by(f64::total_cmp);
        figures.get(figures.len() / 2).copied().filter(|_| rounds.len() > 1)
    };
    let row = |what: &str, unit, figure: fn(&live::Measured) -> Option<f64>| {
        let name = format!("live, median of {} rounds: {what}", rounds.len());
        let floor = median(&|round| round.floor.as_deref().and_then(figure));
        median(&figure).map(|median| beside(Row::new(name, median, unit), floor))
    };
    let ratio = row("W3 p99 to that without readers", "", live::Measured::ratio);
    let told = row("commit to socket, p99", "ms", |round| (!round.deaf).then_some(round.after_commit.p99_ms));
    told.into_iter().chain(ratio.map(|row| row.goal(Goal::AtMost(1.1)))).collect()
}

/// W3 beside readers of the overview.
pub(crate) fn of_beside(measured: &beside::Measured) -> Vec<Row> {
    let name = format!("W3 at {:.0}/s", measured.rate);
    let with = format!("with {} readers of the overview", measured.readers);
    let mut rows = Vec::new();
    for (what, of) in [("p50", (|l| l.p50_ms) as fn(&Percentiles) -> f64), ("p99", |l| l.p99_ms)] {
        let (alone, beside) = measured.medians(of);
        rows.push(Row::new(format!("{name}: {what} alone"), alone, "ms"));
        rows.push(Row::new(format!("{name}: {what} {with}"), beside, "ms"));
        let ratio = Row::new(format!("{name}: {what} {with} to that alone"), beside / alone.max(1e-9), "");
        rows.push(if what == "p99" { ratio.goal(Goal::AtMost(1.2)) } else { ratio });
    }
    rows.push(Row::new("overview meanwhile: p50", measured.overview.p50_ms, "ms"));
    rows.push(Row::new("overview meanwhile: p95", measured.overview.p95_ms, "ms"));
    rows
}

/// A workload, beside the floor where that is known; its pace decides what is asked of it.
pub(crate) fn of_workload(name: &str, measured: &Measured, floor: Option<&Floor>) -> Vec<Row> {
    let row = |what: &str, value, unit| Row::new(format!("{name}: {what}"), value, unit);
    let latency = &measured.account.latency;
    let mut rows = Vec::new();
    let requests = row("requests", measured.requests_per_s, "/s");
    let open = measured.rate.is_some();
    rows.push(match measured.workload {
        Workload::W2 => requests.goal(Goal::AtLeast(7_000.0)),
        Workload::W3 if !open => {
            beside(requests, floor.map(|floor| floor.commits_per_s)).goal(Goal::AtLeast(18_000.0))
        }
        _ => requests,
    });
    rows.push(row("decoded", measured.mb_per_s, "MB/s"));
    if let Some(mb) = measured.mb_per_cpu_s {
        let row = row("decoded", mb, "MB/CPU s");
        rows.push(match measured.workload {
            Workload::W1 => beside(row, floor.map(|floor| floor.w1_mb_per_cpu_s)).goal(Goal::AtLeast(200.0)),
            _ => row,
        });
    }
    rows.extend(measured.cpu_us_per_request.map(|us| {
        let row = row("CPU of the collector", us, "us a request");
        if !open && measured.workload == Workload::W3 { row.goal(Goal::AtMost(60.0)) } else { row }
    }));
    rows.extend(floor.and_then(|floor| against_floor(name, measured, floor)));
    let (p50, p99) = (row("p50", latency.p50_ms, "ms"), row("p99", latency.p99_ms, "ms"));
    let asked = open && measured.workload == Workload::W3;
    rows.push(if asked { p50.goal(Goal::AtMost(5.0)) } else { p50 });
    rows.push(row("p90", latency.p90_ms, "ms"));
    rows.push(if asked { p99.goal(Goal::AtMost(25.0)) } else { p99 });
    rows.push(row("slowest", latency.max_ms, "ms"));
    if open {
        rows.push(row("sent late by, p99", measured.account.lateness.p99_ms, "ms"));
    }
    rows.extend(measured.memory_peak_mb.map(|mb| {
        let row = row("memory", mb, "MB");
        if measured.workload == Workload::W1 { row.goal(Goal::AtMost(150.0)) } else { row }
    }));
    rows.push(row("generator", measured.generator_cores, "cores"));
    rows
}

/// How near the CPU of whole runs comes to what inflating, reading and packing their bytes costs alone.
fn against_floor(name: &str, measured: &Measured, floor: &Floor) -> Option<Row> {
    let share = measured.mb_per_cpu_s.filter(|mb| *mb > 0.0)? / floor.w1_mb_per_cpu_s;
    match measured.workload {
        Workload::W1 => {
            Some(Row::new(format!("{name}: share of the floor"), share, "").goal(Goal::AtLeast(0.9)))
        }
        Workload::W2 => {
            let row = Row::new(format!("{name}: CPU of a request, of the floor's"), 1.0 / share, "times");
            Some(row.goal(Goal::AtMost(1.4)))
        }
        Workload::W3 | Workload::W4 => None,
    }
}

fn beside(row: Row, floor: Option<f64>) -> Row {
    match floor {
        Some(floor) => row.floor(floor),
        None => row,
    }
}

/// What went on after the load had stopped, so that no cost is hidden.
pub(crate) fn of_aftermath(name: &str, measured: &Measured, aftermath: Aftermath) -> Vec<Row> {
    let mut rows = vec![
        Row::new(format!("{name}: background work after it"), aftermath.cpu_s, "CPU s"),
        Row::new(
            format!(
                "{name}: background work after it, {}",
                if aftermath.idle { "until idle" } else { "CUT OFF" }
            ),
            aftermath.seconds,
            "s",
        ),
    ];
    if let Some(cpu_s) =
        measured.collector_cpu_s.map(|cpu_s| cpu_s + aftermath.cpu_s).filter(|cpu| *cpu > 0.0)
    {
        let mb = measured.account.decoded_bytes as f64 / 1e6;
        rows.push(Row::new(format!("{name}: decoded, background included"), mb / cpu_s, "MB/CPU s"));
    }
    rows
}

/// The long stream beside a new one.
pub(crate) fn of_million(million: &Million) -> Vec<Row> {
    let cost = |name: &str, cost: &Cost| {
        [
            cost.cpu_ms.map(|ms| Row::new(format!("{name}: CPU"), ms, "ms")),
            Some(Row::new(format!("{name}: p50"), cost.latency.p50_ms, "ms")),
            Some(Row::new(format!("{name}: p99"), cost.latency.p99_ms, "ms")),
        ]
    };
    let mut rows = vec![Row::new("a long stream: sent at", million.events_per_s, "events/s")];
    rows.extend(cost("next batch of a new stream", &million.new).into_iter().flatten());
    let name = format!("next batch of a stream of {} events", million.events);
    let mut long: Vec<_> = cost(&name, &million.long).into_iter().flatten().collect();
    if million.long.cpu_ms.is_some() {
        long[0] = long[0].clone().goal(Goal::AtMost(0.1));
    }
    rows.extend(long);
    if let (Some(new), Some(long)) = (million.new.cpu_ms, million.long.cpu_ms)
        && new > 0.0
    {
        rows.push(
            Row::new(format!("{name}: CPU, of a new one's"), long / new, "times").goal(Goal::AtMost(1.2)),
        );
    }
    rows
}

/// How fast the population went in.
pub(crate) fn of_fill(filled: &Filled) -> Vec<Row> {
    vec![
        Row::new("fill: queries", filled.queries as f64, ""),
        Row::new("fill: queries a second", filled.queries as f64 / filled.seconds, "/s"),
        Row::new("fill: the generator alone", filled.queries as f64 / filled.making_cpu_s, "/s"),
    ]
}

/// One kind of read.
pub(crate) fn of_read(read: &reads::Measured) -> Vec<Row> {
    let p95 = Row::new(format!("{}: p95", read.name), read.latency.p95_ms, "ms");
    vec![
        Row::new(format!("{}: p50", read.name), read.latency.p50_ms, "ms"),
        match read.goal_p95_ms {
            Some(goal_ms) => p95.goal(Goal::AtMost(goal_ms)),
            None => p95,
        },
    ]
}
