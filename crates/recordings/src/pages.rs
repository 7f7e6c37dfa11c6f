//! Chunks, read from the store several at a time.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use queryscope_protocol::Seq;
use queryscope_store::{ChunkInfo, Store};

use crate::error::Interrupted;

/// Bytes of chunks that are read at once; one chunk is always read, however large.
const PAGE_BYTES: u64 = 4 << 20;

/// A chunk that has been read.
pub(crate) struct Chunk {
    pub(crate) info: ChunkInfo,
    pub(crate) gzip: Bytes,
}

/// Reads chunks in a given order.
pub(crate) struct Pages {
    store: Arc<dyn Store>,
    waiting: VecDeque<ChunkInfo>,
    page: VecDeque<Chunk>,
}

impl Pages {
    pub(crate) fn new(store: Arc<dyn Store>, chunks: impl IntoIterator<Item = ChunkInfo>) -> Self {
        Self { store, waiting: chunks.into_iter().collect(), page: VecDeque::new() }
    }

    /// Lowest seq of the chunk that comes next.
    pub(crate) fn next_first(&self) -> Option<Seq> {
        let read = self.page.front().map(|chunk| chunk.info.first);
        read.or_else(|| self.waiting.front().map(|info| info.first))
    }

    /// The next chunk.
    pub(crate) async fn next(&mut self) -> Result<Option<Chunk>, Interrupted> {
        if self.page.is_empty() {
            self.page = self.read_page().await?;
        }
        Ok(self.page.pop_front())
    }

    /// The next chunks joined end to end, and the highest seq in them.
    pub(crate) async fn next_joined(&mut self) -> Result<Option<(Bytes, Seq)>, Interrupted> {
        let page = self.read_page().await?;
        let Some(last) = page.back().map(|chunk| chunk.info.last) else {
            return Ok(None);
        };
        let joined = if page.len() == 1 {
            page.into_iter().map(|chunk| chunk.gzip).collect::<Vec<_>>().remove(0)
        } else {
            page.iter().map(|chunk| &chunk.gzip[..]).collect::<Vec<_>>().concat().into()
        };
        Ok(Some((joined, last)))
    }

    async fn read_page(&mut self) -> Result<VecDeque<Chunk>, Interrupted> {
        let mut bytes = 0;
        let mut infos = Vec::new();
        while let Some(info) =
            self.waiting.pop_front_if(|info| bytes == 0 || bytes + info.bytes <= PAGE_BYTES)
        {
            bytes += info.bytes;
            infos.push(info);
        }
        if infos.is_empty() {
            return Ok(VecDeque::new());
        }
        let read = self.store.chunks(infos.iter().map(|info| info.id).collect()).await?;
        infos
            .into_iter()
            .zip(read)
            .map(|(info, gzip)| Ok(Chunk { info, gzip: gzip.ok_or(Interrupted::Moved)?.into() }))
            .collect()
    }
}
