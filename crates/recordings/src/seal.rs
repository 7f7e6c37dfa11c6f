//! Turns chunks into recordings of their own.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::future::ready;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use object_store::path::Path;
use object_store::{ObjectStoreExt, PutPayload, WriteMultipart};
use queryscope_protocol::QueryId;
use queryscope_store::{
    Pack, RecordingParts, RecordingPlace, Sealed, Store, carry, pack_named_by, random_id, versioned_path,
};
use sha2::{Digest, Sha256};
use zip::result::ZipError;

use crate::assemble::process_member;
use crate::error::{Interrupted, RecordingError};
use crate::pack;
use crate::recordings::{Recordings, parse};
use crate::source::{Source, are_disjoint};

/// Recordings up to this many bytes are written at once, larger ones in parts of this size.
const PART_BYTES: usize = 8 << 20;
/// Parts of one recording that may be on their way.
const PARTS_IN_FLIGHT: usize = 2;

/// Larger recordings get a file or object of their own.
pub(crate) const PACKED_MAX: usize = 1 << 20;
/// A pack is written once its recordings have so many bytes: they are in memory until then.
pub(crate) const PACK_BYTES: usize = 8 << 20;
/// Recordings that the store is told of in one transaction: meanwhile no batch is committed.
const SEALED_AT_ONCE: usize = 128;

/// Recordings that are read by themselves at a time: a store has few connections for readers, and sealing may have to
/// wait for a core while it holds one.
const READ_CONCURRENCY: usize = 2;
/// Runs of a group: to ask the store for each of them alone takes longer than to read what a small one has.
const READ_RUNS: usize = 32;
/// Process events that are kept packed.
const PROCESSES_MAX: usize = 256;
/// Bytes of chunks that are read for a group at once. Runs that have no room are read by themselves.
const READ_BYTES: u64 = 2 << 20;

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
    /// Seals up to `limit` ended queries; queries in `skip` are passed over. Large recordings are written as they are
    /// read, `concurrency` at a time so that their syncs overlap. Of the others, those of runs that started on one day
    /// go into a pack.
    ///
    /// No more are begun once one could not be written and none could before: then the folder or bucket is away.
    /// Can be interrupted at any point: what was written and not made known to the store is written again.
    ///
    /// # Errors
    /// When the store fails, or the written recordings cannot be made durable; what concerns one query alone
    /// is in [`SealRound::failed`]. Where a pack cannot be written, the first of its queries stands for all.
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

        let (mut written, mut small) = (Vec::new(), Vec::new());
        let mut small_bytes = 0;
        let ends = AtomicBool::new(false);
        let groups: Vec<Vec<QueryId>> = ids.chunks(READ_RUNS).map(<[QueryId]>::to_vec).collect();
        let processes = Mutex::default();
        let mut begins = stream::iter(groups)
            .map(|group| self.read_group(store.as_ref(), group, &processes))
            .buffered(1)
            .flat_map(stream::iter)
            .take_while(|_| ready(!ends.load(Ordering::Relaxed)))
            .map(|(id, read)| async move {
                let begun = match read {
                    Some(begun) => Ok(Some(begun)),
                    None => self.begin(store, id).await,
                };
                (id, begun)
            })
            .buffer_unordered(READ_CONCURRENCY)
            .map(|(id, begun)| async move {
                let made = match begun {
                    Ok(Some(begun)) if begun.is_large() => {
                        self.finish(store, begun).await.map(|sealed| sealed.map(Made::Own))
                    }
                    begun => begun.map(|begun| begun.map(Made::Small)),
                };
                (id, made)
            })
            .buffer_unordered(concurrency.max(1));
        while let Some((id, outcome)) = begins.next().await {
            match outcome {
                // It is left to others.
                Ok(None) => {}
                Ok(Some(Made::Own(sealed))) => written.push(sealed),
                Ok(Some(Made::Small(begun))) => {
                    small_bytes += begun.head_bytes();
                    small.push(begun);
                    if small_bytes >= PACK_BYTES {
                        ends.store(true, Ordering::Relaxed);
                        round.full = true;
                    }
                }
                Err(error) => {
                    let first = written.is_empty() && matches!(error, RecordingError::Unavailable(_));
                    ends.fetch_or(first, Ordering::Relaxed);
                    round.failed.push((id, error));
                }
            }
        }
        drop(begins);
        let mut groups = stream::iter(of_one_day(small))
            .map(async |group| (group[0].sealed.query_id, self.finish_group(store, group).await))
            .buffer_unordered(concurrency.max(1));
        while let Some((id, outcome)) = groups.next().await {
            match outcome {
                Ok(sealed) => written.extend(sealed),
                Err(error) => round.failed.push((id, error)),
            }
        }
        drop(groups);
        if written.is_empty() {
            return Ok(round);
        }
        self.sync(&written).await?;
        round.sealed = written.len();
        let orphans = self.make_known(store.as_ref(), written).await?;
        // Where others read and seal, too, they stay for a day: see `sweep_versions`.
        for path in orphans.into_iter().filter(|_| !self.shared) {
            if let Err(error) = self.delete_orphan(store.as_ref(), &path).await {
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
        match self.begin(store, id).await? {
            Some(begun) => self.finish(store, begun).await,
            None => Ok(None),
        }
    }

    /// Makes the folders of recordings that were written durable; the recordings themselves are already.
    ///
    /// # Errors
    /// [`RecordingError::Unavailable`]; then [`Store::seal`] must not follow.
    pub async fn sync(&self, written: &[Sealed]) -> Result<(), RecordingError> {
        match &self.folders {
            Some(folders) => folders.sync(written.iter().map(|sealed| sealed.place.path.as_str())).await,
            None => Ok(()),
        }
    }

    /// Reads the recordings of some runs with two questions to the store; `None` for each that is to be
    /// [begun](Self::begin) by itself.
    async fn read_group(
        &self,
        store: &dyn Store,
        ids: Vec<QueryId>,
        processes: &Mutex<Processes>,
    ) -> Vec<(QueryId, Option<Begun>)> {
        // One that cannot be read must not keep the others from being sealed: then each is read by itself.
        let parts = store.recordings(&ids).await.unwrap_or_default();
        let mut read = read_together(store, parts, processes).await;
        let begun = |id: QueryId| {
            let begun = read.remove(&id).and_then(|(parts, head)| self.begun(&parts, head));
            (id, begun)
        };
        ids.into_iter().map(begun).collect()
    }

    /// Reads a recording, or the first part of a large one, as it is now.
    async fn begin(&self, store: &Arc<dyn Store>, id: QueryId) -> Result<Option<Begun>, RecordingError> {
        let Some(parts) = store.recording(id).await?.filter(|parts| !parts.chunks.is_empty()) else {
            return Ok(None);
        };
        let Some(begun) = self.begun(&parts, Vec::new()) else {
            return Ok(None);
        };
        match self.read_head(store, parts).await {
            Ok((head, rest)) => Ok(Some(Begun { head, rest, ..begun })),
            Err(interrupted) => left_to_others(store, &begun.sealed, interrupted).await.map(|()| None),
        }
    }

    /// A recording whose head is read, and has no more; `None` for a run that has no place for one.
    fn begun(&self, parts: &RecordingParts, head: Vec<Bytes>) -> Option<Begun> {
        let path = parts.query.recording()?;
        let own = if self.shared { versioned_path(&path, version(parts)) } else { path.clone() };
        let sealed = Sealed {
            query_id: parts.query.query_id,
            place: RecordingPlace::file(own),
            replaces: parts.sealed.clone(),
            chunks: parts.chunks.iter().map(|chunk| chunk.id).collect(),
        };
        Some(Begun { sealed, path, head, rest: None })
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

    /// Writes a recording whose first part is read to a file or object of its own.
    async fn finish(&self, store: &Arc<dyn Store>, begun: Begun) -> Result<Option<Sealed>, RecordingError> {
        let Begun { sealed, head, rest, .. } = begun;
        match self.write_parts(&parse(&sealed.place.path)?, head, rest).await {
            Ok(()) => Ok(Some(sealed)),
            Err(interrupted) => left_to_others(store, &sealed, interrupted).await.map(|()| None),
        }
    }

    /// Writes small recordings of one day: several into a pack.
    async fn finish_group(
        &self,
        store: &Arc<dyn Store>,
        mut group: Vec<Begun>,
    ) -> Result<Vec<Sealed>, RecordingError> {
        if group.len() == 1
            && let Some(begun) = group.pop()
        {
            return Ok(self.finish(store, begun).await?.into_iter().collect());
        }
        let day = group[0].day();
        let (sealed, recordings): (Vec<_>, Vec<_>) =
            group.into_iter().map(|begun| (begun.sealed, (begun.path, begun.head))).unzip();
        let places = self.write_pack(day, recordings).await?;
        Ok(sealed.into_iter().zip(places).map(|(sealed, place)| Sealed { place, ..sealed }).collect())
    }

    /// Writes recordings, each with its path, into a pack of a day; where each is, in their order.
    pub(crate) async fn write_pack(
        &self,
        day: i64,
        recordings: Vec<(String, Vec<Bytes>)>,
    ) -> Result<Vec<RecordingPlace>, RecordingError> {
        // Random, so that what was given up is never made again under the same name.
        let pack = Pack { day, number: random_id().as_u64_pair().1 };
        let packed = tokio::task::spawn_blocking(carry(move || {
            pack::pack(recordings.iter().map(|(path, pieces)| (path.as_str(), pieces.as_slice())))
        }));
        let failed = |error: ZipError| RecordingError::Unavailable(error.into());
        let (bytes, entries) = packed.await.map_err(std::io::Error::from)?.map_err(failed)?;
        let path = pack.path();
        match self.objects.put(&parse(&path)?, bytes.into()).await {
            Ok(_) => {}
            // Nothing is found where there is no such bucket.
            Err(object_store::Error::NotFound { .. }) => return Err(no_place()),
            Err(error) => return Err(error.into()),
        }
        let place = |slice| RecordingPlace { path: path.clone(), slice: Some(slice) };
        Ok(entries.into_iter().map(|entry| place(entry.slice)).collect())
    }

    /// Tells the store of recordings that are written and durable; gives back the paths nothing points to any more.
    pub(crate) async fn make_known(
        &self,
        store: &dyn Store,
        mut written: Vec<Sealed>,
    ) -> Result<BTreeSet<String>, RecordingError> {
        let mut orphans = BTreeSet::new();
        while !written.is_empty() {
            let rest = written.split_off(written.len().min(SEALED_AT_ONCE));
            orphans.extend(store.seal(std::mem::replace(&mut written, rest)).await?);
        }
        Ok(orphans)
    }

    /// Deletes a file or object that nothing points to; a pack may be pointed to again by now, and stays.
    pub(crate) async fn delete_orphan(&self, store: &dyn Store, path: &str) -> Result<(), RecordingError> {
        match pack_named_by(path) {
            Some(pack) => self.delete_pack(store, pack).await.map(|_| ()),
            None => self.delete(path).await,
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
    /// As a file or object of its own.
    sealed: Sealed,
    /// Its path without a version.
    path: String,
    head: Vec<Bytes>,
    /// What comes after the head, if anything does.
    rest: Option<Source>,
}

impl Begun {
    fn head_bytes(&self) -> usize {
        self.head.iter().map(Bytes::len).sum()
    }

    /// Whether it is written as a file or object of its own.
    fn is_large(&self) -> bool {
        self.rest.is_some() || self.head_bytes() > PACKED_MAX
    }

    /// The UTC day it lies under.
    fn day(&self) -> i64 {
        self.sealed.place.columns(self.sealed.query_id).map_or(0, |columns| columns.day)
    }
}

/// Reads the chunks of runs at once, as many as there is room for: of each of these what its recording is made of.
/// Left out is what could not be read, and what has to be put in order.
async fn read_together(
    store: &dyn Store,
    parts: Vec<Option<RecordingParts>>,
    processes: &Mutex<Processes>,
) -> HashMap<QueryId, (RecordingParts, Vec<Bytes>)> {
    let mut room = READ_BYTES;
    let mut runs: Vec<RecordingParts> = parts.into_iter().flatten().filter(is_plain).collect();
    runs.retain(|parts| {
        let left = room.checked_sub(parts.chunks.iter().map(|chunk| chunk.bytes).sum());
        room = left.unwrap_or(room);
        left.is_some()
    });
    let ids = runs.iter().flat_map(|parts| &parts.chunks).map(|chunk| chunk.id).collect();
    let Ok(chunks) = store.chunks(ids).await else { return HashMap::new() };
    let mut chunks = chunks.into_iter();
    let mut processes = processes.lock().unwrap_or_else(PoisonError::into_inner);
    let read = runs.into_iter().filter_map(|parts| {
        let chunks: Vec<_> = chunks.by_ref().take(parts.chunks.len()).collect();
        let chunks: Vec<Vec<u8>> = chunks.into_iter().collect::<Option<_>>()?;
        let process = processes.member(&parts);
        let head = std::iter::once(process).chain(chunks.into_iter().map(Bytes::from)).collect();
        Some((parts.query.query_id, (parts, head)))
    });
    read.collect()
}

/// Process events of streams as gzip members, each packed once in a round.
#[derive(Default)]
struct Processes(HashMap<String, Bytes>);

impl Processes {
    fn member(&mut self, parts: &RecordingParts) -> Bytes {
        if let Some(member) = self.0.get(&parts.process_line) {
            return member.clone();
        }
        if self.0.len() >= PROCESSES_MAX {
            self.0.clear();
        }
        self.0.entry(parts.process_line.clone()).or_insert_with(|| process_member(parts)).clone()
    }
}

/// Whether the chunks of a run, as they lie, are its recording.
fn is_plain(parts: &RecordingParts) -> bool {
    parts.sealed.is_none() && !parts.chunks.is_empty() && are_disjoint(&parts.chunks)
}

/// What became of a recording that was begun.
enum Made {
    /// It is written.
    Own(Sealed),
    /// It waits for others of its day.
    Small(Begun),
}

/// Groups recordings by the days they lie under.
fn of_one_day(recordings: Vec<Begun>) -> Vec<Vec<Begun>> {
    let mut days: BTreeMap<i64, Vec<Begun>> = BTreeMap::new();
    for begun in recordings {
        days.entry(begun.day()).or_default().push(begun);
    }
    days.into_values().collect()
}

fn no_place() -> RecordingError {
    RecordingError::Unavailable("there is no place to write to".into())
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
        Interrupted::Failed(RecordingError::Gone) => Err(no_place()),
        Interrupted::Failed(error) => Err(error),
        Interrupted::Moved => {
            let now = store.recording(sealed.query_id).await?;
            let unmoved = |now: &RecordingParts| {
                now.sealed == sealed.replaces
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
    hash.update(parts.sealed.as_ref().map(ToString::to_string).unwrap_or_default());
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
