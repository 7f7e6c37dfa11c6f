//! Runs of many labels that end at a fixed rate: how far the evaluation is behind, and what it costs.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use futures_util::future::try_join_all;
use queryscope_histories::{Change, Kind, Noise, Poster, Spec, generate};
use serde::Serialize;

use crate::body::Packer;
use crate::client::Connection;
use crate::clock;
use crate::http::Target;
use crate::ids::{self, IdText, Random};
use crate::load::single_threaded;
use crate::process::{cpu_seconds, memory_mb};
use crate::report::{Goal, Row};
use crate::server::Server;

/// What the evaluation may take, and how far it may be behind.
const CPU_US_MAX: f64 = 200.0;
const LAG_S_MAX: f64 = 10.0;
/// Histories that the labels take turns with.
const HISTORIES: u64 = 64;
/// Runs of one batch before the measurement.
const BATCH: usize = 500;
/// Connections that post.
const CONNECTIONS: u32 = 16;
/// The one host.
const HOST: &str = "worker-1";
/// How often figures are read.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// How long the evaluation has to catch up with what came before the measurement, for each run of it.
const CATCH_UP_A_RUN: Duration = Duration::from_millis(2);
const CATCH_UP_MIN: Duration = Duration::from_mins(1);

/// What to run.
#[derive(Debug)]
pub(crate) struct Options {
    /// The collector.
    pub(crate) binary: PathBuf,
    /// Folder for its data.
    pub(crate) folder: PathBuf,
    /// Labels.
    pub(crate) labels: usize,
    /// Runs of each label before the measurement.
    pub(crate) before: usize,
    /// Runs that end a second.
    pub(crate) rate: f64,
    /// How long to measure.
    pub(crate) duration: Duration,
    /// Source of ids and histories.
    pub(crate) seed: u64,
}

/// What it showed.
#[derive(Debug, Serialize)]
pub(crate) struct Measured {
    labels: usize,
    before: usize,
    /// Runs that were posted a second.
    rate: f64,
    /// The longest that a run waited, and the median of the looks, in seconds.
    lag_max_s: f64,
    lag_median_s: f64,
    /// Runs that were evaluated meanwhile.
    evaluated: f64,
    /// CPU time of detectors and features, of a run.
    cpu_us: f64,
    /// CPU time of the whole collector, ingest and storing included, of a run.
    collector_us: f64,
    /// Memory at the end, in MB.
    memory_mb: f64,
    /// Runs that were not evaluated, or none at all.
    pub(crate) faults: Vec<String>,
}

impl Measured {
    /// The rows of the table.
    pub(crate) fn rows(&self) -> Vec<Row> {
        let name = format!("evaluation, {} labels of {} runs", self.labels, self.before);
        vec![
            Row::new(format!("{name}: runs posted"), self.rate, "/s"),
            Row::new(format!("{name}: behind, median"), self.lag_median_s, "s"),
            Row::new(format!("{name}: behind, most"), self.lag_max_s, "s").goal(Goal::AtMost(LAG_S_MAX)),
            Row::new(format!("{name}: CPU a run"), self.cpu_us, "us").goal(Goal::AtMost(CPU_US_MAX)),
            Row::new(format!("{name}: CPU a run of the whole collector"), self.collector_us, "us"),
            Row::new(format!("{name}: memory"), self.memory_mb, "MB"),
        ]
    }
}

/// Fills a collector of its own and measures.
///
/// # Errors
/// When it does not start, takes no events, or does not evaluate.
pub(crate) fn run(options: &Options) -> Result<Measured> {
    std::fs::create_dir_all(&options.folder)?;
    let server = Server::start(&options.binary, &options.folder, options.seed)?;
    let measured = single_threaded()?.block_on(measure(&server.target, server.pid(), options))?;
    server.stop()?;
    Ok(measured)
}

async fn measure(target: &Target, pid: u32, options: &Options) -> Result<Measured> {
    let mut runs = Runs::new(options);
    let mut connection = Connection::to(target.address);
    let mut posters: Vec<Poster> = (0..CONNECTIONS).map(|n| Poster::new(Some("bench"), n)).collect();
    let mut lanes: Vec<Connection> = posters.iter().map(|_| Connection::to(target.address)).collect();
    let mut packer = Packer::default();
    // Each label once in a round, the oldest round first.
    let minute_ns = 60_000_000_000;
    let now_unix_ns = clock::unix_ns();
    for round in 0..options.before {
        let started = now_unix_ns - (options.before - round) as i64 * minute_ns;
        for first in (0..options.labels).step_by(BATCH) {
            let labels = first..options.labels.min(first + BATCH);
            let made: Vec<_> = labels.map(|label| runs.next(label, round, started)).collect();
            let text = posters[0].batch(HOST, made.iter().map(|(label, run)| (label.as_str(), run)));
            send(&mut connection, &target.post_events(packer.pack(text.as_bytes()))).await?;
        }
    }
    let expected = options.labels * options.before;
    let (begin, patience) = (Instant::now(), CATCH_UP_MIN.max(CATCH_UP_A_RUN * expected as u32));
    let mut figures = read(&mut connection, target).await?;
    while figures.evaluated < expected as f64 {
        ensure!(begin.elapsed() < patience, "{} of {expected} runs were evaluated", figures.evaluated);
        tokio::time::sleep(LOOK_EVERY).await;
        figures = read(&mut connection, target).await?;
    }
    let (before, cpu_before) = (read(&mut connection, target).await?, cpu_seconds(pid)?);
    let (begin, mut looked, mut lags, mut posted) = (Instant::now(), Instant::now(), Vec::new(), 0_usize);
    while begin.elapsed() < options.duration {
        let due = (begin.elapsed().as_secs_f64() * options.rate) as usize;
        if posted >= due {
            tokio::time::sleep(Duration::from_micros(500)).await;
        }
        while posted < due && begin.elapsed() < options.duration {
            let count = (due - posted).min(posters.len());
            let requests: Vec<Box<[u8]>> = posters[..count]
                .iter_mut()
                .map(|poster| {
                    let number = options.before + posted / options.labels;
                    let (label, run) = runs.next(posted % options.labels, number, clock::unix_ns());
                    posted += 1;
                    let text = poster.batch(HOST, [(label.as_str(), &run)]);
                    target.post_events(packer.pack(text.as_bytes()))
                })
                .collect();
            let sent = lanes.iter_mut().zip(&requests).map(|(lane, request)| send(lane, request));
            try_join_all(sent).await?;
        }
        if looked.elapsed() >= LOOK_EVERY {
            looked = Instant::now();
            lags.push(read(&mut connection, target).await?.lag_s);
        }
    }
    let took = begin.elapsed().as_secs_f64();
    // A short run beside others may end before the first one is evaluated.
    let mut after = read(&mut connection, target).await?;
    while after.evaluated <= before.evaluated && begin.elapsed() < options.duration + patience {
        tokio::time::sleep(LOOK_EVERY).await;
        after = read(&mut connection, target).await?;
    }
    let cpu_after = cpu_seconds(pid)?;
    lags.push(after.lag_s);
    lags.sort_by(f64::total_cmp);
    let evaluated = after.evaluated - before.evaluated;
    let mut faults = Vec::new();
    if evaluated < 1.0 {
        faults.push("no run was evaluated".into());
    }
    if after.skipped > 0.0 {
        faults.push(format!("{} runs were not evaluated", after.skipped));
    }
    Ok(Measured {
        labels: options.labels,
        before: options.before,
        rate: posted as f64 / took,
        lag_max_s: lags[lags.len() - 1],
        lag_median_s: lags[lags.len() / 2],
        evaluated,
        cpu_us: (after.cpu_s - before.cpu_s) * 1e6 / evaluated.max(1.0),
        collector_us: (cpu_after - cpu_before) * 1e6 / posted.max(1) as f64,
        memory_mb: memory_mb(pid)?,
        faults,
    })
}

async fn send(connection: &mut Connection, request: &[u8]) -> Result<()> {
    let answer = connection.send(request).await?;
    let text = String::from_utf8_lossy(&answer.body).into_owned();
    ensure!(answer.status == 202, "a batch was answered {}: {text}", answer.status);
    Ok(())
}

/// What the collector says of its evaluation.
struct Figures {
    lag_s: f64,
    evaluated: f64,
    cpu_s: f64,
    skipped: f64,
}

async fn read(connection: &mut Connection, target: &Target) -> Result<Figures> {
    let answer = connection.send(&target.get("/metrics")).await?;
    ensure!(answer.status == 200, "/metrics was answered {}", answer.status);
    let text = String::from_utf8_lossy(&answer.body);
    let value = |line: &str| line.rsplit_once(' ').and_then(|(_, value)| value.parse::<f64>().ok());
    let sum = |name: &str| {
        let lines = text
            .lines()
            .filter(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with([' ', '{'])));
        let values: Vec<f64> = lines.filter_map(value).collect();
        (!values.is_empty()).then(|| values.iter().sum()).with_context(|| format!("/metrics has no {name}"))
    };
    Ok(Figures {
        lag_s: sum("queryscope_evaluation_lag_seconds")?,
        evaluated: sum("queryscope_evaluation_runs_total")?,
        cpu_s: sum("queryscope_evaluation_cpu_seconds_total")?,
        skipped: sum("queryscope_evaluation_runs_skipped_total")?,
    })
}

/// Runs of labels, each with the figures of a history.
struct Runs {
    histories: Vec<Vec<queryscope_histories::Run>>,
    random: Random,
}

impl Runs {
    fn new(options: &Options) -> Self {
        let history = |n: u64| {
            let kind = Kind::ALL[n as usize % Kind::ALL.len()];
            let change = n.is_multiple_of(8).then_some(Change { kind, factor: 2.0, decoy: false });
            generate(Spec { seed: options.seed ^ n, noise: Noise::Plain, change, young: false }).runs
        };
        Self { histories: (0..HISTORIES).map(history).collect(), random: ids::random(options.seed, 11) }
    }

    /// The n-th run of a label, which starts then.
    fn next(&mut self, label: usize, n: usize, started_unix_ns: i64) -> (String, queryscope_histories::Run) {
        let history = &self.histories[label % self.histories.len()];
        let mut run = history[n % history.len()].clone();
        let id = IdText::stream(&mut self.random);
        run.query_id = id.as_str().parse().unwrap_or(run.query_id);
        run.started_unix_ns = started_unix_ns + label as i64;
        (format!("label-{label}"), run)
    }
}
