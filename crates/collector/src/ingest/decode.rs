//! From a body to packed events, on threads of their own where it takes long.

use std::io::Read;
use std::sync::Arc;

use bytes::Bytes;
use flate2::bufread::MultiGzDecoder;
use parking_lot::Mutex;
use queryscope_protocol::limits::MAX_BATCH_BYTES;
use queryscope_store::{Inflater, Packer};
use tokio::sync::Semaphore;

use super::pack::{Packed, Refused, pack};
use crate::error::ApiError;

/// Bodies up to this size are decoded where they arrive if they inflate to no more than
/// [`INLINE_BATCH_BYTES`]: that takes less time than handing them over.
const INLINE_BODY_BYTES: usize = 16 << 10;
const INLINE_BATCH_BYTES: usize = 256 << 10;
/// Batches up to this size are decoded as many at a time as there are cores; a buffer of this size is kept.
const COMMON_BATCH_BYTES: usize = 4 << 20;
/// Larger batches that are decoded at a time, on any machine.
const LARGE_BATCHES_MAX: usize = 2;

/// How a body is coded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coding {
    Plain,
    Gzip,
}

/// Decodes bodies, few at a time, which bounds the memory of inflated batches: [`COMMON_BATCH_BYTES`] for each core
/// and [`MAX_BATCH_BYTES`] for each of [`LARGE_BATCHES_MAX`].
#[derive(Debug)]
pub(crate) struct Decoders {
    common: Arc<Semaphore>,
    large: Arc<Semaphore>,
    scratch: Mutex<Vec<ScratchBuffers>>,
}

/// What decoding one batch needs and the next can use again.
#[derive(Debug, Default)]
struct ScratchBuffers {
    inflater: Inflater,
    inflated: Vec<u8>,
    packer: Packer,
}

#[derive(Debug, PartialEq, Eq)]
enum Inflated {
    Whole,
    OverLimit,
}

impl Decoders {
    pub(crate) fn new(parallel: usize) -> Self {
        Self {
            common: Arc::new(Semaphore::new(parallel)),
            large: Arc::new(Semaphore::new(LARGE_BATCHES_MAX)),
            scratch: Mutex::default(),
        }
    }

    /// Decodes, checks and packs a body.
    ///
    /// # Errors
    /// 400 when it is not gzip or not `events@1`, 413 when it inflates to more than [`MAX_BATCH_BYTES`].
    pub(crate) async fn decode(
        self: &Arc<Self>,
        body: Bytes,
        coding: Coding,
        received_unix_ns: i64,
    ) -> Result<Packed, Refused> {
        if body.len() <= INLINE_BODY_BYTES
            && let Some(result) = self.decode_within(&body, coding, INLINE_BATCH_BYTES, received_unix_ns)
        {
            return result;
        }
        for (turns, limit) in [(&self.common, COMMON_BATCH_BYTES), (&self.large, MAX_BATCH_BYTES)] {
            let turn = Arc::clone(turns).acquire_owned().await;
            let turn = turn.map_err(|_| ApiError::unavailable("the service is stopping"))?;
            let (decoders, body) = (Arc::clone(self), body.clone());
            let decoded = tokio::task::spawn_blocking(move || {
                // Its turn lasts as long as it takes, also when its sender has gone.
                let _turn = turn;
                decoders.decode_within(&body, coding, limit, received_unix_ns)
            });
            let interrupted = |_| ApiError::unavailable("decoding was interrupted, try again");
            if let Some(result) = decoded.await.map_err(interrupted)? {
                return result;
            }
        }
        let reason = format!("the batch is over {} MiB decompressed, split it", MAX_BATCH_BYTES >> 20);
        Err(ApiError::too_large(reason).into())
    }

    /// Decodes a body unless it inflates to more than `limit`.
    fn decode_within(
        &self,
        body: &[u8],
        coding: Coding,
        limit: usize,
        received_unix_ns: i64,
    ) -> Option<Result<Packed, Refused>> {
        let mut buffers = self.scratch.lock().pop().unwrap_or_default();
        let result = match coding {
            Coding::Plain if body.len() > limit => None,
            Coding::Plain => Some(pack(body, &mut buffers.packer, received_unix_ns)),
            Coding::Gzip => match inflate(&mut buffers.inflater, body, limit, &mut buffers.inflated) {
                Ok(Inflated::Whole) => Some(pack(&buffers.inflated, &mut buffers.packer, received_unix_ns)),
                Ok(Inflated::OverLimit) => None,
                Err(error) => {
                    Some(Err(ApiError::invalid(format!("the body is not valid gzip: {error}")).into()))
                }
            },
        };
        if buffers.inflated.capacity() > COMMON_BATCH_BYTES + 1 {
            buffers.inflated = Vec::new();
        }
        self.scratch.lock().push(buffers);
        result
    }
}

/// Inflates a body.
fn inflate(
    inflater: &mut Inflater,
    body: &[u8],
    limit: usize,
    inflated: &mut Vec<u8>,
) -> std::io::Result<Inflated> {
    if inflater.inflate(body, limit, inflated) {
        return Ok(Inflated::Whole);
    }
    inflate_members(body, limit, inflated)
}

/// A body, inflated; `None` when it is not gzip, or inflates to more than `limit`.
pub(crate) fn inflated(body: &[u8], limit: usize) -> Option<Vec<u8>> {
    let mut inflated = Vec::new();
    let outcome = inflate(&mut Inflater::default(), body, limit, &mut inflated).ok()?;
    matches!(outcome, Inflated::Whole).then_some(inflated)
}

/// Inflates all members of a body; the sizes their footers claim are not believed.
fn inflate_members(body: &[u8], limit: usize, inflated: &mut Vec<u8>) -> std::io::Result<Inflated> {
    inflated.clear();
    let mut members = MultiGzDecoder::new(body).take(limit as u64 + 1);
    // Where much may come, its room is taken at once: growing would copy it, and hold it twice meanwhile.
    inflated.reserve_exact(limit + 1);
    members.read_to_end(inflated)?;
    Ok(if inflated.len() > limit { Inflated::OverLimit } else { Inflated::Whole })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(text: &str) -> Vec<u8> {
        Packer::new().pack([text.as_bytes()])
    }

    /// What becomes of a body, which is the same where all bodies are taken as several members.
    fn inflated_text(body: &[u8], limit: usize) -> Option<String> {
        let said = |outcome, buffer| match outcome {
            Ok(Inflated::Whole) => Some(String::from_utf8(buffer).expect("text")),
            Ok(Inflated::OverLimit) => Some("over".into()),
            Err(_) => None,
        };
        let (mut one, mut several) = (b"before".to_vec(), Vec::new());
        let outcome = said(inflate(&mut Inflater::default(), body, limit, &mut one), one);
        assert_eq!(outcome, said(inflate_members(body, limit, &mut several), several));
        outcome
    }

    #[test]
    fn members_are_joined() {
        let body = [member("a"), member("b")].concat();
        assert_eq!(inflated_text(&body, 100).as_deref(), Some("a\nb\n"));
    }

    #[test]
    fn the_limit_is_exact() {
        let body = member("12345");
        assert_eq!(inflated_text(&body, 6).as_deref(), Some("12345\n"));
        assert_eq!(inflated_text(&body, 5).as_deref(), Some("over"));
    }

    #[test]
    fn damage_and_garbage_are_refused() {
        let body = member("some text that is long enough to be damaged");
        assert_eq!(inflated_text(&body[..body.len() - 1], 1000), None);
        assert_eq!(inflated_text(&[&body[..], b"garbage"].concat(), 1000), None);
        assert_eq!(inflated_text(b"no gzip", 1000), None);
        assert_eq!(inflated_text(b"", 1000), None);
        let mut forged = body.clone();
        let end = forged.len();
        forged[end - 4..].fill(0xff);
        assert_eq!(inflated_text(&forged, 1000), None);
    }
}
