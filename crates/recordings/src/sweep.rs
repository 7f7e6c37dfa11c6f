//! Finds recordings that nothing points to.

use std::collections::HashSet;
use std::future::ready;
use std::ops::{Add, RangeInclusive};
use std::time::{Duration, SystemTime};

use chrono::{DateTime, NaiveDate, Utc};
use futures_util::TryStreamExt;
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt};
use queryscope_protocol::QueryId;
use queryscope_store::{Pack, Store, named_by, pack_named_by, recording_path};

use crate::error::RecordingError;
use crate::pack::pack_entries;
use crate::recordings::{Recordings, parse};

/// What a sweep deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Swept {
    /// Recordings, and packs of recordings.
    pub recordings: u64,
    /// Their size together.
    pub bytes: u64,
}

impl Add for Swept {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { recordings: self.recordings + other.recordings, bytes: self.bytes + other.bytes }
    }
}

impl Swept {
    fn count(&mut self, bytes: u64) {
        self.recordings += 1;
        self.bytes += bytes;
    }
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
                if object.last_modified < before {
                    self.sweep_orphan(store, &object, &mut swept).await?;
                }
            }
            for (pack, bytes) in self.orphan_packs(store, day, before).await? {
                if self.delete_pack(store, pack).await? {
                    swept.count(bytes);
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

    /// Deletes versions of recordings that others took the place of, and such as were written and never made
    /// known, where recordings are [shared](Recordings::shared).
    ///
    /// They stay at first, for whoever reads them, and for whoever restores a backup of the store. Only what was
    /// last written before `before_unix_ns` is deleted: a day is enough for both, and for what is still on its way
    /// to the store. Looks at the days (UTC) of this stretch of Unix nanoseconds and asks the store for queries with
    /// several versions alone; 16 bytes a recording of a day are held meanwhile.
    pub async fn sweep_versions(
        &self,
        store: &dyn Store,
        days_unix_ns: RangeInclusive<i64>,
        before_unix_ns: i64,
    ) -> Result<Swept, RecordingError> {
        let before = DateTime::from_timestamp_nanos(before_unix_ns);
        let mut swept = Swept::default();
        for day in days(days_unix_ns) {
            let several = self.of_several_versions(&day).await?;
            if several.is_empty() {
                continue;
            }
            let mut objects = self.objects.list(Some(&day));
            while let Some(object) = objects.try_next().await? {
                if object.last_modified < before
                    && named_by(object.location.as_ref()).is_some_and(|(id, _)| several.contains(&id))
                {
                    self.sweep_orphan(store, &object, &mut swept).await?;
                }
            }
        }
        Ok(swept)
    }

    /// Deletes packs that nothing points to and of whose recordings the store has others, where recordings are
    /// [shared](Recordings::shared). Nothing will point to them from then on: a pack that is on its way to the store
    /// for so long comes too late.
    ///
    /// Only what was last written before `before_unix_ns` is deleted, of the days (UTC) of this stretch of Unix
    /// nanoseconds. A store that was put back from a backup may not know the queries of a pack: that stays.
    pub async fn sweep_packs(
        &self,
        store: &dyn Store,
        days_unix_ns: RangeInclusive<i64>,
        before_unix_ns: i64,
    ) -> Result<Swept, RecordingError> {
        let before = DateTime::from_timestamp_nanos(before_unix_ns);
        let mut swept = Swept::default();
        for day in days(days_unix_ns) {
            for (pack, bytes) in self.orphan_packs(store, &day, before).await? {
                if self.is_sealed_otherwise(store, pack).await? && self.delete_pack(store, pack).await? {
                    swept.count(bytes);
                }
            }
        }
        Ok(swept)
    }

    /// The packs of a day that nothing points to and that were last written before a time, with their sizes.
    async fn orphan_packs(
        &self,
        store: &dyn Store,
        day: &Path,
        before: DateTime<Utc>,
    ) -> Result<Vec<(Pack, u64)>, RecordingError> {
        let mut packs = Vec::new();
        let mut objects = self.objects.list(Some(day));
        while let Some(object) = objects.try_next().await? {
            if object.last_modified < before
                && let Some(pack) = pack_named_by(object.location.as_ref())
            {
                packs.push((pack, object.size));
            }
        }
        if let Some((Pack { day, .. }, _)) = packs.first() {
            let known: HashSet<Pack> = store.packs(*day).await?.into_iter().collect();
            packs.retain(|(pack, _)| !known.contains(pack));
        }
        Ok(packs)
    }

    /// Whether the store has a sealed recording of each query of a pack that nothing points to.
    async fn is_sealed_otherwise(&self, store: &dyn Store, pack: Pack) -> Result<bool, RecordingError> {
        let bytes = self.objects.get(&parse(&pack.path())?).await?.bytes().await?;
        // What is damaged is for a person to look at.
        let Ok(entries) = pack_entries(&bytes) else { return Ok(false) };
        for entry in entries {
            let Some((id, _)) = named_by(&entry.path) else { return Ok(false) };
            if store.recording(id).await?.is_none_or(|parts| parts.sealed.is_none()) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The queries of which a day has more than one recording. A folder lists names in an order of its own, as do
    /// some buckets.
    async fn of_several_versions(&self, day: &Path) -> Result<HashSet<QueryId>, RecordingError> {
        let names = self.objects.list(Some(day));
        let ids =
            names.try_filter_map(|object| ready(Ok(named_by(object.location.as_ref()).map(|(id, _)| id))));
        let mut ids: Vec<QueryId> = ids.try_collect().await?;
        ids.sort_unstable();
        Ok(ids.array_windows().filter(|[id, next]| id == next).map(|[id, _]| *id).collect())
    }

    async fn sweep_orphan(
        &self,
        store: &dyn Store,
        object: &ObjectMeta,
        swept: &mut Swept,
    ) -> Result<(), RecordingError> {
        if is_orphan(store, object).await? {
            self.delete(object.location.as_ref()).await?;
            swept.count(object.size);
        }
        Ok(())
    }

    /// The date folders of days before a day.
    pub(crate) async fn days_before(&self, before: NaiveDate) -> Result<Vec<Path>, RecordingError> {
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

/// The date folders of the days of a stretch of Unix nanoseconds.
fn days(unix_ns: RangeInclusive<i64>) -> impl Iterator<Item = Path> {
    let [first, last] =
        [unix_ns.start(), unix_ns.end()].map(|unix_ns| DateTime::from_timestamp_nanos(*unix_ns).date_naive());
    let days = first.iter_days().take_while(move |day| *day <= last);
    days.map(|day| Path::from(day.format("%Y/%m/%d").to_string()))
}

/// Whether an object is named like a recording of its own and is none the store has or may yet have.
async fn is_orphan(store: &dyn Store, object: &ObjectMeta) -> Result<bool, RecordingError> {
    let path = object.location.as_ref();
    let Some((id, version)) = named_by(path) else {
        return Ok(false);
    };
    Ok(store.recording(id).await?.is_none_or(|parts| {
        let about_to_be = match version {
            None => recording_path(id, parts.query.started_unix_ns) == path,
            // It can be made known for as long as the chunks it was made of are there; their ids do not come again.
            Some(_) => !parts.chunks.is_empty(),
        };
        parts.sealed.is_none_or(|place| place.path != path) && !about_to_be
    }))
}
