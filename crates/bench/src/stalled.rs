//! Readers that ask for the largest answer and never read it, and what others wait for meanwhile.

use std::fmt::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde::Serialize;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::body::Packer;
use crate::client::Connection;
use crate::clock;
use crate::http::Target;
use crate::ids::{self, IdText};
use crate::latency::{Latencies, Percentiles};
use crate::load::single_threaded;
use crate::process::{forget_memory_peak, memory_mb, memory_peak_mb, wait_until_idle};
use crate::report::{Goal, Row};
use crate::server::Server;

/// What the memory may grow by, and how long others may wait.
const MEMORY_MB_MAX: f64 = 150.0;
const OTHERS_P95_MS_MAX: f64 = 100.0;
/// Labels of one batch.
const BATCH: usize = 5_000;
/// How long the collector has to become idle after it was filled.
const IDLE_AT_MOST: Duration = Duration::from_mins(1);
/// What others ask for.
const OTHERS: [&str; 4] =
    ["/api/facets", "/api/queries", "/api/overview?label=label-7", "/api/versions?label=label-7"];

/// What to run.
#[derive(Debug)]
pub(crate) struct Options {
    /// The collector.
    pub(crate) binary: PathBuf,
    /// Folder for its data.
    pub(crate) folder: PathBuf,
    /// Labels, with one run each.
    pub(crate) labels: usize,
    /// Readers that never read.
    pub(crate) readers: usize,
    /// How long others are measured beside them.
    pub(crate) duration: Duration,
    /// Source of ids.
    pub(crate) seed: u64,
}

/// What it showed.
#[derive(Debug, Serialize)]
pub(crate) struct Measured {
    labels: usize,
    readers: usize,
    /// Memory before, in MB.
    idle_mb: f64,
    /// The most it held.
    peak_mb: f64,
    /// Memory half a minute after the readers have gone, or less in a quick run.
    after_mb: f64,
    /// Time to the answers of others.
    others: Percentiles,
    /// Those that were answered.
    answered: usize,
    /// Answers other than 200, and none at all.
    pub(crate) faults: Vec<String>,
}

impl Measured {
    /// The rows of the table.
    pub(crate) fn rows(&self) -> Vec<Row> {
        let name = format!("{} readers that never read, {} labels", self.readers, self.labels);
        vec![
            Row::new(format!("{name}: memory over idle"), self.peak_mb - self.idle_mb, "MB")
                .goal(Goal::AtMost(MEMORY_MB_MAX)),
            Row::new(format!("{name}: memory over idle afterwards"), self.after_mb - self.idle_mb, "MB"),
            Row::new(format!("{name}: other reads p50"), self.others.p50_ms, "ms"),
            Row::new(format!("{name}: other reads p95"), self.others.p95_ms, "ms")
                .goal(Goal::AtMost(OTHERS_P95_MS_MAX)),
        ]
    }
}

/// Fills a collector of its own and measures.
///
/// # Errors
/// When it does not start, or takes no events.
pub(crate) fn run(options: &Options) -> Result<Measured> {
    std::fs::create_dir_all(&options.folder)?;
    let server = Server::start(&options.binary, &options.folder, options.seed)?;
    let target = &server.target;
    let runtime = single_threaded()?;
    runtime.block_on(fill(target, options))?;
    wait_until_idle(server.pid(), IDLE_AT_MOST)?;
    let idle_mb = memory_mb(server.pid())?;
    // Filling has a peak of its own.
    forget_memory_peak(server.pid())?;
    let (others, answered, faults) = runtime.block_on(async {
        let mut held = Vec::new();
        for number in 0..options.readers {
            // Each asks for something else, so that no answer serves two.
            let path = format!("/api/overview?days=90&utc_offset={}", number as i64 % 2_881 - 1_440);
            let mut stream = TcpStream::connect(target.address).await?;
            stream.write_all(&target.get(&path)).await?;
            held.push(stream);
        }
        let measured = ask(target, options.duration).await;
        drop(held);
        anyhow::Ok(measured)
    })?;
    let peak_mb = memory_peak_mb(server.pid())?;
    drop(runtime);
    wait_until_idle(server.pid(), options.duration.min(Duration::from_secs(30)))?;
    let after_mb = memory_mb(server.pid())?;
    server.stop()?;
    let Options { labels, readers, .. } = *options;
    Ok(Measured {
        labels,
        readers,
        idle_mb,
        peak_mb,
        after_mb,
        others: others.percentiles(),
        answered,
        faults,
    })
}

/// Asks as others do, one request after the other.
async fn ask(target: &Target, time: Duration) -> (Latencies, usize, Vec<String>) {
    let (mut latencies, mut answered, mut faults) = (Latencies::default(), 0, Vec::new());
    let (mut connection, begin) = (Connection::to(target.address), Instant::now());
    while begin.elapsed() < time {
        for path in OTHERS {
            let sent = Instant::now();
            match connection.send(&target.get(path)).await {
                Ok(answer) if answer.status == 200 => {
                    latencies.push(sent.elapsed());
                    answered += 1;
                }
                Ok(answer) => faults.push(format!("GET {path} was answered {}", answer.status)),
                Err(error) => faults.push(format!("GET {path}: {error:#}")),
            }
        }
    }
    if answered == 0 {
        faults.push("nobody was answered".into());
    }
    (latencies, answered, faults)
}

/// Stores a run of each label.
async fn fill(target: &Target, options: &Options) -> Result<()> {
    let mut random = ids::random(options.seed, 9);
    let (mut packer, mut connection) = (Packer::default(), Connection::to(target.address));
    let now_unix_ns = clock::unix_ns();
    for first in (0..options.labels).step_by(BATCH) {
        let stream = IdText::stream(&mut random);
        let event = r#"{"schema":"engine-telemetry/events@1","seq""#;
        let mut body = format!(
            "{event}:1,\"type\":\"process\",\"id\":\"{}\",\"service\":\"s\",\"host\":\"h\",\"pid\":7}}\n",
            stream.as_str()
        );
        for number in first..options.labels.min(first + BATCH) {
            let (query, seq) = (IdText::stream(&mut random), number - first + 2);
            let started = now_unix_ns - (number as i64 % 80) * 86_400 * 1_000_000_000;
            let (id, plan) = (query.as_str(), r#""plan":{"physical":[],"logical":[]}"#);
            writeln!(
                body,
                "{event}:{seq},\"type\":\"query.finished\",\"query_id\":\"{id}\",\"profile\":{{\"schema\":\
                 \"engine-telemetry/profile@1\",\"query_id\":\"{id}\",\"label\":\"label-{number}\",\"failed\":null,\
                 \"started_unix_ns\":{started},\"wall_ms\":{},{plan}}}}}",
                number % 900 + 1
            )?;
        }
        let gzip = packer.pack(body.as_bytes()).to_vec();
        let answer = connection.send(&target.post_events(&gzip)).await?;
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        ensure!(answer.status == 202, "a batch was answered {}: {text}", answer.status);
    }
    let groups = connection.send(&target.get("/api/groups?limit=1")).await.context("groups")?;
    ensure!(groups.status == 200, "groups were answered {}", groups.status);
    Ok(())
}
