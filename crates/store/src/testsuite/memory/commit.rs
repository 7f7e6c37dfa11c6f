//! How the model stores a batch.

use queryscope_protocol::Seq;

use super::disk::{ChunkRow, Disk, Row, StreamRow};
use crate::batch::{QueryPart, StreamBatch, StreamProcess};
use crate::chunk::{Packer, lines_of, unpack};
use crate::commits::Change;
use crate::error::StoreError;
use crate::query::Query;
use crate::recording::ChunkInfo;
use crate::store::Committed;

impl Disk {
    pub(super) fn commit(&mut self, mut batch: StreamBatch) -> Result<(Committed, Vec<Change>), StoreError> {
        let stream_id = batch.process.id;
        if self.streams.get(&stream_id).is_some_and(|stream| stream.project != batch.project) {
            return Err(StoreError::ForeignStream(stream_id));
        }
        for part in &batch.parts {
            if self.row(part.query_id).is_some_and(|row| row.query.stream_id != stream_id) {
                return Err(StoreError::ForeignQuery(part.query_id));
            }
        }
        self.streams.entry(stream_id).or_insert_with(|| StreamRow {
            project: batch.project.clone(),
            process_line: batch.process.line.clone(),
            seen: [].into(),
            unkept: 0,
        });
        let first = &self.streams[&stream_id].process_line;
        if *first != batch.process.line {
            batch.process = StreamProcess::read(first).expect("was a process event");
        }
        let mut committed = Committed::default();
        let mut changes = Vec::new();
        for part in std::mem::take(&mut batch.parts) {
            let fresh = self.see(&batch, &part.seqs, &mut committed);
            if !fresh.is_empty() {
                let query_id = part.query_id;
                let before = self.row(query_id).map(|row| row.query.known);
                changes.push(self.keep(&batch, part, &fresh));
                let has_ended = self.row(query_id).is_some_and(|row| row.query.has_just_ended(before));
                committed.ended.extend(has_ended.then_some(query_id));
            }
        }
        let loose = std::mem::take(&mut batch.loose);
        let unkept = self.see(&batch, &loose, &mut committed);
        self.streams.get_mut(&stream_id).expect("was made above").unkept += unkept.len() as u64;
        Ok((committed, changes))
    }

    /// Gives back which of the seqs are new.
    fn see(&mut self, batch: &StreamBatch, seqs: &[Seq], committed: &mut Committed) -> Vec<Seq> {
        let stream = self.streams.get_mut(&batch.process.id).expect("was made above");
        let fresh: Vec<Seq> = seqs.iter().copied().filter(|seq| stream.seen.insert(*seq)).collect();
        committed.accepted += fresh.len() as u64;
        committed.duplicates += (seqs.len() - fresh.len()) as u64;
        fresh
    }

    fn keep(&mut self, batch: &StreamBatch, mut part: QueryPart, fresh: &[Seq]) -> Change {
        if fresh.len() < part.seqs.len() {
            let lines = unpack(&part.gzip).expect("a sound chunk");
            let kept = lines_of(&lines).zip(&part.seqs).filter(|(_, seq)| fresh.contains(seq));
            part.gzip = Packer::new().pack(kept.map(|(line, _)| line));
        }
        part.report.keep(fresh);
        self.engines.extend(part.report.engine.clone());
        self.chunks_made += 1;
        let chunk = ChunkRow {
            info: ChunkInfo {
                id: self.chunks_made,
                first: fresh[0],
                last: fresh[fresh.len() - 1],
                bytes: part.gzip.len() as u64,
            },
            gzip: part.gzip,
        };
        let query_id = part.query_id;
        let info = Some(chunk.info);
        if let Some(row) = self.rows.iter_mut().find(|row| row.query.query_id == query_id) {
            let before = row.query.clone();
            row.query.hear(&part.report);
            row.heard_unix_ms = batch.received_unix_ms;
            row.events += fresh.len() as u64;
            row.chunks.push(chunk);
            self.diagnosis.append(row, Some(before.known), &part.report);
            let moved = (row.query.status, row.query.known) != (before.status, before.known);
            Change { query_id, status: row.query.status, moved, new: None, chunk: info }
        } else {
            self.rows_made += 1;
            let query = Query::first(&batch.project, &batch.process, query_id, &part.report);
            let new = Some(Box::new(query.clone()));
            self.rows.push(Row {
                query,
                place: self.rows_made,
                heard_unix_ms: batch.received_unix_ms,
                sealed: None,
                events: fresh.len() as u64,
                chunks: vec![chunk],
            });
            let row = &self.rows[self.rows.len() - 1];
            self.diagnosis.append(row, None, &part.report);
            let status = row.query.status;
            Change { query_id, status, moved: true, new, chunk: info }
        }
    }
}
