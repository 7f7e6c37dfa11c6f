//! `queryscope backup`: a copy of a data folder, as it is at one moment, while the service goes on.
//!
//! The database is copied in one read transaction. Until the recordings are copied, too, the service neither writes
//! nor deletes any: what it is sent meanwhile it keeps in its database, as always. The copy is a data folder like
//! any other: to restore it, serve it.

use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, Result, bail};
use queryscope_recordings::Location;

use crate::cli::BackupArgs;
use crate::data::DataFolder;
use crate::progress::Progress;

/// In the names of files that are being written.
const UNFINISHED: char = '#';

pub(crate) fn run(args: &BackupArgs) -> Result<()> {
    let data = DataFolder::existing(&args.data.data)?;
    let target = empty(&args.folder)?;
    let unmoved = data.hold_recordings()?;
    queryscope_store_sqlite::copy(&data.database(), &target.database())
        .context("the store cannot be copied")?;
    let mut progress = Progress::new("recordings", None);
    let place = data.location()?;
    let (files, bytes) = match &place {
        Location::Folder(folder) => copy_folder(folder, &target.recordings(), &mut progress)?,
        // A bucket has its own ways of keeping what was replaced or deleted.
        Location::Bucket { .. } => {
            target.keep_recordings_at(&place)?;
            (0, 0)
        }
    };
    drop(unmoved);
    progress.finish();
    match std::fs::copy(data.token_file(), target.token_file()) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(error).context("the token cannot be copied");
        }
        _ => {}
    }
    sync(target.path()).with_context(|| format!("{} cannot be synced", target.path().display()))?;
    let path = target.path().display();
    match place {
        Location::Folder(_) => {
            println!("{path}: the store and {files} recordings ({} MB)", bytes / 1_000_000)
        }
        Location::Bucket { .. } => println!("{path}: the store; the recordings stay in {place}"),
    }
    Ok(())
}

/// A folder for the copy: a new one, or one with nothing in it.
fn empty(path: &Path) -> Result<DataFolder> {
    let folder = DataFolder::create(path)?;
    if std::fs::read_dir(folder.path())?.next().is_some() {
        bail!("{} is not empty: name a folder that is new", path.display());
    }
    Ok(folder)
}

/// Copies the files below a folder; how many, and their bytes.
fn copy_folder(from: &Path, to: &Path, progress: &mut Progress) -> Result<(u64, u64)> {
    let named = |path: &Path, what: &str| format!("{} cannot be {what}", path.display());
    std::fs::create_dir_all(to).with_context(|| named(to, "made"))?;
    let (mut files, mut bytes) = (0, 0);
    for entry in std::fs::read_dir(from).with_context(|| named(from, "read"))? {
        let entry = entry.with_context(|| named(from, "read"))?;
        let name = entry.file_name();
        let (from, to) = (entry.path(), to.join(&name));
        if entry.file_type()?.is_dir() {
            let (more_files, more_bytes) = copy_folder(&from, &to, progress)?;
            files += more_files;
            bytes += more_bytes;
        } else if !name.to_string_lossy().contains(UNFINISHED) {
            bytes += std::fs::copy(&from, &to).with_context(|| named(&from, "copied"))?;
            files += 1;
            progress.add(1);
        }
    }
    Ok((files, bytes))
}

/// Makes everything on a folder's file system durable.
#[cfg(target_os = "linux")]
fn sync(folder: &Path) -> std::io::Result<()> {
    Ok(rustix::fs::syncfs(File::open(folder)?)?)
}

#[cfg(not(target_os = "linux"))]
fn sync(folder: &Path) -> std::io::Result<()> {
    rustix::fs::sync();
    File::open(folder)?.sync_all()
}
