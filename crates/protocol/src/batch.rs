//! A batch: the body of one `POST /v1/events`.

use thiserror::Error;

use crate::event::{Event, EventKind, Process};

/// A body that is not `events@1`.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{reason}")]
#[non_exhaustive]
pub struct BatchError {
    /// What is wrong, and what is allowed.
    pub reason: String,
    /// The line to blame, counted from 1, where one is.
    pub line: Option<usize>,
}

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
    /// When the body is empty, not UTF-8, or does not begin with a `process` event.
    pub fn open(body: &'a [u8]) -> Result<Self, BatchError> {
        let text = std::str::from_utf8(body).map_err(|error| {
            let valid = &body[..error.valid_up_to()];
            BatchError {
                reason: "the body is not UTF-8".into(),
                line: Some(memchr::memchr_iter(b'\n', valid).count() + 1),
            }
        })?;
        if text.is_empty() {
            return Err(BatchError {
                reason: "the body is empty, expected a process event".into(),
                line: None,
            });
        }
        let mut lines = Lines { rest: text };
        let process_line = lines.next().unwrap_or_default();
        let first = Event::read(process_line).map_err(|reason| BatchError { reason, line: Some(1) })?;
        let EventKind::Process(process) = first.kind else {
            let reason = "the first event of a batch must be of type process".into();
            return Err(BatchError { reason, line: Some(1) });
        };
        let events = Events { lines, line: 1, stream: process.id };
        Ok(Self { process, process_line, events })
    }
}

/// Reads the events of a batch one by one, `process` events left out.
///
/// Ends after the first error: a batch is taken or refused as a whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Events<'a> {
    lines: Lines<'a>,
    line: usize,
    stream: crate::StreamId,
}

impl<'a> Iterator for Events<'a> {
    type Item = Result<Event<'a>, BatchError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let text = self.lines.next()?;
            self.line += 1;
            let read = Event::read(text).and_then(|event| match &event.kind {
                EventKind::Process(process) if process.id == self.stream => Ok(None),
                EventKind::Process(process) => Err(format!(
                    "a batch comes from one process: expected the id {}, found {}",
                    self.stream, process.id
                )),
                _ => Ok(Some(event)),
            });
            match read {
                Ok(None) => {}
                Ok(Some(event)) => return Some(Ok(event)),
                Err(reason) => {
                    self.lines.rest = "";
                    return Some(Err(BatchError { reason, line: Some(self.line) }));
                }
            }
        }
    }
}

/// Lines ended by line feeds; the last one may do without.
#[derive(Debug, Clone, PartialEq)]
struct Lines<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        if self.rest.is_empty() {
            return None;
        }
        let (line, rest) = match memchr::memchr(b'\n', self.rest.as_bytes()) {
            Some(end) => (&self.rest[..end], &self.rest[end + 1..]),
            None => (self.rest, ""),
        };
        self.rest = rest;
        Some(line)
    }
}

#[cfg(test)]
mod tests;
