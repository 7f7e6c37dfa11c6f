//! Is a sealed recording that of its run?
//!
//! A file may have been copied over another, or put back under a wrong name. Its first line has to be the process event
//! of the query's stream, and its second an event of the query.

use std::io::Write;

use flate2::write::MultiGzDecoder;
use futures_util::{StreamExt, stream};
use queryscope_protocol::{Event, QueryId};
use queryscope_store::{RecordingParts, StreamProcess};

use crate::content::Content;
use crate::error::RecordingError;

/// Compressed bytes that are inflated at once.
const STEP_BYTES: usize = 16 << 10;
/// The process event and the first event.
const LINES: usize = 2;

/// Inflates as much of a recording as its first two lines take; gives back all of it.
///
/// # Errors
/// [`RecordingError::Damaged`] when they are not the query's, or cannot be inflated.
pub(crate) async fn check(parts: &RecordingParts, content: Content) -> Result<Content, RecordingError> {
    let query_id = parts.query.query_id;
    let damaged = |reason: String| RecordingError::Damaged { query_id, reason };
    let Content { size, mut bytes } = content;
    let mut head = Head::new();
    let mut pieces = Vec::new();
    while !head.is_whole() {
        let Some(piece) = bytes.next().await.transpose()? else {
            head.end().map_err(|error| damaged(error.to_string()))?;
            break;
        };
        head.read(&piece).map_err(|error| damaged(error.to_string()))?;
        pieces.push(Ok(piece));
    }
    let mut lines = head.inflater.get_ref().split(|byte| *byte == b'\n');
    if !lines.next().is_some_and(|line| is_process(line, &parts.process_line)) {
        return Err(damaged("it does not begin with the process event of its stream".into()));
    }
    if let Some(other) = lines.next().and_then(query_of).filter(|other| *other != query_id) {
        return Err(damaged(format!("it holds the events of query {other}")));
    }
    Ok(Content { size, bytes: stream::iter(pieces).chain(bytes).boxed() })
}

/// The first lines, as they are inflated.
struct Head {
    inflater: MultiGzDecoder<Vec<u8>>,
    /// Line feeds in what has been inflated, and how far it has been searched for them.
    lines: usize,
    searched: usize,
}

impl Head {
    fn new() -> Self {
        Self { inflater: MultiGzDecoder::new(Vec::new()), lines: 0, searched: 0 }
    }

    fn is_whole(&self) -> bool {
        self.lines >= LINES
    }

    fn read(&mut self, gzip: &[u8]) -> std::io::Result<()> {
        for step in gzip.chunks(STEP_BYTES) {
            if self.is_whole() {
                break;
            }
            self.inflater.write_all(step)?;
            let inflated = self.inflater.get_ref();
            self.lines += memchr::memchr_iter(b'\n', &inflated[self.searched..]).count();
            self.searched = inflated.len();
        }
        Ok(())
    }

    fn end(&mut self) -> std::io::Result<()> {
        self.inflater.try_finish()
    }
}

/// Whether a line is the process event of a stream, by its bytes or by its id.
fn is_process(line: &[u8], process_line: &str) -> bool {
    let id = |line: &str| StreamProcess::read(line).map(|process| process.id);
    let found = str::from_utf8(line);
    found.is_ok_and(|line| {
        line == process_line || id(line).is_some_and(|found| Some(found) == id(process_line))
    })
}

fn query_of(line: &[u8]) -> Option<QueryId> {
    Event::read(str::from_utf8(line).ok()?).ok()?.kind.query_id()
}
