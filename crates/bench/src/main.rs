//! `queryscope-bench`: loads a collector on this machine and reports what it took.

#![expect(clippy::disallowed_methods, reason = "a load generator measures by the machine's clock")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, ensure};
use clap::{Args, Parser, Subcommand};

use http::Target;
use load::Pace;
use queryscope_histories as histories;
use report::{Row, table};
use watched::Watched;
use workload::{Shapes, Workload};

mod bare;
mod beside;
mod body;
mod busy;
mod captures;
mod client;
mod clock;
mod collectors;
mod cores;
mod evaluation;
mod fill;
mod floor;
mod hostile;
mod http;
mod idle;
mod ids;
mod ingest;
mod latency;
mod live;
mod load;
mod million;
mod past;
mod population;
mod process;
mod reads;
mod report;
mod requests;
mod rows;
mod sending;
mod server;
mod slowdowns;
mod stalled;
#[cfg(test)]
mod stub;
mod suite;
mod template;
mod watched;
mod workload;

/// Longest run of a workload, in seconds.
const SECONDS_MAX: u64 = 600;

/// Seed of histories that the diagnosis was not tuned with.
const HELD_OUT_SEED: u64 = 41;

/// Loads a queryscope collector on this machine and reports what it took.
#[derive(Debug, Parser)]
#[command(version)]
struct Cli {
    /// Folder of captured requests the bodies are made from.
    #[arg(long, global = true, default_value = "testdata/captures")]
    captures: PathBuf,
    /// Source of ids and numbers; the clock when left out. The same seed twice sends the same ids.
    #[arg(long, global = true)]
    seed: Option<u64>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Send one workload to a running collector.
    Ingest {
        #[command(flatten)]
        service: Service,
        /// What the requests hold.
        #[arg(long)]
        workload: Workload,
        /// How long to send.
        #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=SECONDS_MAX))]
        seconds: u64,
        /// Connections; 64 for W3, 8 for the others when left out.
        #[arg(long, value_parser = clap::value_parser!(u64).range(1..=10_000))]
        connections: Option<u64>,
        /// Requests a second, whatever the answers do (open loop). Without it each connection sends as soon as
        /// it has been answered.
        #[arg(long)]
        rate: Option<f64>,
        /// Requests made ready for each second of a closed loop; the run ends early when they are used up.
        #[arg(long)]
        pool_rate: Option<f64>,
    },
    /// Measure what the work itself costs on this machine.
    Floor {
        /// Folder on the disk to measure.
        #[arg(long, default_value = "target/bench")]
        folder: PathBuf,
        /// How long to measure each part.
        #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=SECONDS_MAX))]
        seconds: u64,
    },
    /// Measure the next batch of a stream that has sent many events, against a new stream.
    Million {
        #[command(flatten)]
        service: Service,
        /// Events the long stream sends before.
        #[arg(long, default_value_t = 1_000_000)]
        events: u64,
        /// Batches of one event to measure of each stream.
        #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u64).range(4..=1_000_000))]
        batches: u64,
        /// Distance of two seqs: 2 leaves out every other one, as a sender that dropped events.
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1_000))]
        step: u64,
    },
    /// Measure the read API of a collector with a filled store.
    Reads {
        #[command(flatten)]
        service: Service,
        /// Requests of each kind.
        #[arg(long, default_value_t = 200)]
        count: usize,
        /// Requests of W3 a second beside them; none when left out.
        #[arg(long)]
        rate: Option<f64>,
        /// Measure the long answers alone, without and with so many programs that keep the cores busy, in turns.
        #[arg(long, conflicts_with = "rate", value_parser = clap::value_parser!(u64).range(1..=64))]
        busy_loops: Option<u64>,
        /// Rounds without busy loops, and as many with them.
        #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=100))]
        rounds: u64,
    },
    /// Keep a core busy: what `reads --busy-loops` starts.
    #[command(hide = true)]
    Spin {
        /// For how long.
        #[arg(long, value_parser = clap::value_parser!(u64).range(..=SECONDS_MAX))]
        seconds: u64,
    },
    /// Have many readers ask a collector of its own for the largest answer and never read it: its memory, and what
    /// others wait for.
    Stalled {
        /// The collector, built for release.
        #[arg(long, default_value = "target/release/queryscope")]
        binary: PathBuf,
        /// Folder for the data of the run, which is removed.
        #[arg(long, default_value = "target/bench")]
        folder: PathBuf,
        /// Labels.
        #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
        labels: u64,
        /// Readers.
        #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=15_000))]
        readers: u64,
        /// How long others are measured beside them.
        #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=SECONDS_MAX))]
        seconds: u64,
    },
    /// Measure W3 without and with readers that loop over the overview of a filled store, in turns.
    Beside {
        #[command(flatten)]
        service: Service,
        /// Readers.
        #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=1_000))]
        readers: u64,
        /// Rounds without readers, and as many with them.
        #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=100))]
        rounds: u64,
        /// How long a round is.
        #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=SECONDS_MAX))]
        seconds: u64,
        /// Requests of W3 a second; half of what it reaches when left out.
        #[arg(long)]
        rate: Option<f64>,
    },
    /// Fill a collector with the population for reads: 90 days of 2,000 labels.
    Fill {
        #[command(flatten)]
        service: Service,
        /// Queries in all.
        #[arg(long, default_value_t = 1_000_000)]
        count: u64,
        /// When the 90 days end, in Unix seconds; now when left out.
        #[arg(long)]
        end_unix_s: Option<i64>,
    },
    /// Follow `/api/live` with many readers while W3 runs: how soon they are told, and what that costs ingest.
    Live {
        #[command(flatten)]
        service: Service,
        /// Readers.
        #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..=15_000))]
        subscribers: u64,
        /// How long to measure.
        #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=SECONDS_MAX))]
        seconds: u64,
        /// Requests of W3 a second beside them; none when left out.
        #[arg(long)]
        rate: Option<f64>,
        /// Readers that never read after their snapshot.
        #[arg(long)]
        deaf: bool,
        /// How often, each time W3 without readers first.
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=20))]
        rounds: u64,
    },
    /// Be what `live` and `hostile` measure as their floor, until standard input ends.
    #[command(hide = true)]
    Bare {
        /// Bytes of a pulse.
        #[arg(long, value_parser = clap::value_parser!(u64).range(..=1 << 20))]
        bytes: u64,
    },
    /// Measure the sending library: a query's thread, samples, a full queue. Needs no collector.
    Client {
        /// How long to measure each part.
        #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=SECONDS_MAX))]
        seconds: u64,
    },
    /// Attack collectors of its own: what hostile clients cost their memory, and the good clients of W3.
    Hostile {
        /// The collector, built for release.
        #[arg(long, default_value = "target/release/queryscope")]
        binary: PathBuf,
        /// Folder for the data of the runs; each run removes what it made.
        #[arg(long, default_value = "target/bench")]
        folder: PathBuf,
        /// The one attack to run, by its name in the table; all when left out.
        #[arg(long)]
        only: Option<String>,
        /// How long W3 is measured, alone and beside each attack.
        #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=SECONDS_MAX))]
        seconds: u64,
        /// Requests of W3 a second.
        #[arg(long, default_value_t = 1_000.0)]
        rate: f64,
        /// Connections of the attacks that hold many.
        #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..=15_000))]
        crowd: u64,
    },
    /// Measure W1, W3 and the live stream with several collectors on one PostgreSQL of its own, beside the
    /// embedded store.
    Collectors(collectors::Options),
    /// Evaluate the diagnosis on seeded histories of runs with known changes. Needs no collector.
    Diagnosis {
        /// Histories of each kind of change and size, and many times as many of each noise.
        #[arg(long, default_value_t = 12, value_parser = clap::value_parser!(u64).range(1..=1_000))]
        labels: u64,
        /// One history of each: proves that the evaluation works, measures nothing worth keeping.
        #[arg(long)]
        quick: bool,
    },
    /// Simulate a month of many labels with seeded changes: messages that issues would send, false, missed and late
    /// ones. Needs no collector.
    Issues {
        /// Labels.
        #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..=100_000))]
        labels: u64,
        /// Labels that change.
        #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(0..=100_000))]
        changes: u64,
        /// Print what was told falsely, late or never, too.
        #[arg(long)]
        misses: bool,
        /// A few labels: proves that the simulation works, measures nothing worth keeping.
        #[arg(long)]
        quick: bool,
    },
    /// Print seeded slowdowns of queries, one JSON object a line: tests/mcp/bench.py posts them.
    Slowdowns {
        /// How many.
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..=1_000))]
        count: u64,
    },
    /// Measure the evaluation of ended runs of many labels by a collector of its own: how far it is behind, and
    /// its CPU.
    Evaluation {
        /// The collector, built for release.
        #[arg(long, default_value = "target/release/queryscope")]
        binary: PathBuf,
        /// Folder for the data of the run, which is removed.
        #[arg(long, default_value = "target/bench")]
        folder: PathBuf,
        /// Labels.
        #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u64).range(1..=100_000))]
        labels: u64,
        /// Runs of each label before the measurement.
        #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(..=1_000))]
        before: u64,
        /// Runs that end a second.
        #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..=10_000))]
        rate: u64,
        /// How long to measure.
        #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=SECONDS_MAX))]
        seconds: u64,
    },
    /// Measure what a collector of its own uses while senders are connected and send nothing.
    Idle {
        /// The collector, built for release.
        #[arg(long, default_value = "target/release/queryscope")]
        binary: PathBuf,
        /// Folder for the data of the run, which is removed.
        #[arg(long, default_value = "target/bench")]
        folder: PathBuf,
        /// Senders.
        #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..=10_000))]
        senders: u64,
        /// How long to watch, without them and with them.
        #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=SECONDS_MAX))]
        seconds: u64,
    },
    /// Run everything against collectors of its own, beside the floor: `make bench`.
    Suite {
        /// The collector, built for release.
        #[arg(long, default_value = "target/release/queryscope")]
        binary: PathBuf,
        /// Folder for the data of the runs, on the disk to measure; each run removes what it made.
        #[arg(long, default_value = "target/bench")]
        folder: PathBuf,
        /// File for the results.
        #[arg(long, default_value = "target/bench/results.json")]
        results: PathBuf,
        /// Queries to store before reads are measured; 0 leaves reads out.
        #[arg(long, default_value_t = 0)]
        reads: u64,
        /// About a second for each part: proves that the bench works, measures nothing worth keeping.
        #[arg(long)]
        quick: bool,
    },
}

#[derive(Debug, Args)]
struct Service {
    /// Where the collector listens, on this machine.
    #[arg(long, default_value = "http://127.0.0.1:7766")]
    url: String,
    /// A token it knows.
    #[arg(long, env = "TELEMETRY_TOKEN", hide_env_values = true, default_value = "")]
    token: String,
    /// Its process, when the CPU and memory it uses are wanted.
    #[arg(long)]
    pid: Option<u32>,
}

impl Service {
    fn target(&self) -> Result<Target> {
        Target::parse(&self.url, &self.token)
    }
}

fn main() -> ExitCode {
    match run(&Cli::parse()) {
        Ok(faults) if faults.is_empty() => ExitCode::SUCCESS,
        Ok(faults) => {
            for fault in faults {
                eprintln!("FAULT: {fault}");
            }
            eprintln!("these figures are worth nothing");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs a command, prints its table and returns what makes its figures worthless.
fn run(cli: &Cli) -> Result<Vec<String>> {
    let seed = cli.seed.unwrap_or_else(|| clock::unix_ns() as u64);
    let shapes = || Shapes::from_captures(captures::read_folder(&cli.captures)?);
    match &cli.command {
        Command::Ingest { service, workload, seconds, connections, rate, pool_rate } => {
            ensure!(rate.is_none_or(|rate| rate > 0.0), "--rate takes a number over 0");
            let options = ingest::Options {
                workload: *workload,
                duration: Duration::from_secs(*seconds),
                connections: connections.map_or(workload.connections(), |connections| connections as usize),
                pace: rate.map_or(Pace::Closed, Pace::Open),
                pool_rate: pool_rate.unwrap_or(workload.pool_rate()),
                seed,
                watched: Watched { collectors: service.pid.as_slice(), database: None },
            };
            let measured = ingest::run(&shapes()?, &[service.target()?], &options)?;
            print(&rows::of_workload(workload.name(), &measured, None));
            println!("statuses: {:?}", measured.account.statuses);
            Ok(measured.account.faults())
        }
        Command::Floor { folder, seconds } => {
            std::fs::create_dir_all(folder)?;
            let floor = floor::measure(&shapes()?, folder, seed, Duration::from_secs(*seconds))?;
            print(&rows::of_floor(&floor));
            Ok(Vec::new())
        }
        Command::Million { service, events, batches, step } => {
            let options =
                million::Options { events: *events, batches: *batches, step: *step, seed, pid: service.pid };
            print(&rows::of_million(&million::run(&service.target()?, options)?));
            Ok(Vec::new())
        }
        Command::Reads { service, count, busy_loops: Some(loops), rounds, .. } => {
            let options =
                busy::Options { loops: *loops as usize, rounds: *rounds as usize, count: *count, seed };
            let measured = busy::run(&service.target()?, options)?;
            print(&busy::rows(&measured));
            Ok(measured.into_iter().flat_map(|measured| measured.faults).collect())
        }
        Command::Spin { seconds } => {
            busy::spin(Duration::from_secs(*seconds));
            Ok(Vec::new())
        }
        Command::Stalled { binary, folder, labels, readers, seconds } => {
            let options = stalled::Options {
                binary: binary.clone(),
                folder: folder.clone(),
                labels: *labels as usize,
                readers: *readers as usize,
                duration: Duration::from_secs(*seconds),
                seed,
            };
            let measured = stalled::run(&options)?;
            print(&measured.rows());
            Ok(measured.faults)
        }
        Command::Reads { service, count, rate, .. } => {
            ensure!(rate.is_none_or(|rate| rate > 0.0), "--rate takes a number over 0");
            let target = service.target()?;
            let (reads, load) = match rate {
                Some(rate) => reads::run_beside(&shapes()?, &target, *count, seed, *rate)?,
                None => (reads::run(&target, *count, seed)?, Vec::new()),
            };
            print(&reads.iter().flat_map(rows::of_read).collect::<Vec<_>>());
            for round in &load {
                print(&rows::of_workload("W3 beside them", round, None));
            }
            let faults = reads.iter().flat_map(reads::Measured::faults);
            Ok(faults.chain(load.iter().flat_map(|round| round.account.faults())).collect())
        }
        Command::Beside { service, readers, rounds, seconds, rate } => {
            ensure!(rate.is_none_or(|rate| rate > 0.0), "--rate takes a number over 0");
            let options = beside::Options {
                readers: *readers as usize,
                rounds: *rounds as usize,
                duration: Duration::from_secs(*seconds),
                rate: *rate,
                seed,
            };
            let measured = beside::run(&shapes()?, &service.target()?, options)?;
            print(&rows::of_beside(&measured));
            Ok(measured.faults)
        }
        Command::Fill { service, count, end_unix_s } => {
            let end_unix_ns = end_unix_s.map_or_else(clock::unix_ns, |s| s.saturating_mul(1_000_000_000));
            let filled = fill::run(&service.target()?, fill::Options { count: *count, seed, end_unix_ns })?;
            print(&rows::of_fill(&filled));
            Ok(filled.faults())
        }
        Command::Live { service, subscribers, seconds, rate, deaf, rounds } => {
            ensure!(rate.is_none_or(|rate| rate > 0.0), "--rate takes a number over 0");
            let options = live::Options {
                subscribers: *subscribers as usize,
                duration: Duration::from_secs(*seconds),
                rate: *rate,
                seed,
                deaf: *deaf,
                pid: service.pid,
            };
            let (shapes, target) = (shapes()?, service.target()?);
            let mut measured = Vec::new();
            for round in 0..*rounds {
                let options = live::Options { seed: seed.wrapping_add(round << 32), ..options };
                measured.push(live::run(&shapes, live::Ends::new(&target), options)?);
                print(&measured.last().map(rows::of_live).unwrap_or_default());
            }
            print(&rows::of_live_rounds(&measured));
            Ok(measured.iter().flat_map(live::Measured::faults).collect())
        }
        Command::Bare { bytes } => {
            bare::serve(*bytes as usize)?;
            Ok(Vec::new())
        }
        Command::Client { seconds } => {
            print(&sending::rows(&sending::run(Duration::from_secs(*seconds))?));
            Ok(Vec::new())
        }
        Command::Diagnosis { labels, quick } => {
            let labels = if *quick { 1 } else { *labels };
            // Without a seed it is that of the figures in the documentation, which nothing was tuned with.
            let options = histories::Options { seed: cli.seed.unwrap_or(HELD_OUT_SEED), labels };
            print!("{}", histories::report(&histories::evaluate(options)));
            Ok(Vec::new())
        }
        Command::Issues { labels, changes, misses, quick } => {
            let (labels, changes) = if *quick { (20, 10) } else { (*labels, *changes) };
            ensure!(changes <= labels, "--changes: at most as many as labels");
            let seed = cli.seed.unwrap_or(HELD_OUT_SEED);
            let month = histories::month(histories::MonthOptions { seed, labels, changes });
            print!("{}", month.report());
            if *misses {
                println!("\n{}", month.misses().join("\n"));
            }
            Ok(Vec::new())
        }
        Command::Slowdowns { count } => {
            slowdowns::write(cli.seed.unwrap_or(HELD_OUT_SEED), *count, std::io::stdout().lock())?;
            Ok(Vec::new())
        }
        Command::Hostile { binary, folder, only, seconds, rate, crowd } => {
            ensure!(*rate > 0.0, "--rate takes a number over 0");
            let options = hostile::Options {
                binary: binary.clone(),
                folder: folder.clone(),
                only: only.clone(),
                duration: Duration::from_secs(*seconds),
                rate: *rate,
                crowd: *crowd as usize,
                seed,
            };
            print(&hostile::run(&shapes()?, &options)?);
            Ok(Vec::new())
        }
        Command::Idle { binary, folder, senders, seconds } => {
            let options = idle::Options {
                binary: binary.clone(),
                folder: folder.clone(),
                senders: *senders as usize,
                duration: Duration::from_secs(*seconds),
                idle_at_most: suite::IDLE_AT_MOST,
                seed,
            };
            let measured = idle::run(&shapes()?, &options)?;
            print(&measured.rows());
            Ok(measured.faults)
        }
        Command::Evaluation { binary, folder, labels, before, rate, seconds } => {
            let options = evaluation::Options {
                binary: binary.clone(),
                folder: folder.clone(),
                labels: *labels as usize,
                before: *before as usize,
                rate: *rate as f64,
                duration: Duration::from_secs(*seconds),
                seed,
            };
            let measured = evaluation::run(&options)?;
            print(&measured.rows());
            Ok(measured.faults)
        }
        Command::Collectors(options) => {
            let figures = collectors::run(&shapes()?, options, seed)?;
            print(&figures.rows());
            suite::write(&figures, &options.results)?;
            tell_of(options.quick, &options.results);
            Ok(figures.faults)
        }
        Command::Suite { binary, folder, results: file, reads, quick } => {
            let options = suite::Options {
                binary: binary.clone(),
                folder: folder.clone(),
                reads: *reads,
                quick: *quick,
                seed,
            };
            let results = suite::run(&shapes()?, &options)?;
            print(&results.rows);
            suite::write(&results, file)?;
            tell_of(*quick, file);
            Ok(results.faults)
        }
    }
}

fn tell_of(quick: bool, results: &Path) {
    if quick {
        println!("a quick run: these figures prove that the bench works and measure nothing");
    }
    println!("all of it: {}", results.display());
}

fn print(rows: &[Row]) {
    print!("{}", table(rows));
}
