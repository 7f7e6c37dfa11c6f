//! Turns chunks into recordings of their own.

use std::collections::HashSet;
use std::future::ready;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use object_store::path::Path;
use object_store::{ObjectStoreExt, PutPayload, WriteMultipart};
use queryscope_protocol::QueryId;
use queryscope_store::{RecordingParts, Sealed, Store, versioned_path};
use sha2::{Digest, Sha256};

use crate::assemble::process_member;
use crate::error::{Interrupted, RecordingError};
use crate::recordings::{Recordings, parse};
use crate::source::Source;

/// Recordings up to this many bytes are written at once, larger ones in parts of this size.
const PART_BYTES: usize = 8 << 20;
/// Parts of one recording that may be on their way.
const PARTS_IN_FLIGHT: usize = 2;

/// Recordings that are read from the store at a time: a store has few connections for readers, and sealing may have to
/// wait for a core while it holds one.
const READ_CONCURRENCY: usize = 2;

/// What one round of sealing did.
#[derive(Debug, Default)]
pub struct SealRound {
    /// Recordings that took the place of chunks.
    pub sealed: usize,
    /// Whether the round was full, so that more may wait.
    pub full: bool,
    /// Queries that could not be sealed, and why; their chunks stay and are readable as far as they were.
    pub failed: Vec<(QueryId, RecordingError)>,
    /// Recordings nothing points to any more which could not be deleted; [`Recordings::sweep`] finds them.
    pub left: Vec<(String, RecordingError)>,
}

impl Recordings {
    /// Seals up to `limit` ended queries, of which `concurrency` are written at a time so that their syncs
    /// overlap; queries in `skip` are passed over.
    ///
    /// No more are begun once one could not be written and none could before: then the folder or bucket is away.
    /// Can be interrupted at any point: what was written and not made known to the store is written again.
    ///
    /// # Errors
    /// When the store fails, or the written recordings cannot be made durable; what concerns one query alone
    /// is in [`SealRound::failed`].
    pub async fn seal_round(
        &self,
        store: &Arc<dyn Store>,
        limit: usize,
        concurrency: usize,
        skip: &HashSet<QueryId>,
    ) -> Result<SealRound, RecordingError> {
        let mut ids = store.unsealed(limit.saturating_add(skip.len())).await?;
        ids.retain(|id| !skip.contains(id));
        ids.truncate(limit);
        let mut round = SealRound { full: ids.len() == limit, ..SealRound::default() };

        let mut written = Vec::new();
        let away = AtomicBool::new(false);
        let mut writes = stream::iter(ids)
            .take_while(|_| ready(!away.load(Ordering::Relaxed)))
            .map(|id| async move { (id, self.begin(store, id).await) })
            .buffer_unordered(READ_CONCURRENCY)
            .map(|(id, begun)| async move {
                match begun {
                    Ok(begun) => (id, self.finish(store, begun).await),
                    Err(error) => (id, Err(error)),
                }
            })
            .buffer_unordered(concurrency.max(1));
        while let Some((id, outcome)) = writes.next().await {
            match outcome {
                Ok(sealed) => written.extend(sealed),
                Err(error) => {
                    let first = written.is_empty() && matches!(error, RecordingError::Unavailable(_));
                    away.fetch_or(first, Ordering::Relaxed);
                    round.failed.push((id, error));
                }
            }
        }
        if written.is_empty() {
            return Ok(round);
        }
        self.sync(&written).await?;
        round.sealed = written.len();
        let replaced = store.seal(written).await?;
        // Where others read and seal, too, they stay for a day: see `sweep_versions`.
        for path in replaced.into_iter().filter(|_| !self.shared) {
            if let Err(error) = self.delete(&path).await {
                round.left.push((path, error));
            }
        }
        Ok(round)
    }

    /// Writes the recording of an ended query as it is now; `None` when there is nothing to write: it runs, is
    /// gone, has no chunks, or another sealed it meanwhile.
    ///
    /// What is given back is for [`Store::seal`], after [`Recordings::sync`].
    ///
    /// # Errors
    /// [`RecordingError::Damaged`] when the chunks cannot be put in order.
    pub async fn write(&self, store: &Arc<dyn Store>, id: QueryId) -> Result<Option<Sealed>, RecordingError> {
        self.finish(store, self.begin(store, id).await?).await
    }

    /// Makes the folders of recordings that were written durable; the recordings themselves are already.
    ///
    /// # Errors
    /// [`RecordingError::Unavailable`]; then [`Store::seal`] must not follow.
    pub async fn sync(&self, written: &[Sealed]) -> Result<(), RecordingError> {
        match &self.folders {
            Some(folders) => folders.sync(written.iter().map(|sealed| sealed.path.as_str())).await,
            None => Ok(()),
        }
    }

    /// Reads a recording, or the first part of a large one, as it is now.
    async fn begin(&self, store: &Arc<dyn Store>, id: QueryId) -> Result<Option<Begun>, RecordingError> {
        let Some(parts) = store.recording(id).await?.filter(|parts| !parts.chunks.is_empty()) else {
            return Ok(None);
        };
        let Some(path) = parts.query.recording() else {
            return Ok(None);
        };
        let sealed = Sealed {
            query_id: id,
            path: if self.shared { versioned_path(&path, version(&parts)) } else { path },
            replaces: parts.sealed_path.clone(),
            chunks: parts.chunks.iter().map(|chunk| chunk.id).collect(),
        };
        match self.read_head(store, parts).await {
            Ok((head, rest)) => Ok(Some(Begun { sealed, head, rest })),
            Err(interrupted) => left_to_others(store, &sealed, interrupted).await.map(|()| None),
        }
    }

    async fn read_head(
        &self,
        store: &Arc<dyn Store>,
        parts: RecordingParts,
    ) -> Result<(Vec<Bytes>, Option<Source>), Interrupted> {
        let mut head = vec![process_member(&parts)];
        let mut source = Source::open(self, Arc::clone(store), parts, None).await?;
        let mut head_bytes = 0;
        while head_bytes <= PART_BYTES {
            let Some((members, _)) = source.next().await? else {
                return Ok((head, None));
            };
            head_bytes += members.len();
            head.push(members);
        }
        Ok((head, Some(source)))
    }

    /// Writes a recording whose first part is read, if there is one.
    async fn finish(
        &self,
        store: &Arc<dyn Store>,
        begun: Option<Begun>,
    ) -> Result<Option<Sealed>, RecordingError> {
        let Some(Begun { sealed, head, rest }) = begun else { return Ok(None) };
        match self.write_parts(&parse(&sealed.path)?, head, rest).await {
            Ok(()) => Ok(Some(sealed)),
            Err(interrupted) => left_to_others(store, &sealed, interrupted).await.map(|()| None),
        }
    }

    async fn write_parts(
        &self,
        path: &Path,
        head: Vec<Bytes>,
        rest: Option<Source>,
    ) -> Result<(), Interrupted> {
        let Some(mut source) = rest else {
            self.objects.put(path, head.into_iter().collect::<PutPayload>()).await?;
            return Ok(());
        };
        let upload = self.objects.put_multipart(path).await?;
        let mut upload = WriteMultipart::new_with_chunk_size(upload, PART_BYTES);
        match upload_all(&mut upload, head, &mut source).await {
            Ok(()) => {
                upload.finish().await?;
                Ok(())
            }
            Err(error) => {
                // The first error is the one to tell; what is left of the upload is never seen by a reader.
                let _ = upload.abort().await;
                Err(error)
            }
        }
    }
}

/// A recording whose first part is read.
struct Begun {
    sealed: Sealed,
    head: Vec<Bytes>,
    /// What comes after the head, if anything does.
    rest: Option<Source>,
}

/// Nothing is left to do where another has sealed a recording or taken it out meanwhile; otherwise says what went
/// wrong.
async fn left_to_others(
    store: &Arc<dyn Store>,
    sealed: &Sealed,
    interrupted: Interrupted,
) -> Result<(), RecordingError> {
    match interrupted {
        // Nothing is found where there is no such bucket.
        Interrupted::Failed(RecordingError::Gone) => {
            Err(RecordingError::Unavailable("there is no place to write to".into()))
        }
        Interrupted::Failed(error) => Err(error),
        Interrupted::Moved => {
            let now = store.recording(sealed.query_id).await?;
            let unmoved = |now: &RecordingParts| {
                now.sealed_path == sealed.replaces
                    && sealed.chunks.iter().all(|id| now.chunks.iter().any(|chunk| chunk.id == *id))
            };
            if now.as_ref().is_some_and(unmoved) {
                let reason = "its sealed recording or a chunk is missing".to_owned();
                return Err(RecordingError::Damaged { query_id: sealed.query_id, reason });
            }
            Ok(())
        }
    }
}

/// Names a version by what it is made of: whoever seals the same writes it under the same name.
fn version(parts: &RecordingParts) -> u64 {
    let mut hash = Sha256::new();
    hash.update(parts.sealed_path.as_deref().unwrap_or_default());
    for chunk in &parts.chunks {
        hash.update(chunk.id.to_be_bytes());
    }
    hash.finalize().iter().take(8).fold(0, |version, byte| version << 8 | u64::from(*byte))
}

async fn upload_all(
    upload: &mut WriteMultipart,
    head: Vec<Bytes>,
    source: &mut Source,
) -> Result<(), Interrupted> {
    for members in head {
        upload.wait_for_capacity(PARTS_IN_FLIGHT).await?;
        upload.put(members);
    }
    while let Some((members, _)) = source.next().await? {
        upload.wait_for_capacity(PARTS_IN_FLIGHT).await?;
        upload.put(members);
    }
    Ok(())
}
