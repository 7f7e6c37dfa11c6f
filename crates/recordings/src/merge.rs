//! Events from several places in the order of their seqs, each once.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use bytes::Bytes;
use queryscope_protocol::{QueryId, Seq};
use queryscope_store::Packer;

use crate::error::{Interrupted, RecordingError};
use crate::lines::{Line, LineReader};
use crate::pages::Pages;

/// Bytes of lines after which a gzip member ends.
const MEMBER_BYTES: usize = 1 << 20;
/// Most bytes of chunks that may be open at once because their seqs overlap.
const OPEN_BYTES_MAX: usize = 256 << 20;

/// Merges a sealed recording with chunks and packs the events anew.
///
/// Holds the chunks that overlap at one place, as they are packed, and the lines of one member.
pub(crate) struct Merge {
    query_id: QueryId,
    open: BinaryHeap<Reverse<Open>>,
    open_bytes: usize,
    open_bytes_max: usize,
    opened: usize,
    chunks: Pages,
    after: Option<Seq>,
    packer: Packer,
}

/// A place events come from, with the event it has next.
struct Open {
    line: Line,
    /// Of equal events that of the place opened first goes on.
    rank: usize,
    bytes: usize,
    lines: Box<LineReader>,
}

impl Merge {
    /// Merges the events after `after`; `sealed` is a sealed recording from its beginning.
    pub(crate) async fn new(
        query_id: QueryId,
        sealed: Option<LineReader>,
        chunks: Pages,
        after: Option<Seq>,
    ) -> Result<Self, RecordingError> {
        let mut merge = Self {
            query_id,
            open: BinaryHeap::new(),
            open_bytes: 0,
            open_bytes_max: OPEN_BYTES_MAX,
            opened: 0,
            chunks,
            after,
            packer: Packer::new(),
        };
        if let Some(mut lines) = sealed {
            // The process event: it opens every recording and has no place among the events.
            lines.next_text().await?;
            merge.open(lines, 0).await?;
        }
        Ok(merge)
    }

    /// The next events as one gzip member, and the highest seq in it.
    pub(crate) async fn next_member(&mut self) -> Result<Option<(Bytes, Seq)>, Interrupted> {
        let mut texts = Vec::new();
        let mut bytes = 0;
        while bytes < MEMBER_BYTES {
            let Some(line) = self.next_line().await? else { break };
            if self.after.is_none_or(|after| line.seq > after) {
                self.after = Some(line.seq);
                bytes += line.text.len() + 1;
                texts.push(line.text);
            }
        }
        Ok(match self.after {
            Some(last) if !texts.is_empty() => {
                Some((self.packer.pack(texts.iter().map(Vec::as_slice)).into(), last))
            }
            _ => None,
        })
    }

    async fn next_line(&mut self) -> Result<Option<Line>, Interrupted> {
        while let Some(first) = self.chunks.next_first()
            && self.open.peek().is_none_or(|Reverse(open)| first <= open.line.seq)
        {
            if let Some(chunk) = self.chunks.next().await? {
                let bytes = chunk.gzip.len();
                self.open(LineReader::of_chunk(self.query_id, chunk.gzip), bytes).await?;
            }
        }
        let Some(Reverse(mut open)) = self.open.pop() else {
            return Ok(None);
        };
        let Some(following) = open.lines.next().await? else {
            self.open_bytes -= open.bytes;
            return Ok(Some(open.line));
        };
        let line = std::mem::replace(&mut open.line, following);
        self.open.push(Reverse(open));
        Ok(Some(line))
    }

    async fn open(&mut self, lines: LineReader, bytes: usize) -> Result<(), RecordingError> {
        let mut lines = Box::new(lines);
        let Some(line) = lines.next().await? else {
            return Ok(());
        };
        self.open_bytes += bytes;
        if self.open_bytes > self.open_bytes_max {
            let reason = format!("more than {} bytes of its chunks overlap", self.open_bytes_max);
            return Err(RecordingError::Damaged { query_id: self.query_id, reason });
        }
        let rank = self.opened;
        self.opened += 1;
        self.open.push(Reverse(Open { line, rank, bytes, lines }));
        Ok(())
    }
}

impl Open {
    fn place(&self) -> (Seq, usize) {
        (self.line.seq, self.rank)
    }
}

impl Ord for Open {
    fn cmp(&self, other: &Self) -> Ordering {
        self.place().cmp(&other.place())
    }
}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Open {
    fn eq(&self, other: &Self) -> bool {
        self.place() == other.place()
    }
}

impl Eq for Open {}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use queryscope_store::testsuite::{MemoryStore, batch, query_id};
    use queryscope_store::{ChunkInfo, Store};

    use super::*;

    /// Merges chunks of these events.
    async fn merge(chunks: &[&[u64]]) -> (Merge, Vec<ChunkInfo>) {
        let store = MemoryStore::default();
        for numbers in chunks {
            let batch = batch(1).progress(1, numbers.iter().copied()).build();
            store.commit(batch).await.expect("stored");
        }
        let parts = store.recording(query_id(1)).await.expect("a store").expect("a query");
        let pages = Pages::new(Arc::new(store), parts.chunks.clone());
        (Merge::new(query_id(1), None, pages, None).await.expect("a merge"), parts.chunks)
    }

    #[tokio::test]
    async fn only_chunks_that_overlap_are_open() {
        let (mut merge, _) = merge(&[&[1, 4], &[2, 3], &[6], &[7, 9], &[8]]).await;
        let mut open = Vec::new();
        while let Some(line) = merge.next_line().await.expect("sound") {
            open.push((line.seq.get(), merge.open.len()));
        }
        assert_eq!(open, [(1, 1), (2, 2), (3, 1), (4, 0), (6, 0), (7, 1), (8, 1), (9, 0)]);
        assert_eq!(merge.open_bytes, 0);
    }

    #[tokio::test]
    async fn chunks_that_overlap_by_too_much_are_refused() {
        for (short, fits) in [(0, true), (1, false)] {
            let (mut merge, chunks) = merge(&[&[1, 4], &[2, 3]]).await;
            merge.open_bytes_max = chunks.iter().map(|chunk| chunk.bytes as usize).sum::<usize>() - short;
            let first = merge.next_line().await.expect("one chunk is never too much");
            assert_eq!(first.map(|line| line.seq.get()), Some(1));
            let second = merge.next_line().await;
            assert_eq!(second.is_ok(), fits, "{second:?}");
        }
    }
}
