//! Inflating a body of one gzip member, which nearly all bodies are.
//!
//! libdeflate inflates a whole member twice as fast as a stream decoder, and needs no state of 40 KB for each body. Its
//! safe interface does not say where a member ends, and wants to know how much comes out. So a body is inflated here
//! only where it cannot be several members, has a plain header, and comes out as its trailer says: of that length and
//! with that checksum. Whatever is otherwise is a stream decoder's, which also says what is wrong with it.

use libdeflater::{Decompressor, crc32};
use memchr::memmem;

/// How a member begins: the magic number, and the only method there is.
const MAGIC: [u8; 3] = [0x1f, 0x8b, 8];
const HEADER_BYTES: usize = 10;
/// Deflate makes a text at most so many times as small, so that a trailer which claims more is not believed.
const RATIO_MAX: usize = 1_032;

/// Inflates bodies of one member.
#[derive(Default)]
pub struct Inflater(Decompressor);

impl Inflater {
    /// Inflates a body into `text`; `false` when it is not one plain member of at most `limit` bytes, or damaged: then
    /// what `text` holds is worth nothing.
    ///
    /// Between the member and its trailer there may be other bytes, where these are no member: no transfer and no
    /// writer makes that, and what comes out is checked all the same.
    pub fn inflate(&mut self, body: &[u8], limit: usize, text: &mut Vec<u8>) -> bool {
        let Some((header, rest)) = body.split_first_chunk::<HEADER_BYTES>() else { return false };
        let Some((deflated, [c0, c1, c2, c3, n0, n1, n2, n3])) = rest.split_last_chunk::<8>() else {
            return false;
        };
        let flags = header[3];
        let checksum = u32::from_le_bytes([*c0, *c1, *c2, *c3]);
        let length = u32::from_le_bytes([*n0, *n1, *n2, *n3]) as usize;
        if header[..3] != MAGIC
            || flags != 0
            || length > limit
            || length / RATIO_MAX > deflated.len()
            || memmem::find(&body[1..], &MAGIC).is_some()
        {
            return false;
        }
        // What is there already is overwritten, and need not be zero.
        text.reserve_exact(length.saturating_sub(text.len()));
        text.resize(length, 0);
        self.0.deflate_decompress(deflated, text) == Ok(length) && crc32(text) == checksum
    }
}

impl Inflater {
    /// Inflates members one after the other into `text`, each as [`inflate`](Self::inflate) does; `false` where one of
    /// them is to be inflated otherwise, or all are more than `limit` bytes.
    pub fn inflate_members(&mut self, members: &[u8], limit: usize, text: &mut Vec<u8>) -> bool {
        text.clear();
        let (mut rest, mut member) = (members, Vec::new());
        while !rest.is_empty() {
            let next = memmem::find(&rest[1..], &MAGIC).map_or(rest.len(), |at| at + 1);
            let (one, behind) = rest.split_at(next);
            if !self.inflate(one, limit - text.len(), &mut member) {
                return false;
            }
            text.extend_from_slice(&member);
            rest = behind;
        }
        true
    }
}

impl std::fmt::Debug for Inflater {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inflater").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, GzBuilder, write::GzEncoder};

    use super::*;
    use crate::chunk::Packer;

    fn member(text: &str) -> Vec<u8> {
        Packer::new().pack([text.as_bytes()])
    }

    fn inflated(body: &[u8], limit: usize) -> Option<String> {
        let mut text = b"of the body before".to_vec();
        Inflater::default().inflate(body, limit, &mut text).then(|| String::from_utf8(text).expect("text"))
    }

    #[test]
    fn one_member_is_inflated_whoever_wrote_it() {
        assert_eq!(inflated(&member("a line"), 100).as_deref(), Some("a line\n"));
        let long = "0123456789 abcdef ".repeat(10_000);
        for level in [0, 1, 6, 9] {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::new(level));
            encoder.write_all(long.as_bytes()).expect("written");
            let body = encoder.finish().expect("a member");
            assert_eq!(inflated(&body, long.len()).as_deref(), Some(&*long), "level {level}");
            assert_eq!(inflated(&body, long.len() - 1), None, "the limit is exact");
        }
    }

    #[test]
    fn several_members_and_fuller_headers_are_left() {
        assert_eq!(inflated(&[member("a"), member("b")].concat(), 100), None);
        assert_eq!(inflated(&[member("a"), member("a")].concat(), 100), None, "of the same text, too");
        let mut named = GzBuilder::new().filename("events").write(Vec::new(), Compression::fast());
        named.write_all(b"a line").expect("written");
        assert_eq!(inflated(&named.finish().expect("a member"), 100), None);
    }

    #[test]
    fn members_are_inflated_one_after_the_other() {
        let all = |members: &[u8], limit| {
            let mut text = b"of before".to_vec();
            let is_whole = Inflater::default().inflate_members(members, limit, &mut text);
            is_whole.then(|| String::from_utf8(text).expect("text"))
        };
        let joined = [member("a"), member("a"), member("b")].concat();
        assert_eq!(all(&joined, 6).as_deref(), Some("a\na\nb\n"));
        assert_eq!(all(&joined, 5), None);
        assert_eq!(all(b"", 0).as_deref(), Some(""));
        for end in 1..joined.len() {
            let whole = all(&joined[..end], 6);
            assert_eq!(whole.is_some(), end % member("a").len() == 0, "cut at {end}: {whole:?}");
        }
    }

    #[test]
    fn damage_anywhere_is_noticed() {
        let text = "some text that is long enough to be damaged, and once more: long enough to be damaged\n";
        let body = member(text.trim_end());
        for end in 0..body.len() {
            assert_eq!(inflated(&body[..end], 1_000), None, "cut at {end}");
        }
        // The time in the header, the hint and the system say nothing of the text.
        for at in (0..4).chain(HEADER_BYTES..body.len()) {
            for bit in 0..8 {
                let mut damaged = body.clone();
                damaged[at] ^= 1 << bit;
                // Behind the last code of a member there may be bits that say nothing.
                let outcome = inflated(&damaged, 1_000);
                assert!(outcome.is_none_or(|got| got == text), "bit {bit} of byte {at}");
            }
        }
        assert_eq!(inflated(&[&body[..], b"garbage"].concat(), 1_000), None);
    }

    #[test]
    fn a_claim_takes_no_memory_that_cannot_be_needed() {
        let mut body = member("short");
        let end = body.len();
        body[end - 4..].copy_from_slice(&u32::to_le_bytes(64 << 20));
        let mut text = Vec::new();
        assert!(!Inflater::default().inflate(&body, 64 << 20, &mut text));
        assert_eq!(text.capacity(), 0);
    }
}
