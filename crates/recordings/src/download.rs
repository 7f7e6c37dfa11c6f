//! A recording as one gzip member.

use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt, stream};
use queryscope_protocol::QueryId;

use crate::content::Content;
use crate::error::RecordingError;
use crate::join::{Damage, Joiner};

/// Compressed bytes that are joined at once; then others get their turn.
const STEP_BYTES: usize = 16 << 10;
/// A recording of up to so many bytes is joined before it is given: its size is known then, and that it is sound.
const READY_BYTES: usize = 256 << 10;

/// Joins the members of a recording; `query_id` names it in errors.
///
/// # Errors
/// When it cannot be read or is damaged; what is wrong behind the first 256 KiB ends the bytes with an error.
pub async fn one_member(query_id: QueryId, members: Content) -> Result<Content, RecordingError> {
    let mut joined = Download { query_id, members: members.bytes, joiner: Some(Joiner::new()) }.into_stream();
    let mut ready = Vec::new();
    while ready.len() < READY_BYTES {
        let Some(piece) = joined.try_next().await? else {
            let size = Some(ready.len() as u64);
            return Ok(Content { size, bytes: stream::iter([Ok(ready.into())]).boxed() });
        };
        ready.extend_from_slice(&piece);
    }
    Ok(Content { size: None, bytes: stream::iter([Ok(ready.into())]).chain(joined).boxed() })
}

struct Download {
    query_id: QueryId,
    members: BoxStream<'static, Result<Bytes, RecordingError>>,
    /// Until the end has been given.
    joiner: Option<Joiner>,
}

impl Download {
    fn into_stream(self) -> BoxStream<'static, Result<Bytes, RecordingError>> {
        let pieces = stream::try_unfold((self, Bytes::new()), |(mut download, mut piece)| async {
            Ok(download.next(&mut piece).await?.map(|bytes| (bytes, (download, piece))))
        });
        pieces.boxed()
    }

    /// The next bytes of the one member, from what is left of a piece of the members.
    async fn next(&mut self, piece: &mut Bytes) -> Result<Option<Bytes>, RecordingError> {
        let mut out = Vec::new();
        while out.is_empty() {
            let Some(joiner) = &mut self.joiner else { return Ok(None) };
            if piece.is_empty() {
                if let Some(next) = self.members.next().await {
                    *piece = next?;
                } else {
                    let ended = joiner.finish(&mut out);
                    self.joiner = None;
                    ended.map_err(|damage| self.damaged(damage))?;
                }
                continue;
            }
            let step = piece.split_to(piece.len().min(STEP_BYTES));
            joiner.push(&step, &mut out).map_err(|damage| self.damaged(damage))?;
            tokio::task::yield_now().await;
        }
        Ok(Some(out.into()))
    }

    fn damaged(&self, damage: Damage) -> RecordingError {
        RecordingError::Damaged { query_id: self.query_id, reason: damage.to_owned() }
    }
}
