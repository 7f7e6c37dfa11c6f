//! Readers of single runs, and what they are told of each.

use std::collections::HashMap;
use std::sync::Arc;

use queryscope_protocol::{QueryId, seq_of};
use queryscope_store::{Change, ChunkInfo, Status, Store, StoreError, lines_of, unpack};
use tokio::sync::OnceCell;

use super::subscriber::{Cut, Subscriber, Subscribers};
use crate::app::App;
use text::Piece;

pub(super) mod text;

/// Packed bytes up to which a chunk is read once for all readers; larger ones each reads for itself, in parts.
const SHARED_BYTES: u64 = 256 << 10;

/// What waits for a reader of `/api/live/{id}`.
#[derive(Debug, Clone)]
pub(super) enum Update {
    /// New events, and whether the query has ended with them.
    Changed {
        chunk: Option<Arc<Chunk>>,
        ended: bool,
    },
    /// Commits were lost: the reader must look what is stored.
    Lost,
    Comment,
}

/// A chunk that any of its readers may read for all of them.
#[derive(Debug)]
pub(super) struct Chunk {
    pub(super) info: ChunkInfo,
    pieces: OnceCell<Option<Arc<[Piece]>>>,
}

impl Chunk {
    fn new(info: ChunkInfo) -> Self {
        Self { info, pieces: OnceCell::new() }
    }

    /// Its events; `None` when they are no longer there, too many, or damaged: then its reader must look what
    /// is stored.
    pub(super) async fn pieces(&self, store: &dyn Store) -> Result<Option<Arc<[Piece]>>, StoreError> {
        let read = async || {
            if self.info.bytes > SHARED_BYTES {
                return Ok(None);
            }
            let gzip = store.chunks(vec![self.info.id]).await?.pop().flatten();
            Ok(gzip.and_then(|gzip| pieces_of(&gzip)).map(Into::into))
        };
        self.pieces.get_or_try_init(read).await.cloned()
    }
}

fn pieces_of(gzip: &[u8]) -> Option<Vec<Piece>> {
    let unpacked = unpack(gzip).ok()?;
    let mut pieces = Vec::new();
    let mut piece = Piece::default();
    for line in lines_of(&unpacked) {
        if piece.is_full() {
            pieces.push(std::mem::take(&mut piece));
        }
        piece.add(seq_of(line)?, line);
    }
    pieces.push(piece);
    Some(pieces)
}

/// The readers of each query that has any.
#[derive(Debug, Default)]
pub(super) struct Topics(HashMap<QueryId, Subscribers<Update>>);

impl Topics {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn add(&mut self, id: QueryId, subscriber: Subscriber<Update>) {
        self.0.entry(id).or_default().add(subscriber);
    }

    /// Tells the readers of the queries that changed.
    pub(super) fn tell(&mut self, app: &App, changes: &[Change]) {
        if self.0.is_empty() {
            return;
        }
        for change in changes {
            if let Some(subscribers) = self.0.get_mut(&change.query_id) {
                let chunk = change.chunk.map(|info| Arc::new(Chunk::new(info)));
                subscribers.send(app, &Update::Changed { chunk, ended: change.status != Status::Running });
            }
        }
    }

    /// Tells all readers the same.
    pub(super) fn tell_all(&mut self, app: &App, update: &Update) {
        self.0.retain(|_, subscribers| {
            subscribers.send(app, update);
            !subscribers.is_empty()
        });
    }

    /// Takes out those who have left.
    pub(super) fn sweep(&mut self) {
        self.0.retain(|_, subscribers| {
            subscribers.sweep();
            !subscribers.is_empty()
        });
    }

    /// Closes the queues; gives back what closes the connections.
    pub(super) fn close(self) -> Vec<Cut> {
        self.0.into_values().flat_map(Subscribers::close).collect()
    }
}
