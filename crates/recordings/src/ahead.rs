//! Recordings in packs that are read together.
//!
//! Problem: who reads many runs one after the other opens their pack once for each, on another thread each time, which
//! takes longer than all that is then done with a small recording. Mechanism: what is about to be read is read at once,
//! pack by pack, and stays in memory for as long as the [`Recordings`] that have it.

use std::collections::{BTreeMap, HashMap};

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use memchr::memmem;
use object_store::ObjectStore;
use queryscope_store::{Inflater, RecordingParts, RecordingPlace, Slice, lines_of};

use crate::content::Content;
use crate::recordings::{Recordings, parse};

/// Bytes that are read ahead at most.
const AHEAD_BYTES: u64 = 16 << 20;
/// Packs of a bucket that are asked for at once.
const REQUESTS: usize = 4;
/// Bytes that are inflated at once.
const TEXT_BYTES: usize = 16 << 20;

/// Parts of packs, by place.
pub(crate) type Ahead = HashMap<RecordingPlace, Bytes>;

impl Recordings {
    /// The same recordings; those at these places that are in packs have been read, up to 16 MiB of them, and each of
    /// the packs was opened or asked for once.
    ///
    /// What could not be read is read anew when it is asked for: what is wrong is told then.
    #[must_use]
    pub async fn read_ahead(&self, places: impl IntoIterator<Item = &RecordingPlace>) -> Self {
        let mut packs: BTreeMap<String, Vec<Slice>> = BTreeMap::new();
        let mut bytes: u64 = 0;
        for place in places {
            let Some(slice) = place.slice else { continue };
            let more = bytes.saturating_add(slice.bytes);
            if more <= AHEAD_BYTES {
                bytes = more;
                packs.entry(place.path.clone()).or_default().push(slice);
            }
        }
        let read = match &self.folders {
            Some(folders) => folders.read_slices(packs).await,
            None => self.ask(packs).await,
        };
        let whole = |(slice, bytes): &(Slice, Bytes)| bytes.len() as u64 == slice.bytes;
        let of_pack = |(path, slices, read): (String, Vec<Slice>, Vec<Bytes>)| {
            let place =
                move |(slice, bytes)| (RecordingPlace { path: path.clone(), slice: Some(slice) }, bytes);
            slices.into_iter().zip(read).filter(whole).map(place)
        };
        Self { ahead: read.into_iter().flat_map(of_pack).collect::<Ahead>().into(), ..self.clone() }
    }

    /// Asks for parts of packs; those of a pack of which one is not there are left out.
    async fn ask(&self, packs: BTreeMap<String, Vec<Slice>>) -> Vec<(String, Vec<Slice>, Vec<Bytes>)> {
        let range = |slice: &Slice| slice.offset..slice.offset.saturating_add(slice.bytes);
        let asked = stream::iter(packs).map(async |(path, slices)| {
            let ranges: Vec<_> = slices.iter().map(range).collect();
            let read = self.objects.get_ranges(&parse(&path).ok()?, &ranges).await.ok()?;
            Some((path, slices, read))
        });
        asked.buffer_unordered(REQUESTS).filter_map(async |read| read).collect().await
    }

    /// The text of a sealed recording that was [read ahead](Self::read_ahead), inflated at once: the lines that
    /// [`read`](Self::read) gives. `None` where it is to be read piece by piece: it is none of these, or damaged, or
    /// its bytes alone do not tell that it is the run's.
    pub fn text_ahead(&self, parts: &RecordingParts, inflater: &mut Inflater) -> Option<Vec<u8>> {
        let place = parts.sealed.as_ref().filter(|_| parts.chunks.is_empty())?;
        let mut text = Vec::new();
        if !inflater.inflate_members(self.ahead.get(place)?, TEXT_BYTES, &mut text) {
            return None;
        }
        let of_run = format!("\"query_id\":\"{}\"", parts.query.query_id);
        let is_it = {
            let mut lines = lines_of(&text);
            lines.next()? == parts.process_line.as_bytes()
                && memmem::find(lines.next()?, of_run.as_bytes()).is_some()
        };
        is_it.then_some(text)
    }

    /// What was read ahead.
    pub(crate) fn was_read(&self, place: &RecordingPlace) -> Option<Content> {
        let bytes = self.ahead.get(place)?.clone();
        let size = Some(bytes.len() as u64);
        Some(Content { size, bytes: stream::iter([Ok(bytes)]).boxed() })
    }
}
