//! Whose turn it is: recordings are written by one job, deleted by another, and copied by another process.

use std::fs::{File, TryLockError};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use tokio::sync::{Mutex, MutexGuard};
use tokio_util::sync::CancellationToken;

use super::pause;

/// How often to look whether the other process is done.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Lets one at a time change the recordings.
#[derive(Debug)]
pub(super) struct Turns {
    here: Mutex<()>,
    /// Locked by whoever's turn it is, also in another process.
    file: Option<PathBuf>,
}

/// A turn; it ends when this is dropped.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    _here: MutexGuard<'a, ()>,
    _file: Option<File>,
}

impl Turns {
    pub(super) fn new(file: Option<PathBuf>) -> Self {
        Self { here: Mutex::new(()), file }
    }

    /// Waits for a turn; `None` when it is time to stop instead.
    pub(super) async fn take(&self, stop: &CancellationToken) -> Option<Turn<'_>> {
        let here = tokio::select! {
            () = stop.cancelled() => return None,
            here = self.here.lock() => here,
        };
        loop {
            match self.try_file() {
                Ok(file) => return Some(Turn { _here: here, _file: file }),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(error, "recordings can not be locked and stay as they are");
                }
            }
            if !pause(LOOK_EVERY, stop).await {
                return None;
            }
        }
    }

    fn try_file(&self) -> Result<Option<File>, TryLockError> {
        let Some(path) = &self.file else { return Ok(None) };
        let open = || -> io::Result<File> { File::options().create(true).append(true).open(path) };
        let file = open().map_err(TryLockError::Error)?;
        file.try_lock()?;
        Ok(Some(file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn another_process_has_its_turn_too() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("turn");
        let turns = Turns::new(Some(path.clone()));
        let stop = CancellationToken::new();
        drop(turns.take(&stop).await.expect("free"));
        let other = File::create(&path).expect("a file");
        other.lock().expect("free again");
        let waiting = turns.take(&stop);
        tokio::pin!(waiting);
        assert!(futures_util::poll!(waiting.as_mut()).is_pending());
        other.unlock().expect("locked");
        let turn = waiting.await.expect("free");
        assert!(matches!(other.try_lock(), Err(TryLockError::WouldBlock)));
        drop(turn);
        other.lock().expect("free again");
        stop.cancel();
        assert!(turns.take(&stop).await.is_none(), "nobody waits at the end");
    }
}
