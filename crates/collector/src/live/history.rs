//! The stored events of one run as messages, from where a reader is.

use queryscope_protocol::{QueryId, seq_of};
use queryscope_recordings::{Content, LineReader, RecordingError};

use super::topic::text::{Mark, Piece};

/// Lines after which others get their turn while nothing is sent.
const LINES_AT_ONCE: usize = 256;

/// What comes next of the history.
#[derive(Debug)]
pub(super) enum Step {
    Events(Piece),
    /// The events are not those that the reader has got.
    Mismatch,
    End,
}

/// Reads the history; holds one message of it.
pub(super) struct History {
    query_id: QueryId,
    lines: LineReader,
    mark: Mark,
    begun: bool,
    /// A line that was read and belongs to the next message.
    kept: Option<Vec<u8>>,
}

impl History {
    /// Begins behind `mark`.
    pub(super) fn new(query_id: QueryId, content: Content, mark: Mark) -> Self {
        let lines = LineReader::new(query_id, content.bytes);
        Self { query_id, lines, mark, begun: false, kept: None }
    }

    pub(super) async fn next(&mut self) -> Result<Step, RecordingError> {
        let mut piece = Piece::default();
        if !self.begun {
            self.begun = true;
            let process = self.lines.next_text().await?;
            if self.mark.count == 0 {
                piece.add_process(&process.unwrap_or_default());
            } else if !self.skip().await? {
                return Ok(Step::Mismatch);
            }
        }
        while !piece.is_full() {
            let line = match self.kept.take() {
                Some(line) => Some(line),
                None => self.lines.next_text().await?,
            };
            let Some(line) = line else { break };
            piece.add(self.seq(&line)?, &line);
        }
        Ok(if piece.is_empty() { Step::End } else { Step::Events(piece) })
    }

    /// Passes over what the reader has got; `false` when that is not what is stored.
    async fn skip(&mut self) -> Result<bool, RecordingError> {
        let mut passed = 0;
        while let Some(line) = self.lines.next_text().await? {
            if self.seq(&line)?.get() > self.mark.highest {
                self.kept = Some(line);
                break;
            }
            passed += 1;
            if passed % LINES_AT_ONCE as u64 == 0 {
                tokio::task::yield_now().await;
            }
        }
        Ok(passed == self.mark.count)
    }

    fn seq(&self, line: &[u8]) -> Result<queryscope_protocol::Seq, RecordingError> {
        seq_of(line).ok_or_else(|| RecordingError::Damaged {
            query_id: self.query_id,
            reason: "a line without a seq".into(),
        })
    }
}
