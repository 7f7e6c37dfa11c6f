//! The stored events of one run.

use queryscope_protocol::{QueryId, Seq};

use crate::path::{NS_PER_DAY, day_of_path, named_by, pack_named_by, pack_path, sealed_path};
use crate::query::Query;

/// Packs that are given up are remembered for so many days more: until then one that was written may be made known.
const GIVEN_UP_KEPT_DAYS: i64 = 8;

/// Where the events of a query are.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordingParts {
    /// The query.
    pub query: Query,
    /// The process event of its stream as it was sent, without its line feed.
    pub process_line: String,
    /// Where the sealed recording is, if there is one.
    pub sealed: Option<RecordingPlace>,
    /// Chunks that are not in the sealed recording yet, by first seq.
    pub chunks: Vec<ChunkInfo>,
}

/// One stored chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkInfo {
    /// Names the chunk; while the store is open never used again for another.
    pub id: i64,
    /// Lowest seq in it.
    pub first: Seq,
    /// Highest seq in it.
    pub last: Seq,
    /// Its size in bytes.
    pub bytes: u64,
}

/// Where a sealed recording is: a file or object of its own, or a part of a pack.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RecordingPlace {
    /// The path of the file or object, relative to where recordings are.
    pub path: String,
    /// Which bytes of a pack it is; `None` for a recording of its own.
    pub slice: Option<Slice>,
}

/// A part of a pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Slice {
    /// Bytes of the pack before it.
    pub offset: u64,
    /// Its bytes.
    pub bytes: u64,
}

/// A [`RecordingPlace`] as a row of a run has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlaceColumns {
    /// The UTC day (since 1970-01-01) it lies under.
    pub day: i64,
    /// The version of a recording of its own, or the number of the pack; as the same bits without a sign.
    pub version: Option<i64>,
    /// Bytes of the pack before it; `None` for a recording of its own.
    pub offset: Option<i64>,
    /// Bytes of it in the pack; `None` for a recording of its own.
    pub bytes: Option<i64>,
}

impl RecordingPlace {
    /// A recording of its own.
    pub fn file(path: String) -> Self {
        Self { path, slice: None }
    }

    /// The place of the recording of a run that a row tells of.
    pub fn of_columns(query_id: QueryId, columns: PlaceColumns) -> Self {
        let PlaceColumns { day, version, offset, bytes } = columns;
        let version = version.map(i64::cast_unsigned);
        let slice = offset
            .zip(bytes)
            .map(|(offset, bytes)| Slice { offset: offset.cast_unsigned(), bytes: bytes.cast_unsigned() });
        match (slice, version) {
            (Some(_), Some(number)) => Self { path: pack_path(day, number), slice },
            _ => Self::file(sealed_path(query_id, day, version)),
        }
    }

    /// What a row of a run has of it; `None` where the path is not one of a recording of this run, or of a pack.
    pub fn columns(&self, query_id: QueryId) -> Option<PlaceColumns> {
        let Some(Slice { offset, bytes }) = self.slice else {
            let (day, version) = (day_of_path(&self.path)?, named_by(&self.path)?.1);
            let columns =
                PlaceColumns { day, version: version.map(u64::cast_signed), offset: None, bytes: None };
            return (sealed_path(query_id, day, version) == self.path).then_some(columns);
        };
        let Pack { day, number } = pack_named_by(&self.path)?;
        let version = Some(number.cast_signed());
        Some(PlaceColumns {
            day,
            version,
            offset: i64::try_from(offset).ok(),
            bytes: i64::try_from(bytes).ok(),
        })
        .filter(|columns| columns.offset.is_some() && columns.bytes.is_some())
    }

    /// The pack it is in; `None` for a recording of its own.
    pub fn pack(&self) -> Option<Pack> {
        self.slice?;
        pack_named_by(&self.path)
    }
}

impl std::fmt::Display for RecordingPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.slice {
            None => f.write_str(&self.path),
            Some(Slice { offset, bytes }) => write!(f, "{} (bytes {offset}+{bytes})", self.path),
        }
    }
}

/// A file or object with recordings of several runs that started on one day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pack {
    /// The UTC day (since 1970-01-01).
    pub day: i64,
    /// Names it within its day: random, so that no name comes again.
    pub number: u64,
}

impl Pack {
    /// The UTC day (since 1970-01-01) before whose packs those that were given up are forgotten, where runs are kept
    /// that started at a time or later.
    pub fn forgotten_before(kept_since_unix_ns: i64) -> i64 {
        kept_since_unix_ns.div_euclid(NS_PER_DAY) - GIVEN_UP_KEPT_DAYS
    }

    /// Its path, relative to where recordings are.
    pub fn path(self) -> String {
        pack_path(self.day, self.number)
    }
}

/// A recording that has been written and replaces chunks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sealed {
    /// The query.
    pub query_id: QueryId,
    /// Where the recording was written.
    pub place: RecordingPlace,
    /// The sealed recording it takes the place of, as it was when the chunks were read.
    pub replaces: Option<RecordingPlace>,
    /// The chunks whose events it holds, beside those of the sealed recording before it.
    pub chunks: Vec<i64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_kept_in_columns() {
        let id: QueryId = "01a1faa8-1bd9-77b2-97ab-860dd7026506".parse().expect("a UUID");
        let slice = Some(Slice { offset: 3, bytes: 1 << 40 });
        let places = [
            RecordingPlace::file(sealed_path(id, 3, None)),
            RecordingPlace::file(sealed_path(id, -3, Some(u64::MAX))),
            RecordingPlace { path: pack_path(3, u64::MAX), slice },
        ];
        for place in places {
            let columns = place.columns(id).expect("a place of the run");
            assert_eq!(RecordingPlace::of_columns(id, columns), place);
        }
    }

    #[test]
    fn a_place_of_another_run_has_no_columns() {
        let [id, other] = ["01a1faa8-1bd9-77b2-97ab-860dd7026506", "01a1faa8-1bd9-77b2-97ab-860dd7026507"]
            .map(|id| id.parse::<QueryId>().expect("a UUID"));
        let slice = |offset| Some(Slice { offset, bytes: 1 });
        let check = |place: RecordingPlace| assert_eq!(place.columns(id), None, "{place}");
        check(RecordingPlace::file(sealed_path(other, 3, None)));
        check(RecordingPlace::file(pack_path(3, 1)));
        check(RecordingPlace { path: sealed_path(id, 3, None), slice: slice(0) });
        check(RecordingPlace { path: pack_path(3, 1), slice: slice(u64::MAX) });
    }
}
