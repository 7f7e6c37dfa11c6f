//! What a service costs while its senders are connected and send nothing: CPU, and how often its threads wake up.
//!
//! Most services of a day are that. A timer for each connection, or a look at something every few milliseconds, keeps
//! cores out of their deep states and shows in no other row.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::Serialize;

use crate::body::{PoolOptions, pool};
use crate::clock;
use crate::load::{Fleet, single_threaded};
use crate::process::{cpu_seconds, wait_until_idle, wake_ups};
use crate::report::{Goal, Row};
use crate::server::Server;
use crate::workload::{Shapes, Workload};

/// What it may cost: a thousandth of a core for each hundred senders, and as many wake-ups a second as one timer of
/// 10 ms makes.
const CPU_MS_A_SECOND_MAX: f64 = 10.0;
const WAKE_UPS_A_SECOND_MAX: f64 = 100.0;
/// Requests of each sender before it falls silent.
const REQUESTS: usize = 2;

/// What to run.
#[derive(Debug)]
pub(crate) struct Options {
    /// The collector.
    pub(crate) binary: PathBuf,
    /// Folder for its data.
    pub(crate) folder: PathBuf,
    /// Senders that are connected.
    pub(crate) senders: usize,
    /// How long it is watched, without them and with them.
    pub(crate) duration: Duration,
    /// How long the work of what they have sent may go on.
    pub(crate) idle_at_most: Duration,
    /// Source of ids.
    pub(crate) seed: u64,
}

/// What it showed.
#[derive(Debug, Serialize)]
pub(crate) struct Measured {
    senders: usize,
    without: Idle,
    with: Idle,
    /// A service that was still at work.
    pub(crate) faults: Vec<String>,
}

/// What a service used while nothing was asked of it.
#[derive(Debug, Clone, Copy, Serialize)]
struct Idle {
    /// CPU milliseconds a second.
    cpu_ms: f64,
    /// How often one of its threads woke up, a second.
    wake_ups: f64,
}

impl Measured {
    /// The rows of the table.
    pub(crate) fn rows(&self) -> Vec<Row> {
        let name = format!("{} idle senders", self.senders);
        vec![
            Row::new("idle: CPU", self.without.cpu_ms, "ms/s"),
            Row::new("idle: wake-ups", self.without.wake_ups, "/s"),
            Row::new(format!("{name}: CPU"), self.with.cpu_ms, "ms/s")
                .goal(Goal::AtMost(CPU_MS_A_SECOND_MAX)),
            Row::new(format!("{name}: wake-ups"), self.with.wake_ups, "/s")
                .goal(Goal::AtMost(WAKE_UPS_A_SECOND_MAX)),
        ]
    }
}

/// Starts a collector, connects senders that send two batches each, and watches it.
///
/// # Errors
/// When it does not start, or takes no events.
pub(crate) fn run(shapes: &Shapes, options: &Options) -> Result<Measured> {
    std::fs::create_dir_all(&options.folder)?;
    let server = Server::start(&options.binary, &options.folder, options.seed)?;
    let pid = server.pid();
    wait_until_idle(pid, options.idle_at_most)?;
    let without = watch(pid, options.duration)?;
    let ready = PoolOptions {
        workload: Workload::W3,
        lanes: options.senders,
        per_lane: REQUESTS,
        seed: options.seed,
        now_unix_ns: clock::unix_ns(),
    };
    let requests = pool(shapes, std::slice::from_ref(&server.target), ready)?;
    let runtime = single_threaded()?;
    let connected = runtime.block_on(Fleet::open(requests)).context("senders cannot be connected")?;
    let settled = wait_until_idle(pid, options.idle_at_most)?;
    let with = watch(pid, options.duration)?;
    // Until here they were connected.
    drop(connected);
    server.stop()?;
    let still = "the collector was still at work on what senders had sent";
    let faults = if settled.idle { Vec::new() } else { vec![still.to_owned()] };
    Ok(Measured { senders: options.senders, without, with, faults })
}

fn watch(pid: u32, duration: Duration) -> Result<Idle> {
    let before = (cpu_seconds(pid)?, wake_ups(pid)?);
    std::thread::sleep(duration);
    let after = (cpu_seconds(pid)?, wake_ups(pid)?);
    let seconds = duration.as_secs_f64();
    Ok(Idle {
        cpu_ms: (after.0 - before.0) * 1e3 / seconds,
        wake_ups: after.1.saturating_sub(before.1) as f64 / seconds,
    })
}
