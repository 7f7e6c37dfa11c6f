//! How long is the header of a gzip member?

use super::Damage;

/// Bytes of a header without optional fields.
const FIXED_BYTES: usize = 10;
/// The collector writes headers without optional fields; another program's may hold a short name.
const HEADER_BYTES_MAX: usize = 4 << 10;

const HAS_CHECKSUM: u8 = 1 << 1;
const HAS_EXTRA: u8 = 1 << 2;
const HAS_NAME: u8 = 1 << 3;
const HAS_COMMENT: u8 = 1 << 4;
const RESERVED: u8 = 0xe0;

/// How many bytes a header has at least, by as much of it as is known; exactly so many once all of it is.
pub(super) fn header_bytes(known: &[u8]) -> Result<usize, Damage> {
    if known.len() < FIXED_BYTES {
        return Ok(FIXED_BYTES);
    }
    let flags = known[3];
    if known[..3] != [0x1f, 0x8b, 8] || flags & RESERVED != 0 {
        return Err("no gzip member begins where one should");
    }
    let mut end = FIXED_BYTES;
    if flags & HAS_EXTRA != 0 {
        let Some(bytes) = known.get(end..end + 2) else { return Ok(end + 2) };
        end += 2 + usize::from(u16::from_le_bytes([bytes[0], bytes[1]]));
    }
    for text in [HAS_NAME, HAS_COMMENT] {
        if flags & text != 0 {
            let Some(zero) = known.get(end..).and_then(|rest| memchr::memchr(0, rest)) else {
                end = end.max(known.len()) + 1;
                break;
            };
            end += zero + 1;
        }
    }
    if flags & HAS_CHECKSUM != 0 {
        if let Some(checksum) = known.get(end..end + 2)
            && *checksum != crc32fast::hash(&known[..end]).to_le_bytes()[..2]
        {
            return Err("a header's checksum is wrong");
        }
        end += 2;
    }
    if end > HEADER_BYTES_MAX { Err("a member's header is too long") } else { Ok(end) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header with these flags and fields, which is known byte by byte.
    fn check(flags: u8, fields: &[u8]) {
        let mut header = [&[0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 0, 3], fields].concat();
        if flags & HAS_CHECKSUM != 0 {
            header.extend_from_slice(&crc32fast::hash(&header).to_le_bytes()[..2]);
            let mut damaged = header.clone();
            damaged[4] ^= 1;
            assert!(header_bytes(&damaged).is_err(), "another time of writing");
        }
        for known in 0..header.len() {
            let needed = header_bytes(&header[..known]).expect("sound");
            assert!(known < needed && needed <= header.len(), "{needed} by {known} of {}", header.len());
        }
        assert_eq!(header_bytes(&header), Ok(header.len()));
        assert_eq!(
            header_bytes(&[&header[..], &[7; 9]].concat()),
            Ok(header.len()),
            "what follows is no part"
        );
    }

    #[test]
    fn optional_fields_are_part_of_a_header() {
        check(0, &[]);
        check(HAS_NAME, b"recording.jsonl\0");
        check(HAS_COMMENT, b"\0");
        check(HAS_EXTRA, &[3, 0, 0, 0, 0]);
        check(HAS_CHECKSUM, &[]);
        check(HAS_EXTRA | HAS_NAME | HAS_COMMENT | HAS_CHECKSUM, b"\x01\0xname\0comment\0");
    }

    #[test]
    fn what_is_no_header_is_refused() {
        for header in [*b"plain text", *b"\x1f\x8b\x07\0\0\0\0\0\0\0", *b"\x1f\x8b\x08\x20\0\0\0\0\0\0"] {
            assert!(header_bytes(&header).is_err(), "{header:?}");
        }
        let named = [&[0x1f, 0x8b, 8, HAS_NAME, 0, 0, 0, 0, 0, 3][..], &[b'x'; HEADER_BYTES_MAX]].concat();
        assert!(header_bytes(&named).is_err());
    }
}
