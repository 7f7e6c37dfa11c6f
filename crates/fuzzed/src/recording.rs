//! A recording that is read in pieces.

use std::io::Read;

use bytes::Bytes;
use flate2::bufread::MultiGzDecoder;
use futures_util::StreamExt;
use futures_util::stream;
use queryscope_recordings::LineReader;
use queryscope_store::lines_of;
use queryscope_store::testsuite::query_id;
use tokio::runtime::Builder;

use crate::members::Members;

/// Reads what may be a recording, as it is or made of these bytes; the first byte says in which pieces.
///
/// # Panics
/// When the lines are not those of the text that the whole inflates to.
pub fn recording(bytes: &[u8]) {
    let Some((pieces, rest)) = bytes.split_first() else { return };
    let gzip = if rest.starts_with(b"\x1f\x8b") { rest.to_vec() } else { Members::of(rest).joined() };
    let mut text = Vec::new();
    let whole = MultiGzDecoder::new(&gzip[..]).read_to_end(&mut text).is_ok();
    let piece_bytes = usize::from(*pieces) + 1;
    let input: Vec<_> = gzip.chunks(piece_bytes).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
    let mut reader = LineReader::new(query_id(1), stream::iter(input).boxed());
    let mut lines: Vec<Vec<u8>> = Vec::new();
    let end = Builder::new_current_thread().build().expect("a runtime").block_on(async {
        loop {
            match reader.next_text().await {
                Ok(Some(line)) => lines.push(line),
                end => return end.map(|_| ()),
            }
        }
    });
    let expected: Vec<&[u8]> = lines_of(&text).collect();
    if whole && (text.is_empty() || text.ends_with(b"\n")) {
        end.expect("sound");
        assert_eq!(lines, expected);
    } else {
        end.expect_err("damaged");
    }
}
