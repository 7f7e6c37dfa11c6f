//! Where recordings lie.

use std::fs::File;
use std::io::Read;
use std::path::Path as FilePath;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt, TryStreamExt};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{GetResultPayload, ObjectStore, ObjectStoreExt};
use queryscope_store::{RecordingParts, Store};

use crate::assemble;
use crate::error::RecordingError;
use crate::folders::{self, Folders};

/// Bytes of a file that are read at once.
const READ_BYTES: u64 = 256 << 10;

/// Bytes of a recording: gzip members whose content is JSON Lines, the process event first.
pub struct Content {
    /// How many bytes there are, where that is known before they are read.
    pub size: Option<u64>,
    /// The bytes in pieces; nothing follows an error.
    pub bytes: BoxStream<'static, Result<Bytes, RecordingError>>,
}

impl std::fmt::Debug for Content {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Content").field("size", &self.size).finish_non_exhaustive()
    }
}

/// Recordings in a folder or a bucket, under `YYYY/MM/DD/<query_id>.jsonl.gz`.
///
/// Reading may go on at any time. Whoever writes (seals) and whoever deletes (retention) a store's recordings
/// must take turns: a query that retention has taken out may be reported again and get the same path. Where they
/// can not, because several services share the store, [`Recordings::shared`] gives every version of a recording
/// a name of its own, so that nothing is ever written over or deleted by one who does not know of the other.
#[derive(Debug, Clone)]
pub struct Recordings {
    pub(crate) objects: Arc<dyn ObjectStore>,
    /// What a folder needs and a bucket does not.
    pub(crate) folders: Option<Folders>,
    /// Whether others write, too.
    pub(crate) shared: bool,
}

impl Recordings {
    /// Recordings in a local folder, which is made if there is none.
    ///
    /// What has been written survives the loss of power: files and the folders that name them are synced.
    ///
    /// # Errors
    /// [`RecordingError::Unavailable`] when the folder can not be made or opened.
    pub fn local(root: &FilePath) -> Result<Self, RecordingError> {
        folders::make_root(root)?;
        let objects = LocalFileSystem::new_with_prefix(root)?.with_fsync(true).with_automatic_cleanup(true);
        Ok(Self { objects: Arc::new(objects), folders: Some(Folders::new(root.to_owned())), shared: false })
    }

    /// Recordings in a bucket, which keeps what it has acknowledged.
    pub fn new(objects: Arc<dyn ObjectStore>) -> Self {
        Self { objects, folders: None, shared: false }
    }

    /// For a store that several services seal at the same time: recordings lie under
    /// `YYYY/MM/DD/<query_id>-<version>.jsonl.gz`, the version 16 hexadecimal digits made from what it holds.
    #[must_use]
    pub fn shared(self) -> Self {
        Self { shared: true, ..self }
    }

    /// A sealed recording; its size is known.
    ///
    /// # Errors
    /// [`RecordingError::Gone`] when there is none at `path`.
    pub async fn open(&self, path: &str) -> Result<Content, RecordingError> {
        let found = self.objects.get(&parse(path)?).await?;
        let size = found.meta.size;
        let bytes = match found.payload {
            GetResultPayload::File(file, _) => read_file(file, size),
            GetResultPayload::Stream(bytes) => bytes.map_err(RecordingError::from).boxed(),
        };
        Ok(Content { size: Some(size), bytes })
    }

    /// The recording of a query from wherever `parts` says its events are: each event that was stored when
    /// `parts` was read, once, in the order of seqs, byte for byte.
    ///
    /// Events that are stored later may be in it, too. Sealing meanwhile does not disturb it. A few MiB of it
    /// are in memory at a time, or, where chunks overlap, all chunks that overlap at one place.
    ///
    /// # Errors
    /// [`RecordingError::Gone`] when the query is deleted, also while reading.
    pub async fn read(
        &self,
        store: &Arc<dyn Store>,
        parts: RecordingParts,
    ) -> Result<Content, RecordingError> {
        assemble::open(self, Arc::clone(store), parts).await
    }

    /// Deletes a sealed recording and the date folders it leaves empty; nothing happens when there is none.
    ///
    /// A deletion may be undone by the loss of power: [`Recordings::sweep`] finds such leftovers.
    pub async fn delete(&self, path: &str) -> Result<(), RecordingError> {
        match self.objects.delete(&parse(path)?).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

pub(crate) fn parse(path: &str) -> Result<Path, RecordingError> {
    Path::parse(path).map_err(|error| RecordingError::Unavailable(error.into()))
}

/// Reads an open file to its end; it stays readable when another takes its place.
fn read_file(file: File, size: u64) -> BoxStream<'static, Result<Bytes, RecordingError>> {
    stream::try_unfold((file, size), |(file, left)| async move {
        if left == 0 {
            return Ok(None);
        }
        let read = tokio::task::spawn_blocking(move || {
            let mut piece = Vec::with_capacity(left.min(READ_BYTES) as usize);
            (&file).take(left.min(READ_BYTES)).read_to_end(&mut piece)?;
            Ok::<_, std::io::Error>((file, piece))
        });
        let (file, piece) = read.await.map_err(std::io::Error::from)??;
        if piece.is_empty() {
            return Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into());
        }
        let left = left - piece.len() as u64;
        Ok(Some((Bytes::from(piece), (file, left))))
    })
    .boxed()
}
