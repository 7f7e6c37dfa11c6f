//! Every query against its events.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::{Context, Result};
use queryscope_protocol::{Event, EventKind, Seq, StreamId};
use queryscope_recordings::{RecordingError, Recordings};
use queryscope_store::{Facts, Known, Query, Report, Store, StreamBatch, StreamProcess};

use super::{Findings, recording};
use crate::progress::Progress;

const PAGE: usize = 500;

/// What all queries hold together.
#[derive(Debug, Default)]
pub(crate) struct Stored {
    pub(crate) queries: u64,
    pub(crate) events: u64,
    /// The seqs stored of each stream.
    pub(crate) streams: HashMap<StreamId, Vec<Seq>>,
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
            let id = listed.query.query_id;
            // One moment for the row and its chunks: the service may be running.
            let Some(parts) = store.recording(id).await? else { continue };
            let query = parts.query.clone();
            let process_line = parts.process_line.clone();
            match recording::lines(store, recordings, parts).await {
                Ok(lines) => {
                    let seqs = judge(&query, &process_line, &lines, findings);
                    stored.events += seqs.len() as u64;
                    stored.streams.entry(query.stream_id).or_default().extend(seqs);
                }
                Err(error) if is_gone(&error) && store.query(id).await?.is_none() => {}
                Err(error) => {
                    findings.problem(&format!("query {id}: its recording can not be read: {error:#}"));
                }
            }
            stored.queries += 1;
        }
        progress.add(page.len() as u64);
        match page.last() {
            Some(last) => after = Some(last.position.tie),
            None => return Ok(stored),
        }
    }
}

/// Whether retention took the query out meanwhile.
fn is_gone(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(RecordingError::Gone))
}

/// Judges one query; gives back the seqs of its events.
fn judge(query: &Query, process_line: &str, lines: &[String], findings: &mut Findings) -> Vec<Seq> {
    let id = query.query_id;
    let mut problem = |text: String| findings.problem(&format!("query {id}: {text}"));
    if lines.first().map(String::as_str) != Some(process_line) {
        problem("its recording does not begin with the process event of its stream".into());
    }
    let mut seqs = Vec::with_capacity(lines.len());
    let mut reports = Vec::new();
    for line in lines.iter().skip(1) {
        match read(line) {
            Ok((event, report)) if event.kind.query_id() == Some(id) => {
                seqs.push(event.seq);
                reports.push(report);
            }
            Ok((event, _)) => problem(format!("event {} is of another query", event.seq)),
            Err(error) => problem(format!("{error:#}")),
        }
    }
    for (seq, next) in seqs.iter().zip(seqs.iter().skip(1)).filter(|(seq, next)| seq >= next) {
        problem(format!("event {next} comes after event {seq}"));
    }
    if seqs.is_empty() {
        problem("it has no events".into());
    }
    for difference in differences(query, process_line, &reports) {
        problem(difference);
    }
    seqs
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
        expected.engine.clone_from(&query.engine);
        if expected.known != Known::Finished {
            expected.status = query.status;
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

fn fields(query: &Query) -> [(&'static str, String); 15] {
    [
        ("stream_id", query.stream_id.to_string()),
        ("service", format!("{:?}", query.service)),
        ("environment", format!("{:?}", query.environment)),
        ("host", format!("{:?}", query.host)),
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
