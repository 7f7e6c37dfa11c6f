//! Every query against its events.

use std::collections::{BTreeMap, HashMap};

use anyhow::{Context, Result};
use queryscope_protocol::{Event, QueryId, Seq, StreamId};
use queryscope_store::{Account, Query, RecordingParts, Report};

use super::columns::Tally;
use super::pieces::Pieces;
use super::seqs::SeqRuns;
use super::{Findings, Subject, recording, summary};
use crate::progress::Progress;
use crate::store::Opened;

const PAGE: usize = 500;
/// How often a query that was written to while it was read is read again.
const MOVES_MAX: usize = 16;

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

/// A query as it is at one moment.
#[derive(Debug)]
struct View {
    parts: RecordingParts,
    account: Option<Account>,
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
    let mut after = None;
    loop {
        let page = match opened.store.query_ids(after, PAGE).await {
            Ok(page) => page,
            Err(error) => {
                let after = after.unwrap_or(0);
                let text = format!(
                    "the queries after row {after} can not be listed: {:#}",
                    anyhow::Error::from(error)
                );
                findings.problem(&Subject::Store, &text);
                return stored;
            }
        };
        let Some((last, _)) = page.last() else { return stored };
        after = Some(*last);
        progress.add(page.len() as u64);
        for (_, id) in page {
            check_one(opened, id, &mut stored, findings).await;
        }
    }
}

async fn check_one(opened: &Opened, id: QueryId, stored: &mut Stored, findings: &mut Findings) {
    let subject = Subject::Query(id);
    match settle(opened, id).await {
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
            findings.problem(&subject, &format!("its row can not be read: {error:#}"));
        }
    }
}

/// Judges a query while the service may be writing to it: what its row says and what was read after it must
/// be of one moment, or it is judged again. `None` when there is no such query any more.
async fn settle(opened: &Opened, id: QueryId) -> Result<Option<(Query, Judged)>> {
    let Some(mut view) = view(opened, id).await? else { return Ok(None) };
    for moves in 0.. {
        let judged = judge(opened, &view).await;
        if judged.problems.is_empty() {
            return Ok(Some((view.parts.query, judged)));
        }
        let Some(now) = self::view(opened, id).await? else { return Ok(None) };
        if now.is_as(&view) || moves == MOVES_MAX {
            return Ok(Some((view.parts.query, judged)));
        }
        view = now;
    }
    unreachable!("the loop ends by its bound")
}

async fn view(opened: &Opened, id: QueryId) -> Result<Option<View>> {
    let mut account = opened.store.account(id).await?;
    for _ in 0..MOVES_MAX {
        let Some(parts) = opened.store.recording(id).await? else { return Ok(None) };
        let now = opened.store.account(id).await?;
        if now == account {
            return Ok(Some(View { parts, account }));
        }
        account = now;
    }
    anyhow::bail!("it is written to all the time")
}

impl View {
    fn is_as(&self, other: &Self) -> bool {
        let key = |view: &Self| (view.parts.sealed_path.clone(), view.parts.chunks.clone(), view.account);
        self.parts.query == other.parts.query && key(self) == key(other)
    }
}

async fn judge(opened: &Opened, View { parts, account }: &View) -> Judged {
    let Pieces { events, mut problems, .. } = Pieces::read(&opened.store, &opened.recordings, parts).await;
    let lost = account.map_or(0, |account| account.lost);
    if problems.is_empty() {
        problems.extend(read_otherwise(opened, parts, &events).await);
    }
    let mut reports = Vec::new();
    for (seq, line) in &events {
        match read(line) {
            Ok((owner, report)) if owner == Some(parts.query.query_id) => reports.push(report),
            Ok(_) => problems.push(format!("event {seq} is of another query")),
            Err(error) => problems.push(format!("event {seq} can not be read: {error:#}")),
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
            None => problems.push("the process event of its stream can not be read".into()),
        }
    }
    Judged { seqs: events.into_keys().collect(), problems, notes }
}

/// Whether a reader of the recording gets other events than are stored.
async fn read_otherwise(
    opened: &Opened,
    parts: &RecordingParts,
    events: &BTreeMap<Seq, Vec<u8>>,
) -> Option<String> {
    match recording::lines(&opened.store, &opened.recordings, parts.clone()).await {
        Ok(lines) => {
            let expected =
                std::iter::once(parts.process_line.as_bytes()).chain(events.values().map(Vec::as_slice));
            let same = expected.eq(lines.iter().map(String::as_bytes));
            (!same)
                .then(|| format!("its recording reads as {} lines that are not what is stored", lines.len()))
        }
        Err(error) => Some(format!("its recording can not be read: {error:#}")),
    }
}

fn read(line: &[u8]) -> Result<(Option<QueryId>, Report)> {
    let line = std::str::from_utf8(line).context("it is not UTF-8")?;
    let event = Event::read(line).map_err(anyhow::Error::msg)?;
    Ok((event.kind.query_id(), summary::report(&event)))
}
