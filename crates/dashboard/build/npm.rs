//! Builds the pages with npm.

use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

const MISSING: &str = "the dashboard has to be built and npm is not there: install Node.js 20.19 or newer with npm \
     (https://nodejs.org; Debian and Ubuntu: apt-get install nodejs npm), or copy a ui/dist that was built from \
     these sources";

/// Installs what the build needs, where that is not there already, and builds `ui/dist`.
pub(crate) fn build(ui: &Path) -> Result<()> {
    if !is_installed(ui) {
        npm(ui, &["ci", "--no-audit", "--no-fund"])?;
    }
    npm(ui, &["run", "build"])
}

/// npm writes down what it installed; it is current while the lock file is not newer.
fn is_installed(ui: &Path) -> bool {
    let changed = |name: &str| ui.join(name).metadata().and_then(|metadata| metadata.modified()).ok();
    match (changed("node_modules/.package-lock.json"), changed("package-lock.json")) {
        (Some(installed), Some(wanted)) => installed >= wanted,
        _ => false,
    }
}

fn npm(ui: &Path, arguments: &[&str]) -> Result<()> {
    let name = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let output = match Command::new(name).args(arguments).current_dir(ui).output() {
        Ok(output) => output,
        Err(error) if error.kind() == ErrorKind::NotFound => bail!(MISSING),
        Err(error) => return Err(error).context("npm cannot be started"),
    };
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    for line in String::from_utf8_lossy(&said).lines() {
        println!("cargo::warning={line}");
    }
    bail!("`npm {}` failed in ui/; what it said is above", arguments.join(" "))
}
