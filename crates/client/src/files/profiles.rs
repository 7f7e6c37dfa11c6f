//! Profiles to a file, one line a query.

use std::path::PathBuf;
use std::time::Instant;

use super::rotating::{Pieces, Rotating, Settings};
use crate::exporter::{Answer, Batch, Delivery, Exporter, StartError, Stream};

/// Writes the profile of each query that has ended, as a line of JSON (profile@1).
///
/// A line that a crash cut off is removed by the next process. Each process needs a file of its own.
#[derive(Debug, Clone)]
pub struct ProfilesFile {
    settings: Settings,
}

impl ProfilesFile {
    /// Appends to the file at this path, which is made where it does not exist.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { settings: Settings::new(path.into()) }
    }

    /// Sets after how many bytes the file is put aside as `name.1.jsonl`, and how many of those are kept; 64 MiB
    /// and 4 when left out.
    #[must_use]
    pub fn rotate(mut self, max_bytes: u64, kept_files: u32) -> Self {
        (self.settings.max_bytes, self.settings.kept) = (max_bytes, kept_files);
        self
    }
}

impl Exporter for ProfilesFile {
    fn open(&self, stream: &Stream) -> Result<Box<dyn Delivery>, StartError> {
        Ok(Box::new(ProfilesDelivery { file: self.settings.open(Pieces::Lines, stream)? }))
    }
}

struct ProfilesDelivery {
    file: Rotating,
}

impl Delivery for ProfilesDelivery {
    fn deliver(&mut self, batch: &Batch<'_>, _deadline: Option<Instant>) -> Answer {
        let mut lines = Vec::new();
        for profile in batch.finished_profiles() {
            lines.extend_from_slice(profile.as_bytes());
            lines.push(b'\n');
        }
        if lines.is_empty() {
            return Answer::Delivered;
        }
        match self.file.append(&lines) {
            Ok(()) => Answer::Delivered,
            Err(error) => Answer::Later {
                after: None,
                problem: format!("{} cannot be written: {error}", self.file.path().display()),
            },
        }
    }
}
