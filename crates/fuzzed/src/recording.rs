//! A recording that is read in pieces.

use std::io::Read;

use bytes::Bytes;
use flate2::bufread::{GzDecoder, MultiGzDecoder};
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt, TryStreamExt};
use queryscope_recordings::{Content, LineReader, RecordingError, one_member};
use queryscope_store::lines_of;
use queryscope_store::testsuite::query_id;
use tokio::runtime::Builder;

use crate::members::Members;

/// Reads what may be a recording, as it is or made of these bytes; the first byte says in which pieces.
///
/// # Panics
/// When the lines are not those of the text that the whole inflates to, or the one member made of it has another.
pub fn recording(bytes: &[u8]) {
    let Some((pieces, rest)) = bytes.split_first() else { return };
    let gzip = if rest.starts_with(b"\x1f\x8b") { rest.to_vec() } else { Members::of(rest).joined() };
    let mut text = Vec::new();
    let whole = MultiGzDecoder::new(&gzip[..]).read_to_end(&mut text).is_ok();
    let piece_bytes = usize::from(*pieces) + 1;
    let input = || -> BoxStream<'static, Result<Bytes, RecordingError>> {
        let pieces: Vec<_> =
            gzip.chunks(piece_bytes).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
        stream::iter(pieces).boxed()
    };
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    let joined = runtime.block_on(async {
        let content = one_member(query_id(1), Content { size: None, bytes: input() }).await?;
        content.bytes.try_collect::<Vec<_>>().await
    });
    assert_eq!(joined.is_ok(), whole);
    if let Ok(joined) = joined {
        let joined = joined.concat();
        let (mut decoder, mut first) = (GzDecoder::new(&joined[..]), Vec::new());
        decoder.read_to_end(&mut first).expect("sound");
        assert_eq!((&first, decoder.into_inner().len()), (&text, 0), "one member and nothing behind it");
    }
    let mut reader = LineReader::new(query_id(1), input());
    let mut lines: Vec<Vec<u8>> = Vec::new();
    let end = runtime.block_on(async {
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
