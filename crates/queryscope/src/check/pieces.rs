//! The events of a run as they are stored: in its sealed recording and in chunks.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use anyhow::{Context, Result};
use futures_util::TryStreamExt;
use queryscope_protocol::{Seq, seq_of};
use queryscope_recordings::Recordings;
use queryscope_store::{ChunkInfo, Inflater, RecordingParts, RecordingPlace, Store, lines_of, unpack};

/// What the pieces of a recording hold, and what is wrong with them.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    /// Every event, once: of several with one seq the first that was stored.
    pub(crate) events: BTreeMap<Seq, Vec<u8>>,
    pub(crate) problems: Vec<String>,
    /// Whether a seq is in a chunk.
    in_chunk: BTreeMap<Seq, i64>,
}

impl Pieces {
    pub(crate) async fn read(
        store: &Arc<dyn Store>,
        recordings: &Recordings,
        parts: &RecordingParts,
    ) -> Self {
        let mut pieces = Self::default();
        if let Some(place) = &parts.sealed {
            match sealed(recordings, place).await {
                Ok(text) => pieces.take_sealed(&text, parts.process_line.as_bytes()),
                Err(error) => {
                    pieces.problems.push(format!("its recording cannot be read: {place}: {error:#}"))
                }
            }
        }
        let mut chunks = parts.chunks.clone();
        chunks.sort_unstable_by_key(|chunk| chunk.id);
        for chunk in chunks {
            match read_chunk(store, chunk.id).await {
                Ok(text) => pieces.take_chunk(&text, chunk),
                Err(error) => {
                    let ChunkInfo { id, first, last, .. } = chunk;
                    let problem = format!(
                        "its recording cannot be read: chunk {id}, events {first} to {last}: {error:#}"
                    );
                    pieces.problems.push(problem);
                }
            }
        }
        pieces
    }

    /// The same as a reader of the recording gets it, where all of it is sealed and nothing is wrong with it: what a
    /// reader gets is then the sealed recording as it is.
    pub(crate) async fn of_reader(
        store: &Arc<dyn Store>,
        recordings: &Recordings,
        parts: &RecordingParts,
    ) -> Option<Self> {
        if let Some(pieces) = Self::of_pack(recordings, parts) {
            return Some(pieces);
        }
        if parts.sealed.is_none() || !parts.chunks.is_empty() {
            return None;
        }
        let content = recordings.read(store, parts.clone()).await.ok()?;
        let bytes: Vec<_> = content.bytes.try_collect().await.ok()?;
        Self::of_sealed(&unpack(&bytes.concat()).ok()?, parts)
    }

    /// The same, where the recording is in a pack that was read ahead: no other thread is asked for anything.
    pub(crate) fn of_pack(recordings: &Recordings, parts: &RecordingParts) -> Option<Self> {
        Self::of_sealed(&recordings.text_ahead(parts, &mut Inflater::default())?, parts)
    }

    /// Those of a sealed recording with which nothing is wrong.
    fn of_sealed(text: &[u8], parts: &RecordingParts) -> Option<Self> {
        let mut pieces = Self::default();
        pieces.take_sealed(text, parts.process_line.as_bytes());
        pieces.problems.is_empty().then_some(pieces)
    }

    fn take_sealed(&mut self, text: &[u8], process_line: &[u8]) {
        let mut lines = lines_of(text);
        if lines.next() != Some(process_line) {
            self.problems.push("its recording does not begin with the process event of its stream".into());
        }
        for (seq, line) in numbered(lines, &mut self.problems) {
            self.events.insert(seq, line.to_vec());
        }
    }

    fn take_chunk(&mut self, text: &[u8], chunk: ChunkInfo) {
        let lines = numbered(lines_of(text), &mut self.problems);
        let held = lines.first().map(|(seq, _)| *seq).zip(lines.last().map(|(seq, _)| *seq));
        if held != Some((chunk.first, chunk.last)) {
            let held = held.map_or("none".into(), |(first, last)| format!("{first} to {last}"));
            let ChunkInfo { id, first, last, .. } = chunk;
            self.problems.push(format!("chunk {id} is to hold events {first} to {last} and holds {held}"));
        }
        for (seq, line) in lines {
            // An event may be in a chunk and in the sealed recording: when the service is killed after it has
            // written the recording anew and before it has deleted the chunks.
            if let Some(other) = self.in_chunk.insert(seq, chunk.id) {
                self.problems
                    .push(format!("event {seq} is stored twice, in chunks {other} and {}", chunk.id));
            }
            match self.events.entry(seq) {
                Entry::Vacant(entry) => drop(entry.insert(line.to_vec())),
                Entry::Occupied(entry) if entry.get() == line => {}
                Entry::Occupied(_) => {
                    self.problems.push(format!(
                        "event {seq} is stored again, with other bytes, in chunk {}",
                        chunk.id
                    ));
                }
            }
        }
    }
}

/// Lines with their seqs, which are to ascend.
fn numbered<'t>(lines: impl Iterator<Item = &'t [u8]>, problems: &mut Vec<String>) -> Vec<(Seq, &'t [u8])> {
    let mut numbered: Vec<(Seq, &[u8])> = Vec::new();
    for line in lines {
        let Some(seq) = seq_of(line) else {
            problems.push("a line is no event: it has no seq".into());
            continue;
        };
        if let Some((before, _)) = numbered.last().filter(|(before, _)| *before >= seq) {
            problems.push(format!("event {seq} comes after event {before}"));
        }
        numbered.push((seq, line));
    }
    numbered
}

async fn sealed(recordings: &Recordings, place: &RecordingPlace) -> Result<Vec<u8>> {
    let bytes: Vec<_> = recordings.open(place).await?.bytes.try_collect().await?;
    Ok(unpack(&bytes.concat())?)
}

async fn read_chunk(store: &Arc<dyn Store>, id: i64) -> Result<Vec<u8>> {
    let gzip = store.chunks(vec![id]).await?.into_iter().flatten().next().context("it is missing")?;
    Ok(unpack(&gzip)?)
}
