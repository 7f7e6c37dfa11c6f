//! The one telemetry a process installs, for adapters that find it by themselves.

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use thiserror::Error;

use crate::telemetry::Telemetry;

static INSTALLED: ArcSwapOption<Telemetry> = ArcSwapOption::const_empty();

/// Keeps a telemetry installed. Dropping it uninstalls the telemetry and takes at most two seconds.
///
/// Keep it in `main` to the end: Rust runs nothing at the exit of a process, so a process that ends by
/// [`std::process::exit`] must call [`uninstall`] before.
#[derive(Debug)]
#[must_use = "the telemetry is uninstalled when this is dropped"]
pub struct Installed {
    telemetry: Arc<Telemetry>,
}

/// There is an installed telemetry already.
#[derive(Debug, Error)]
#[error("another telemetry is installed: uninstall it first")]
pub struct InstallError;

/// Makes a telemetry the process's own, which [`installed`] finds.
///
/// # Errors
/// When another is installed.
pub fn install(telemetry: Telemetry) -> Result<Installed, InstallError> {
    let telemetry = Arc::new(telemetry);
    let before = INSTALLED.compare_and_swap(&None::<Arc<Telemetry>>, Some(Arc::clone(&telemetry)));
    if before.is_some() {
        return Err(InstallError);
    }
    Ok(Installed { telemetry })
}

/// The installed telemetry.
pub fn installed() -> Option<Telemetry> {
    INSTALLED.load().as_deref().cloned()
}

/// Uninstalls the installed telemetry, if there is one, and sends what waits, for at most two seconds.
pub fn uninstall() {
    if let Some(telemetry) = INSTALLED.swap(None) {
        telemetry.shutdown();
    }
}

impl Drop for Installed {
    fn drop(&mut self) {
        INSTALLED.compare_and_swap(&self.telemetry, None);
        self.telemetry.shutdown();
    }
}
