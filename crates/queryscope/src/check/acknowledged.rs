//! What was acknowledged against what is stored.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use queryscope_protocol::{Batch, QueryId, Seq, StreamId, seq_of};
use queryscope_store::{Kept, SeqRange, StoreError};

use super::losses::{Losses, Recorded};
use super::queries::{PAGE, kept};
use super::streams::has_seen;
use super::{Findings, Subject, recording};
use crate::events_file::EventsFile;
use crate::store::Opened;

/// Characters of a line that are shown.
const SHOWN_CHARS: usize = 120;

/// What was acknowledged, and what became of it.
#[derive(Debug, Default)]
pub(crate) struct Acknowledged {
    queries: HashMap<QueryId, BTreeMap<Seq, String>>,
    streams: HashMap<QueryId, StreamId>,
    /// Events of no query: they are seen and not kept.
    loose: HashMap<StreamId, BTreeSet<Seq>>,
    pub(crate) events: u64,
    /// Events that are lost, as earlier repairs recorded.
    pub(crate) lost: Recorded,
    /// Events of queries that retention took out since.
    pub(crate) deleted: u64,
}

/// Judges events files of what was acknowledged.
pub(crate) async fn check(
    files: &[PathBuf],
    opened: &Opened,
    seen: &HashMap<StreamId, Vec<SeqRange>>,
    losses: &HashMap<StreamId, Losses>,
    findings: &mut Findings,
) -> Result<Acknowledged> {
    let mut acknowledged = Acknowledged::default();
    for file in files {
        acknowledged.read(file).with_context(|| file.display().to_string())?;
    }
    let mut missing: HashMap<StreamId, Vec<(QueryId, Seq)>> = HashMap::new();
    let ids: Vec<QueryId> = acknowledged.queries.keys().copied().collect();
    for page in ids.chunks(PAGE) {
        for (id, kept) in page.iter().zip(kept(&*opened.audit, page).await) {
            let stored = stored(opened, *id, kept, findings).await;
            for (seq, line) in &acknowledged.queries[id] {
                match stored.get(seq) {
                    Some(stored) if stored == line => {}
                    Some(stored) => {
                        let [line, stored] = [line, stored].map(|line| cut(line));
                        let text =
                            format!("event {seq} was acknowledged as {line} and is stored as {stored}");
                        findings.problem(&Subject::Query(*id), &text);
                    }
                    None => missing.entry(acknowledged.streams[id]).or_default().push((*id, *seq)),
                }
            }
        }
    }
    let empty = Vec::new();
    for (stream, mut missing) in missing {
        let mut unkept = opened.audit.unkept(stream).await?.unwrap_or(0);
        let loose = acknowledged.loose.get(&stream).map_or(0, BTreeSet::len) as u64;
        let seen = seen.get(&stream).unwrap_or(&empty);
        let all_seen = missing.iter().all(|(_, seq)| has_seen(seen, seq.get()));
        if let Some(losses) = losses.get(&stream).filter(|_| all_seen) {
            acknowledged.lost.join(losses.take(&mut missing, findings));
            unkept = unkept.saturating_sub(losses.unkept);
        }
        // The stream's account says how many of its events retention took: no more may be missing.
        if all_seen && missing.len() as u64 <= unkept.saturating_sub(loose) {
            acknowledged.deleted += missing.len() as u64;
            continue;
        }
        for (id, seq) in missing {
            let line = cut(&acknowledged.queries[&id][&seq]);
            findings
                .problem(&Subject::Query(id), &format!("event {seq} is acknowledged and not stored: {line}"));
        }
    }
    for (stream, loose) in &acknowledged.loose {
        let seen = seen.get(stream).unwrap_or(&empty);
        for seq in loose.iter().filter(|seq| !has_seen(seen, seq.get())) {
            findings.problem(&Subject::Stream(*stream), &format!("event {seq} is acknowledged and not seen"));
        }
    }
    Ok(acknowledged)
}

impl Acknowledged {
    fn read(&mut self, path: &Path) -> Result<()> {
        let mut file = EventsFile::open(path)?;
        while let Some(batch) = file.next_batch()? {
            let batch = Batch::open(&batch.text)?;
            let stream = batch.process.id;
            for event in batch.events {
                let event = event?;
                let Some(id) = event.kind.query_id() else {
                    self.events += u64::from(self.loose.entry(stream).or_default().insert(event.seq));
                    continue;
                };
                self.streams.insert(id, stream);
                self.queries.entry(id).or_default().insert(event.seq, event.line.to_owned());
                self.events += 1;
            }
        }
        Ok(())
    }
}

/// The events of a query by seq; none when there is no such query.
async fn stored(
    opened: &Opened,
    id: QueryId,
    kept: Result<Option<Kept>, StoreError>,
    findings: &mut Findings,
) -> BTreeMap<Seq, String> {
    let lines = match kept {
        Ok(None) => return BTreeMap::new(),
        Ok(Some(kept)) => recording::lines(&opened.store, &opened.recordings, kept.parts).await,
        Err(error) => Err(error.into()),
    };
    match lines {
        Ok(lines) => {
            lines.into_iter().skip(1).filter_map(|line| Some((seq_of(line.as_bytes())?, line))).collect()
        }
        Err(error) => {
            findings.problem(&Subject::Query(id), &format!("its recording cannot be read: {error:#}"));
            BTreeMap::new()
        }
    }
}

fn cut(line: &str) -> String {
    let mut shown: String = line.chars().take(SHOWN_CHARS).collect();
    if shown.len() < line.len() {
        shown.push('…');
    }
    shown
}
