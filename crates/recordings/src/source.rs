//! The events of one run, from wherever they are, as gzip members in order.

use std::sync::Arc;

use bytes::Bytes;
use queryscope_protocol::Seq;
use queryscope_store::{ChunkInfo, RecordingParts, Store};

use crate::error::{Interrupted, RecordingError};
use crate::lines::LineReader;
use crate::merge::Merge;
use crate::pages::Pages;
use crate::recordings::Recordings;

/// Gives the events of a query in order, without the process event.
pub(crate) enum Source {
    /// No event lies between those of another chunk: the chunks as they are.
    Joined(Pages),
    /// The events have to be put in order.
    Merged(Box<Merge>),
}

impl Source {
    /// Begins with the events after `after`, of all when it is `None`.
    pub(crate) async fn open(
        recordings: &Recordings,
        store: Arc<dyn Store>,
        parts: RecordingParts,
        after: Option<Seq>,
    ) -> Result<Self, Interrupted> {
        let query_id = parts.query.query_id;
        let mut chunks = parts.chunks.clone();
        chunks.sort_unstable_by_key(|chunk| (chunk.first, chunk.id));
        if parts.sealed.is_none() && after.is_none() && are_disjoint(&chunks) {
            return Ok(Self::Joined(Pages::new(store, chunks)));
        }
        let sealed = match &parts.sealed {
            None => None,
            Some(place) => match recordings.open_of(&parts, place).await {
                Ok(content) => Some(LineReader::new(query_id, content.bytes)),
                Err(RecordingError::Gone) => return Err(Interrupted::Moved),
                Err(error) => return Err(error.into()),
            },
        };
        let ahead = chunks.into_iter().filter(|chunk| after.is_none_or(|after| chunk.last > after));
        let merge = Merge::new(query_id, sealed, Pages::new(store, ahead), after).await?;
        Ok(Self::Merged(Box::new(merge)))
    }

    /// The next members, and the highest seq in them.
    pub(crate) async fn next(&mut self) -> Result<Option<(Bytes, Seq)>, Interrupted> {
        match self {
            Self::Joined(pages) => pages.next_joined().await,
            Self::Merged(merge) => merge.next_member().await,
        }
    }
}

/// Whether each chunk (by first seq) begins after all before it have ended.
pub(crate) fn are_disjoint(chunks: &[ChunkInfo]) -> bool {
    chunks.windows(2).all(|pair| pair[0].last < pair[1].first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_that_touch_without_overlap_are_disjoint() {
        let check = |ranges: &[(u64, u64)], expected: bool| {
            let seq = |number| Seq::new(number).expect("a seq");
            let chunks: Vec<_> = ranges
                .iter()
                .map(|(first, last)| ChunkInfo { id: 1, first: seq(*first), last: seq(*last), bytes: 1 })
                .collect();
            assert_eq!(are_disjoint(&chunks), expected, "{ranges:?}");
        };
        check(&[], true);
        check(&[(1, 3), (4, 4), (9, 12)], true);
        check(&[(1, 3), (3, 4)], false);
        check(&[(1, 9), (3, 4)], false);
    }
}
