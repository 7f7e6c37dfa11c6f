//! Makes `ui/dist` current and embeds it.

mod embed;
mod npm;
mod sources;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;

use anyhow::{Context, Result};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("cargo::error={error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let here = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").context("cargo names no folder")?);
    let out = PathBuf::from(std::env::var("OUT_DIR").context("cargo names no folder to write to")?);
    let ui = here.join("../../ui").canonicalize().context("there is no folder ui/ beside crates/")?;
    for watched in sources::WATCHED {
        println!("cargo::rerun-if-changed={}", ui.join(watched).display());
    }
    println!("cargo::rerun-if-changed={}", ui.join(sources::STAMP).display());
    println!("cargo::rerun-if-changed={}", here.join("build").display());
    make_current(&ui)?;
    embed::write(&ui.join("dist"), &out)
}

/// Builds the pages unless those that are there were built from these sources.
fn make_current(ui: &Path) -> Result<()> {
    let wanted = sources::digest(ui)?;
    if is_current(ui, &wanted) {
        return Ok(());
    }
    // Two builds at a time, of two profiles, would write into each other's folder.
    let lock = File::create(ui.join(".build-lock")).context("ui/ cannot be written to")?;
    lock.lock().context("ui/.build-lock cannot be locked")?;
    if is_current(ui, &wanted) {
        return Ok(());
    }
    npm::build(ui)?;
    date_back(&ui.join(sources::STAMP))?;
    if !is_current(ui, &sources::digest(ui)?) {
        println!("cargo::warning=ui/ changed while it was built: build again");
    }
    Ok(())
}

/// Gives the stamp a time before this build: cargo would take what the build itself has written for a change, and build
/// the dashboard and all that has it in it once more.
fn date_back(stamp: &Path) -> Result<()> {
    let file = File::options().append(true).open(stamp).context("the stamp of the pages cannot be opened")?;
    file.set_modified(SystemTime::UNIX_EPOCH).context("the stamp of the pages cannot be dated back")
}

fn is_current(ui: &Path, wanted: &str) -> bool {
    std::fs::read_to_string(ui.join(sources::STAMP)).is_ok_and(|built| built.trim() == wanted)
}
