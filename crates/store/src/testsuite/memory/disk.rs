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
use crate::recording::{ChunkInfo, RecordingParts, Sealed};
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
    pub(super) sealed_path: Option<String>,
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
            sealed_path: row.sealed_path.clone(),
            chunks: row.chunk_infos(),
        })
    }

    /// Gives back the path nothing points to any more.
    pub(super) fn seal(&mut self, sealed: Sealed) -> Option<String> {
        let Some(row) = self.rows.iter_mut().find(|row| row.query.query_id == sealed.query_id) else {
            return Some(sealed.path);
        };
        let there = |id: &i64| row.chunks.iter().any(|chunk| chunk.info.id == *id);
        let in_time = row.sealed_path == sealed.replaces && sealed.chunks.iter().all(there);
        if row.sealed_path.as_ref() != Some(&sealed.path) && !in_time {
            return Some(sealed.path);
        }
        row.chunks.retain(|chunk| !sealed.chunks.contains(&chunk.info.id));
        let before = row.sealed_path.replace(sealed.path);
        before.filter(|before| row.sealed_path.as_ref() != Some(before))
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
