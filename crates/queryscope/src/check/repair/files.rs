//! Recordings of a folder that is being repaired, and its quarantine.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use queryscope_protocol::QueryId;
use queryscope_store::{day_of_path, named_by};

use crate::data::DataFolder;

/// Copies to quarantine come first and are durable; what they are of is deleted once the store knows.
pub(super) struct Files {
    recordings: PathBuf,
    quarantine: PathBuf,
    copied: Vec<PathBuf>,
}

impl Files {
    pub(super) fn new(data: &DataFolder, recordings: PathBuf) -> Self {
        Self { recordings, quarantine: data.quarantine(), copied: Vec::new() }
    }

    /// Whether there is nothing where recordings should be.
    pub(super) fn has_none(&self) -> Result<bool> {
        match fs::read_dir(&self.recordings) {
            Ok(mut entries) => Ok(entries.next().is_none()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(true),
            Err(error) => Err(error).with_context(|| format!("{} cannot be read", self.recordings.display())),
        }
    }

    /// The name of a recording, relative to the root.
    pub(super) fn name(&self, path: &Path) -> String {
        path.strip_prefix(&self.recordings).unwrap_or(path).to_string_lossy().into_owned()
    }

    /// The bytes of a recording; `None` when there is none.
    pub(super) fn recording(&self, path: &str) -> Result<Option<Vec<u8>>> {
        match fs::read(self.recordings.join(path)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("{path} cannot be read")),
        }
    }

    /// A recording of a query under whatever day: its path and its bytes.
    pub(super) fn find(
        &self,
        id: QueryId,
        is_it: impl Fn(&[u8]) -> bool,
    ) -> Result<Option<(String, Vec<u8>)>> {
        let mut folders = vec![self.recordings.clone()];
        while let Some(folder) = folders.pop() {
            for entry in
                fs::read_dir(&folder).with_context(|| format!("{} cannot be read", folder.display()))?
            {
                let path = entry?.path();
                if path.is_dir() {
                    folders.push(path);
                } else if named_by(&path.to_string_lossy()).is_some_and(|(named, _)| named == id) {
                    let day = self.name(&path);
                    let bytes = fs::read(&path).with_context(|| format!("{day} cannot be read"))?;
                    if day_of_path(&day).is_some() && is_it(&bytes) {
                        return Ok(Some((day, bytes)));
                    }
                }
            }
        }
        Ok(None)
    }

    /// Keeps bytes in quarantine; where, relative to the data folder.
    pub(super) fn keep(&self, name: &str, bytes: &[u8]) -> Result<String> {
        let mut path = self.quarantine.join(name);
        for again in 2.. {
            if !path.exists() {
                break;
            }
            path = self.quarantine.join(format!("{again}-{name}"));
        }
        let write = || {
            fs::create_dir_all(&self.quarantine)?;
            let mut file = File::create_new(&path)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            File::open(&self.quarantine)?.sync_all()
        };
        write().with_context(|| format!("{} cannot be written", path.display()))?;
        Ok(format!("quarantine/{}", path.file_name().unwrap_or_default().to_string_lossy()))
    }

    /// Moves a recording to quarantine.
    pub(super) fn set_aside_recording(&mut self, path: &str) -> Result<String> {
        self.set_aside(&self.recordings.join(path))
    }

    /// Moves a file to quarantine.
    pub(super) fn set_aside(&mut self, path: &Path) -> Result<String> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let bytes = fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
        let kept = self.keep(&name, &bytes)?;
        self.copied.push(path.to_owned());
        Ok(kept)
    }

    /// Deletes what was copied.
    pub(super) fn finish(self) -> Result<()> {
        for path in self.copied {
            fs::remove_file(&path).with_context(|| format!("{} cannot be deleted", path.display()))?;
        }
        Ok(())
    }
}
