//! Three times what the collector takes, beside a service that does nothing but answer.
//!
//! An overload comes from other machines: the generator has a core of its own, and the service the others, also while
//! its full rate is looked for.

use std::mem::take;
use std::slice::from_ref;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::offer::{Lanes, Offered, Senders};
use super::{MEMORY_MAX_MB, Options};
use crate::bare::Bare;
use crate::body::{PoolOptions, Ready, pool};
use crate::clock;
use crate::cores::Cores;
use crate::process::{cpu_seconds, memory_peak_mb};
use crate::report::{Goal, Row};
use crate::server::Server;
use crate::workload::{Shapes, Workload};

/// How much more is offered than is taken.
const TIMES: f64 = 3.0;
/// Connections: more than may wait for the store's writer, so that some have to be turned away.
const CONNECTIONS: usize = 8_000;
/// How long the full rate is looked for.
const FULL: Duration = Duration::from_secs(5);
/// What of the full rate is still answered with 202 under three times as much.
const GOODPUT_MIN: f64 = 0.8;

/// What was offered to a service, and the CPU seconds it took to answer.
struct Run {
    offered: Offered,
    service_cpu_s: f64,
}

/// Looks for the full rate of W3 with as many connections as W3 has, then offers three times that: first by
/// senders that go on whatever they are told, then by such as the specification has. The full rate is looked for
/// again at the end, and the mean of both counts: what a machine does may differ by a third between two halves of
/// a minute.
///
/// # Errors
/// When a service does not start, or answers anything but 202 and 503.
pub(super) fn run(shapes: &Shapes, options: &Options) -> Result<Vec<Row>> {
    let cores = Cores::divided()?;
    let server = cores.as_service(|| Server::start(&options.binary, &options.folder, options.seed))?;
    let bare = cores.as_service(|| Bare::start(0))?;
    let ready = |lanes: usize, requests: f64, seed: u64| {
        let per_lane = (requests / lanes as f64).ceil() as usize;
        let now_unix_ns = clock::unix_ns();
        let options = PoolOptions { workload: Workload::W3, lanes, per_lane, seed, now_unix_ns };
        pool(shapes, from_ref(&server.target), options)
    };
    let against = |(address, pid), pool: &[Ready], every, duration, senders| {
        let lanes = Lanes::open(address, pool.len())?;
        let used = cpu_seconds(pid)?;
        let offered = cores.as_generator(|| lanes.offer(pool, every, duration, senders))?;
        ensure!(offered.others == 0, "{} requests were answered with neither 202 nor 503", offered.others);
        let used = cpu_seconds(pid).context("the service ended under the load")? - used;
        anyhow::Ok(Run { offered, service_cpu_s: used })
    };
    let (service, floor) = ((server.target.address, server.pid()), (bare.target.address, bare.pid()));

    let full = FULL.min(options.duration);
    let unpaced = |rate: f64, seed| {
        ready(Workload::W3.connections(), rate * full.as_secs_f64(), options.seed.wrapping_add(seed))
    };
    let pool = unpaced(Workload::W3.pool_rate(), 0)?;
    let before = against(service, &pool, Duration::ZERO, full, Senders::Impatient)?;
    let floor_full_rate = against(floor, &pool, Duration::ZERO, full, Senders::Impatient)?;
    drop(pool);

    let rate = before.good_per_s() * TIMES;
    let every = Duration::from_secs_f64(CONNECTIONS as f64 / rate);
    let requests = rate * options.duration.as_secs_f64();
    let pool = ready(CONNECTIONS, requests, options.seed.wrapping_add(1))?;
    let mut over = against(service, &pool, every, options.duration, Senders::Impatient)?;
    let floor_over = against(floor, &pool, every, options.duration, Senders::Impatient)?;
    drop(pool);
    let pool = ready(CONNECTIONS, requests, options.seed.wrapping_add(2))?;
    let mut patient = against(service, &pool, every, options.duration, Senders::Patient)?;
    drop(pool);
    let pool = unpaced(rate, 3)?;
    let after = against(service, &pool, Duration::ZERO, full, Senders::Impatient)?;
    let memory_mb = memory_peak_mb(server.pid())?;
    server.stop()?;

    let full_rate = f64::midpoint(before.good_per_s(), after.good_per_s());
    let row = |what: &str, value, unit| Row::new(format!("overload: {what}"), value, unit);
    let mut rows = vec![
        row("memory at most", memory_mb, "MB").goal(Goal::AtMost(MEMORY_MAX_MB)),
        row("full rate before", before.good_per_s(), "/s"),
        row("full rate after", after.good_per_s(), "/s"),
        row("full rate: CPU of the service a request", before.service_us(), "us"),
        row("full rate of the floor", floor_full_rate.good_per_s(), "/s"),
        row("asked for", rate, "/s"),
        row("offered", over.per_s(), "/s"),
    ];
    for (who, run) in [("", &mut over), ("patient: ", &mut patient)] {
        let row = |what: &str, value, unit| row(&format!("{who}{what}"), value, unit);
        let share = run.good_per_s() / full_rate;
        rows.push(row("answered with 202", run.good_per_s(), "/s"));
        rows.push(row("of the full rate", share, "").goal(Goal::AtLeast(GOODPUT_MIN)));
        rows.push(row("answered with 503", run.per_s() - run.good_per_s(), "/s"));
        let silent = run.offered.no_retry_after as f64;
        rows.push(row("without Retry-After", silent, "").goal(Goal::AtMost(0.0)));
        rows.push(row("time to a 503, p99", take(&mut run.offered.busy_after).percentiles().p99_ms, "ms"));
        rows.push(row("time to a 202, p99", take(&mut run.offered.good_after).percentiles().p99_ms, "ms"));
    }
    for (who, run) in [("", &over), ("patient: ", &patient), ("floor: ", &floor_over)] {
        rows.push(row(&format!("{who}CPU of the service a request"), run.service_us(), "us"));
        rows.push(row(&format!("{who}cores of the service"), run.service_cpu_s / run.offered.seconds, ""));
        rows.push(row(&format!("{who}cores of the generator"), run.offered.cpu_s / run.offered.seconds, ""));
    }
    rows.push(row("floor: offered", floor_over.per_s(), "/s"));
    Ok(rows)
}

impl Run {
    fn good_per_s(&self) -> f64 {
        self.offered.good as f64 / self.offered.seconds
    }

    fn per_s(&self) -> f64 {
        (self.offered.good + self.offered.busy) as f64 / self.offered.seconds
    }

    fn service_us(&self) -> f64 {
        self.service_cpu_s * 1e6 / (self.offered.good + self.offered.busy).max(1) as f64
    }
}
