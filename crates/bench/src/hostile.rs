//! Hostile clients, each against a collector of its own: what they cost its memory, and the good clients of W3.
//!
//! W3 runs alone and beside each attack, one after the other on the same collector, so that the two are a pair.
//! The attackers run on this machine, too: what they take of its cores is part of what W3 loses.

mod attack;
mod bodies;
mod crowd;
mod offer;
mod overload;

use std::path::PathBuf;
use std::slice::from_ref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::ingest::{self, Options as IngestOptions};
use crate::load::{Pace, single_threaded};
use crate::process::memory_peak_mb;
use crate::report::{Goal, Row};
use crate::server::Server;
use crate::watched::Watched;
use crate::workload::{Shapes, Workload};
use attack::Attack;

/// What a good client's p99 may grow by, as the design has it for 1,000 slow clients.
const P99_RATIO_MAX: f64 = 1.2;
/// What any attack may make the collector hold, in MB.
const MEMORY_MAX_MB: f64 = 1_000.0;
/// How long the attackers have before W3 is measured beside them.
const HEAD_START: Duration = Duration::from_secs(1);

/// What to run.
#[derive(Debug)]
pub(crate) struct Options {
    /// The collector.
    pub(crate) binary: PathBuf,
    /// Folder for the data of the runs.
    pub(crate) folder: PathBuf,
    /// The one attack to run; all when `None`.
    pub(crate) only: Option<String>,
    /// How long W3 is measured, alone and beside.
    pub(crate) duration: Duration,
    /// Requests of W3 a second.
    pub(crate) rate: f64,
    /// Connections of the attacks that hold many.
    pub(crate) crowd: usize,
    /// Source of ids.
    pub(crate) seed: u64,
}

/// Runs the attacks and gives the rows of the table.
///
/// # Errors
/// When a collector does not start or ends under an attack.
pub(crate) fn run(shapes: &Shapes, options: &Options) -> Result<Vec<Row>> {
    std::fs::create_dir_all(&options.folder)?;
    let mut rows = Vec::new();
    // First: what the others leave is deleted, and a file system may take minutes to give those places to new files.
    if options.only.as_ref().is_none_or(|only| only == "overload") {
        rows.extend(overload::run(shapes, options)?);
    }
    for attack in Attack::all(options.crowd) {
        if options.only.as_ref().is_none_or(|only| *only == attack.name) {
            rows.extend(against(shapes, options, &attack)?);
        }
    }
    ensure!(!rows.is_empty(), "there is no such attack");
    Ok(rows)
}

fn against(shapes: &Shapes, options: &Options, attack: &Attack) -> Result<Vec<Row>> {
    let server = Server::start(&options.binary, &options.folder, options.seed)?;
    let w3 = |seed| {
        let options = IngestOptions {
            workload: Workload::W3,
            duration: options.duration,
            connections: Workload::W3.connections(),
            pace: Pace::Open(options.rate),
            pool_rate: 0.0,
            seed,
            watched: Watched::default(),
        };
        ingest::run(shapes, from_ref(&server.target), &options).map(|measured| measured.account)
    };
    let alone = w3(options.seed)?;
    let stop = AtomicBool::new(false);
    let (beside, answers) = thread::scope(|scope| {
        let attackers = scope.spawn(|| single_threaded()?.block_on(attack.run(&server.target, &stop)));
        thread::sleep(HEAD_START);
        let beside = w3(options.seed.wrapping_add(1));
        stop.store(true, Ordering::Relaxed);
        (beside, attackers.join().expect("attackers do not panic"))
    });
    let (beside, answers) = (beside.context(attack.name)?, answers?);
    let memory_mb = memory_peak_mb(server.pid()).context("the collector ended under the attack")?;
    server.stop()?;
    let (before_ms, with_ms) = (alone.latency.p99_ms, beside.latency.p99_ms);
    let good = beside.statuses.get(&202).copied().unwrap_or_default();
    let row = |what: &str, value, unit| Row::new(format!("{}: {what}", attack.name), value, unit);
    let ratio = row("W3 p99 to that alone", with_ms / before_ms.max(1e-9), "");
    eprintln!("{}: the attackers got {answers:?}, W3 {:?}", attack.name, beside.statuses);
    Ok(vec![
        row("memory at most", memory_mb, "MB").goal(Goal::AtMost(MEMORY_MAX_MB)),
        row("W3 p99 alone", before_ms, "ms"),
        row("W3 p99", with_ms, "ms"),
        if attack.is_idle() { ratio.goal(Goal::AtMost(P99_RATIO_MAX)) } else { ratio },
        row("W3 answered with 202", good as f64 / beside.requests.max(1) as f64 * 100.0, "%"),
        row(
            "requests of the attack",
            answers.values().sum::<u64>() as f64 / options.duration.as_secs_f64(),
            "/s",
        ),
    ])
}
