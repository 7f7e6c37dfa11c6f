use std::io::{Read, Write};

use flate2::bufread::{GzDecoder, MultiGzDecoder};
use flate2::{Compression, GzBuilder};
use miniz_oxide::deflate::core::{
    CompressionStrategy, CompressorOxide, TDEFLFlush, compress_to_output, create_comp_flags_from_zip_params,
};
use proptest::collection::vec;
use proptest::prelude::*;
use queryscope_store::Packer;

use super::*;

/// How the text of a member is compressed.
#[derive(Debug, Clone)]
enum Shape {
    /// As the collector does.
    Packed,
    /// By zlib at a level (0: stored blocks), with a flush after each so many bytes of text, a name and a comment.
    Zlib { level: u32, flush_every: usize, name: Option<&'static str> },
    /// By miniz: fixed codes, run lengths, literals alone.
    Miniz(CompressionStrategy),
}

impl Shape {
    fn any() -> impl Strategy<Value = Self> {
        let zlib = (0..10_u32, 64..3_000_usize, proptest::option::of(Just("recording.jsonl")))
            .prop_map(|(level, flush_every, name)| Self::Zlib { level, flush_every, name });
        prop_oneof![
            Just(Self::Packed),
            zlib,
            Just(Self::Miniz(CompressionStrategy::Fixed)),
            Just(Self::Miniz(CompressionStrategy::RLE)),
            Just(Self::Miniz(CompressionStrategy::HuffmanOnly)),
        ]
    }

    fn member(&self, text: &[u8]) -> Vec<u8> {
        match self {
            // Its lines end with a line feed, which is part of the text.
            Self::Packed => match text.strip_suffix(b"\n") {
                Some(lines) => Packer::new().pack([lines]),
                None => Packer::new().pack([&[][..]; 0]),
            },
            Self::Zlib { level, flush_every, name } => {
                let mut builder = GzBuilder::new().mtime(7);
                if let Some(name) = name {
                    builder = builder.filename(*name).comment(*name).extra(*name);
                }
                let mut encoder = builder.write(Vec::new(), Compression::new(*level));
                for part in text.chunks(*flush_every) {
                    encoder.write_all(part).expect("memory");
                    encoder.flush().expect("memory");
                }
                encoder.finish().expect("memory")
            }
            Self::Miniz(strategy) => {
                let flags = create_comp_flags_from_zip_params(6, -15, *strategy as i32);
                let mut member = HEADER.to_vec();
                let keep = |bytes: &[u8]| {
                    member.extend_from_slice(bytes);
                    true
                };
                let mut compressor = CompressorOxide::new(flags);
                compress_to_output(&mut compressor, text, TDEFLFlush::Finish, keep);
                member.extend_from_slice(&crc32fast::hash(text).to_le_bytes());
                member.extend_from_slice(&(text.len() as u32).to_le_bytes());
                member
            }
        }
    }

    /// The text that a member has: packed lines are whole.
    fn text(&self, mut text: Vec<u8>) -> Vec<u8> {
        if matches!(self, Self::Packed) && !text.is_empty() {
            text.push(b'\n');
        }
        text
    }
}

/// Texts that compress well, badly, and not at all; some are empty, some have several blocks.
fn any_text() -> impl Strategy<Value = Vec<u8>> {
    let lines = (0..4_000_usize).prop_map(|count| {
        let line = |n| format!(r#"{{"seq":{n},"type":"query.progress","elapsed_ms":{}}}"#, n * 37 % 1009);
        (0..count).map(line).collect::<Vec<_>>().join("\n").into_bytes()
    });
    prop_oneof![
        Just(Vec::new()),
        vec(any::<u8>(), 1..5),
        vec(any::<u8>(), 0..70_000),
        vec(prop_oneof![Just(b'a'), Just(b'b')], 0..3_000),
        lines,
    ]
}

/// Joins members that arrive in pieces of these sizes, over and over.
fn join(members: &[u8], pieces: &[usize]) -> Result<Vec<u8>, Damage> {
    let (mut joiner, mut out, mut rest) = (Joiner::new(), Vec::new(), members);
    for bytes in pieces.iter().cycle() {
        let (piece, later) = rest.split_at((*bytes).min(rest.len()));
        joiner.push(piece, &mut out)?;
        rest = later;
        if rest.is_empty() {
            break;
        }
    }
    joiner.finish(&mut out)?;
    Ok(out)
}

/// The text of the first member, and the bytes behind it.
fn first_member(gzip: &[u8]) -> (Vec<u8>, usize) {
    let mut decoder = GzDecoder::new(gzip);
    let mut text = Vec::new();
    decoder.read_to_end(&mut text).expect("sound");
    (text, decoder.into_inner().len())
}

fn all_members(gzip: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    MultiGzDecoder::new(gzip).read_to_end(&mut text).ok()?;
    Some(text)
}

fn any_members() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
    vec((Shape::any(), any_text()), 1..6).prop_map(|parts| {
        let (mut members, mut texts) = (Vec::new(), Vec::new());
        for (shape, text) in parts {
            let text = shape.text(text);
            members.extend(shape.member(&text));
            texts.extend(text);
        }
        (members, texts)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn any_members_in_any_pieces_become_one(
        (members, text) in any_members(),
        pieces in vec(prop_oneof![1..4_usize, 1..20_000_usize], 1..9),
    ) {
        prop_assert_eq!(all_members(&members), Some(text.clone()), "the members are sound");
        let joined = join(&members, &[usize::MAX]).expect("sound");
        prop_assert_eq!(first_member(&joined), (text, 0));
        prop_assert!(joined.len() <= members.len() + LAST_BLOCK.len() + 5, "{} of {}", joined.len(), members.len());
        prop_assert_eq!(join(&members, &pieces).expect("sound"), joined, "in pieces of {:?}", pieces);
    }

    #[test]
    fn what_is_cut_or_damaged_is_never_given_as_whole(
        (members, text) in any_members(),
        at in any::<prop::sample::Index>(),
        bit in 0..8_u32,
        pieces in vec(1..20_000_usize, 1..4),
    ) {
        let at = at.index(members.len());
        let mut flipped = members.clone();
        flipped[at] ^= 1_u8 << bit;
        // A bit of a header that means nothing may be flipped.
        if let Ok(joined) = join(&flipped, &pieces) {
            prop_assert_eq!(first_member(&joined), (text.clone(), 0), "bit {} of byte {}", bit, at);
        }
        if let Ok(joined) = join(&members[..at], &pieces) {
            prop_assert!(text.starts_with(&first_member(&joined).0), "cut between two members");
        }
    }
}

/// A member that ends after each number of bits of its last byte: the literals of fixed codes have 8 and 9 bits.
#[test]
fn a_block_may_end_after_any_bit() {
    let mut ends = [false; 8];
    for nines in 0..8_usize {
        let text = vec![0xff; nines];
        let shape = Shape::Miniz(CompressionStrategy::Fixed);
        let members = [shape.member(&text), shape.member(b"next")].concat();
        let joined = join(&members, &[usize::MAX]).expect("sound");
        assert_eq!(first_member(&joined), ([&text[..], b"next"].concat(), 0));
        // Bits of the first, fixed block: its head, the literals, its end.
        ends[(3 + 9 * nines + 7) % 8] = true;
    }
    assert_eq!(ends, [true; 8]);
}

#[test]
fn blocks_that_end_with_a_byte_are_followed_at_once() {
    let stored = Shape::Zlib { level: 0, flush_every: 10, name: None };
    let members = [stored.member(b"first"), stored.member(b"second")].concat();
    let joined = join(&members, &[1]).expect("sound");
    assert_eq!(first_member(&joined), (b"firstsecond".to_vec(), 0));
    // Without the second header and the first trailer, and with an empty block at the end.
    assert_eq!(joined.len(), members.len() - HEADER.len() - TRAILER_BYTES + LAST_BLOCK.len());
}

#[test]
fn what_is_no_member_is_refused() {
    let member = Packer::new().pack([&b"line"[..]]);
    for rest in
        [&b"garbage"[..], b"garbage of some length", &[0; 16], &member[..5], &member[..member.len() - 1]]
    {
        assert!(join(&[&member, rest].concat(), &[3]).is_err(), "{rest:?}");
    }
    assert!(join(&[], &[1]).is_err(), "nothing is no gzip");
}

#[test]
fn memory_is_bounded_however_much_is_joined() {
    // 64 members of 4 MiB text each, which come in steps of 16 KiB as those of a download do.
    let text = vec![b'x'; 4 << 20];
    let member = Shape::Zlib { level: 0, flush_every: usize::MAX, name: None }.member(&text);
    let (mut joiner, mut out, mut given) = (Joiner::new(), Vec::new(), 0);
    for _ in 0..64 {
        for step in member.chunks(16 << 10) {
            joiner.push(step, &mut out).expect("sound");
            given += out.len();
            assert!(out.len() <= step.len() + 64 && joiner.gathered.capacity() <= 4 << 10);
            out.clear();
        }
    }
    joiner.finish(&mut out).expect("sound");
    assert!(given > 256 << 20);
}
