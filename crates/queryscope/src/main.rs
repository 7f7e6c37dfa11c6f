//! `queryscope`: the service and the commands around it.

mod alert;
mod backup;
mod check;
mod cli;
mod data;
mod demo;
mod deploy;
mod events_file;
mod export;
mod gate;
mod import;
mod lines;
mod log;
mod mcp;
mod migrate;
mod open_files;
mod otlp;
mod post;
mod profiles_file;
mod progress;
mod read;
mod restrictions;
mod serve;
mod signals;
mod snippet;
mod store;
mod token;
mod top;
mod user;

use std::process::ExitCode;

use anyhow::Result;
use clap::{CommandFactory, Parser};

use crate::cli::{Cli, Command};
use crate::read::Question;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    without_huge_pages();
    let cli = Cli::parse();
    // What is kept is nobody else's business, also in a folder others may enter.
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    log::init();
    match run(cli) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    match cli.command {
        None => runtime.block_on(serve::run(cli.serve))?,
        Some(Command::Serve(args)) => runtime.block_on(serve::run(args))?,
        Some(Command::Top(args)) => runtime.block_on(top::run(args))?,
        Some(Command::List(args)) => return runtime.block_on(read::run(Question::List(args))),
        Some(Command::Runs(args)) => return runtime.block_on(read::run(Question::Runs(args))),
        Some(Command::Issues(args)) => return runtime.block_on(read::run(Question::Issues(args))),
        Some(Command::Show(args)) => return runtime.block_on(read::run(Question::Show(args))),
        Some(Command::Why(args)) => return runtime.block_on(read::run(Question::Why(args))),
        Some(Command::Notes(args)) => return runtime.block_on(read::run(Question::Notes(args))),
        Some(Command::Diff(args)) => return runtime.block_on(read::run(Question::Diff(args))),
        Some(Command::Export(args)) => runtime.block_on(export::run(&args))?,
        Some(Command::Gate(args)) => return runtime.block_on(gate::run(args)),
        Some(Command::Mcp(args)) => runtime.block_on(mcp::run(args))?,
        Some(Command::Import(args)) => runtime.block_on(import::run(args))?,
        Some(Command::Migrate(args)) => runtime.block_on(migrate::run(args))?,
        Some(Command::Config(args)) => alert::config(&args.command)?,
        Some(Command::Alert(args)) => runtime.block_on(alert::alert(&args.command))?,
        Some(Command::Deploy(args)) => runtime.block_on(deploy::run(args))?,
        Some(Command::Token(args)) => runtime.block_on(token::run(args))?,
        Some(Command::User(args)) => runtime.block_on(user::run(args))?,
        Some(Command::Backup(args)) => backup::run(&args)?,
        Some(Command::Check(args)) => return Ok(runtime.block_on(check::run(args))),
        Some(Command::Demo(args)) => runtime.block_on(demo::command::run(args))?,
        Some(Command::Completions { shell }) => {
            clap_complete::generate(shell, &mut Cli::command(), "queryscope", &mut std::io::stdout());
        }
        Some(Command::Man) => clap_mangen::Man::new(Cli::command()).render(&mut std::io::stdout())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// What is allocated and freed in many sizes lies scattered: in huge pages it takes four times the memory.
fn without_huge_pages() {
    // A sandbox may forbid it; then memory is taken in larger pieces.
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::disable_transparent_huge_pages(true);
}
