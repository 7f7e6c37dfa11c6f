//! Events to a file, as they would be sent.

use std::path::PathBuf;
use std::time::Instant;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::rotating::{Pieces, Rotating, Settings};
use crate::exporter::{Answer, Batch, Delivery, Exporter, StartError, Stream};

/// Writes events@1 to a file that `queryscope import` reads: JSON Lines, each batch opened by the process event.
///
/// A file whose name ends in `.gz` holds a gzip member a batch. Each process needs a file of its own.
#[derive(Debug, Clone)]
pub struct EventsFile {
    settings: Settings,
}

impl EventsFile {
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

impl Exporter for EventsFile {
    fn open(&self, stream: &Stream) -> Result<Box<dyn Delivery>, StartError> {
        let is_gzip = self.settings.path.extension().is_some_and(|extension| extension == "gz");
        let pieces = if is_gzip { Pieces::Members } else { Pieces::Lines };
        let file = self.settings.open(pieces, stream)?;
        Ok(Box::new(EventsDelivery { file, pieces }))
    }
}

struct EventsDelivery {
    file: Rotating,
    pieces: Pieces,
}

impl Delivery for EventsDelivery {
    fn deliver(&mut self, batch: &Batch<'_>, _deadline: Option<Instant>) -> Answer {
        let piece = match self.pieces {
            Pieces::Lines => plain(batch),
            Pieces::Members => packed(batch),
        };
        match piece.and_then(|piece| self.file.append(&piece)) {
            Ok(()) => Answer::Delivered,
            Err(error) => Answer::Later {
                after: None,
                problem: format!("{} cannot be written: {error}", self.file.path().display()),
            },
        }
    }
}

fn plain(batch: &Batch<'_>) -> std::io::Result<Vec<u8>> {
    let mut lines = Vec::new();
    batch.write_to(&mut lines)?;
    Ok(lines)
}

fn packed(batch: &Batch<'_>) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    batch.write_to(&mut encoder)?;
    encoder.finish()
}
