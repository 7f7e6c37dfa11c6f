//! TPC-H on DataFusion, told to a running collector.
//!
//! `make tpch` in the repository runs the 22 queries in a loop, which the pages of the collector show. With
//! `ARGS="--slow-down merge-joins"` they get slower after some rounds, and the collector says so.

#![expect(clippy::disallowed_methods, reason = "it measures by the machine's clock")]

mod bench;
mod rounds;
mod samples;
mod session;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};
use queryscope_datafusion::{HttpExporter, Telemetry};

/// Runs the 22 queries of TPC-H in a loop and tells a queryscope collector of them.
#[derive(Debug, Parser)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    rounds: rounds::Rounds,
    /// Address of the collector.
    #[arg(long, global = true, default_value = "http://127.0.0.1:7766")]
    url: String,
    /// File with the token, where TELEMETRY_TOKEN is not set.
    #[arg(long, global = true, default_value = "queryscope-data/token")]
    token_file: PathBuf,
    /// Folder for the tables.
    #[arg(long, global = true, default_value = "target/tpch")]
    data: PathBuf,
    /// Scale of the data: 1 is one gigabyte as text.
    #[arg(long, global = true, default_value_t = 0.1)]
    scale: f64,
    /// Partitions that queries run in; as many as there are cores when left out.
    #[arg(long, global = true)]
    partitions: Option<usize>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measure what telemetry costs: the queries with it and without, in turns.
    Bench(bench::Bench),
    /// Measure what samples of a small and of a large plan cost; needs no collector.
    Samples,
}

#[tokio::main]
async fn main() -> Result<()> {
    let cli = Cli::parse();
    let place = session::Place { data: cli.data, scale: cli.scale, partitions: cli.partitions };
    if let Some(Command::Samples) = cli.command {
        return samples::run(&place).await;
    }
    let telemetry = start(&cli.url, &cli.token_file)?;
    let outcome = if let Some(Command::Bench(bench)) = cli.command {
        bench::run(&bench, &place, &telemetry).await
    } else {
        rounds::run(&cli.rounds, &place, &telemetry).await
    };
    telemetry.shutdown();
    println!("{:?}", telemetry.stats());
    outcome
}

fn start(url: &str, token_file: &Path) -> Result<Telemetry> {
    let mut exporter = HttpExporter::new(url);
    if std::env::var_os("TELEMETRY_TOKEN").is_none() {
        let token = std::fs::read_to_string(token_file).with_context(|| {
            format!("{}: start the collector with `make run`, or set TELEMETRY_TOKEN", token_file.display())
        })?;
        exporter = exporter.token(token.trim());
    }
    Ok(queryscope_datafusion::telemetry().service("tpch").environment("demo").exporter(exporter).start()?)
}
