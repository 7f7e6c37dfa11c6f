//! Moves recordings that have a file of their own into packs.
//!
//! Versions before packs left one file for each run, and so do runs that end alone. In a bucket, moving them would cost
//! more requests than it saves: this is for folders of one service.

use bytes::Bytes;
use chrono::DateTime;
use futures_util::TryStreamExt;
use object_store::ObjectStore;
use object_store::path::Path;
use queryscope_protocol::QueryId;
use queryscope_store::{RecordingPlace, Sealed, Status, Store, named_by, unpack};

use crate::error::RecordingError;
use crate::recordings::Recordings;
use crate::seal::{PACK_BYTES, PACKED_MAX};

/// Recordings that the store is asked for at once.
const ASKED_AT_ONCE: usize = 256;

/// Files of one day that may be moved.
#[derive(Debug)]
pub struct Loose {
    /// In the order of their names; each is looked at once.
    files: Vec<(QueryId, String)>,
}

impl Recordings {
    /// The small files of days (UTC) that ended before a moment, by day; none where recordings are
    /// [shared](Recordings::shared).
    ///
    /// # Errors
    /// When the folder cannot be listed.
    pub async fn loose(&self, before_unix_ns: i64) -> Result<Vec<Loose>, RecordingError> {
        let mut loose = Vec::new();
        if self.shared {
            return Ok(loose);
        }
        let before = DateTime::from_timestamp_nanos(before_unix_ns).date_naive();
        for day in self.days_before(before).await? {
            let files = self.loose_files(&day).await?;
            if files.len() > 1 {
                loose.push(Loose { files });
            }
        }
        Ok(loose)
    }

    async fn loose_files(&self, day: &Path) -> Result<Vec<(QueryId, String)>, RecordingError> {
        let mut files = Vec::new();
        let mut objects = self.objects.list(Some(day));
        while let Some(object) = objects.try_next().await? {
            if object.size <= PACKED_MAX as u64
                && let Some((id, None)) = named_by(object.location.as_ref())
            {
                files.push((id, object.location.to_string()));
            }
        }
        files.sort_unstable();
        Ok(files)
    }

    /// Moves up to `limit` recordings, or 8 MiB, into one pack, and deletes their files once the store points to it;
    /// how many. What is damaged, or has late events that wait to be sealed, stays where it is.
    ///
    /// Can be interrupted at any point: each recording is read from where the store says that it is.
    ///
    /// # Errors
    /// When the store fails, or the folder does.
    pub async fn gather(
        &self,
        store: &dyn Store,
        loose: &mut Loose,
        limit: usize,
    ) -> Result<usize, RecordingError> {
        let (mut sealed, mut recordings, mut bytes) = (Vec::new(), Vec::new(), 0);
        let mut day = 0;
        while bytes < PACK_BYTES && sealed.len() < limit && !loose.files.is_empty() {
            let asked = ASKED_AT_ONCE.min(limit - sealed.len()).min(loose.files.len());
            let files = loose.files.split_off(loose.files.len() - asked);
            let ids: Vec<QueryId> = files.iter().map(|(id, _)| *id).collect();
            for (parts, (id, path)) in store.recordings(&ids).await?.into_iter().zip(files) {
                let place = RecordingPlace::file(path);
                let Some(parts) = parts.filter(|parts| {
                    parts.sealed.as_ref() == Some(&place)
                        && parts.chunks.is_empty()
                        && parts.query.status != Status::Running
                }) else {
                    continue;
                };
                let content = match self.open_of(&parts, &place).await {
                    Err(RecordingError::Damaged { .. } | RecordingError::Gone) => continue,
                    content => content?,
                };
                let content: Vec<Bytes> = content.bytes.try_collect().await?;
                let Some(columns) = place.columns(id).filter(|_| unpack(&content.concat()).is_ok()) else {
                    continue;
                };
                day = columns.day;
                bytes += content.iter().map(Bytes::len).sum::<usize>();
                recordings.push((place.path.clone(), content));
                sealed.push(Sealed {
                    query_id: id,
                    place: place.clone(),
                    replaces: Some(place),
                    chunks: Vec::new(),
                });
            }
        }
        // One that is alone has nothing to share.
        if sealed.len() < 2 {
            return Ok(0);
        }
        let places = self.write_pack(day, recordings).await?;
        let written: Vec<Sealed> =
            sealed.into_iter().zip(places).map(|(sealed, place)| Sealed { place, ..sealed }).collect();
        self.sync(&written).await?;
        let moved = written.len();
        for path in self.make_known(store, written).await? {
            self.delete_orphan(store, &path).await?;
        }
        Ok(moved)
    }
}

impl Loose {
    /// Whether nothing is left to be looked at.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}
