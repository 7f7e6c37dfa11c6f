//! What the sending library costs the process it is in: on a query's thread, for a sample, and when nothing can be
//! sent. Nothing leaves the process: the exporters are made here.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use queryscope_client::protocol::{Node, Plan, Role};
use queryscope_client::{
    ActiveQuery, Answer, Batch, Delivery, Exporter, Query, QuerySource, Readings, StartError, Stream,
    Telemetry,
};

use crate::latency::{Latencies, Percentiles};
use crate::process::thread_cpu_seconds;
use crate::report::{Goal, Row};

/// Queries between two rests, fewer than the library follows at a time.
const BURST: usize = 4_000;
/// Queries whose samples are measured at a time.
const SAMPLED: u64 = 50;
/// Counters of a node, as an engine's operators have them.
const COUNTERS: [&str; 12] = [
    "rows_in",
    "rows_out",
    "batches_out",
    "busy_ns",
    "io_ns",
    "bytes_read",
    "build_ns",
    "probe_ns",
    "peak_bytes",
    "spilled_bytes",
    "spills",
    "partitions",
];
/// A plan of this many nodes for the queue, so that events have the size of real ones.
const QUEUED_NODES: u64 = 20;
const QUEUE_BYTES: usize = 16 << 20;
/// Bounds each wait.
const PATIENCE: Duration = Duration::from_mins(1);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What was measured.
#[derive(Debug)]
pub(crate) struct Measured {
    begin_ns: f64,
    finish_ns: f64,
    /// Both together, the clock's own cost included.
    both: Percentiles,
    /// Nodes, then microseconds of CPU a sample.
    samples: Vec<(u64, f64)>,
    queued_mb: f64,
    full_queue_mb: f64,
}

/// Measures for this long each.
///
/// # Errors
/// When the machine does not tell what a thread has used, or an event gets lost.
pub(crate) fn run(duration: Duration) -> Result<Measured> {
    let (queued_mb, full_queue_mb) = full_queue()?;
    let (begin_ns, finish_ns, both) = callers_thread(duration)?;
    let samples = [20, 500].map(|nodes| sample(nodes, duration).map(|us| (nodes, us)));
    let samples = samples.into_iter().collect::<Result<_>>()?;
    Ok(Measured { begin_ns, finish_ns, both, samples, queued_mb, full_queue_mb })
}

/// The rows of the table.
pub(crate) fn rows(measured: &Measured) -> Vec<Row> {
    let mut rows = vec![
        Row::new("client: begin, CPU on the query's thread", measured.begin_ns, "ns")
            .goal(Goal::AtMost(1_000.0)),
        Row::new("client: finish, CPU on the query's thread", measured.finish_ns, "ns")
            .goal(Goal::AtMost(1_000.0)),
        Row::new("client: begin and finish, time, p50", measured.both.p50_ms * 1e6, "ns"),
        Row::new("client: begin and finish, time, p99", measured.both.p99_ms * 1e6, "ns"),
    ];
    for (nodes, us) in &measured.samples {
        rows.push(Row::new(format!("client: a sample of {nodes} nodes, CPU in the background"), *us, "us"));
    }
    rows.push(Row::new("client: events in a full queue", measured.queued_mb, "MB"));
    rows.push(Row::new("client: memory for them", measured.full_queue_mb, "MB"));
    rows
}

/// Nanoseconds of CPU that `begin` and `finish` take, each the mean of bursts; and how long both take, one by one.
fn callers_thread(duration: Duration) -> Result<(f64, f64, Percentiles)> {
    let counting = Arc::new(Counting::default());
    let telemetry = Telemetry::builder().exporter(To(Arc::clone(&counting))).start()?;
    let source: Arc<dyn QuerySource> = Arc::new(Toy { nodes: 1, reads: AtomicU64::new(0) });
    let begin = |label| telemetry.begin(Query::new().label(label), Arc::clone(&source));
    let (mut begun_for_s, mut finished_for_s, mut count) = (0.0, 0.0, 0);
    let mut both = Latencies::default();
    let since = Instant::now();
    while since.elapsed() < duration {
        let at = thread_cpu_seconds();
        let active: Vec<_> = (0..BURST).map(|_| begin("burst")).collect();
        begun_for_s += thread_cpu_seconds() - at;
        let at = thread_cpu_seconds();
        active.into_iter().for_each(ActiveQuery::finish);
        finished_for_s += thread_cpu_seconds() - at;
        count += BURST;
        for _ in 0..BURST {
            let at = Instant::now();
            begin("single").finish();
            both.push(at.elapsed());
        }
        // The sampler catches up.
        let ended = (2 * count) as u64;
        wait("the queries to be told of", || told_of(&telemetry) >= ended)?;
        ensure!(telemetry.stats().unfollowed == 0, "queries ran unfollowed");
    }
    let mean_ns = |sum_s: f64| sum_s * 1e9 / count as f64;
    Ok((mean_ns(begun_for_s), mean_ns(finished_for_s), both.percentiles()))
}

/// Microseconds of CPU that a sample of so many nodes takes: reading, comparing, writing and queueing it, when
/// every counter has changed.
fn sample(nodes: u64, duration: Duration) -> Result<f64> {
    let counting = Arc::new(Counting::default());
    let telemetry = Telemetry::builder().exporter(To(Arc::clone(&counting))).start()?;
    let begun = Instant::now().checked_sub(Duration::from_secs(2)).context("the machine runs for longer")?;
    let source = || Arc::new(Toy { nodes, reads: AtomicU64::new(0) });
    let active: Vec<_> =
        (0..SAMPLED).map(|_| telemetry.begin(Query::new().started(begun), source())).collect();
    let samples = || counting.samples.load(Ordering::Relaxed);
    wait("the first samples", || samples() >= SAMPLED)?;
    let (before, used_before) = (samples(), sampler_cpu()?);
    std::thread::sleep(duration);
    let (count, used) = (samples() - before, sampler_cpu()?.saturating_sub(used_before));
    ensure!(count > 0, "no sample in {duration:?}");
    drop(active);
    Ok(used.as_secs_f64() * 1e6 / count as f64)
}

/// The bytes of events in a full queue, and what the process holds for them, in MB.
fn full_queue() -> Result<(f64, f64)> {
    let before = resident_mb()?;
    let telemetry = Telemetry::builder().max_queue_bytes(QUEUE_BYTES).exporter(To(Arc::new(Away))).start()?;
    let source: Arc<dyn QuerySource> = Arc::new(Toy { nodes: QUEUED_NODES, reads: AtomicU64::new(0) });
    let mut begun = 0;
    while telemetry.stats().dropped.overflow == 0 {
        for _ in 0..BURST / 10 {
            telemetry.begin(Query::new().label("queued"), Arc::clone(&source)).finish();
            begun += 1;
        }
        wait("the queries to be told of", || told_of(&telemetry) >= begun)?;
    }
    let (queued, after) = (telemetry.stats().queued_bytes, resident_mb()?);
    Ok((queued as f64 / 1e6, after - before))
}

/// Events, one for each query unless it lived for a second, and queries nothing is told of.
fn told_of(telemetry: &Telemetry) -> u64 {
    let stats = telemetry.stats();
    stats.enqueued + stats.unfollowed
}

/// CPU time of the thread that samples.
fn sampler_cpu() -> Result<Duration> {
    for task in fs::read_dir("/proc/self/task")? {
        let task = task?.path();
        // A thread that has ended meanwhile is not the one.
        let name = fs::read_to_string(task.join("comm")).unwrap_or_default();
        if name.trim() == "queryscope-poll" {
            let used = fs::read_to_string(task.join("schedstat")).context("no schedstat")?;
            let used_ns = used.split_whitespace().next().context("an empty schedstat")?.parse()?;
            return Ok(Duration::from_nanos(used_ns));
        }
    }
    anyhow::bail!("no thread that samples")
}

fn resident_mb() -> Result<f64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let kib = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
    let kib: u64 = kib.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kib as f64 * 1024.0 / 1e6)
}

fn wait(what: &str, mut is: impl FnMut() -> bool) -> Result<()> {
    let since = Instant::now();
    while !is() {
        ensure!(since.elapsed() < PATIENCE, "waited {PATIENCE:?} in vain for {what}");
        std::thread::sleep(LOOK_EVERY);
    }
    Ok(())
}

/// An exporter whose deliveries this makes.
struct To<T>(Arc<T>);

/// Takes everything, and counts samples.
#[derive(Default)]
struct Counting {
    samples: AtomicU64,
}

/// Is never there.
struct Away;

trait Deliver: Send + Sync + 'static {
    fn deliver(&self, batch: &Batch<'_>) -> Answer;
}

impl Deliver for Counting {
    fn deliver(&self, batch: &Batch<'_>) -> Answer {
        let kind = br#""type":"query.progress""#;
        let is_sample = |line: &&&[u8]| line[..100.min(line.len())].windows(kind.len()).any(|at| at == kind);
        self.samples.fetch_add(batch.events.iter().filter(is_sample).count() as u64, Ordering::Relaxed);
        Answer::Delivered
    }
}

impl Deliver for Away {
    fn deliver(&self, _batch: &Batch<'_>) -> Answer {
        Answer::Later { after: None, problem: "away".into() }
    }
}

impl<T: Deliver> Exporter for To<T> {
    fn open(&self, _stream: &Stream) -> Result<Box<dyn Delivery>, StartError> {
        Ok(Box::new(Self(Arc::clone(&self.0))))
    }
}

impl<T: Deliver> Delivery for To<T> {
    fn deliver(&mut self, batch: &Batch<'_>, _deadline: Option<Instant>) -> Answer {
        self.0.deliver(batch)
    }
}

/// A query of so many nodes, all of whose counters change with each reading.
struct Toy {
    nodes: u64,
    reads: AtomicU64,
}

impl QuerySource for Toy {
    fn plan(&self) -> Plan<'static> {
        let node = |id| Node {
            id,
            kind: "Filter".into(),
            role: Role::Selection,
            inputs: if id + 1 < self.nodes { vec![id + 1] } else { Vec::new() },
            properties: None,
            metrics: None,
        };
        Plan { physical: (0..self.nodes).map(node).collect(), logical: Vec::new() }
    }

    fn sample(&self, readings: &mut Readings) {
        let reads = self.reads.fetch_add(1, Ordering::Relaxed);
        for id in 0..self.nodes {
            let node = readings.node(id);
            for (at, name) in COUNTERS.iter().enumerate() {
                node.add(name, 1_000_000 + reads * 1_000 + at as u64);
            }
        }
    }
}
