//! The lock of the recordings: one job writes them, another deletes them, and another process copies them.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use queryscope_store::FileIdentity;
use tokio::sync::{Mutex, MutexGuard};
use tokio_util::sync::CancellationToken;

use super::pause;
use crate::settings::Settings;

/// How often to look whether the other process is done.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Lets one at a time change the recordings.
#[derive(Debug)]
pub(super) struct RecordingsLock {
    here: Mutex<()>,
    /// Locked by the holder, which may be in another process.
    file: Option<PathBuf>,
    /// Where recordings are: the lock cannot be taken while another folder is there, or none.
    folder: Option<FileIdentity>,
}

/// The lock, held until this is dropped.
#[derive(Debug)]
pub(super) struct RecordingsGuard<'a> {
    _here: MutexGuard<'a, ()>,
    _file: Option<File>,
}

impl RecordingsLock {
    pub(super) fn new(file: Option<PathBuf>) -> Self {
        Self { here: Mutex::new(()), file, folder: None }
    }

    /// Can be taken while the recordings' folder is this one.
    pub(super) fn in_folder(self, folder: Option<FileIdentity>) -> Self {
        Self { folder, ..self }
    }

    /// Waits for the lock; `None` when it is time to stop instead.
    pub(super) async fn take(&self, stop: &CancellationToken) -> Option<RecordingsGuard<'_>> {
        let here = tokio::select! {
            () = stop.cancelled() => return None,
            here = self.here.lock() => here,
        };
        loop {
            match self.try_file() {
                Ok(file) => return Some(RecordingsGuard { _here: here, _file: file }),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(error, "recordings cannot be locked and stay as they are");
                }
            }
            if !pause(LOOK_EVERY, stop).await {
                return None;
            }
        }
    }

    fn try_file(&self) -> Result<Option<File>, TryLockError> {
        in_place(self.folder.as_ref()).map_err(TryLockError::Error)?;
        let Some(path) = &self.file else { return Ok(None) };
        let file = open(path).map_err(TryLockError::Error)?;
        file.try_lock()?;
        Ok(Some(file))
    }
}

/// Whether the lock can be taken, as far as this machine decides it: the folder of the recordings is the one that was
/// opened, and there is a file to lock.
pub(super) fn possible(settings: &Settings) -> io::Result<()> {
    in_place(settings.recordings_folder.as_ref())?;
    settings.recordings_lock.as_deref().map_or(Ok(()), |path| open(path).map(drop))
}

fn in_place(folder: Option<&FileIdentity>) -> io::Result<()> {
    match folder {
        Some(folder) if !folder.is_in_place() => {
            let path = folder.path().display();
            Err(io::Error::other(format!("{path} was deleted, moved or replaced since the start")))
        }
        _ => Ok(()),
    }
}

fn open(path: &Path) -> io::Result<File> {
    File::options().create(true).append(true).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn nobody_has_a_turn_in_a_folder_that_took_the_place() {
        let root = tempfile::tempdir().expect("a folder");
        let (folder, away) = (root.path().join("recordings"), root.path().join("away"));
        std::fs::create_dir(&folder).expect("made");
        let identity = FileIdentity::of(&folder).expect("there");
        let lock = RecordingsLock::new(None).in_folder(Some(identity));
        let stop = CancellationToken::new();
        drop(lock.take(&stop).await.expect("free"));
        std::fs::rename(&folder, &away).expect("renamed");
        std::fs::create_dir(&folder).expect("made");
        let waiting = lock.take(&stop);
        tokio::pin!(waiting);
        assert!(futures_util::poll!(waiting.as_mut()).is_pending());
        std::fs::remove_dir(&folder).expect("deleted");
        std::fs::rename(&away, &folder).expect("renamed");
        assert!(waiting.await.is_some(), "it is back");
    }

    #[tokio::test]
    async fn another_process_has_its_turn_too() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("lock");
        let lock = RecordingsLock::new(Some(path.clone()));
        let stop = CancellationToken::new();
        drop(lock.take(&stop).await.expect("free"));
        let other = File::create(&path).expect("a file");
        other.lock().expect("free again");
        let waiting = lock.take(&stop);
        tokio::pin!(waiting);
        assert!(futures_util::poll!(waiting.as_mut()).is_pending());
        other.unlock().expect("locked");
        let guard = waiting.await.expect("free");
        assert!(matches!(other.try_lock(), Err(TryLockError::WouldBlock)));
        drop(guard);
        other.lock().expect("free again");
        stop.cancel();
        assert!(lock.take(&stop).await.is_none(), "nobody waits at the end");
    }
}
