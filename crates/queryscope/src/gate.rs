//! `queryscope gate`: whether the queries of a test suite got worse, whatever machines it ran on.

mod judge;
mod markdown;
mod pairs;
mod read;
mod report;
mod sarif;
mod text;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;
use clap::builder::PossibleValuesParser;

use crate::read::screen::{print, print_json};

use self::report::{Cause, Report};

/// Exit code where the gate fails.
const FAILED: u8 = 4;
/// Exit code where there is nothing to compare, as of commands that find nothing.
const NOTHING_FOUND: u8 = 3;

#[derive(Debug, Args)]
pub(crate) struct GateArgs {
    /// Runs to compare with: events or profiles files, folders of such, or a service with filters, like
    /// http://127.0.0.1:7766?service=tests&program_version=main; may be given several times
    #[arg(long, value_name = "PLACE", required = true)]
    base: Vec<String>,
    /// Runs to judge, in the same forms
    #[arg(long, value_name = "PLACE", required = true)]
    head: Vec<String>,
    /// What fails the gate, separated by commas; `none` only reports
    #[arg(
        long,
        value_name = "KIND",
        value_delimiter = ',',
        default_values_t = Cause::DEFAULTS.map(|cause| cause.as_str().to_owned()),
        value_parser = PossibleValuesParser::new(Cause::ALL.iter().map(|cause| cause.as_str()).chain(["none"]))
    )]
    fail_on: Vec<String>,
    /// Report, but do not fail on, queries with this label; `*` stands for any text; may be given several times
    #[arg(long, value_name = "LABEL")]
    accept: Vec<String>,
    /// How much a figure may grow, in percent
    #[arg(long, value_name = "PERCENT", default_value = "10", value_parser = clap::value_parser!(u32).range(0..=1000))]
    tolerance: u32,
    /// How the answer is written
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = ["text", "json", "sarif", "markdown"])]
    format: String,
    /// Folder of the program's source; files below it are named relative to it [default: the current one]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// Token to send to a service whose reading is restricted
    #[arg(long, value_name = "TOKEN", env = "TELEMETRY_TOKEN", hide_env_values = true)]
    token: Option<String>,
}

/// Compares, and prints what differs.
///
/// # Errors
/// When runs cannot be read.
pub(crate) async fn run(args: GateArgs) -> Result<ExitCode> {
    let root = match &args.root {
        Some(root) => std::path::absolute(root),
        None => std::env::current_dir(),
    }
    .context("the folder of the source is not known (--root)")?;
    if args.fail_on.len() > 1 && args.fail_on.iter().any(|kind| kind == "none") {
        bail!("--fail-on none only reports: it stands alone");
    }
    let base = read::suite(&args.base, args.token.as_deref()).await.context("--base")?;
    let head = read::suite(&args.head, args.token.as_deref()).await.context("--head")?;
    for (option, suite) in [("--base", &base), ("--head", &head)] {
        if suite.runs.is_empty() {
            eprintln!("error: {option} holds no query that has ended");
            return Ok(ExitCode::from(NOTHING_FOUND));
        }
    }
    let rules = report::Rules {
        fail_on: Cause::ALL
            .iter()
            .copied()
            .filter(|cause| args.fail_on.iter().any(|name| name == cause.as_str()))
            .collect(),
        accept: args.accept.clone(),
        tolerance: f64::from(args.tolerance) / 100.0,
    };
    let report = judge::judge(&base, &head, &rules, &root)?;
    write(&report, &args.format)?;
    Ok(if report.fails { ExitCode::from(FAILED) } else { ExitCode::SUCCESS })
}

fn write(report: &Report, format: &str) -> Result<()> {
    match format {
        "json" => print_json(&serde_json::to_value(report)?),
        "sarif" => print_json(&sarif::document(report)),
        "markdown" => print(&markdown::comment(report)),
        _ => print(&text::text(report)),
    }
}
