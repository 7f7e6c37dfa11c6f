//! A small file system of its own that can be full, for tests of what a full disk does.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, ensure};
use rustix::fs::statvfs;

const SIZE: &str = "size=32m";

/// A mounted file system; it is unmounted when dropped.
#[derive(Debug)]
pub struct Mounted(pub PathBuf);

impl Mounted {
    /// Whether this process may mount one.
    pub fn is_allowed() -> bool {
        rustix::process::geteuid().is_root()
    }

    /// Makes a folder and mounts one of 32 MB there, which takes root.
    ///
    /// # Errors
    /// When the folder is there, or the system does not allow it.
    pub fn new(path: PathBuf) -> Result<Self> {
        fs::create_dir(&path)?;
        let status = Command::new("mount").args(["-t", "tmpfs", "-o", SIZE, "tmpfs"]).arg(&path).status()?;
        ensure!(status.success(), "mount ended with {status}");
        Ok(Self(path))
    }

    /// Takes all space but this much, with a file whose path it gives back.
    ///
    /// # Errors
    /// When the file cannot be written, other than for want of space.
    pub fn fill(&self, left_bytes: u64) -> Result<PathBuf> {
        let path = self.0.join("ballast");
        let stat = statvfs(&self.0)?;
        let mut bytes = (stat.f_bavail * stat.f_frsize).saturating_sub(left_bytes);
        let mut file = File::create(&path)?;
        while bytes > 0 {
            let piece = bytes.min(1 << 20);
            match file.write_all(&vec![0; piece as usize]) {
                // Others take space, too.
                Err(error) if error.kind() == ErrorKind::StorageFull => break,
                written => written?,
            }
            bytes -= piece;
        }
        Ok(path)
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // Lazily: a service that a failure left may still be on its way out.
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}
