//! A batch: the body of one `POST /v1/events`.

use crate::error::{BatchError, BatchErrorKind};
use crate::event::{Event, EventKind, Process};

/// A batch whose first line has been read.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch<'a> {
    /// The process that sent the batch.
    pub process: Process<'a>,
    /// The first line as it was sent, without its line feed.
    pub process_line: &'a str,
    /// The lines after it.
    pub events: Events<'a>,
}

impl<'a> Batch<'a> {
    /// Opens a batch: checks the encoding of the whole and reads the process event.
    ///
    /// # Errors
    /// When the body has no event, is not UTF-8, or does not begin with a `process` event.
    pub fn open(body: &'a [u8]) -> Result<Self, BatchError> {
        let text = std::str::from_utf8(body).map_err(|error| {
            let valid = &body[..error.valid_up_to()];
            let line = memchr::memchr_iter(b'\n', valid).count() + 1;
            BatchError::at(line, BatchErrorKind::NotUtf8)
        })?;
        let mut lines = Lines { rest: text, number: 0 };
        let Some(process_line) = lines.next() else {
            return Err(BatchError { line: None, kind: BatchErrorKind::Empty });
        };
        let first = Event::read(process_line).map_err(|kind| BatchError::at(lines.number, kind))?;
        let EventKind::Process(process) = first.kind else {
            return Err(BatchError::at(lines.number, BatchErrorKind::NoProcess));
        };
        let events = Events { lines, stream: process.id };
        Ok(Self { process, process_line, events })
    }
}

/// Reads the events of a batch one by one, `process` events left out.
///
/// Ends after the first error: a batch is taken or refused as a whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Events<'a> {
    lines: Lines<'a>,
    stream: crate::StreamId,
}

impl Events<'_> {
    /// The line of the last event, counted from 1. Blank lines count.
    pub fn line(&self) -> usize {
        self.lines.number
    }
}

impl<'a> Iterator for Events<'a> {
    type Item = Result<Event<'a>, BatchError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let read = Event::read(self.lines.next()?).and_then(|event| match &event.kind {
                EventKind::Process(process) if process.id == self.stream => Ok(None),
                EventKind::Process(process) => {
                    Err(BatchErrorKind::OtherProcess { expected: self.stream, got: process.id })
                }
                _ => Ok(Some(event)),
            });
            match read {
                Ok(None) => {}
                Ok(Some(event)) => return Some(Ok(event)),
                Err(kind) => {
                    self.lines.rest = "";
                    return Some(Err(BatchError::at(self.lines.number, kind)));
                }
            }
        }
    }
}

/// Lines ended by line feeds, blank ones passed over; the last one may do without its line feed.
#[derive(Debug, Clone, PartialEq)]
struct Lines<'a> {
    rest: &'a str,
    /// Lines so far, blank ones among them.
    number: usize,
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        while !self.rest.is_empty() {
            let (line, rest) = match memchr::memchr(b'\n', self.rest.as_bytes()) {
                Some(end) => (&self.rest[..end], &self.rest[end + 1..]),
                None => (self.rest, ""),
            };
            self.rest = rest;
            self.number += 1;
            if !line.trim_ascii_start().is_empty() {
                return Some(line);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;
