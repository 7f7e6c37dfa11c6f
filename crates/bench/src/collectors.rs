//! W1 and W3 with one, two, three collectors on one PostgreSQL, beside the embedded store in the same run, and how soon
//! a reader of one collector is told of what another has committed.
//!
//! All setups take turns, round by round, so that a machine that is slow for a while is slow for each of them. The
//! database, the collectors and the generator share this machine's cores: what is seen here is what each costs, not
//! how far collectors on machines of their own get.

mod figures;
mod nodes;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Args;
use queryscope_postgres_server::Server as Postgres;

use crate::ingest;
use crate::live::{self, Ends};
use crate::load::Pace;
use crate::watched::Watched;
use crate::workload::{Shapes, Workload};
use figures::Figures;
use nodes::Nodes;

/// The workloads that are measured.
const WORKLOADS: [Workload; 2] = [Workload::W1, Workload::W3];

/// What to run.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The collector, built for release.
    #[arg(long, default_value = "target/release/queryscope")]
    binary: PathBuf,
    /// Folder for the data of the runs, the database's included, on the disk to measure; each run removes what it
    /// made. The user PostgreSQL runs as must be able to enter it.
    #[arg(long, default_value = "target/bench")]
    folder: PathBuf,
    /// File for the results.
    #[arg(long, default_value = "target/bench/collectors.json")]
    pub(crate) results: PathBuf,
    /// Collectors on the database: one, two, and so on up to this.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=16))]
    most: u64,
    /// How often each is measured.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=20))]
    rounds: u64,
    /// How long each workload is sent, and readers are told.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=600))]
    seconds: u64,
    /// Readers of the live stream.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=15_000))]
    readers: u64,
    /// Requests of W3 a second beside the readers; none when left out.
    #[arg(long)]
    rate: Option<f64>,
    /// Two collectors for a second each: proves that the bench works, measures nothing worth keeping.
    #[arg(long)]
    pub(crate) quick: bool,
}

/// What stores what is sent.
#[derive(Debug, Clone, Copy)]
enum Setup {
    /// One collector with a store of its own.
    Embedded,
    /// So many collectors on one PostgreSQL.
    Shared(usize),
}

impl Setup {
    fn name(self) -> String {
        match self {
            Self::Embedded => "embedded".into(),
            Self::Shared(1) => "1 collector".into(),
            Self::Shared(count) => format!("{count} collectors"),
        }
    }
}

/// Runs all rounds. Says on standard error what it is at.
///
/// # Errors
/// When a collector does not start, does not stop, or does not answer.
pub(crate) fn run(shapes: &Shapes, options: &Options, seed: u64) -> Result<Figures> {
    ensure!(options.rate.is_none_or(|rate| rate > 0.0), "--rate takes a number over 0");
    std::fs::create_dir_all(&options.folder)?;
    let folder = options.folder.canonicalize()?;
    let (setups, rounds): (Vec<Setup>, _) = if options.quick {
        (vec![Setup::Shared(2)], 1)
    } else {
        let shared = (1..=options.most as usize).map(Setup::Shared);
        (std::iter::once(Setup::Embedded).chain(shared).collect(), options.rounds)
    };
    let mut bench = Bench {
        shapes,
        options,
        // Where it is not to measure anything, anywhere.
        postgres: if options.quick { Postgres::start(&[]) } else { Postgres::start_in(&folder, &[]) },
        folder,
        seed,
        figures: Figures::default(),
    };
    for _ in 0..rounds {
        for workload in WORKLOADS {
            for setup in &setups {
                bench.workload(workload, *setup)?;
            }
        }
        // Beyond two it is the same: one is sent to, another is read from.
        for setup in setups.iter().take(3) {
            bench.live(*setup)?;
        }
    }
    Ok(bench.figures)
}

struct Bench<'a> {
    shapes: &'a Shapes,
    options: &'a Options,
    folder: PathBuf,
    postgres: Postgres,
    /// Each run has its own, its own folders, and its own schema.
    seed: u64,
    figures: Figures,
}

impl Bench<'_> {
    fn start(&mut self, what: &str, setup: Setup) -> Result<Nodes> {
        eprintln!("{what} ...");
        self.seed = self.seed.wrapping_add(1);
        Nodes::start(&self.options.binary, &self.folder, self.seed, setup, &self.postgres)
    }

    fn duration(&self) -> Duration {
        Duration::from_secs(if self.options.quick { 1 } else { self.options.seconds })
    }

    fn workload(&mut self, workload: Workload, setup: Setup) -> Result<()> {
        let name = format!("{}, {}", workload.name(), setup.name());
        let nodes = self.start(&name, setup)?;
        let options = ingest::Options {
            workload,
            duration: self.duration(),
            connections: workload.connections(),
            pace: Pace::Closed,
            pool_rate: workload.pool_rate() / if self.options.quick { 10.0 } else { 1.0 },
            seed: self.seed,
            watched: Watched {
                collectors: &nodes.pids(),
                database: nodes.shares().then(|| self.postgres.pid()),
            },
        };
        let measured = ingest::run(self.shapes, &nodes.targets(), &options).with_context(|| name.clone())?;
        nodes.stop(&self.postgres)?;
        self.figures.add_workload(&name, &measured);
        Ok(())
    }

    fn live(&mut self, setup: Setup) -> Result<()> {
        let name = match setup {
            Setup::Shared(count) if count > 1 => "live, from one collector to another".to_owned(),
            _ => format!("live, {}", setup.name()),
        };
        let nodes = self.start(&name, setup)?;
        let targets = nodes.targets();
        let ends =
            Ends { sent: targets.first().context("a collector")?, read: targets.last().context("one")? };
        let options = live::Options {
            subscribers: self.options.readers as usize,
            duration: self.duration(),
            rate: self.options.rate,
            seed: self.seed,
            deaf: false,
            pid: None,
        };
        let measured = live::run(self.shapes, ends, options).with_context(|| name.clone())?;
        nodes.stop(&self.postgres)?;
        self.figures.add_live(&name, &measured);
        Ok(())
    }
}
