//! The command line, and the report.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result, anyhow};
use clap::Parser;

use crate::binary::Binary;
use crate::rows::{ROWS, Row, Setup};

/// Kills, cuts, fills and corrupts services of its own, and judges what is left.
///
/// Without rows it takes them all, briefly; `--long` takes as many rounds as the report is made from.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100)]
struct Cli {
    /// Rows to take; all when left out
    #[arg(value_parser = ROWS.iter().map(|row| row.name).collect::<Vec<_>>())]
    rows: Vec<String>,
    /// The service
    #[arg(long, default_value = "target/debug/queryscope")]
    binary: PathBuf,
    /// Folder for the data; what a failed row leaves stays for a look
    #[arg(long, default_value = "target/torture")]
    folder: PathBuf,
    /// Source of all choices; made up and printed when left out
    #[arg(long)]
    seed: Option<u64>,
    /// Rounds of each row
    #[arg(long, conflicts_with = "long")]
    rounds: Option<u32>,
    /// As many rounds as the report is made from
    #[arg(long)]
    long: bool,
    /// File for the report
    #[arg(long)]
    report: Option<PathBuf>,
}

/// Runs what the command line asks for.
pub fn main() -> ExitCode {
    match run(&Cli::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Whether all rows held.
fn run(cli: &Cli) -> Result<bool> {
    let seed = cli.seed.unwrap_or_else(rand::random);
    let binary = Binary::new(&cli.binary)?;
    std::fs::create_dir_all(&cli.folder)?;
    let folder = cli.folder.canonicalize()?;
    let mut report =
        String::from("| row | what | rounds | held | figures | s |\n|---|---|---|---|---|---|\n");
    let mut held = true;
    for row in ROWS.iter().filter(|row| cli.rows.is_empty() || cli.rows.iter().any(|name| name == row.name)) {
        let rounds = cli.rounds.unwrap_or(if cli.long { row.long } else { row.quick });
        let again = format!("queryscope-torture {} --rounds {rounds} --seed {seed}", row.name);
        println!("{again}");
        let begun = Instant::now();
        let outcome =
            take(row, &Setup { binary: binary.clone(), folder: folder.join(row.name), seed }, rounds);
        let took = begun.elapsed().as_secs_f64();
        let (word, figures) = match outcome {
            Ok(figures) => ("yes", figures),
            Err(error) => {
                held = false;
                eprintln!("FAILED: {}: {error:#}\nagain: {again}", row.name);
                ("NO", "see above".to_owned())
            }
        };
        println!("  {figures} ({took:.1} s)");
        let _ =
            writeln!(report, "| {} | {} | {rounds} | {word} | {figures} | {took:.0} |", row.name, row.what);
    }
    print!("\nseed {seed}\n\n{report}");
    if let Some(path) = &cli.report {
        std::fs::write(path, &report).with_context(|| format!("{} cannot be written", path.display()))?;
    }
    Ok(held)
}

/// Takes a row in a folder of its own, which stays if the row does not hold. A sender that finds a promise broken
/// panics: that is a failure as any other.
fn take(row: &Row, setup: &Setup, rounds: u32) -> Result<String> {
    if setup.folder.exists() {
        std::fs::remove_dir_all(&setup.folder)?;
    }
    std::fs::create_dir_all(&setup.folder)?;
    let taken = std::thread::scope(|scope| scope.spawn(|| (row.run)(setup, rounds)).join());
    let figures = taken.map_err(|_| anyhow!("a sender found a promise broken, see above"))??;
    std::fs::remove_dir_all(&setup.folder)?;
    Ok(figures)
}
