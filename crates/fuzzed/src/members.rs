//! Gzip made of any bytes: sound members, and a few ways to spoil them.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

/// Ends the text of one member and begins the next: never part of UTF-8.
const NEXT_MEMBER: u8 = 0xff;
/// A footer: the checksum, then the size of the text, four bytes each (RFC 1952, section 2.3.1).
const FOOTER_BYTES: usize = 8;

/// Members of a body, and how the body is spoiled.
pub(crate) struct Members<'a> {
    texts: Vec<&'a [u8]>,
    level: u32,
    spoil: u8,
}

impl<'a> Members<'a> {
    /// The first byte says how they are packed and spoiled, the rest is text.
    pub(crate) fn of(bytes: &'a [u8]) -> Self {
        let (how, rest) = bytes.split_first().unwrap_or((&0, &[]));
        let texts = rest.split(|byte| *byte == NEXT_MEMBER).collect();
        Self { texts, level: u32::from(how % 4) * 3, spoil: how / 4 % 8 }
    }

    /// The body.
    pub(crate) fn joined(&self) -> Vec<u8> {
        let mut body: Vec<u8> = self.texts.iter().flat_map(|text| member(text, self.level)).collect();
        let end = body.len();
        match self.spoil {
            1 => body[end - FOOTER_BYTES] ^= 1,
            2 => body[end - 4..].fill(0xff),
            3 => body.truncate(end - 1),
            4 => body.truncate(end / 2),
            5 => body.extend_from_slice(b"garbage"),
            6 => body = member(&body, self.level),
            7 => body.extend_from_slice(&[0; 16]),
            _ => {}
        }
        body
    }
}

fn member(text: &[u8], level: u32) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(level));
    encoder.write_all(text).expect("memory");
    encoder.finish().expect("memory")
}
