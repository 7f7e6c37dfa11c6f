//! Every query against its events.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use anyhow::{Context, Result};
use queryscope_protocol::{Event, EventKind, QueryId, Seq, StreamId, seq_of};
use queryscope_recordings::Recordings;
use queryscope_store::{
    ChunkInfo, Facts, Known, Query, RecordingParts, Report, Status, Store, StreamBatch, StreamProcess,
    lines_of, unpack,
};

use super::{Findings, recording};
use crate::progress::Progress;

const PAGE: usize = 500;
/// How often a query that was written to while it was read is read again.
const MOVES_MAX: usize = 16;

/// What all queries hold together.
#[derive(Debug, Default)]
pub(crate) struct Stored {
    pub(crate) queries: u64,
    pub(crate) events: u64,
    /// The seqs stored of each stream.
    pub(crate) streams: HashMap<StreamId, Vec<Seq>>,
}

/// What was found of one query.
#[derive(Debug, Default)]
struct Judged {
    seqs: Vec<Seq>,
    problems: Vec<String>,
}

pub(crate) async fn check(
    store: &Arc<dyn Store>,
    recordings: &Recordings,
    findings: &mut Findings,
    progress: &mut Progress,
) -> Result<Stored> {
    let mut stored = Stored::default();
    let mut after = None;
    loop {
        let page = store.scan(after, PAGE).await?;
        for listed in &page {
            let Query { query_id, stream_id, .. } = listed.query;
            if let Some(judged) = settle(store, recordings, query_id).await? {
                stored.queries += 1;
                stored.events += judged.seqs.len() as u64;
                stored.streams.entry(stream_id).or_default().extend(judged.seqs);
                for problem in judged.problems {
                    findings.problem(&format!("query {query_id}: {problem}"));
                }
            }
        }
        progress.add(page.len() as u64);
        match page.last() {
            Some(last) => after = Some(last.position.tie),
            None => return Ok(stored),
        }
    }
}

/// Judges a query while the service may be writing to it: what its row says and what was read after it must
/// be of one moment, or it is judged again. `None` when there is no such query any more.
async fn settle(store: &Arc<dyn Store>, recordings: &Recordings, id: QueryId) -> Result<Option<Judged>> {
    let Some(mut parts) = store.recording(id).await? else { return Ok(None) };
    let mut moves = 0;
    loop {
        let judged = judge(store, recordings, &parts).await;
        if judged.problems.is_empty() {
            return Ok(Some(judged));
        }
        let Some(now) = store.recording(id).await? else { return Ok(None) };
        let moved =
            now.query != parts.query || now.sealed_path != parts.sealed_path || now.chunks != parts.chunks;
        if !moved || moves == MOVES_MAX {
            return Ok(Some(judged));
        }
        parts = now;
        moves += 1;
    }
}

async fn judge(store: &Arc<dyn Store>, recordings: &Recordings, parts: &RecordingParts) -> Judged {
    let id = parts.query.query_id;
    let lines = match recording::lines(store, recordings, parts.clone()).await {
        Ok(lines) => lines,
        Err(error) => {
            let problem = format!("its recording can not be read: {error:#}");
            return Judged { problems: vec![problem], ..Judged::default() };
        }
    };
    let Judged { mut seqs, mut problems } = Judged::default();
    if lines.first() != Some(&parts.process_line) {
        problems.push("its recording does not begin with the process event of its stream".into());
    }
    let mut reports = Vec::new();
    for line in lines.iter().skip(1) {
        match read(line) {
            Ok((event, report)) if event.kind.query_id() == Some(id) => {
                seqs.push(event.seq);
                reports.push(report);
            }
            Ok((event, _)) => problems.push(format!("event {} is of another query", event.seq)),
            Err(error) => problems.push(format!("{error:#}")),
        }
    }
    for (seq, next) in seqs.iter().zip(seqs.iter().skip(1)).filter(|(seq, next)| seq >= next) {
        problems.push(format!("event {next} comes after event {seq}"));
    }
    if seqs.is_empty() {
        problems.push("it has no events".into());
    }
    match stored_twice(store, &parts.chunks).await {
        Ok(twice) => problems.extend(twice.iter().map(|seq| format!("event {seq} is stored twice"))),
        Err(error) => problems.push(format!("its chunks can not be read: {error:#}")),
    }
    problems.extend(differences(&parts.query, &parts.process_line, &reports));
    Judged { seqs, problems }
}

/// Events that stand in more than one chunk: a recording shows each once, however often it is stored.
///
/// An event may well be in a chunk and in the sealed recording: when the service is killed after it has written
/// the recording anew and before it has deleted the chunks.
async fn stored_twice(store: &Arc<dyn Store>, chunks: &[ChunkInfo]) -> Result<Vec<Seq>> {
    let mut chunks = chunks.to_vec();
    chunks.sort_unstable_by_key(|chunk| chunk.first);
    if chunks.windows(2).all(|pair| pair[0].last < pair[1].first) {
        return Ok(Vec::new());
    }
    let mut seen = HashSet::new();
    let mut twice = Vec::new();
    for chunk in chunks {
        // One that has been sealed meanwhile is judged with the recording.
        for gzip in store.chunks(vec![chunk.id]).await?.into_iter().flatten() {
            let text = unpack(&gzip)?;
            twice.extend(lines_of(&text).filter_map(seq_of).filter(|seq| !seen.insert(*seq)));
        }
    }
    Ok(twice)
}

fn read(line: &str) -> Result<(Event<'_>, Report)> {
    let event = Event::read(line).map_err(anyhow::Error::msg).context("a line is no event")?;
    let mut report = Report { engine: event.engine.as_deref().map(Into::into), ..Report::default() };
    match &event.kind {
        EventKind::Started(_, profile) => report.started = Some(Facts::of(event.seq, profile)),
        EventKind::Finished(_, profile) => report.finished = Some(Facts::of(event.seq, profile)),
        _ => {}
    }
    Ok((event, report))
}

/// In what a row differs from what its events make of it.
///
/// Two things are not told by the recording: which of two profiles of a kind arrived first (then either may
/// be the row's), and how long an unfinished query has been silent.
fn differences(query: &Query, process_line: &str, reports: &[Report]) -> Vec<String> {
    let finished: Vec<&Report> = reports.iter().filter(|report| report.finished.is_some()).collect();
    let started: Vec<&Report> = reports.iter().filter(|report| report.started.is_some()).collect();
    let deciding = if finished.is_empty() { started } else { finished };
    let Some(first) = reports.first() else { return Vec::new() };
    let Ok(event) = Event::read(process_line) else {
        return vec!["its process event can not be read".into()];
    };
    let EventKind::Process(process) = &event.kind else { return vec!["its process event is another".into()] };
    let batch = StreamBatch {
        project: query.project.clone(),
        process: StreamProcess::of(process, process_line),
        received_unix_ms: 0,
        parts: Vec::new(),
        loose: Vec::new(),
    };
    let candidates = if deciding.is_empty() { vec![first] } else { deciding };
    let mut fewest: Option<Vec<String>> = None;
    for report in candidates {
        let mut expected = Query::first(&batch, query.query_id, report);
        // The engine is that of the event that arrived first, which may be any.
        if reports.iter().any(|report| report.engine == query.engine) {
            expected.engine.clone_from(&query.engine);
        }
        if expected.known != Known::Finished && query.status == Status::Unfinished {
            expected.status = Status::Unfinished;
        }
        if started_is_guessed(report) {
            expected.started_unix_ns = query.started_unix_ns;
        }
        let found = fields(query).into_iter().zip(fields(&expected)).filter(|(is, should)| is != should);
        let found: Vec<String> = found
            .map(|((name, is), (_, should))| format!("{name} is {is}, its events say {should}"))
            .collect();
        if fewest.as_ref().is_none_or(|fewest| found.len() < fewest.len()) {
            fewest = Some(found);
        }
    }
    fewest.unwrap_or_default()
}

fn started_is_guessed(report: &Report) -> bool {
    let facts = report.finished.as_ref().or(report.started.as_ref());
    facts.is_none_or(|facts| facts.started_unix_ns.is_none())
}

fn fields(query: &Query) -> [(&'static str, String); 16] {
    [
        ("stream_id", query.stream_id.to_string()),
        ("service", format!("{:?}", query.service)),
        ("environment", format!("{:?}", query.environment)),
        ("host", format!("{:?}", query.host)),
        ("engine", format!("{:?}", query.engine)),
        ("label", format!("{:?}", query.label)),
        ("fingerprint", format!("{:?}", query.fingerprint)),
        ("status", query.status.to_string()),
        ("known", format!("{:?}", query.known)),
        ("started_unix_ns", query.started_unix_ns.to_string()),
        ("wall_ms", format!("{:?}", query.wall_ms)),
        ("cpu_ms", format!("{:?}", query.cpu_ms)),
        ("result_rows", format!("{:?}", query.result_rows)),
        ("failed", format!("{:?}", query.failed)),
        ("warnings", query.warnings.to_string()),
        ("rules", format!("{:?}", query.rules)),
    ]
}
