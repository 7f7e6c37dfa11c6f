//! Lines of a file of telemetry: plain, gzip, or a pack of recordings.

use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, ErrorKind, Read};
use std::path::Path;

use anyhow::{Context, Result, bail};
use flate2::bufread::MultiGzDecoder;
use queryscope_protocol::limits::MAX_BODY_BYTES;
use queryscope_recordings::check_pack;

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
const ZIP_MAGIC: [u8; 4] = *b"PK\x03\x04";

/// Reads a file line by line.
pub(crate) struct Lines {
    input: Box<dyn BufRead + Send>,
    empty: bool,
    line: u64,
    /// The first line, where it was looked at before it was asked for.
    first: Option<String>,
    cut: bool,
}

/// What becomes of a last line without a line feed: a program may have been ended while it wrote it.
#[derive(Clone, Copy)]
pub(crate) enum LastLine {
    /// It is a line as any other.
    Kept,
    /// It is left out unless this reads it.
    LeftOutUnless(fn(&str) -> bool),
}

/// The recordings of a pack, one after the other.
fn recordings_of(mut file: impl Read) -> Result<Vec<u8>> {
    let mut pack = Vec::new();
    file.read_to_end(&mut pack)?;
    let entries = match check_pack(&pack) {
        Ok(entries) => entries,
        Err(error) => bail!("it is no pack of recordings, or is damaged: {error}"),
    };
    Ok(entries.iter().flat_map(|entry| entry.of(&pack)).copied().collect())
}

impl Lines {
    /// Opens a file; what it is shows in its first bytes. Where its name says that it is gzip, it must be.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let mut file =
            BufReader::new(File::open(path).with_context(|| format!("{} cannot be opened", path.display()))?);
        let first = file.fill_buf().with_context(|| format!("{} cannot be read", path.display()))?;
        let (gzip, empty) = (first.starts_with(&GZIP_MAGIC), first.is_empty());
        let is_pack = first.starts_with(&ZIP_MAGIC);
        let named = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("gz"));
        if named && !gzip && !empty {
            bail!("it is not gzip, as its name says");
        }
        let input: Box<dyn BufRead + Send> = if is_pack {
            Box::new(BufReader::new(MultiGzDecoder::new(Cursor::new(recordings_of(file)?))))
        } else if gzip {
            Box::new(BufReader::new(MultiGzDecoder::new(file)))
        } else {
            Box::new(file)
        };
        Ok(Self { input, empty, line: 0, first: None, cut: false })
    }

    /// Whether there is nothing in the file.
    pub(crate) fn is_empty(&self) -> bool {
        self.empty
    }

    /// Whether the file ended in the middle of a line, which was left out.
    pub(crate) fn is_cut(&self) -> bool {
        self.cut
    }

    /// Number of the line that was given last, counted from 1.
    pub(crate) fn number(&self) -> u64 {
        self.line
    }

    /// The first line, which [`Lines::next`] gives all the same. Only before that is called.
    pub(crate) fn peek_first(&mut self) -> Result<&str> {
        if self.first.is_none() {
            self.first = self.read(LastLine::Kept)?;
        }
        Ok(self.first.as_deref().unwrap_or_default())
    }

    /// The next line, without its line feed.
    ///
    /// # Errors
    /// When the file cannot be read on, or a line is no text or too long for any batch.
    pub(crate) fn next(&mut self, last: LastLine) -> Result<Option<String>> {
        match self.first.take() {
            Some(first) => Ok(Some(first)),
            None => self.read(last),
        }
    }

    fn read(&mut self, last: LastLine) -> Result<Option<String>> {
        let mut bytes = Vec::new();
        let limit = MAX_BODY_BYTES as u64;
        match self.input.by_ref().take(limit).read_until(b'\n', &mut bytes) {
            Ok(0) => return Ok(None),
            Ok(_) => {}
            // A plain file has no such errors.
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                bail!("line {}: its gzip ends before its end: the file is cut off", self.line + 1);
            }
            Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::InvalidData) => {
                bail!("line {}: its gzip is damaged: {error}", self.line + 1);
            }
            Err(error) => return Err(error).with_context(|| format!("line {}", self.line + 1)),
        }
        self.line += 1;
        let whole = bytes.last() == Some(&b'\n');
        if whole {
            bytes.pop();
        } else if bytes.len() as u64 >= limit {
            bail!("line {} is over {} MiB", self.line, limit >> 20);
        }
        let is_kept: fn(&str) -> bool = match last {
            LastLine::LeftOutUnless(is_readable) if !whole => is_readable,
            _ => |_| true,
        };
        match String::from_utf8(bytes) {
            Ok(text) if is_kept(&text) => Ok(Some(text)),
            Err(_) if whole || matches!(last, LastLine::Kept) => bail!("line {} is not UTF-8", self.line),
            _ => {
                self.cut = true;
                Ok(None)
            }
        }
    }
}
