//! Events as the data of messages.

use std::fmt;
use std::str::FromStr;

use bytes::Bytes;
use queryscope_protocol::{QueryId, Seq};

/// Bytes of events after which a message ends; one event is never divided.
const MESSAGE_BYTES: usize = 256 << 10;

/// How far a reader of one query is: the `id` of a message.
///
/// It speaks of what is stored, so it holds across restarts and sealing: a reader that has got `count` events
/// with seqs up to `highest` has got all of these if the store holds `count` events up to `highest`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::live) struct Mark {
    /// Tells the query from others.
    query: u32,
    pub(in crate::live) count: u64,
    pub(in crate::live) highest: u64,
    /// Whether the reader has been told the end.
    pub(in crate::live) ended: bool,
}

impl Mark {
    /// Before the first event of a query.
    pub(in crate::live) fn begin(id: QueryId) -> Self {
        Self { query: id.uuid().as_u128() as u32, count: 0, highest: 0, ended: false }
    }

    /// The mark in a `Last-Event-ID`; the begin when it is none of this query.
    pub(in crate::live) fn read(id: QueryId, text: Option<&str>) -> Self {
        let begin = Self::begin(id);
        text.and_then(|text| text.parse::<Self>().ok())
            .filter(|mark| mark.query == begin.query)
            .unwrap_or(begin)
    }

    /// After further events.
    pub(in crate::live) fn after(self, piece: &Piece) -> Self {
        Self {
            count: self.count + piece.count,
            highest: self.highest.max(piece.highest),
            ended: false,
            ..self
        }
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = if self.ended { "-end" } else { "" };
        write!(f, "{:08x}-{}-{}{end}", self.query, self.count, self.highest)
    }
}

impl FromStr for Mark {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (text, ended) = text.strip_suffix("-end").map_or((text, false), |text| (text, true));
        let mut parts = text.split('-');
        let (Some(query), Some(count), Some(highest), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(());
        };
        Ok(Self {
            query: u32::from_str_radix(query, 16).map_err(|_| ())?,
            count: count.parse().map_err(|_| ())?,
            highest: highest.parse().map_err(|_| ())?,
            ended,
        })
    }
}

/// Events of one message, as its `data:` lines.
#[derive(Debug, Clone, Default)]
pub(in crate::live) struct Piece {
    lines: Vec<u8>,
    count: u64,
    highest: u64,
}

impl Piece {
    /// Adds a line that is no event of the query: the process event.
    pub(in crate::live) fn add_process(&mut self, line: &[u8]) {
        self.lines.reserve(line.len() + 7);
        self.lines.extend_from_slice(b"data: ");
        let begin = self.lines.len();
        self.lines.extend_from_slice(line);
        // Between JSON's tokens a carriage return is legal, and to the stream it ends a line.
        for byte in self.lines[begin..].iter_mut().filter(|byte| **byte == b'\r') {
            *byte = b' ';
        }
        self.lines.push(b'\n');
    }

    /// Adds an event.
    pub(in crate::live) fn add(&mut self, seq: Seq, line: &[u8]) {
        self.add_process(line);
        self.count += 1;
        self.highest = self.highest.max(seq.get());
    }

    pub(in crate::live) fn is_full(&self) -> bool {
        self.lines.len() >= MESSAGE_BYTES
    }

    pub(in crate::live) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The message `events`, after which a reader is at `mark`.
    pub(in crate::live) fn message(&self, mark: Mark) -> Bytes {
        let head = format!("id: {mark}\nevent: events\n");
        [head.as_bytes(), &self.lines, b"\n"].concat().into()
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_mark_comes_back_for_its_query_alone() {
        let id = QueryId::new(Uuid::from_u128(0x2_0000_00ff));
        let mark = Mark { count: 7, highest: 12, ..Mark::begin(id) };
        assert_eq!(mark.to_string(), "000000ff-7-12");
        assert_eq!(Mark::read(id, Some("000000ff-7-12")), mark);
        assert_eq!(Mark::read(id, Some("000000ff-7-12-end")), Mark { ended: true, ..mark });
        for foreign in ["000000fe-7-12", "7-12", "000000ff-7", "000000ff-7-12-13", "x", "", "000000ff--1-1"] {
            assert_eq!(Mark::read(id, Some(foreign)), Mark::begin(id), "{foreign}");
        }
        assert_eq!(Mark::read(id, None), Mark::begin(id));
    }

    #[test]
    fn every_event_is_a_data_line() {
        let mut piece = Piece::default();
        piece.add(Seq::new(9).expect("a seq"), b"{\"a\":1}\r");
        piece.add(Seq::new(4).expect("a seq"), b"{}");
        let mark = Mark::begin(QueryId::new(Uuid::nil())).after(&piece);
        let message = piece.message(mark);
        assert_eq!(&message[..], b"id: 00000000-2-9\nevent: events\ndata: {\"a\":1} \ndata: {}\n\n");
    }
}
