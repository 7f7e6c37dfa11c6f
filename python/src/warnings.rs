//! Warnings of the sending library, for Python's `logging`.
//!
//! Problem: the library warns on its own threads, and a thread that waits for Python's lock to log can deadlock with
//! one that holds it, or hang while the interpreter ends. Mechanism: warnings wait in a short queue, and are logged by
//! the program's own threads: with the next query, by `stats()`, and when telemetry ends.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use log::{LevelFilter, Log, Metadata, Record};
use pyo3::prelude::*;

/// The library warns once of each kind of problem; more of them at a time say nothing new.
const WAITING_MAX: usize = 64;
/// Attempts to take the lock. In a forked child it may have stayed taken: then warnings are lost, and nothing hangs.
const ATTEMPTS: usize = 1_000;

static WAITING: Mutex<VecDeque<(bool, String)>> = Mutex::new(VecDeque::new());
static HAS_WAITING: AtomicBool = AtomicBool::new(false);
static LOGGER: Logger = Logger;

struct Logger;

impl Log for Logger {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("queryscope")
    }

    fn log(&self, record: &Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        for _ in 0..ATTEMPTS {
            if let Ok(mut waiting) = WAITING.try_lock() {
                if waiting.len() < WAITING_MAX {
                    waiting.push_back((record.level() == log::Level::Error, record.args().to_string()));
                    HAS_WAITING.store(true, Ordering::Release);
                }
                return;
            }
            std::thread::yield_now();
        }
    }

    fn flush(&self) {}
}

/// Collects warnings from now on.
pub(crate) fn collect() {
    if log::set_logger(&LOGGER).is_ok() {
        log::set_max_level(LevelFilter::Warn);
    }
}

/// Takes what waits: whether it is an error, and its text.
fn take() -> VecDeque<(bool, String)> {
    if !HAS_WAITING.load(Ordering::Acquire) {
        return VecDeque::new();
    }
    WAITING.try_lock().map_or_else(
        |_| VecDeque::new(),
        |mut waiting| {
            HAS_WAITING.store(false, Ordering::Release);
            std::mem::take(&mut *waiting)
        },
    )
}

/// Logs what waits. A handler of the program that raises does not make a query fail.
pub(crate) fn log_waiting(python: Python<'_>) {
    for (is_error, text) in take() {
        let method = if is_error { "error" } else { "warning" };
        let logged = python
            .import("logging")
            .and_then(|logging| logging.call_method1("getLogger", ("queryscope",)))
            .and_then(|logger| logger.call_method1(method, ("queryscope: %s", text)));
        if let Err(error) = logged {
            error.write_unraisable(python, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_warnings_of_the_library_wait_and_not_without_bound() {
        collect();
        log::warn!(target: "somebody_else", "not ours");
        log::info!(target: "queryscope", "no warning");
        for number in 0..WAITING_MAX + 5 {
            log::warn!(target: "queryscope", "problem {number}");
        }
        let taken = take();
        assert_eq!(taken.len(), WAITING_MAX);
        assert_eq!(taken[0], (false, "problem 0".to_owned()));
        assert!(take().is_empty());
    }
}
