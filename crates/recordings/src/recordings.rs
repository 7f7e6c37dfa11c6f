//! Where recordings lie.

use std::path::Path as FilePath;
use std::sync::Arc;

use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use queryscope_store::{Pack, RecordingParts, RecordingPlace, Store};

use crate::ahead::Ahead;
use crate::content::{self, Content};
use crate::error::RecordingError;
use crate::folders::{self, Folders};
use crate::location::Location;
use crate::{assemble, bucket, download, owner};

/// Recordings in a folder or a bucket, under `YYYY/MM/DD/<query_id>.jsonl.gz`, or several in a pack,
/// `YYYY/MM/DD/<number>.zip`.
///
/// Reading may go on at any time. Whoever writes (seals) and whoever deletes (retention) a store's recordings
/// must take turns: a query that retention has taken out may be reported again and get the same path. Where they
/// cannot, because several services share the store, [`Recordings::shared`] gives every version of a recording
/// a name of its own, so that nothing is ever written over or deleted by one who does not know of the other.
#[derive(Debug, Clone)]
pub struct Recordings {
    pub(crate) objects: Arc<dyn ObjectStore>,
    /// What a folder needs and a bucket does not.
    pub(crate) folders: Option<Folders>,
    /// Whether others write, too.
    pub(crate) shared: bool,
    /// What was read before it is asked for.
    pub(crate) ahead: Arc<Ahead>,
}

impl Recordings {
    /// Recordings in a local folder, which is made if there is none.
    ///
    /// What has been written survives the loss of power: files and the folders that name them are synced.
    ///
    /// # Errors
    /// [`RecordingError::Unavailable`] when the folder cannot be made or opened.
    pub fn local(root: &FilePath) -> Result<Self, RecordingError> {
        folders::make_root(root)?;
        let objects = LocalFileSystem::new_with_prefix(root)?.with_fsync(true).with_automatic_cleanup(true);
        Ok(Self { folders: Some(Folders::new(root.to_owned())), ..Self::new(Arc::new(objects)) })
    }

    /// Recordings where an operator wants them; in a bucket they are [shared](Recordings::shared).
    ///
    /// Credentials and endpoint of a bucket come from the environment: the `AWS_…`, `GOOGLE_…` and `AZURE_…`
    /// variables that `object_store` reads, and what the machine itself is allowed in its cloud. A bucket that cannot
    /// be reached is found out by the first use.
    ///
    /// # Errors
    /// [`RecordingError::Unavailable`] when the folder cannot be made, or what the environment says of the bucket is
    /// not valid.
    pub fn at(location: &Location) -> Result<Self, RecordingError> {
        match location {
            Location::Folder(root) => Self::local(root),
            Location::Bucket { cloud, bucket, prefix } => {
                Ok(Self::new(bucket::open(*cloud, bucket, prefix)?).shared())
            }
        }
    }

    /// Recordings in a bucket, which keeps what it has acknowledged.
    pub fn new(objects: Arc<dyn ObjectStore>) -> Self {
        Self { objects, folders: None, shared: false, ahead: Arc::default() }
    }

    /// For a store that several services seal at the same time: recordings lie under
    /// `YYYY/MM/DD/<query_id>-<version>.jsonl.gz`, the version 16 hexadecimal digits made from what it holds.
    #[must_use]
    pub fn shared(self) -> Self {
        Self { shared: true, ..self }
    }

    /// Whether several services may write; then [`Recordings::sweep_versions`] has to be called once a day.
    pub fn is_shared(&self) -> bool {
        self.shared
    }

    /// A sealed recording; its size is known.
    ///
    /// # Errors
    /// [`RecordingError::Gone`] when there is none at `place`.
    pub async fn open(&self, place: &RecordingPlace) -> Result<Content, RecordingError> {
        if let Some(content) = self.was_read(place) {
            return Ok(content);
        }
        content::open(&self.objects, parse(&place.path)?, place.slice).await
    }

    /// The recording of a query from wherever `parts` says its events are: each event that was stored when
    /// `parts` was read, once, in the order of seqs, byte for byte.
    ///
    /// Events that are stored later may be in it, too. Sealing meanwhile does not disturb it. A few MiB of it
    /// are in memory at a time, or, where chunks overlap, all chunks that overlap at one place.
    ///
    /// A sealed recording is compared with its query: its file is no link, and its first lines are the query's.
    ///
    /// # Errors
    /// [`RecordingError::Gone`] when the query is deleted, also while reading; [`RecordingError::Missing`] when only
    /// its sealed recording is.
    pub async fn read(
        &self,
        store: &Arc<dyn Store>,
        parts: RecordingParts,
    ) -> Result<Content, RecordingError> {
        assemble::open(self, Arc::clone(store), parts).await
    }

    /// The recording of a query as [`read`](Self::read) gives it, as one gzip member: what browsers and `curl` can
    /// decode. Nothing is compressed again; 64 KiB more are in memory.
    ///
    /// Every member's checksum is compared. Damage in the first 256 KiB is found before anything is given; later damage
    /// ends the bytes with an error. The size is known where all is within these.
    ///
    /// # Errors
    /// As those of [`read`](Self::read).
    pub async fn download(
        &self,
        store: &Arc<dyn Store>,
        parts: RecordingParts,
    ) -> Result<Content, RecordingError> {
        let query_id = parts.query.query_id;
        download::one_member(query_id, self.read(store, parts).await?).await
    }

    /// The sealed recording of a query, whose first lines have been compared with what the store knows of it.
    pub(crate) async fn open_of(
        &self,
        parts: &RecordingParts,
        place: &RecordingPlace,
    ) -> Result<Content, RecordingError> {
        if let Some(content) = self.was_read(place) {
            return owner::check(parts, content).await;
        }
        let location = parse(&place.path)?;
        if let Some(folders) = &self.folders
            && folders.leads_elsewhere(location.as_ref()).await?
        {
            let reason = "its file is a link, or no file".to_owned();
            return Err(RecordingError::Damaged { query_id: parts.query.query_id, reason });
        }
        owner::check(parts, content::open(&self.objects, location, place.slice).await?).await
    }

    /// Asks for the years that there are: whether recordings can be reached.
    ///
    /// # Errors
    /// [`RecordingError::Unavailable`] when they cannot, also because there is no such bucket.
    pub async fn reach(&self) -> Result<(), RecordingError> {
        self.objects.list_with_delimiter(None).await?;
        Ok(())
    }

    /// Fails where the folder or bucket itself is not there: then no recording can be said to be missing.
    pub(crate) async fn find_root(&self) -> Result<(), RecordingError> {
        match &self.folders {
            Some(folders) => folders.find_root().await,
            None => self.reach().await,
        }
    }

    /// Deletes a pack that nothing points to, and from now on nothing will; `false`, and nothing happens, when
    /// something does.
    pub(crate) async fn delete_pack(&self, store: &dyn Store, pack: Pack) -> Result<bool, RecordingError> {
        let is_free = store.give_up_pack(pack).await?;
        if is_free {
            self.delete(&pack.path()).await?;
        }
        Ok(is_free)
    }

    /// Deletes a sealed recording, or a pack, and the date folders it leaves empty; nothing happens when there is none.
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
