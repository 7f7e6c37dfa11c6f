//! Three times what the collector takes, beside a service that does nothing but answer.
//!
//! An overload comes from other machines: the generator has a core of its own, and the service the others, also while
//! its full rate is looked for.

use std::slice::from_ref;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::offer::{Lanes, Offered};
use super::{MEMORY_MAX_MB, Plan};
use crate::bare::Bare;
use crate::body::{PoolPlan, Ready, pool};
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

/// Looks for the full rate of W3 with as many connections as W3 has, then offers three times that.
///
/// # Errors
/// When a service does not start, or answers anything but 202 and 503.
pub(super) fn run(shapes: &Shapes, plan: &Plan) -> Result<Vec<Row>> {
    let cores = Cores::divided()?;
    let server = cores.as_service(|| Server::start(&plan.binary, &plan.folder, plan.seed))?;
    let bare = cores.as_service(|| Bare::start(0))?;
    let ready = |lanes: usize, requests: f64, seed: u64| {
        let per_lane = (requests / lanes as f64).ceil() as usize;
        let now_unix_ns = clock::unix_ns();
        let plan = PoolPlan { workload: Workload::W3, lanes, per_lane, seed, now_unix_ns };
        pool(shapes, from_ref(&server.target), plan)
    };
    let against = |address, pid, pool: &[Ready], every, duration| {
        let lanes = Lanes::open(address, pool.len())?;
        let used = cpu_seconds(pid)?;
        let offered = cores.as_generator(|| lanes.offer(pool, every, duration))?;
        ensure!(offered.others == 0, "{} requests were answered with neither 202 nor 503", offered.others);
        let used = cpu_seconds(pid).context("the service ended under the load")? - used;
        anyhow::Ok(Run { offered, service_cpu_s: used })
    };
    let (service, floor) = ((server.target.address, server.pid()), (bare.target.address, bare.pid()));

    let full = FULL.min(plan.duration);
    let requests = Workload::W3.pool_rate() * full.as_secs_f64();
    let pool = ready(Workload::W3.connections(), requests, plan.seed)?;
    let full_rate = against(service.0, service.1, &pool, Duration::ZERO, full)?;
    let floor_full_rate = against(floor.0, floor.1, &pool, Duration::ZERO, full)?;
    drop(pool);

    let rate = full_rate.good_per_s() * TIMES;
    let every = Duration::from_secs_f64(CONNECTIONS as f64 / rate);
    let pool = ready(CONNECTIONS, rate * plan.duration.as_secs_f64(), plan.seed.wrapping_add(1))?;
    let over = against(service.0, service.1, &pool, every, plan.duration)?;
    let floor_over = against(floor.0, floor.1, &pool, every, plan.duration)?;
    let memory_mb = memory_peak_mb(server.pid())?;
    server.stop()?;

    let row = |what: &str, value, unit| Row::new(format!("overload: {what}"), value, unit);
    let share = over.good_per_s() / full_rate.good_per_s();
    let mut rows = vec![
        row("memory at most", memory_mb, "MB").goal(Goal::AtMost(MEMORY_MAX_MB)),
        row("full rate", full_rate.good_per_s(), "/s"),
        row("full rate: CPU of the service a request", full_rate.service_us(), "us"),
        row("full rate of the floor", floor_full_rate.good_per_s(), "/s"),
        row("asked for", rate, "/s"),
        row("offered", over.per_s(), "/s"),
        row("answered with 202", over.good_per_s(), "/s"),
        row("of the full rate", share, "").goal(Goal::AtLeast(GOODPUT_MIN)),
        row("answered with 503", over.per_s() - over.good_per_s(), "/s"),
        row("without Retry-After", over.offered.no_retry_after as f64, "").goal(Goal::AtMost(0.0)),
    ];
    for (who, run) in [("", &over), ("floor: ", &floor_over)] {
        rows.push(row(&format!("{who}CPU of the service a request"), run.service_us(), "us"));
        rows.push(row(&format!("{who}cores of the service"), run.service_cpu_s / run.offered.seconds, ""));
        rows.push(row(&format!("{who}cores of the generator"), run.offered.cpu_s / run.offered.seconds, ""));
    }
    rows.push(row("floor: offered", floor_over.per_s(), "/s"));
    rows.push(row("time to a 503, p99", over.offered.busy_after.percentiles().p99_ms, "ms"));
    rows.push(row("time to a 202, p99", over.offered.good_after.percentiles().p99_ms, "ms"));
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
