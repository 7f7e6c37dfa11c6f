//! What the model keeps.

use std::collections::{BTreeMap, BTreeSet};

use queryscope_protocol::{QueryId, Seq, StreamId};

use super::access::Access;
use super::diagnosis::Diagnosis;
use super::issues::Issues;
use super::outbox::Outbox;
use crate::deploys::Deploy;
use crate::filter::Position;
use crate::kept::Loss;
use crate::notes::QueryNote;
use crate::query::Query;
use crate::recording::{ChunkInfo, Pack, RecordingParts, RecordingPlace, Sealed};
use crate::store::Listed;
use crate::token::TokenRecord;
use crate::views::SharedView;

#[derive(Debug, Default)]
pub(super) struct Disk {
    pub(super) streams: BTreeMap<StreamId, StreamRow>,
    /// In the order they were first stored.
    pub(super) rows: Vec<Row>,
    pub(super) rows_made: i64,
    pub(super) chunks_made: i64,
    pub(super) engines: BTreeSet<String>,
    pub(super) tokens: BTreeMap<String, TokenRecord>,
    pub(super) losses: Vec<Loss>,
    /// Packs that no query will point to.
    pub(super) given_up: BTreeSet<Pack>,
    pub(super) diagnosis: Diagnosis,
    pub(super) issues: Issues,
    pub(super) access: Access,
    pub(super) outbox: Outbox,
    /// By id.
    pub(super) deploys: BTreeMap<String, Deploy>,
    /// By id.
    pub(super) notes: BTreeMap<String, QueryNote>,
    /// By name and project.
    pub(super) views: BTreeMap<(String, String), SharedView>,
}

#[derive(Debug)]
pub(super) struct StreamRow {
    pub(super) project: String,
    pub(super) process_line: String,
    pub(super) seen: BTreeSet<Seq>,
    pub(super) unkept: u64,
}

#[derive(Debug)]
pub(super) struct Row {
    pub(super) query: Query,
    pub(super) place: i64,
    pub(super) heard_unix_ms: i64,
    pub(super) sealed: Option<RecordingPlace>,
    pub(super) events: u64,
    /// In the order they came.
    pub(super) chunks: Vec<ChunkRow>,
}

#[derive(Debug)]
pub(super) struct ChunkRow {
    pub(super) info: ChunkInfo,
    pub(super) gzip: Vec<u8>,
}

impl Disk {
    pub(super) fn row(&self, id: QueryId) -> Option<&Row> {
        self.rows.iter().find(|row| row.query.query_id == id)
    }

    /// Where the events of a query are.
    pub(super) fn recording(&self, id: QueryId) -> Option<RecordingParts> {
        let row = self.row(id)?;
        Some(RecordingParts {
            query: row.query.clone(),
            process_line: self.streams[&row.query.stream_id].process_line.clone(),
            sealed: row.sealed.clone(),
            chunks: row.chunk_infos(),
        })
    }

    /// Gives back the paths nothing points to any more.
    pub(super) fn seal(&mut self, sealed: Vec<Sealed>) -> Vec<String> {
        let given_up = self.given_up.clone();
        let left = sealed.into_iter().filter_map(|sealed| self.seal_one(sealed, &given_up)).collect();
        self.orphans(left)
    }

    /// Gives back the place the query does not point to any more.
    fn seal_one(&mut self, sealed: Sealed, given_up: &BTreeSet<Pack>) -> Option<RecordingPlace> {
        let Some(row) = self.rows.iter_mut().find(|row| row.query.query_id == sealed.query_id) else {
            return Some(sealed.place);
        };
        let there = |id: &i64| row.chunks.iter().any(|chunk| chunk.info.id == *id);
        let in_time = row.sealed == sealed.replaces
            && sealed.chunks.iter().all(there)
            && sealed.place.pack().is_none_or(|pack| !given_up.contains(&pack));
        if row.sealed.as_ref() != Some(&sealed.place) && !in_time {
            return Some(sealed.place);
        }
        row.chunks.retain(|chunk| !sealed.chunks.contains(&chunk.info.id));
        let before = row.sealed.replace(sealed.place).filter(|before| row.sealed.as_ref() != Some(before))?;
        self.given_up.extend(before.pack());
        Some(before)
    }

    /// The paths of places that were left and that nothing points to; a pack that was pointed to until now is given up.
    pub(super) fn orphans(&mut self, left: Vec<RecordingPlace>) -> Vec<String> {
        let live: BTreeSet<Pack> = self.rows.iter().filter_map(|row| row.sealed.as_ref()?.pack()).collect();
        self.given_up.retain(|pack| !live.contains(pack));
        let (packs, files): (Vec<_>, Vec<_>) = left.into_iter().partition(|place| place.slice.is_some());
        let packs: BTreeSet<Pack> = packs.iter().filter_map(RecordingPlace::pack).collect();
        let files = files.into_iter().map(|place| place.path);
        files.chain(packs.difference(&live).map(|pack| pack.path())).collect()
    }
}

impl Row {
    pub(super) fn listed(&self) -> Listed {
        Listed { query: self.query.clone(), position: self.position() }
    }

    pub(super) fn position(&self) -> Position {
        Position { started_unix_ns: self.query.started_unix_ns, tie: self.place }
    }

    pub(super) fn chunk_infos(&self) -> Vec<ChunkInfo> {
        let mut infos: Vec<_> = self.chunks.iter().map(|chunk| chunk.info).collect();
        infos.sort_by_key(|info| info.first);
        infos
    }
}
