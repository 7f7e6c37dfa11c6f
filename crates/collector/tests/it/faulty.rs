//! How a store fails when a test says so.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use queryscope_store::StoreError;

/// How a store fails from now on.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fault {
    /// Not at all.
    None,
    /// Everything is refused as [`StoreError::Unavailable`].
    Unavailable,
    /// Everything is refused as [`StoreError::Fatal`].
    Fatal,
    /// Everything is refused as [`StoreError::Full`].
    Full,
    /// Everything is refused as [`StoreError::Displaced`].
    Displaced,
}

/// Says how a store fails; not at all at first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Faults(Arc<AtomicU8>);

impl Faults {
    pub(crate) fn set(&self, fault: Fault) {
        self.0.store(fault as u8, Ordering::SeqCst);
    }

    pub(crate) fn check(&self) -> Result<(), StoreError> {
        match self.0.load(Ordering::SeqCst) {
            0 => Ok(()),
            1 => Err(StoreError::unavailable("the disk /secret/path is full")),
            3 => Err(StoreError::Full("no space left for /secret/path".into())),
            4 => Err(StoreError::Displaced("/secret/path".into())),
            _ => Err(StoreError::Fatal("the sync of /secret/path failed".into())),
        }
    }
}
