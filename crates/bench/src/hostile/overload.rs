//! Three times what the collector takes.

use std::slice::from_ref;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use tokio::task::JoinSet;
use tokio::time::sleep_until;

use super::Plan;
use crate::body::{PoolPlan, Ready, Request, pool};
use crate::client::Connection;
use crate::clock;
use crate::http::Target;
use crate::ingest::{self, Plan as IngestPlan};
use crate::latency::{Latencies, Percentiles};
use crate::load::{Pace, single_threaded};
use crate::watched::Watched;
use crate::workload::{Shapes, Workload};

/// How much more is offered than is taken.
const TIMES: f64 = 3.0;
/// Connections: more than may wait for the store's writer, so that some have to be turned away.
const CONNECTIONS: usize = 8_000;
/// How long the full rate is looked for.
const FULL: Duration = Duration::from_secs(5);

/// What it showed.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) full_per_s: f64,
    pub(super) offered_per_s: f64,
    pub(super) good_per_s: f64,
    pub(super) busy_per_s: f64,
    pub(super) no_retry_after: u64,
    pub(super) good: Percentiles,
    pub(super) busy: Percentiles,
}

/// Looks for the full rate of W3, then offers three times that.
///
/// # Errors
/// When an answer is neither 202 nor 503.
pub(super) fn run(shapes: &Shapes, target: &Target, plan: &Plan) -> Result<Measured> {
    let full = IngestPlan {
        workload: Workload::W3,
        duration: FULL.min(plan.duration),
        connections: Workload::W3.connections(),
        pace: Pace::Closed,
        pool_rate: Workload::W3.pool_rate(),
        seed: plan.seed,
        watched: Watched::default(),
    };
    let full_per_s = ingest::run(shapes, from_ref(target), &full)?.requests_per_s;
    let every = Duration::from_secs_f64(CONNECTIONS as f64 / (full_per_s * TIMES));
    let ready = PoolPlan {
        workload: Workload::W3,
        lanes: CONNECTIONS,
        per_lane: (plan.duration.as_secs_f64() / every.as_secs_f64()).ceil() as usize,
        seed: plan.seed.wrapping_add(1),
        now_unix_ns: clock::unix_ns(),
    };
    let ready = pool(shapes, from_ref(target), ready)?;
    let begin = Instant::now();
    let end = begin + plan.duration;
    let lanes = single_threaded()?.block_on(async {
        let mut running = JoinSet::new();
        for (number, Ready { requests, .. }) in ready.into_iter().enumerate() {
            let first = begin + every.mul_f64(number as f64 / CONNECTIONS as f64);
            running.spawn(Lane::new(target).run(requests, first, every, end));
        }
        running.join_all().await
    });
    let seconds = begin.elapsed().as_secs_f64();
    let (mut good, mut busy) = (Latencies::default(), Latencies::default());
    let mut counts = [0_u64; 4];
    for lane in lanes {
        for (sum, count) in
            counts.iter_mut().zip([lane.good_count, lane.busy_count, lane.no_retry_after, lane.others])
        {
            *sum += count;
        }
        good.extend(lane.good);
        busy.extend(lane.busy);
    }
    let [good_count, busy_count, no_retry_after, others] = counts;
    ensure!(others == 0, "{others} requests were answered with neither 202 nor 503");
    Ok(Measured {
        full_per_s,
        offered_per_s: (good_count + busy_count) as f64 / seconds,
        good_per_s: good_count as f64 / seconds,
        busy_per_s: busy_count as f64 / seconds,
        no_retry_after,
        good: good.percentiles(),
        busy: busy.percentiles(),
    })
}

struct Lane {
    connection: Connection,
    good: Latencies,
    busy: Latencies,
    good_count: u64,
    busy_count: u64,
    no_retry_after: u64,
    others: u64,
}

impl Lane {
    fn new(target: &Target) -> Self {
        Self {
            connection: Connection::to(target.address),
            good: Latencies::default(),
            busy: Latencies::default(),
            good_count: 0,
            busy_count: 0,
            no_retry_after: 0,
            others: 0,
        }
    }

    /// Sends one request each `every`, later ones as soon as those before are answered.
    async fn run(mut self, requests: Vec<Request>, first: Instant, every: Duration, end: Instant) -> Self {
        let mut due = first;
        for request in &requests {
            sleep_until(due.into()).await;
            let sent = Instant::now();
            if sent >= end {
                break;
            }
            match self.connection.send(&request.bytes).await {
                Ok(answer) if answer.status == 202 => {
                    self.good_count += 1;
                    self.good.push(sent.elapsed());
                }
                Ok(answer) if answer.status == 503 => {
                    self.busy_count += 1;
                    self.no_retry_after += u64::from(answer.retry_after_s.is_none());
                    self.busy.push(sent.elapsed());
                }
                _ => self.others += 1,
            }
            due = (due + every).max(sent);
        }
        self
    }
}
