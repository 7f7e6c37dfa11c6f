//! Lines of gzip-compressed JSON Lines that arrive in pieces.

use std::io::Write;

use bytes::Bytes;
use flate2::write::MultiGzDecoder;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use queryscope_protocol::{QueryId, Seq, seq_of};

use crate::error::RecordingError;

/// Compressed bytes that are inflated at once.
const STEP_BYTES: usize = 16 << 10;

/// An event's line and its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) seq: Seq,
    /// The line without its line feed.
    pub(crate) text: Vec<u8>,
}

/// Reads lines one by one; holds no more than the compressed piece in hand and what a step of it inflates to.
pub struct LineReader {
    query_id: QueryId,
    input: BoxStream<'static, Result<Bytes, RecordingError>>,
    piece: Bytes,
    inflater: MultiGzDecoder<Vec<u8>>,
    /// Where the next line begins in what has been inflated, and how far no line feed was found.
    begin: usize,
    searched: usize,
    ended: bool,
}

impl LineReader {
    /// Reads what `input` holds; `query_id` names it in errors.
    pub fn new(query_id: QueryId, input: BoxStream<'static, Result<Bytes, RecordingError>>) -> Self {
        Self {
            query_id,
            input,
            piece: Bytes::new(),
            inflater: MultiGzDecoder::new(Vec::new()),
            begin: 0,
            searched: 0,
            ended: false,
        }
    }

    /// Reads a chunk that is in memory.
    pub(crate) fn of_chunk(query_id: QueryId, gzip: Bytes) -> Self {
        Self { piece: gzip, ..Self::new(query_id, stream::empty().boxed()) }
    }

    /// The next event.
    pub(crate) async fn next(&mut self) -> Result<Option<Line>, RecordingError> {
        let Some(text) = self.next_text().await? else {
            return Ok(None);
        };
        let seq = seq_of(&text).ok_or_else(|| self.damaged("a line without a seq"))?;
        Ok(Some(Line { seq, text }))
    }

    /// The next line, whatever it is, without its line feed; `None` at the end.
    ///
    /// # Errors
    /// [`RecordingError::Damaged`] when it is not gzip or ends within a line, and what the input fails with.
    pub async fn next_text(&mut self) -> Result<Option<Vec<u8>>, RecordingError> {
        loop {
            let inflated = self.inflater.get_ref();
            if let Some(feed) = memchr::memchr(b'\n', &inflated[self.searched..]) {
                let end = self.searched + feed;
                let text = inflated[self.begin..end].to_vec();
                self.begin = end + 1;
                self.searched = self.begin;
                return Ok(Some(text));
            }
            if self.ended {
                let rest = inflated.len() - self.begin;
                return if rest == 0 { Ok(None) } else { Err(self.damaged("a line that is cut off")) };
            }
            let begin = std::mem::take(&mut self.begin);
            self.inflater.get_mut().drain(..begin);
            self.searched = self.inflater.get_ref().len();
            self.inflate().await?;
        }
    }

    async fn inflate(&mut self) -> Result<(), RecordingError> {
        if self.piece.is_empty() {
            let Some(piece) = self.input.next().await else {
                self.ended = true;
                return self.inflater.try_finish().map_err(|error| self.damaged(&error.to_string()));
            };
            self.piece = piece?;
        }
        let step = self.piece.split_to(self.piece.len().min(STEP_BYTES));
        self.inflater.write_all(&step).map_err(|error| self.damaged(&error.to_string()))
    }

    fn damaged(&self, reason: &str) -> RecordingError {
        RecordingError::Damaged { query_id: self.query_id, reason: reason.to_owned() }
    }
}

#[cfg(test)]
mod tests;
