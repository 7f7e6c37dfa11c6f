//! What the server is told to do wrong.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How the server fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It asks to slow down: 503, as S3 does.
    SlowDown,
    /// It knows no such bucket.
    NoBucket,
    /// It answers late.
    Late(Duration),
    /// It does what it is asked for, and the connection ends before the answer.
    Silent,
    /// The connection ends in the middle of the answer's body.
    Cut,
}

#[derive(Debug, Default)]
pub(crate) struct Faults(Mutex<Planned>);

#[derive(Debug, Default)]
struct Planned {
    /// Requests it befell so far.
    befallen: usize,
    /// Requests that are answered as they should before.
    after: usize,
    fault: Option<Fault>,
}

impl Faults {
    pub(crate) fn set(&self, after: usize, fault: Option<Fault>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Planned { befallen: 0, after, fault };
    }

    /// What befalls the request that has come.
    pub(crate) fn next(&self) -> Option<Fault> {
        let mut planned = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(left) = planned.after.checked_sub(1) {
            planned.after = left;
            return None;
        }
        planned.befallen += usize::from(planned.fault.is_some());
        planned.fault
    }

    /// How many requests failed since it was set.
    pub(crate) fn befallen(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).befallen
    }
}
