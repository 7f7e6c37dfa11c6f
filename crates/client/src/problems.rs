//! The first problem of each kind is logged; all are counted elsewhere.

use std::fmt::Display;
use std::sync::atomic::{AtomicU8, Ordering};

/// Kinds of problems.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Problem {
    /// A request failed and is sent again.
    Failed,
    /// Events were dropped for want of space.
    Overflow,
    /// Events could not be delivered in time.
    Expired,
    /// An event is too large for the server.
    TooLarge,
    /// A batch was refused.
    Refused,
    /// The server does not let this process send.
    Forbidden,
    /// An adapter panicked.
    Source,
    /// An event holds what the format cannot.
    Unwritable,
}

/// Remembers what was logged.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    logged: AtomicU8,
}

impl Problems {
    /// Logs a problem as a warning, unless one of its kind was logged before; whether it did.
    pub(crate) fn warn(&self, problem: Problem, text: impl Display) -> bool {
        let bit = 1 << problem as u8;
        let first = self.logged.fetch_or(bit, Ordering::Relaxed) & bit == 0;
        if first {
            log::warn!(target: "queryscope", "telemetry: {text}; further problems of this kind are only counted");
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_logged_once() {
        let problems = Problems::default();
        assert!(problems.warn(Problem::Failed, "no answer"));
        assert!(problems.warn(Problem::Unwritable, "NaN"));
        assert!(!problems.warn(Problem::Failed, "503"));
        assert!(!problems.warn(Problem::Unwritable, "NaN"));
        assert!(problems.warn(Problem::Forbidden, "401"));
    }
}
