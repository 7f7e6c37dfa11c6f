//! A pack: recordings of runs that started on one day, in one ZIP archive.
//!
//! A file of its own for each recording takes a block of the disk at least, and a request to a bucket. The archive
//! holds them as they are, each under the name it would have as a file of its own beside it, so `unzip` and `gunzip`
//! read it where there is no store. Packs of earlier versions have the whole path, 22 bytes more for each recording.
//! The store keeps where each begins and ends: a read needs no table of contents. Format:
//! [APPNOTE.TXT](https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT), method 0 (stored).

use std::io::{Cursor, Write};

use bytes::Bytes;
use queryscope_store::Slice;
use zip::result::ZipResult;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter};

/// A recording in a pack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackEntry {
    /// The name that it would have as a file of its own, or its path.
    pub path: String,
    /// Where it is.
    pub slice: Slice,
}

/// Puts recordings, each with its path, into one archive: its bytes, and where each of them is.
///
/// Nothing in it depends on when it was made.
pub(crate) fn pack<'r>(
    recordings: impl IntoIterator<Item = (&'r str, &'r [Bytes])>,
) -> ZipResult<(Vec<u8>, Vec<PackEntry>)> {
    let name = |path: &'r str| path.rsplit_once('/').map_or(path, |(_, name)| name);
    let bytes = archive(recordings.into_iter().map(|(path, pieces)| (name(path), pieces)))?;
    let entries = entries(&bytes)?;
    Ok((bytes, entries))
}

fn archive<'r, P: IntoIterator<Item: AsRef<[u8]>>>(
    recordings: impl IntoIterator<Item = (&'r str, P)>,
) -> ZipResult<Vec<u8>> {
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644);
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (path, pieces) in recordings {
        archive.start_file(path, options)?;
        for piece in pieces {
            archive.write_all(piece.as_ref())?;
        }
    }
    Ok(archive.finish()?.into_inner())
}

/// The recordings that the table of contents of a pack names.
///
/// # Errors
/// When it is none, or is damaged; what is wrong with the recordings themselves is not looked at.
pub fn pack_entries(pack: &[u8]) -> Result<Vec<PackEntry>, String> {
    entries(pack).map_err(|error| error.to_string())
}

/// The recordings of a pack that is as it was written, to the last bit.
///
/// An archive made anew of its recordings, and so with the checksums they have now, must be the same bytes. Only of one
/// that is not are the checksums in it compared, to name the recording that is damaged.
///
/// # Errors
/// With what is wrong: where a recording is damaged, its path.
pub fn check_pack(pack: &[u8]) -> Result<Vec<PackEntry>, String> {
    let found = pack_entries(pack)?;
    let again = archive(found.iter().map(|entry| (&*entry.path, [entry.of(pack)])));
    if again.is_ok_and(|again| again == pack) {
        return Ok(found);
    }
    let mut archive = ZipArchive::new(Cursor::new(pack)).map_err(|error| error.to_string())?;
    for (index, entry) in found.iter().enumerate() {
        let read = archive.by_index(index).map_err(|error| error.to_string()).and_then(|mut file| {
            std::io::copy(&mut file, &mut std::io::sink()).map_err(|error| error.to_string())
        });
        read.map_err(|error| format!("{}: {error}", entry.path))?;
    }
    Err("what is around its recordings is damaged".into())
}

impl PackEntry {
    /// The recording's bytes of those of its pack.
    pub fn of<'p>(&self, pack: &'p [u8]) -> &'p [u8] {
        slice_of(pack, self.slice)
    }
}

/// A part of a pack; less where the pack ends before.
fn slice_of(pack: &[u8], slice: Slice) -> &[u8] {
    let at = |place: u64| usize::try_from(place).map_or(pack.len(), |place| place.min(pack.len()));
    &pack[at(slice.offset)..at(slice.offset.saturating_add(slice.bytes))]
}

fn entries(pack: &[u8]) -> ZipResult<Vec<PackEntry>> {
    let mut archive = ZipArchive::new(Cursor::new(pack))?;
    (0..archive.len())
        .map(|index| {
            let file = archive.by_index_raw(index)?;
            let offset = file.data_start().unwrap_or_default();
            Ok(PackEntry {
                path: file.name()?.into_owned(),
                slice: Slice { offset, bytes: file.compressed_size() },
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn packed(recordings: &[Vec<Bytes>]) -> (Vec<u8>, Vec<PackEntry>) {
        let paths: Vec<String> = (0..recordings.len()).map(|n| format!("2026/11/27/{n}.jsonl.gz")).collect();
        pack(paths.iter().map(String::as_str).zip(recordings.iter().map(Vec::as_slice))).expect("packed")
    }

    #[test]
    fn recordings_are_where_it_says() {
        let recordings = [vec![Bytes::from("one"), Bytes::from("more")], vec![Bytes::from("two")], vec![]];
        let (pack, entries) = packed(&recordings);
        let expected: [&[u8]; 3] = [b"onemore", b"two", b""];
        assert_eq!(entries.iter().map(|entry| entry.of(&pack)).collect::<Vec<_>>(), expected);
        assert_eq!(entries[1].path, "1.jsonl.gz");
        assert_eq!(check_pack(&pack), Ok(entries));
    }

    #[test]
    fn what_ends_early_gives_what_is_there() {
        let (pack, entries) = packed(&[vec![Bytes::from("recording")]]);
        let slice = entries[0].slice;
        let end = usize::try_from(slice.offset).expect("small") + 3;
        assert_eq!(slice_of(&pack[..end], slice), b"rec");
        assert_eq!(slice_of(b"", slice), b"");
        assert_eq!(slice_of(&pack, Slice { offset: u64::MAX, bytes: u64::MAX }), b"");
    }

    proptest! {
        #[test]
        fn one_bit_that_flips_is_found(
            recordings in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 1..5),
            at in any::<prop::sample::Index>(),
            bit in 0_u32..8,
        ) {
            let recordings: Vec<Vec<Bytes>> =
                recordings.into_iter().map(|bytes| vec![Bytes::from(bytes)]).collect();
            let (mut pack, _) = packed(&recordings);
            prop_assert!(check_pack(&pack).is_ok());
            let at = at.index(pack.len());
            pack[at] ^= 1_u8 << bit;
            prop_assert!(check_pack(&pack).is_err(), "bit {bit} of byte {at}");
        }

        #[test]
        fn any_bytes_are_a_pack_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = check_pack(&bytes);
        }
    }
}
