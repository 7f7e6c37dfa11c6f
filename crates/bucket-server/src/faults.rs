//! What the server is told to do wrong.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How the server fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It asks to slow down: 503, as S3 does.
    SlowDown,
    /// It answers late.
    Late(Duration),
}

#[derive(Debug, Default)]
pub(crate) struct Faults(Mutex<Option<Fault>>);

impl Faults {
    pub(crate) fn set(&self, fault: Option<Fault>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = fault;
    }

    pub(crate) fn get(&self) -> Option<Fault> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
