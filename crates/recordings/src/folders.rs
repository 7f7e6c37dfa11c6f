//! What keeping recordings in local folders takes beside an object store's calls.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, DirEntry, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use bytes::Bytes;
use queryscope_store::{Slice, carry};

use crate::error::RecordingError;

/// Date folders under a root.
#[derive(Debug, Clone)]
pub(crate) struct Folders {
    root: PathBuf,
}

impl Folders {
    pub(crate) fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// Syncs the folders that name the date folders of recordings.
    ///
    /// `LocalFileSystem` syncs these when it makes a date folder, and only then: a second writer that finds
    /// the folder made, or the same one after a crash, would trust it without knowing it to be durable.
    pub(crate) async fn sync<'a>(&self, paths: impl Iterator<Item = &'a str>) -> Result<(), RecordingError> {
        let folders: BTreeSet<PathBuf> = paths
            .flat_map(|path| Path::new(path).ancestors().skip(2))
            .map(|folder| self.root.join(folder))
            .collect();
        blocking(move || folders.iter().try_for_each(|folder| sync_folder(folder))).await
    }

    /// Fails where the root is not there; an object store on it says that it is empty.
    pub(crate) async fn find_root(&self) -> Result<(), RecordingError> {
        let root = self.root.clone();
        blocking(move || fs::read_dir(root).map(|_| ())).await
    }

    /// Whether a recording's name is that of something else than a file: of a link, say. Date folders may be links.
    pub(crate) async fn leads_elsewhere(&self, path: &str) -> Result<bool, RecordingError> {
        let path = self.root.join(path);
        blocking(move || match fs::symlink_metadata(path) {
            Ok(found) => Ok(!found.is_file()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        })
        .await
    }

    /// Reads parts of packs, those of one after the other; what is not there, or is no file, is left out.
    pub(crate) async fn read_slices(
        &self,
        packs: BTreeMap<String, Vec<Slice>>,
    ) -> Vec<(String, Vec<Slice>, Vec<Bytes>)> {
        let root = self.root.clone();
        let read = move || {
            let packs = packs.into_iter().filter_map(|(path, slices)| {
                let read = read_pack(&root.join(&path), &slices).ok()?;
                Some((path, slices, read))
            });
            Ok(packs.collect())
        };
        blocking(read).await.unwrap_or_default()
    }

    /// Deletes, in date folders (`YYYY/MM/DD`), files of interrupted writes that were last written before
    /// `before`, and the folders if they are empty.
    pub(crate) async fn tidy(&self, days: Vec<String>, before: SystemTime) -> Result<(), RecordingError> {
        let root = self.root.clone();
        blocking(move || days.iter().try_for_each(|day| tidy_day(&root, day, before))).await
    }
}

/// Makes the root and its name in the folder above durable.
pub(crate) fn make_root(root: &Path) -> io::Result<()> {
    fs::create_dir_all(root)?;
    fs::canonicalize(root)?.parent().map_or(Ok(()), sync_folder)
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, RecordingError> {
    Ok(tokio::task::spawn_blocking(carry(work)).await.map_err(io::Error::from)??)
}

/// Makes the names in a folder durable; Windows has no such call and needs none.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

fn tidy_day(root: &Path, day: &str, before: SystemTime) -> io::Result<()> {
    let folder = root.join(day);
    let entries = match fs::read_dir(&folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        if is_staged(&entry.file_name()) && modified(&entry)? < before {
            match fs::remove_file(entry.path()) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
    }
    // Fails where something is left, which is as it should be.
    let mut emptied = Some(folder.as_path());
    while let Some(folder) = emptied.filter(|folder| *folder != root && fs::remove_dir(folder).is_ok()) {
        emptied = folder.parent();
    }
    Ok(())
}

fn modified(entry: &DirEntry) -> io::Result<SystemTime> {
    entry.metadata()?.modified()
}

/// Whether `LocalFileSystem` writes under this name before it renames: `<name>#<number>`.
fn is_staged(name: &OsStr) -> bool {
    name.to_str()
        .and_then(|name| name.split_once(".jsonl.gz#").or_else(|| name.split_once(".zip#")))
        .is_some_and(|(_, number)| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

/// Reads parts of a file that is no link.
fn read_pack(path: &Path, slices: &[Slice]) -> io::Result<Vec<Bytes>> {
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let file = File::open(path)?;
    let read = |slice: &Slice| {
        let mut bytes = Vec::new();
        (&file).seek(SeekFrom::Start(slice.offset))?;
        (&file).take(slice.bytes).read_to_end(&mut bytes)?;
        Ok(bytes.into())
    };
    slices.iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_staged_recordings_are_staged() {
        for name in ["01a1faa8-1bd9-77b2-97ab-860dd7026506.jsonl.gz#12", "000000000000beef.zip#1"] {
            assert!(is_staged(OsStr::new(name)), "{name}");
        }
        for name in ["x.jsonl.gz", "x.jsonl.gz#", "x.jsonl.gz#1a", "x#1"] {
            assert!(!is_staged(OsStr::new(name)), "{name}");
        }
    }
}
