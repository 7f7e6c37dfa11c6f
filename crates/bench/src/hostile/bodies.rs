//! Bodies that are small to send and large to take.

use std::fmt::Write as _;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

/// Header lines of a body in gzip.
pub(super) const GZIP: &str = "Content-Encoding: gzip\r\n";
/// Largest batch a collector takes once inflated.
const BATCH_BYTES_MAX: usize = 64 << 20;
/// A line's shortest envelope; the process event below opens every body.
const SCHEMA: &str = r#"{"schema":"x-telemetry/events@1","seq":"#;
const STREAM: &str = r#"1,"type":"process","id":"210de94c-dce3-44f0-9cd3-2604c74dbeea","host":"h"}"#;

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text).expect("memory");
    encoder.finish().expect("memory")
}

/// One byte over the limit, of blanks.
pub(super) fn bomb() -> Vec<u8> {
    gzip(&vec![b' '; BATCH_BYTES_MAX + 1])
}

/// The same in many members, each of which is small.
pub(super) fn bomb_in_members() -> Vec<u8> {
    let member = gzip(&vec![b' '; 64 << 10]);
    member.repeat(BATCH_BYTES_MAX / (64 << 10) + 1)
}

/// A bomb that claims to be of 1,000 bytes.
pub(super) fn forged() -> Vec<u8> {
    let mut bomb = bomb();
    let size = bomb.len() - 4;
    bomb[size..].copy_from_slice(&1_000_u32.to_le_bytes());
    bomb
}

/// A whole batch of 64 MiB whose checksum is wrong: all of it is inflated before that can be known.
pub(super) fn wrong_checksum() -> Vec<u8> {
    let mut batch = gzip(&vec![b' '; BATCH_BYTES_MAX]);
    let checksum = batch.len() - 8;
    batch[checksum] ^= 1;
    batch
}

/// An event of some 30 million arrays in each other.
pub(super) fn nested() -> Vec<u8> {
    let deep = (BATCH_BYTES_MAX - 1_000) / 2;
    let text = format!(
        "{SCHEMA}{STREAM}\n{SCHEMA}2,\"type\":\"x\",\"a\":{}{}}}",
        "[".repeat(deep),
        "]".repeat(deep)
    );
    gzip(text.as_bytes())
}

/// As many queries as fit 64 MiB.
pub(super) fn queries() -> Vec<u8> {
    of_queries(usize::MAX)
}

/// As many queries as a batch may tell of. It is new once, and then all of it is known.
pub(super) fn queries_at_the_limit() -> Vec<u8> {
    of_queries(1 << 16)
}

fn of_queries(count: usize) -> Vec<u8> {
    let mut text = format!("{SCHEMA}{STREAM}\n");
    let mut number = 0;
    while number < count && text.len() < BATCH_BYTES_MAX - 200 {
        let seq = number + 2;
        writeln!(text, r#"{SCHEMA}{seq},"type":"x","query_id":"{number:08x}-1bd9-77b2-97ab-860dd7026506"}}"#)
            .expect("memory");
        number += 1;
    }
    gzip(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::MultiGzDecoder;
    use queryscope_protocol::Batch;

    use super::*;

    #[test]
    fn bodies_are_what_they_are_called() {
        let inflate = |body: &[u8]| {
            let mut text = Vec::new();
            MultiGzDecoder::new(body).read_to_end(&mut text).map(|_| text)
        };
        assert_eq!(inflate(&bomb()).expect("gzip").len(), BATCH_BYTES_MAX + 1);
        assert!(inflate(&bomb_in_members()).expect("gzip").len() > BATCH_BYTES_MAX);
        assert!(inflate(&wrong_checksum()).is_err() && inflate(&forged()).is_err());
        let text = inflate(&of_queries(1_000)).expect("gzip");
        let batch = Batch::open(&text).expect("a batch");
        assert_eq!(batch.events.flatten().count(), 1_000);
        for body in [bomb(), wrong_checksum(), queries()] {
            assert!(body.len() < 8 << 20, "{}", body.len());
        }
    }
}
