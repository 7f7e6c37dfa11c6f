//! A file that is appended to, whole pieces at a time, and put aside when it is full.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use flate2::bufread::GzDecoder;

use crate::exporter::{StartError, Stream};

/// Bytes after which a file is put aside.
const FILE_BYTES_MAX: u64 = 64 << 20;
/// Files that are kept besides the current one.
const KEPT_FILES: u32 = 4;
/// How far back the end of the last whole line is looked for at a time.
const LOOK_BACK_BYTES: u64 = 64 << 10;

/// Where to write and how much.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    pub(super) path: PathBuf,
    pub(super) max_bytes: u64,
    pub(super) kept: u32,
}

/// What a file consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pieces {
    /// Lines, each ended by a line feed.
    Lines,
    /// Gzip members.
    Members,
}

/// The file that is open.
#[derive(Debug)]
pub(super) struct Rotating {
    settings: Settings,
    pieces: Pieces,
    file: File,
    bytes: u64,
    /// Whether what an earlier process left has been looked at.
    mended: bool,
}

impl Settings {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, max_bytes: FILE_BYTES_MAX, kept: KEPT_FILES }
    }

    /// Opens the file; a forked child writes beside its parent.
    pub(super) fn open(&self, pieces: Pieces, stream: &Stream) -> Result<Rotating, StartError> {
        let mut settings = self.clone();
        if stream.forked {
            settings.path = beside(&self.path, &format!("{}.", stream.pid));
        }
        let path = settings.path.clone();
        let (file, bytes) = open(&path).map_err(|source| StartError::File { path, source })?;
        Ok(Rotating { settings, pieces, file, bytes, mended: false })
    }
}

impl Rotating {
    /// Appends a piece, all of it or, where that fails, nothing.
    pub(super) fn append(&mut self, piece: &[u8]) -> io::Result<()> {
        if !self.mended {
            self.mend()?;
            self.mended = true;
        }
        if self.bytes > 0 && self.bytes + piece.len() as u64 > self.settings.max_bytes {
            self.rotate()?;
        }
        if let Err(error) = self.file.write_all(piece) {
            // Should this fail as well, the next process mends it.
            let _ = self.file.set_len(self.bytes);
            return Err(error);
        }
        self.bytes += piece.len() as u64;
        Ok(())
    }

    pub(super) fn path(&self) -> &Path {
        &self.settings.path
    }

    /// Cuts off the piece in whose middle an earlier process ended.
    fn mend(&mut self) -> io::Result<()> {
        let whole_bytes = match self.pieces {
            Pieces::Lines => whole_lines(&mut self.file, self.bytes)?,
            Pieces::Members => whole_members(&mut self.file)?,
        };
        if whole_bytes < self.bytes {
            self.file.set_len(whole_bytes)?;
            self.bytes = whole_bytes;
        }
        Ok(())
    }

    /// `events.jsonl` becomes `events.1.jsonl`, that becomes `events.2.jsonl`, and the oldest goes.
    fn rotate(&mut self) -> io::Result<()> {
        let path = &self.settings.path;
        // Somebody may have moved it, or an earlier attempt ended in the middle.
        if path.try_exists()? {
            self.put_aside()?;
        }
        (self.file, self.bytes) = open(path)?;
        Ok(())
    }

    fn put_aside(&self) -> io::Result<()> {
        let Settings { path, kept, .. } = &self.settings;
        let aside = |number: u32| beside(path, &format!("{number}."));
        if *kept == 0 {
            return std::fs::remove_file(path);
        }
        for number in (1..*kept).rev() {
            match std::fs::rename(aside(number), aside(number + 1)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        std::fs::rename(path, aside(1))
    }
}

fn open(path: &Path) -> io::Result<(File, u64)> {
    let file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
    let bytes = file.metadata()?.len();
    Ok((file, bytes))
}

/// `dir/name.jsonl.gz` with something before its endings: `dir/name.1.jsonl.gz`.
fn beside(path: &Path, inserted: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let (stem, endings) = name.split_once('.').map_or((&*name, ""), |(stem, endings)| (stem, endings));
    path.with_file_name(format!("{stem}.{inserted}{endings}").trim_end_matches('.'))
}

fn whole_lines(file: &mut File, bytes: u64) -> io::Result<u64> {
    let mut end = bytes;
    while end > 0 {
        let begin = end.saturating_sub(LOOK_BACK_BYTES);
        file.seek(SeekFrom::Start(begin))?;
        let mut part = Vec::new();
        Read::take(&mut *file, end - begin).read_to_end(&mut part)?;
        if let Some(at) = part.iter().rposition(|byte| *byte == b'\n') {
            return Ok(begin + at as u64 + 1);
        }
        end = begin;
    }
    Ok(0)
}

fn whole_members(file: &mut File) -> io::Result<u64> {
    file.seek(SeekFrom::Start(0))?;
    let mut input = BufReader::new(file);
    let mut whole_bytes = 0;
    while !input.fill_buf()?.is_empty() {
        let mut member = GzDecoder::new(&mut input);
        match io::copy(&mut member, &mut io::sink()) {
            Ok(_) => {}
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData
                ) =>
            {
                break;
            }
            Err(error) => return Err(error),
        }
        whole_bytes = input.stream_position()?;
    }
    Ok(whole_bytes)
}
