//! W3 beside readers that loop over the overview: what they cost ingest.
//!
//! Rounds without and with them take turns, so that a machine that is slow for a while is slow for both.

use std::slice::from_ref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde::Serialize;
use tokio::task::JoinSet;

use crate::client::Connection;
use crate::http::Target;
use crate::ingest;
use crate::latency::{Latencies, Percentiles};
use crate::load::{Pace, single_threaded};
use crate::report::median;
use crate::watched::Watched;
use crate::workload::{Shapes, Workload};

/// What each reader asks for, again and again.
const PATH: &str = "/api/overview";
/// How long W3 is run to find its full rate.
const FULL: Duration = Duration::from_secs(5);

/// What to run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Options {
    /// Readers.
    pub(crate) readers: usize,
    /// Rounds without readers, and as many with them.
    pub(crate) rounds: usize,
    /// How long a round is.
    pub(crate) duration: Duration,
    /// Requests of W3 a second; half of what it reaches when left out.
    pub(crate) rate: Option<f64>,
    /// Source of ids.
    pub(crate) seed: u64,
}

/// What it showed.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Measured {
    /// Readers.
    pub(crate) readers: usize,
    /// Requests of W3 a second.
    pub(crate) rate: f64,
    /// Answers to W3 in each round without readers.
    pub(crate) alone: Vec<Percentiles>,
    /// And in each round with them.
    pub(crate) beside: Vec<Percentiles>,
    /// Time to the whole overview.
    pub(crate) overview: Percentiles,
    /// Overviews that were answered.
    pub(crate) overviews: usize,
    /// What makes the figures worthless.
    pub(crate) faults: Vec<String>,
}

impl Measured {
    /// The median of a figure over the rounds without readers, and with them.
    pub(crate) fn medians(&self, of: impl Fn(&Percentiles) -> f64) -> (f64, f64) {
        (median(self.alone.iter().map(&of)), median(self.beside.iter().map(&of)))
    }
}

/// Runs the rounds.
///
/// # Errors
/// When the service does not answer.
pub(crate) fn run(shapes: &Shapes, target: &Target, options: Options) -> Result<Measured> {
    let mut seeds = (0..).map(|round: u64| options.seed.wrapping_add(round));
    let mut faults = Vec::new();
    let mut prepare = |pace, duration| -> Result<ingest::Prepared<'_>> {
        let options = ingest::Options {
            workload: Workload::W3,
            duration,
            connections: Workload::W3.connections(),
            pace,
            pool_rate: Workload::W3.pool_rate(),
            seed: seeds.next().context("there is always another seed")?,
            watched: Watched::default(),
        };
        ingest::prepare(shapes, from_ref(target), &options)
    };
    let mut send = |ready: ingest::Prepared<'_>| -> Result<ingest::Measured> {
        let measured = ready.send()?;
        faults.extend(measured.account.faults());
        Ok(measured)
    };
    let rate = match options.rate {
        Some(rate) => rate,
        None => (send(prepare(Pace::Closed, FULL.min(options.duration))?)?.requests_per_s / 2.0).max(1.0),
    };
    let (mut alone, mut beside, mut latencies) = (Vec::new(), Vec::new(), Latencies::default());
    let mut overviews = 0;
    for _ in 0..options.rounds {
        alone.push(send(prepare(Pace::Open(rate), options.duration)?)?.account.latency);
        let ready = prepare(Pace::Open(rate), options.duration)?;
        let stop = Arc::new(AtomicBool::new(false));
        let (load, read) = thread::scope(|scope| {
            let readers = scope.spawn(|| single_threaded()?.block_on(read(target, options.readers, &stop)));
            let load = send(ready);
            stop.store(true, Ordering::Relaxed);
            (load, readers.join().expect("readers do not panic"))
        });
        beside.push(load?.account.latency);
        let (count, read) = read?;
        overviews += count;
        latencies.extend(read);
    }
    if overviews == 0 {
        faults.push("no overview was answered".into());
    }
    Ok(Measured {
        readers: options.readers,
        rate,
        alone,
        beside,
        overview: latencies.percentiles(),
        overviews,
        faults,
    })
}

/// Reads until it is told to stop.
async fn read(target: &Target, readers: usize, stop: &Arc<AtomicBool>) -> Result<(usize, Latencies)> {
    let mut reading = JoinSet::new();
    for _ in 0..readers {
        let (target, stop) = (target.clone(), Arc::clone(stop));
        reading.spawn(async move {
            let (request, mut connection) = (target.get(PATH), Connection::to(target.address));
            let (mut count, mut latencies) = (0, Latencies::default());
            while !stop.load(Ordering::Relaxed) {
                let sent = Instant::now();
                let answer = connection.send(&request).await?;
                ensure!(answer.status == 200, "{PATH} was answered {}", answer.status);
                latencies.push(sent.elapsed());
                count += 1;
            }
            anyhow::Ok((count, latencies))
        });
    }
    let mut all = (0, Latencies::default());
    while let Some(done) = reading.join_next().await {
        let (count, latencies) = done??;
        all.0 += count;
        all.1.extend(latencies);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_round_counts() {
        let rounds = |p99: &[f64]| {
            p99.iter().map(|p99_ms| Percentiles { p99_ms: *p99_ms, ..Percentiles::default() }).collect()
        };
        let measured = Measured {
            readers: 4,
            rate: 1.0,
            alone: rounds(&[9.0, 1.0, 2.0]),
            beside: rounds(&[3.0, 4.0]),
            overview: Percentiles::default(),
            overviews: 1,
            faults: Vec::new(),
        };
        assert_eq!(measured.medians(|latency| latency.p99_ms), (2.0, 3.5));
    }
}
