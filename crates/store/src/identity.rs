//! Files by what they are, not by their names.
//!
//! A process that has a file open goes on writing to it after the file was deleted, moved or replaced: the writes
//! succeed, and no later start finds them. The name leads to another file then, or to none. A file system tells one
//! file from another by its number (the inode) and the number of its device.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A file or folder that a path named at some time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileIdentity {
    path: PathBuf,
    device: u64,
    inode: u64,
    /// When a folder was made, where the file system tells: the number of one that nobody has open is given again.
    made: Option<SystemTime>,
}

impl FileIdentity {
    /// What a path names now.
    ///
    /// # Errors
    /// When there is nothing, or it cannot be looked at.
    pub fn of(path: &Path) -> io::Result<Self> {
        let file = fs::metadata(path)?;
        let made = file.created().ok().filter(|_| file.is_dir());
        Ok(Self { path: path.to_owned(), device: file.dev(), inode: file.ino(), made })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether its path still names it.
    pub fn is_in_place(&self) -> bool {
        Self::of(&self.path).is_ok_and(|now| now == *self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_in_place_while_its_path_names_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, other) = (folder.path().join("a"), folder.path().join("b"));
        assert!(FileIdentity::of(&path).is_err());
        fs::write(&path, "1").expect("written");
        let file = FileIdentity::of(&path).expect("there");
        fs::write(&path, "2").expect("written");
        assert!(file.is_in_place(), "other content");
        fs::rename(&path, &other).expect("renamed");
        assert!(!file.is_in_place(), "renamed");
        fs::copy(&other, &path).expect("copied");
        assert!(!file.is_in_place(), "a copy took its place");
        fs::rename(&other, &path).expect("renamed");
        assert!(file.is_in_place(), "it is back");
        fs::remove_file(&path).expect("deleted");
        assert!(!file.is_in_place(), "deleted");
        let inner = folder.path().join("inner");
        fs::create_dir(&inner).expect("made");
        let folder = FileIdentity::of(&inner).expect("there");
        fs::write(inner.join("a"), "1").expect("written");
        assert!(folder.is_in_place(), "other content");
    }
}
