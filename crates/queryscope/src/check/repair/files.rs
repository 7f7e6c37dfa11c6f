//! Recordings of a folder that is being repaired, and its quarantine.

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use queryscope_protocol::QueryId;
use queryscope_recordings::pack_entries;
use queryscope_store::{Pack, RecordingPlace, Slice, named_by, pack_named_by};

use crate::data::DataFolder;

/// Copies to quarantine come first and are durable; what they are of is deleted once the store knows.
pub(super) struct Files {
    recordings: PathBuf,
    quarantine: PathBuf,
    copied: Vec<PathBuf>,
    damaged: BTreeSet<Pack>,
    /// Where recordings are in packs that are not damaged, once it was asked for.
    packed: Option<HashMap<QueryId, Vec<RecordingPlace>>>,
}

impl Files {
    pub(super) fn new(data: &DataFolder, recordings: PathBuf, damaged: BTreeSet<Pack>) -> Self {
        Self { recordings, quarantine: data.quarantine(), copied: Vec::new(), damaged, packed: None }
    }

    /// Packs that are not as they were written.
    pub(super) fn damaged_packs(&self) -> &BTreeSet<Pack> {
        &self.damaged
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

    /// The bytes of a recording; `None` when there is no file with it.
    pub(super) fn recording(&self, place: &RecordingPlace) -> Result<Option<Vec<u8>>> {
        let path = &place.path;
        match read(&self.recordings.join(path), place.slice) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("{path} cannot be read")),
        }
    }

    /// A recording of a query under whatever day: where it is, and its bytes.
    pub(super) fn find(
        &mut self,
        id: QueryId,
        is_it: impl Fn(&[u8]) -> bool,
    ) -> Result<Option<(RecordingPlace, Vec<u8>)>> {
        for path in self.every()? {
            if named_by(&path.to_string_lossy()).is_some_and(|(named, _)| named == id) {
                let place = RecordingPlace::file(self.name(&path));
                let bytes = fs::read(&path).with_context(|| format!("{place} cannot be read"))?;
                if place.columns(id).is_some() && is_it(&bytes) {
                    return Ok(Some((place, bytes)));
                }
            }
        }
        if self.packed.is_none() {
            self.packed = Some(self.read_packs()?);
        }
        for place in self.packed.iter().filter_map(|packed| packed.get(&id)).flatten() {
            if let Some(bytes) = self.recording(place)?
                && is_it(&bytes)
            {
                return Ok(Some((place.clone(), bytes)));
            }
        }
        Ok(None)
    }

    /// Where recordings are in packs that are not damaged.
    fn read_packs(&self) -> Result<HashMap<QueryId, Vec<RecordingPlace>>> {
        let mut packed: HashMap<_, Vec<RecordingPlace>> = HashMap::new();
        for path in self.every()? {
            let name = self.name(&path);
            let Some(pack) = pack_named_by(&name) else { continue };
            if self.damaged.contains(&pack) {
                continue;
            }
            let bytes = fs::read(&path).with_context(|| format!("{name} cannot be read"))?;
            for entry in pack_entries(&bytes).unwrap_or_default() {
                if let Some((id, _)) = named_by(&entry.path) {
                    let place = RecordingPlace { path: name.clone(), slice: Some(entry.slice) };
                    packed.entry(id).or_default().push(place);
                }
            }
        }
        Ok(packed)
    }

    /// Every file with recordings.
    fn every(&self) -> Result<Vec<PathBuf>> {
        let (mut files, mut folders) = (Vec::new(), vec![self.recordings.clone()]);
        while let Some(folder) = folders.pop() {
            for entry in
                fs::read_dir(&folder).with_context(|| format!("{} cannot be read", folder.display()))?
            {
                let path = entry?.path();
                if path.is_dir() { folders.push(path) } else { files.push(path) }
            }
        }
        Ok(files)
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

/// Reads a file, or as much of a slice of it as is there.
fn read(path: &Path, slice: Option<Slice>) -> io::Result<Vec<u8>> {
    let Some(Slice { offset, bytes }) = slice else { return fs::read(path) };
    let mut file = File::open(path)?;
    // The database may be what is damaged: no file is so long.
    if offset > file.metadata()?.len() {
        return Ok(Vec::new());
    }
    file.seek(SeekFrom::Start(offset))?;
    let mut read = Vec::new();
    file.take(bytes).read_to_end(&mut read)?;
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_slice_is_read_what_is_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("pack");
        fs::write(&path, "0123456789").expect("written");
        let check = |offset, bytes, expected: &str| {
            let read = read(&path, Some(Slice { offset, bytes })).expect("a file");
            assert_eq!(String::from_utf8_lossy(&read), expected, "{offset}+{bytes}");
        };
        check(3, 4, "3456");
        check(0, 10, "0123456789");
        check(8, 4, "89");
        check(8, u64::MAX, "89");
        check(10, 1, "");
        check(u64::MAX, 1, "");
        assert_eq!(read(&path, None).expect("a file"), b"0123456789");
        let missing = read(&folder.path().join("other"), Some(Slice { offset: 0, bytes: 1 }));
        assert_eq!(missing.expect_err("no file").kind(), ErrorKind::NotFound);
    }
}
