//! Finds recordings that nothing points to.

use std::time::{Duration, SystemTime};

use chrono::{DateTime, NaiveDate};
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStore};
use queryscope_store::{Store, named_by, recording_path};

use crate::error::RecordingError;
use crate::recordings::Recordings;

/// What a sweep deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Swept {
    /// Recordings.
    pub recordings: u64,
    /// Their size together.
    pub bytes: u64,
}

impl Recordings {
    /// Deletes recordings the store does not know, as a crash between the deletion of a query and that of
    /// its recording leaves them, and empty date folders.
    ///
    /// Only days (UTC) that ended before `before_unix_ns` are looked at, and only what was last written
    /// before it is deleted: choose it so long ago that nothing written then is still on its way to the
    /// store, say a day. Files that are not named like recordings are left alone. Takes a query of the store
    /// for each recording of these days.
    pub async fn sweep(&self, store: &dyn Store, before_unix_ns: i64) -> Result<Swept, RecordingError> {
        let before = DateTime::from_timestamp_nanos(before_unix_ns);
        let days = self.days_before(before.date_naive()).await?;
        let mut swept = Swept::default();
        for day in &days {
            for object in self.objects.list_with_delimiter(Some(day)).await?.objects {
                if object.last_modified < before && is_orphan(store, &object).await? {
                    self.delete(object.location.as_ref()).await?;
                    swept.recordings += 1;
                    swept.bytes += object.size;
                }
            }
        }
        if let Some(folders) = &self.folders {
            let age = Duration::from_nanos(u64::try_from(before_unix_ns).unwrap_or(0));
            let days = days.iter().map(ToString::to_string).collect();
            folders.tidy(days, SystemTime::UNIX_EPOCH + age).await?;
        }
        Ok(swept)
    }

    /// The date folders of days before a day.
    async fn days_before(&self, before: NaiveDate) -> Result<Vec<Path>, RecordingError> {
        let mut folders = self.subfolders(None, 4).await?;
        for _ in ["months", "days"] {
            let mut deeper = Vec::new();
            for folder in &folders {
                deeper.extend(self.subfolders(Some(folder), 2).await?);
            }
            folders = deeper;
        }
        folders
            .retain(|day| NaiveDate::parse_from_str(day.as_ref(), "%Y/%m/%d").is_ok_and(|day| day < before));
        Ok(folders)
    }

    /// The folders in a folder whose names are so many digits.
    async fn subfolders(&self, folder: Option<&Path>, digits: usize) -> Result<Vec<Path>, RecordingError> {
        let mut folders = self.objects.list_with_delimiter(folder).await?.common_prefixes;
        folders.retain(|folder| {
            folder
                .filename()
                .is_some_and(|name| name.len() == digits && name.bytes().all(|byte| byte.is_ascii_digit()))
        });
        Ok(folders)
    }
}

/// Whether an object is named like a recording and is none the store has or is about to have.
async fn is_orphan(store: &dyn Store, object: &ObjectMeta) -> Result<bool, RecordingError> {
    let path = object.location.as_ref();
    let Some((id, version)) = named_by(path) else {
        return Ok(false);
    };
    Ok(store.recording(id).await?.is_none_or(|parts| {
        let about_to_be = version.is_none() && recording_path(id, parts.query.started_unix_ns) == path;
        parts.sealed_path.as_deref() != Some(path) && !about_to_be
    }))
}
