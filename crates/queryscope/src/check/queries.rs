//! Every run against its events.

use std::collections::{BTreeMap, HashMap};
use std::pin::pin;
use std::sync::Arc;

use anyhow::Context;
use futures_util::{Stream, StreamExt, stream};
use queryscope_protocol::{Event, QueryId, Seq, StreamId};
use queryscope_recordings::Recordings;
use queryscope_store::{Account, Kept, Query, RecordingParts, Report, Store, StoreAudit, StoreError};

use super::columns::Tally;
use super::pieces::Pieces;
use super::seqs::SeqRuns;
use super::tasks::in_tasks;
use super::{Findings, Subject, recording, summary};
use crate::progress::Progress;
use crate::store::Opened;

/// Queries that are asked for at once: each comes with the process event of its stream.
pub(super) const PAGE: usize = 64;
/// The same where those that are near each other were mostly sealed together: their packs are opened once for all.
const STRETCH: usize = 1024;
/// Of these, recordings that are read at once, each of which may be large.
pub(super) const READ_AT_ONCE: usize = 4;
/// How often a query that was written to while it was read is read again.
pub(super) const MOVES_MAX: usize = 16;

/// What all queries hold together.
#[derive(Debug, Default)]
pub(crate) struct Stored {
    pub(crate) queries: u64,
    pub(crate) events: u64,
    /// The seqs stored of each stream.
    pub(crate) streams: HashMap<StreamId, SeqRuns>,
    /// Queries with which something is wrong.
    pub(crate) damaged: Vec<QueryId>,
    /// Their rows, where they can be read.
    pub(crate) rows: BTreeMap<QueryId, Query>,
    pub(crate) tally: Tally,
    /// Queries that were listed and could not be read, or are gone.
    pub(crate) unreadable: u64,
}

/// What was found of one query.
#[derive(Debug, Default)]
struct Judged {
    seqs: Vec<Seq>,
    problems: Vec<String>,
    notes: Vec<String>,
}

pub(crate) async fn check(opened: &Opened, findings: &mut Findings, progress: &mut Progress) -> Stored {
    let mut stored = Stored::default();
    let stretches = in_tasks(listed(&*opened.audit), |ids| {
        let opened = opened.clone();
        async move { Ok::<_, ListError>(judge_all(&opened, &ids?).await) }
    });
    let mut stretches = pin!(stretches);
    while let Some(stretch) = stretches.next().await {
        match stretch {
            Ok(settled) => {
                progress.add(settled.len() as u64);
                for (id, settled) in settled {
                    take(id, settled, &mut stored, findings);
                }
            }
            Err(ListError { after, error }) => {
                let error = anyhow::Error::from(error);
                let text = format!("the queries after row {after} cannot be listed: {error:#}");
                findings.problem(&Subject::Store, &text);
            }
        }
    }
    stored
}

/// Queries of which the next ones cannot be listed.
struct ListError {
    after: i64,
    error: StoreError,
}

/// All queries, in stretches; ends with the first that cannot be listed.
fn listed(store: &dyn StoreAudit) -> impl Stream<Item = Result<Vec<QueryId>, ListError>> {
    stream::try_unfold(None, async |after| {
        let page = store.query_ids(after, STRETCH).await;
        let page = page.map_err(|error| ListError { after: after.unwrap_or(0), error })?;
        Ok(page.last().copied().map(|(last, _)| (page.into_iter().map(|(_, id)| id).collect(), Some(last))))
    })
}

type Settled = Result<Option<(Query, Judged)>, StoreError>;

/// Judges queries that are near each other.
async fn judge_all(opened: &Opened, ids: &[QueryId]) -> Vec<(QueryId, Settled)> {
    let kept = kept(&*opened.audit, ids).await;
    let recordings = &read_ahead(&opened.recordings, &kept).await;
    stream::iter(ids.iter().copied().zip(kept))
        .map(async |(id, kept)| (id, settle(opened, recordings, id, kept).await))
        .buffered(READ_AT_ONCE)
        .collect()
        .await
}

/// Queries as they are; where one cannot be read, all are asked for one by one.
pub(super) async fn kept(store: &dyn StoreAudit, ids: &[QueryId]) -> Vec<Result<Option<Kept>, StoreError>> {
    if let Ok(kept) = store.kept(ids).await {
        return kept.into_iter().map(Ok).collect();
    }
    let mut all = Vec::with_capacity(ids.len());
    for id in ids {
        all.push(one(store, *id).await);
    }
    all
}

/// Has recordings of queries read together.
pub(super) async fn read_ahead(
    recordings: &Recordings,
    kept: &[Result<Option<Kept>, StoreError>],
) -> Recordings {
    let places = kept.iter().flatten().flatten().filter_map(|kept| kept.parts.sealed.as_ref());
    recordings.read_ahead(places).await
}

async fn one(store: &dyn StoreAudit, id: QueryId) -> Result<Option<Kept>, StoreError> {
    Ok(store.kept(&[id]).await?.pop().flatten())
}

fn take(id: QueryId, settled: Settled, stored: &mut Stored, findings: &mut Findings) {
    let subject = Subject::Query(id);
    match settled {
        Ok(None) => stored.unreadable += 1,
        Ok(Some((query, judged))) => {
            stored.queries += 1;
            stored.events += judged.seqs.len() as u64;
            let stream = stored.streams.entry(query.stream_id).or_default();
            for seq in judged.seqs {
                if !stream.insert(seq) {
                    let text = format!(
                        "event {seq} is stored twice: its stream {} has it in another query",
                        query.stream_id
                    );
                    findings.problem(&subject, &text);
                }
            }
            if !judged.problems.is_empty() {
                stored.damaged.push(id);
                stored.rows.insert(id, query.clone());
            }
            judged.problems.iter().for_each(|problem| findings.problem(&subject, problem));
            judged.notes.iter().for_each(|note| findings.note(&subject, note));
            stored.tally.add(&query);
        }
        Err(error) => {
            stored.unreadable += 1;
            stored.damaged.push(id);
            let error = anyhow::Error::from(error);
            findings.problem(&subject, &format!("its row cannot be read: {error:#}"));
        }
    }
}

/// Judges a query while the service may be writing to it: what its row says and what was read after it must
/// be of one moment, or it is judged again. `None` when there is no such query any more.
async fn settle(
    opened: &Opened,
    recordings: &Recordings,
    id: QueryId,
    kept: Result<Option<Kept>, StoreError>,
) -> Settled {
    let Some(mut kept) = kept? else { return Ok(None) };
    for moves in 0.. {
        let judged = judge(&opened.store, recordings, &kept).await;
        if judged.problems.is_empty() {
            return Ok(Some((kept.parts.query, judged)));
        }
        let Some(now) = one(&*opened.audit, id).await? else { return Ok(None) };
        if now == kept || moves == MOVES_MAX {
            return Ok(Some((kept.parts.query, judged)));
        }
        kept = now;
    }
    unreachable!("the loop ends by its bound")
}

async fn judge(store: &Arc<dyn Store>, recordings: &Recordings, Kept { parts, account }: &Kept) -> Judged {
    let pieces = Pieces::of_reader(store, recordings, parts).await;
    let Pieces { events, mut problems, .. } = if let Some(pieces) = pieces {
        pieces
    } else {
        let mut pieces = Pieces::read(store, recordings, parts).await;
        if pieces.problems.is_empty() {
            pieces.problems.extend(read_otherwise(store, recordings, parts, &pieces.events).await);
        }
        pieces
    };
    let lost = account.map_or(0, |account| account.lost);
    let mut reports = Vec::new();
    for (seq, line) in &events {
        match read(line) {
            Ok((owner, of_event)) if owner == Some(parts.query.query_id) => reports.extend(of_event),
            Ok(_) => problems.push(format!("event {seq} is of another query")),
            Err(error) => problems.push(format!("event {seq} cannot be read: {error:#}")),
        }
    }
    let stored = events.len() as u64;
    if stored == 0 {
        problems.push("it has no events".into());
    }
    if let Some(Account { committed, .. }) =
        account.filter(|account| account.committed != stored + account.lost)
    {
        problems.push(format!("it was given {committed} events, {stored} are stored"));
    }
    let mut notes = Vec::new();
    if lost > 0 {
        // What its row says is told by events that are no more.
        notes
            .push(format!("{lost} of the {} events it was given are lost, as a repair found", stored + lost));
    } else if !reports.is_empty() {
        let query = &parts.query;
        let rows =
            summary::candidates(&query.project, &parts.process_line, query.query_id, &reports, Some(query));
        match summary::nearest(query, rows) {
            Some((_, differences)) => problems.extend(differences),
            None => problems.push("the process event of its stream cannot be read".into()),
        }
    }
    Judged { seqs: events.into_keys().collect(), problems, notes }
}

/// Whether a reader of the recording gets other events than are stored.
async fn read_otherwise(
    store: &Arc<dyn Store>,
    recordings: &Recordings,
    parts: &RecordingParts,
    events: &BTreeMap<Seq, Vec<u8>>,
) -> Option<String> {
    match recording::lines(store, recordings, parts.clone()).await {
        Ok(lines) => {
            let expected =
                std::iter::once(parts.process_line.as_bytes()).chain(events.values().map(Vec::as_slice));
            let same = expected.eq(lines.iter().map(String::as_bytes));
            (!same)
                .then(|| format!("its recording reads as {} lines that are not what is stored", lines.len()))
        }
        Err(error) => Some(format!("its recording cannot be read: {error:#}")),
    }
}

fn read(line: &[u8]) -> anyhow::Result<(Option<QueryId>, Vec<Report>)> {
    let line = std::str::from_utf8(line).context("it is not UTF-8")?;
    let event = Event::read_stored(line)?;
    Ok((event.kind.query_id(), summary::reports(&event)))
}
