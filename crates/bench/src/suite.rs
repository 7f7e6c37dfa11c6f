//! `make bench`: every workload against a collector of its own, beside the floor of this machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::slice::from_ref;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::Serialize;

use crate::fill::{self, Filled};
use crate::floor::{self, Floor};
use crate::ingest::{self, Measured};
use crate::load::Pace;
use crate::million::{self, Million};
use crate::process::{Aftermath, disk_bytes, wait_until_idle};
use crate::report::{Goal, Row};
use crate::rows;
use crate::server::Server;
use crate::watched::Watched;
use crate::workload::{Shapes, Workload};
use crate::{beside, busy, clock, evaluation, idle, live, reads, stalled};

/// How long the floor's parts and a workload are measured.
const EACH: Duration = Duration::from_secs(10);
const FLOOR_EACH: Duration = Duration::from_secs(3);
const QUICK_EACH: Duration = Duration::from_secs(1);
/// Events of the long stream, and of a quick run's.
const MILLION: u64 = 1_000_000;
const QUICK_MILLION: u64 = 50_000;
/// Batches of one event measured of each stream.
const SINGLE_BATCHES: u64 = 2_000;
const QUICK_SINGLE_BATCHES: u64 = 100;
/// Readers of the live stream.
const SUBSCRIBERS: &[usize] = &[1_000, 10_000];
const QUICK_SUBSCRIBERS: &[usize] = &[20];
/// Requests of each kind of read.
const READS_EACH: usize = 100;
const QUICK_READS_EACH: usize = 5;
/// Readers that loop over the overview beside W3, and rounds without and with them.
const OVERVIEW_READERS: usize = 4;
const OVERVIEW_ROUNDS: usize = 5;
/// Busy loops for each core beside reads, rounds without and with them, and requests of each kind in one.
const LOOPS_A_CORE: usize = 2;
const BUSY_ROUNDS: usize = 3;
const BUSY_EACH: usize = 30;
const QUICK_BUSY_EACH: usize = 2;
/// Readers that never read, and labels of the answer they ask for.
const STALLED: (usize, usize) = (300, 100_000);
const QUICK_STALLED: (usize, usize) = (10, 2_000);
/// Labels whose runs are evaluated, and how many runs each has before.
const EVALUATED: (usize, usize) = (2_000, 60);
const QUICK_EVALUATED: (usize, usize) = (20, 5);
/// Senders that are connected and send nothing.
const IDLE_SENDERS: usize = 1_000;
const QUICK_IDLE_SENDERS: usize = 20;
/// How long background work may go on after a load.
pub(crate) const IDLE_AT_MOST: Duration = Duration::from_mins(2);
const QUICK_IDLE_AT_MOST: Duration = Duration::from_secs(10);

/// What to run.
#[derive(Debug)]
pub(crate) struct Options {
    /// The collector.
    pub(crate) binary: PathBuf,
    /// Folder for the data of the runs, on the disk to measure.
    pub(crate) folder: PathBuf,
    /// Queries to store before reads are measured; 0 leaves them out.
    pub(crate) reads: u64,
    /// About a second for each part: proves that the bench works and measures nothing worth keeping.
    pub(crate) quick: bool,
    /// Source of all ids.
    pub(crate) seed: u64,
}

/// Everything a suite found out.
#[derive(Debug, Serialize)]
pub(crate) struct Results {
    /// When it began, in Unix nanoseconds.
    pub(crate) started_unix_ns: i64,
    /// Whether it was a quick one.
    pub(crate) quick: bool,
    /// Cores of this machine, shared by the collector and the generator.
    pub(crate) cores: usize,
    /// The table.
    pub(crate) rows: Vec<Row>,
    /// What makes figures worthless; empty after a good run.
    pub(crate) faults: Vec<String>,
    /// The floor.
    pub(crate) floor: Floor,
    /// The workloads in full.
    pub(crate) workloads: Vec<Measured>,
    /// What the collector did after each workload's load had stopped.
    pub(crate) aftermaths: Vec<Aftermath>,
    /// The long stream.
    pub(crate) million: Million,
    /// Senders that are connected and send nothing.
    pub(crate) idle: Option<idle::Measured>,
    /// Readers of the live stream.
    pub(crate) live: Vec<live::Measured>,
    /// How the store was filled for reads.
    pub(crate) filled: Option<Filled>,
    /// The reads in full.
    pub(crate) reads: Vec<reads::Measured>,
    /// W3 beside readers of the overview.
    pub(crate) beside: Option<beside::Measured>,
    /// Reads beside programs that keep every core busy.
    pub(crate) busy: Vec<busy::Measured>,
    /// Readers that never read.
    pub(crate) stalled: Option<stalled::Measured>,
    /// Runs of many labels that end at a fixed rate.
    pub(crate) evaluation: Option<evaluation::Measured>,
}

/// Runs everything. Says on standard error what it is at.
///
/// # Errors
/// When a collector does not start, does not stop, or does not answer.
pub(crate) fn run(shapes: &Shapes, options: &Options) -> Result<Results> {
    fs::create_dir_all(&options.folder)
        .with_context(|| format!("cannot make {}", options.folder.display()))?;
    eprintln!("the floor of this machine ...");
    let floor_each = if options.quick { QUICK_EACH / 2 } else { FLOOR_EACH };
    let floor = floor::measure(shapes, &options.folder, options.seed, floor_each)?;
    let mut suite = Suite {
        shapes,
        options,
        runs: 0,
        results: Results {
            started_unix_ns: clock::unix_ns(),
            quick: options.quick,
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            rows: rows::of_floor(&floor),
            faults: Vec::new(),
            floor,
            workloads: Vec::new(),
            aftermaths: Vec::new(),
            million: Million::default(),
            idle: None,
            live: Vec::new(),
            filled: None,
            reads: Vec::new(),
            beside: None,
            busy: Vec::new(),
            stalled: None,
            evaluation: None,
        },
    };
    suite.workload(Workload::W1, Pace::Closed)?;
    suite.workload(Workload::W2, Pace::Closed)?;
    let full = suite.workload(Workload::W3, Pace::Closed)?;
    suite.workload(Workload::W3, Pace::Open((full / 2.0).max(1.0)))?;
    suite.workload(Workload::W4, Pace::Closed)?;
    suite.million()?;
    suite.idle()?;
    for subscribers in if options.quick { QUICK_SUBSCRIBERS } else { SUBSCRIBERS } {
        suite.live(*subscribers, (full / 2.0).max(1.0))?;
    }
    if options.reads > 0 {
        suite.reads()?;
        suite.stalled()?;
        suite.evaluation()?;
    }
    Ok(suite.results)
}

/// Writes the results as JSON.
///
/// # Errors
/// When the file cannot be written.
pub(crate) fn write(results: &impl Serialize, file: &Path) -> Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    let json = serde_json::to_string_pretty(results)?;
    fs::write(file, json + "\n").with_context(|| format!("cannot write {}", file.display()))
}

struct Suite<'a> {
    shapes: &'a Shapes,
    options: &'a Options,
    /// Collectors started so far: each run has its own seed and its own folder.
    runs: u64,
    results: Results,
}

impl Suite<'_> {
    fn start(&mut self, what: &str) -> Result<Server> {
        eprintln!("{what} ...");
        self.runs += 1;
        Server::start(&self.options.binary, &self.options.folder, self.seed())
    }

    fn seed(&self) -> u64 {
        self.options.seed.wrapping_add(self.runs)
    }

    fn idle_at_most(&self) -> Duration {
        if self.options.quick { QUICK_IDLE_AT_MOST } else { IDLE_AT_MOST }
    }

    /// Runs a workload and returns its requests a second.
    fn workload(&mut self, workload: Workload, pace: Pace) -> Result<f64> {
        let name = match pace {
            Pace::Closed => workload.name().to_owned(),
            Pace::Open(rate) => format!("{} at {rate:.0}/s", workload.name()),
        };
        let server = self.start(&name)?;
        let options = ingest::Options {
            workload,
            duration: if self.options.quick { QUICK_EACH } else { EACH },
            connections: workload.connections(),
            pace,
            pool_rate: workload.pool_rate() / if self.options.quick { 4.0 } else { 1.0 },
            seed: self.seed(),
            watched: Watched { collectors: &[server.pid()], database: None },
        };
        let measured =
            ingest::run(self.shapes, from_ref(&server.target), &options).with_context(|| name.clone())?;
        let aftermath = wait_until_idle(server.pid(), self.idle_at_most())?;
        self.fault(&name, measured.account.faults());
        let rows = &mut self.results.rows;
        rows.extend(rows::of_workload(&name, &measured, Some(&self.results.floor)));
        rows.extend(rows::of_aftermath(&name, &measured, aftermath));
        if workload == Workload::W1 {
            let bytes = disk_bytes(&server.data())? as f64;
            let row = Row::new("W1: disk", bytes / measured.queries_sent as f64 / 1e3, "KB a query");
            rows.push(row.goal(Goal::AtMost(7.0)));
            rows.push(Row::new("start with an empty folder", server.start_s, "s"));
        }
        let requests_per_s = measured.requests_per_s;
        self.results.workloads.push(measured);
        self.results.aftermaths.push(aftermath);
        server.stop()?;
        Ok(requests_per_s)
    }

    fn million(&mut self) -> Result<()> {
        let server = self.start("a stream of many events")?;
        let quick = self.options.quick;
        let options = million::Options {
            events: if quick { QUICK_MILLION } else { MILLION },
            batches: if quick { QUICK_SINGLE_BATCHES } else { SINGLE_BATCHES },
            step: 1,
            seed: self.seed(),
            pid: Some(server.pid()),
        };
        let million = million::run(&server.target, options)?;
        self.results.rows.extend(rows::of_million(&million));
        self.results.million = million;
        server.stop()
    }

    fn idle(&mut self) -> Result<()> {
        eprintln!("idle senders ...");
        self.runs += 1;
        let quick = self.options.quick;
        let options = idle::Options {
            binary: self.options.binary.clone(),
            folder: self.options.folder.clone(),
            senders: if quick { QUICK_IDLE_SENDERS } else { IDLE_SENDERS },
            duration: if quick { QUICK_EACH } else { EACH },
            idle_at_most: self.idle_at_most(),
            seed: self.seed(),
        };
        let measured = idle::run(self.shapes, &options)?;
        if !quick {
            // A quick run is beside others, and waits for nothing.
            self.fault("idle senders", measured.faults.clone());
        }
        self.results.rows.extend(measured.rows());
        self.results.idle = Some(measured);
        Ok(())
    }

    fn live(&mut self, subscribers: usize, rate: f64) -> Result<()> {
        let name = format!("{subscribers} readers of the live stream");
        let server = self.start(&name)?;
        let options = live::Options {
            subscribers,
            duration: if self.options.quick { QUICK_EACH } else { EACH },
            rate: Some(rate),
            seed: self.seed(),
            deaf: false,
            pid: Some(server.pid()),
        };
        let measured =
            live::run(self.shapes, live::Ends::new(&server.target), options).with_context(|| name.clone())?;
        self.fault(&name, measured.faults());
        self.results.rows.extend(rows::of_live(&measured));
        self.results.live.push(measured);
        server.stop()
    }

    fn reads(&mut self) -> Result<()> {
        let server = self.start(&format!("reads from {} queries", self.options.reads))?;
        let options =
            fill::Options { count: self.options.reads, seed: self.seed(), end_unix_ns: clock::unix_ns() };
        let filled = fill::run(&server.target, options)?;
        self.fault("fill", filled.faults());
        let aftermath = wait_until_idle(server.pid(), self.idle_at_most())?;
        let each = if self.options.quick { QUICK_READS_EACH } else { READS_EACH };
        let reads = reads::run(&server.target, each, self.seed())?;
        let memory_mb = crate::process::memory_peak_mb(server.pid())?;
        let disk_bytes = disk_bytes(&server.data())? as f64;
        let rows = &mut self.results.rows;
        rows.extend(rows::of_fill(&filled));
        rows.push(Row::new("fill: background work after it", aftermath.cpu_s, "CPU s"));
        rows.push(Row::new("fill: disk", disk_bytes / filled.queries.max(1) as f64, "bytes a query"));
        rows.push(Row::new("fill and reads: memory", memory_mb, "MB").goal(Goal::AtMost(400.0)));
        rows.extend(reads.iter().flat_map(rows::of_read));
        for read in &reads {
            self.fault(&read.name, read.faults());
        }
        let quick = self.options.quick;
        let options = beside::Options {
            readers: OVERVIEW_READERS,
            rounds: if quick { 1 } else { OVERVIEW_ROUNDS },
            duration: if quick { QUICK_EACH } else { EACH },
            rate: None,
            seed: self.seed(),
        };
        let beside = beside::run(self.shapes, &server.target, options)?;
        self.fault("W3 beside overviews", beside.faults.clone());
        self.results.rows.extend(rows::of_beside(&beside));
        self.results.beside = Some(beside);
        eprintln!("reads on a busy machine ...");
        let options = busy::Options {
            loops: LOOPS_A_CORE * self.results.cores,
            rounds: if quick { 1 } else { BUSY_ROUNDS },
            count: if quick { QUICK_BUSY_EACH } else { BUSY_EACH },
            seed: self.seed(),
        };
        let busy = busy::run(&server.target, options)?;
        self.results.rows.extend(busy::rows(&busy));
        for measured in &busy {
            self.fault(&measured.name, measured.faults.clone());
        }
        self.results.busy = busy;
        self.results.filled = Some(filled);
        self.results.reads = reads;
        server.stop()
    }

    fn stalled(&mut self) -> Result<()> {
        eprintln!("readers that never read ...");
        self.runs += 1;
        let quick = self.options.quick;
        let (readers, labels) = if quick { QUICK_STALLED } else { STALLED };
        let options = stalled::Options {
            binary: self.options.binary.clone(),
            folder: self.options.folder.clone(),
            labels,
            readers,
            duration: if quick { QUICK_EACH } else { EACH },
            seed: self.seed(),
        };
        let stalled = stalled::run(&options)?;
        self.fault("readers that never read", stalled.faults.clone());
        self.results.rows.extend(stalled.rows());
        self.results.stalled = Some(stalled);
        Ok(())
    }

    fn evaluation(&mut self) -> Result<()> {
        eprintln!("evaluation of ended runs ...");
        self.runs += 1;
        let quick = self.options.quick;
        let (labels, before) = if quick { QUICK_EVALUATED } else { EVALUATED };
        let options = evaluation::Options {
            binary: self.options.binary.clone(),
            folder: self.options.folder.clone(),
            labels,
            before,
            rate: if quick { 100.0 } else { 1_000.0 },
            duration: if quick { QUICK_EACH } else { EACH },
            seed: self.seed(),
        };
        let measured = evaluation::run(&options)?;
        self.fault("evaluation of ended runs", measured.faults.clone());
        self.results.rows.extend(measured.rows());
        self.results.evaluation = Some(measured);
        Ok(())
    }

    fn fault(&mut self, of: &str, faults: Vec<String>) {
        self.results.faults.extend(faults.into_iter().map(|fault| format!("{of}: {fault}")));
    }
}
