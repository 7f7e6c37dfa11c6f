//! The one telemetry a process installs, for adapters that find it by themselves.

use std::panic::catch_unwind;
use std::sync::{Arc, Once};

use arc_swap::ArcSwapOption;
use thiserror::Error;

use crate::telemetry::Telemetry;

static INSTALLED: ArcSwapOption<Telemetry> = ArcSwapOption::const_empty();

/// Keeps a telemetry installed. Dropping it uninstalls the telemetry and takes at most two seconds.
///
/// A process that ends by [`std::process::exit`], or by leaving `main` while this is kept elsewhere, uninstalls the
/// telemetry as it exits. A process that is killed or aborts sends nothing.
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
    uninstall_at_exit();
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

/// Has the process uninstall its telemetry when it exits.
///
/// The handlers of `atexit` run on the thread that exits while all others go on, so the sending threads deliver
/// what waits. A forked child inherits the handler, and ends its own stream if it has one.
fn uninstall_at_exit() {
    extern "C" fn at_exit() {
        // A panic must not leave a function that C calls; there is nobody left to tell of it.
        let _ = catch_unwind(|| {
            if let Some(telemetry) = INSTALLED.swap(None) {
                telemetry.shutdown();
                // Its threads still run, and in a forked child it is a copy whose locks may be taken.
                std::mem::forget(telemetry);
            }
        });
    }

    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if !shutdown_hooks::add_shutdown_hook(at_exit) {
            log::warn!(target: "queryscope", "telemetry: nothing will be sent at the exit of the process");
        }
    });
}

impl Drop for Installed {
    fn drop(&mut self) {
        INSTALLED.compare_and_swap(&self.telemetry, None);
        self.telemetry.shutdown();
    }
}
