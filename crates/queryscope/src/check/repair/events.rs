//! Events of gzip members, whole or damaged.

use std::io::Read;

use flate2::bufread::GzDecoder;
use queryscope_protocol::{Event, QueryId, Seq};
use queryscope_store::{Report, lines_of, unpack};

use crate::check::summary;

/// What every gzip member begins with (RFC 1952, section 2.3.1).
const MAGIC: [u8; 3] = [0x1f, 0x8b, 8];

/// A line, and what it says if it is an event.
#[derive(Debug, Default)]
pub(super) struct Line {
    pub(super) text: Vec<u8>,
    pub(super) seq: Option<Seq>,
    /// The query it is of.
    pub(super) owner: Option<QueryId>,
    pub(super) reports: Vec<Report>,
}

/// The lines of gzip members that are all whole.
pub(super) fn lines(gzip: &[u8]) -> Option<Vec<Line>> {
    let text = unpack(gzip).ok()?;
    Some(lines_of(&text).map(read).collect())
}

/// Reads a line.
pub(super) fn read(line: &[u8]) -> Line {
    let event = std::str::from_utf8(line).ok().and_then(|text| Event::read_stored(text).ok());
    Line {
        text: line.to_vec(),
        seq: event.as_ref().map(|event| event.seq),
        owner: event.as_ref().and_then(|event| event.kind.query_id()),
        reports: event.as_ref().map(summary::reports).unwrap_or_default(),
    }
}

/// The lines of each member that is whole: its length and checksum agree. What is between them is passed over.
pub(super) fn members(gzip: &[u8]) -> Vec<Vec<Line>> {
    let mut members = Vec::new();
    let mut rest = gzip;
    while let Some(begin) = memchr::memmem::find(rest, &MAGIC) {
        rest = &rest[begin..];
        let mut decoder = GzDecoder::new(rest);
        let mut text = Vec::new();
        if decoder.read_to_end(&mut text).is_ok() {
            rest = decoder.into_inner();
            members.push(lines_of(&text).map(read).collect());
        } else {
            rest = &rest[MAGIC.len()..];
        }
    }
    members
}

#[cfg(test)]
mod tests {
    use queryscope_store::Packer;

    use super::*;

    #[test]
    fn whole_members_around_a_damaged_one_are_read() {
        let mut packer = Packer::new();
        let packed: Vec<Vec<u8>> = ["a", "b", "c"].map(|line| packer.pack([line.as_bytes()])).into();
        let texts = |gzip: &[u8]| -> String {
            members(gzip)
                .iter()
                .flatten()
                .map(|line| String::from_utf8_lossy(&line.text).into_owned())
                .collect()
        };
        let joined = packed.concat();
        assert_eq!(texts(&joined), "abc");
        for at in 0..packed[1].len() {
            let mut damaged = packed.clone();
            damaged[1][at] ^= 0x10;
            let read = texts(&damaged.concat());
            // A header's time and hints, and bits that pad, say nothing of what follows.
            assert!(read == "ac" || (read == "abc" && (4..=10).contains(&at)), "{at}: {read}");
        }
        assert_eq!(texts(&joined[..joined.len() - 1]), "ab");
        assert_eq!(texts(&joined[1..]), "bc");
    }
}
