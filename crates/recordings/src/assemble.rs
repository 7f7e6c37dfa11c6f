//! A recording that is read while its chunks may be sealed at any time.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use queryscope_protocol::{QueryId, Seq};
use queryscope_store::{Packer, RecordingParts, Store};

use crate::content::Content;
use crate::error::{Interrupted, RecordingError};
use crate::recordings::Recordings;
use crate::source::Source;

/// How often the store is asked again where the events are.
const MOVES_MAX: usize = 8;

/// Opens a recording wherever its events are.
pub(crate) async fn open(
    recordings: &Recordings,
    store: Arc<dyn Store>,
    mut parts: RecordingParts,
) -> Result<Content, RecordingError> {
    let query_id = parts.query.query_id;
    for _ in 0..MOVES_MAX {
        if let Some(content) = try_open(recordings, &store, parts.clone()).await? {
            return Ok(content);
        }
        let before = parts;
        parts = store.recording(query_id).await?.ok_or(RecordingError::Gone)?;
        if has_not_moved(&before, &parts) {
            // Where nothing can be reached, nothing is missing.
            recordings.find_root().await?;
            break;
        }
    }
    Err(RecordingError::Missing { query_id })
}

/// Whether the store still says that a query's events are where they were.
fn has_not_moved(before: &RecordingParts, now: &RecordingParts) -> bool {
    let ids = |parts: &RecordingParts| parts.chunks.iter().map(|chunk| chunk.id).collect::<Vec<_>>();
    before.sealed == now.sealed && ids(before) == ids(now)
}

async fn try_open(
    recordings: &Recordings,
    store: &Arc<dyn Store>,
    parts: RecordingParts,
) -> Result<Option<Content>, RecordingError> {
    if parts.chunks.is_empty()
        && let Some(place) = &parts.sealed
    {
        return match recordings.open_of(&parts, place).await {
            Err(RecordingError::Gone) => Ok(None),
            opened => opened.map(Some),
        };
    }
    let query_id = parts.query.query_id;
    let process = process_member(&parts);
    match Source::open(recordings, Arc::clone(store), parts, None).await {
        Ok(source) => {
            let assembly = Assembly {
                recordings: recordings.clone(),
                store: Arc::clone(store),
                query_id,
                process: Some(process),
                source,
                sent: None,
                moves: 0,
            };
            Ok(Some(Content { size: None, bytes: assembly.into_stream() }))
        }
        Err(Interrupted::Moved) => Ok(None),
        Err(Interrupted::Failed(error)) => Err(error),
    }
}

/// What opens every recording: the process event as a gzip member of its own.
pub(crate) fn process_member(parts: &RecordingParts) -> Bytes {
    Packer::new().pack([parts.process_line.as_bytes()]).into()
}

struct Assembly {
    recordings: Recordings,
    store: Arc<dyn Store>,
    query_id: QueryId,
    /// The process event, until it is sent.
    process: Option<Bytes>,
    source: Source,
    /// Every event up to this one that was there at the beginning is sent.
    sent: Option<Seq>,
    moves: usize,
}

impl Assembly {
    fn into_stream(self) -> BoxStream<'static, Result<Bytes, RecordingError>> {
        stream::try_unfold(self, |mut assembly| async {
            Ok(assembly.next().await?.map(|bytes| (bytes, assembly)))
        })
        .boxed()
    }

    async fn next(&mut self) -> Result<Option<Bytes>, RecordingError> {
        if let Some(process) = self.process.take() {
            return Ok(Some(process));
        }
        loop {
            match self.source.next().await {
                Ok(Some((members, last))) => {
                    self.sent = Some(last);
                    return Ok(Some(members));
                }
                Ok(None) => return Ok(None),
                Err(Interrupted::Moved) => self.follow().await?,
                Err(Interrupted::Failed(error)) => return Err(error),
            }
        }
    }

    /// Goes on from where the events are now. All that were there at the beginning still are, so those that
    /// are left are the ones after the last one sent.
    async fn follow(&mut self) -> Result<(), RecordingError> {
        while self.moves < MOVES_MAX {
            self.moves += 1;
            let parts = self.store.recording(self.query_id).await?.ok_or(RecordingError::Gone)?;
            match Source::open(&self.recordings, Arc::clone(&self.store), parts, self.sent).await {
                Ok(source) => {
                    self.source = source;
                    return Ok(());
                }
                Err(Interrupted::Moved) => {}
                Err(Interrupted::Failed(error)) => return Err(error),
            }
        }
        Err(RecordingError::Missing { query_id: self.query_id })
    }
}
