//! One workload against a running service.

use std::time::Duration;

use anyhow::{Context, Result};
use serde::Serialize;

use crate::body::{PoolOptions, Ready, pool};
use crate::clock;
use crate::http::Target;
use crate::load::{Account, Fleet, Pace, single_threaded};
use crate::process::cpu_seconds;
use crate::watched::Watched;
use crate::workload::{Shapes, Workload};

/// Requests made ready on top of what a rate needs.
const POOL_SPARE: usize = 4;

/// How to run a workload.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Options<'w> {
    /// What the requests hold.
    pub(crate) workload: Workload,
    /// How long to send.
    pub(crate) duration: Duration,
    /// Connections to send over.
    pub(crate) connections: usize,
    /// When to send.
    pub(crate) pace: Pace,
    /// Requests made ready for each second of a closed-loop run.
    pub(crate) pool_rate: f64,
    /// Source of ids: another one for each run, or everything is a duplicate.
    pub(crate) seed: u64,
    /// Processes whose use of CPU and memory is wanted.
    pub(crate) watched: Watched<'w>,
}

/// What a run showed.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Measured {
    /// What was run.
    pub(crate) workload: Workload,
    /// Connections it was sent over.
    pub(crate) connections: usize,
    /// Requests a second asked for; none in a closed loop.
    pub(crate) rate: Option<f64>,
    /// Answers and latencies.
    pub(crate) account: Account,
    /// Queries the collector holds of it, those of the warm-up included.
    pub(crate) queries_sent: u64,
    /// Requests answered a second.
    pub(crate) requests_per_s: f64,
    /// Decoded MB (10^6 bytes) a second.
    pub(crate) mb_per_s: f64,
    /// CPU seconds the collectors used meanwhile, all of them together.
    pub(crate) collector_cpu_s: Option<f64>,
    /// CPU seconds their database used meanwhile.
    pub(crate) database_cpu_s: Option<f64>,
    /// Decoded MB per CPU second of the collectors.
    pub(crate) mb_per_cpu_s: Option<f64>,
    /// CPU microseconds of the collectors for each request.
    pub(crate) cpu_us_per_request: Option<f64>,
    /// The most memory any of them ever held, in MB.
    pub(crate) memory_peak_mb: Option<f64>,
    /// Cores the generator itself took.
    pub(crate) generator_cores: f64,
}

/// Makes the requests ready, sends them to collectors by turns, and reads what it cost.
///
/// # Errors
/// When the service takes no events, or the process to watch is gone.
pub(crate) fn run(shapes: &Shapes, targets: &[Target], options: &Options<'_>) -> Result<Measured> {
    prepare(shapes, targets, options)?.send()
}

/// Makes the requests of a run ready, which takes every core: nothing is to be measured meanwhile.
///
/// # Errors
/// When a thread cannot be started.
pub(crate) fn prepare<'w>(
    shapes: &Shapes,
    targets: &[Target],
    options: &Options<'w>,
) -> Result<Prepared<'w>> {
    let options = Options { connections: options.connections.max(1), ..*options };
    let (rate, spare) = match options.pace {
        Pace::Closed => (options.pool_rate, 0),
        Pace::Open(rate) => (rate, POOL_SPARE),
    };
    let requests = (rate * options.duration.as_secs_f64() / options.connections as f64).ceil() as usize;
    let ready = PoolOptions {
        workload: options.workload,
        lanes: options.connections,
        per_lane: requests.max(1) + spare,
        seed: options.seed,
        now_unix_ns: clock::unix_ns(),
    };
    Ok(Prepared { options, requests: pool(shapes, targets, ready)? })
}

/// A run whose requests are ready.
#[derive(Debug)]
pub(crate) struct Prepared<'w> {
    options: Options<'w>,
    /// A list for each connection.
    requests: Vec<Ready>,
}

impl Prepared<'_> {
    /// Sends them, and reads what it cost.
    ///
    /// # Errors
    /// When the service takes no events, or the process to watch is gone.
    pub(crate) fn send(self) -> Result<Measured> {
        let Self { options, requests } = self;
        let own_pid = std::process::id();
        let (account, warm_up_queries, used, generator_cpu_s) = single_threaded()?.block_on(async {
            let fleet = Fleet::open(requests).await?;
            let warm_up_queries = fleet.warm_up_queries();
            let (before, own) = (options.watched.used()?, cpu_seconds(own_pid)?);
            let account = fleet.run(options.duration, options.pace).await;
            let used = options.watched.used().context("a collector ended during the run")?.since(before);
            anyhow::Ok((account, warm_up_queries, used, cpu_seconds(own_pid)? - own))
        })?;
        if account.used_up {
            eprintln!("the prepared requests were used up after {:.2} s", account.seconds);
        }
        let (mb, collector_cpu_s) = (account.decoded_bytes as f64 / 1e6, used.collectors_s);
        Ok(Measured {
            workload: options.workload,
            connections: options.connections,
            rate: if let Pace::Open(rate) = options.pace { Some(rate) } else { None },
            queries_sent: warm_up_queries + account.queries,
            requests_per_s: account.requests as f64 / account.seconds,
            mb_per_s: mb / account.seconds,
            mb_per_cpu_s: collector_cpu_s.filter(|cpu_s| *cpu_s > 0.0).map(|cpu_s| mb / cpu_s),
            cpu_us_per_request: collector_cpu_s.map(|cpu_s| cpu_s * 1e6 / account.requests.max(1) as f64),
            collector_cpu_s,
            database_cpu_s: used.database_s,
            memory_peak_mb: options.watched.memory_peak_mb()?,
            generator_cores: generator_cpu_s / account.seconds,
            account,
        })
    }
}
