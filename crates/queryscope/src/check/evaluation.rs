//! What evaluations found of every query, against what its runs say anew.
//!
//! Of each query up to 564 runs, whose recordings are read once more, and the last 1 to 64 of them are evaluated again;
//! as many queries at once as there are processors.

use std::pin::pin;
use std::sync::Arc;

use anyhow::{Error, Result};
use futures_util::{StreamExt, stream};
use queryscope_collector::Again;
use queryscope_protocol::QueryId;
use queryscope_recordings::Recordings;
use queryscope_store::{
    ChangesRequest, EvaluatedRun, Is, Known, QueryHistory, QueryKey, RecordingParts, Store, StoreError,
    StoredChange,
};

use super::pieces::Pieces;
use super::queries::{MOVES_MAX, PAGE, READ_AT_ONCE, kept, read_ahead};
use super::tasks::in_tasks;
use super::{Findings, Subject};
use crate::progress::Progress;
use crate::store::Opened;

/// What is to be done about it.
const REMEDY: &str = "`check --repair` has it evaluated anew from its runs";

/// What is wrong with a query or one of its runs.
type Problem = (Option<QueryId>, String);

/// Judges all queries; gives back those with which something is wrong.
pub(super) async fn check(opened: &Opened, findings: &mut Findings) -> Result<Vec<QueryKey>> {
    let mut progress = Progress::new("labels", None);
    let (mut wrong, mut after) = (Vec::new(), None);
    loop {
        let page = opened.store.evaluated_queries(after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.clone());
        let settled = in_tasks(stream::iter(page), |key| {
            let opened = opened.clone();
            async move { (settle(&opened, &key).await, key) }
        });
        let mut settled = pin!(settled);
        while let Some((problems, key)) = settled.next().await {
            progress.add(1);
            let problems = problems?;
            for (run, problem) in &problems {
                let name = &key.label;
                let (subject, text) = match run {
                    Some(run) => (Subject::Query(*run), format!("{problem}; of label {name}: {REMEDY}")),
                    None => (Subject::Label(key.clone()), format!("{problem}: {REMEDY}")),
                };
                findings.problem(&subject, &text);
            }
            if !problems.is_empty() {
                wrong.push(key);
            }
        }
    }
    progress.finish();
    Ok(wrong)
}

/// Has queries evaluated anew by the next service that runs.
pub(super) async fn repair(store: &Arc<dyn Store>, keys: &[QueryKey], findings: &mut Findings) -> Result<()> {
    let holder = format!("check {}", queryscope_store::random_id());
    for key in keys {
        let leased = store.evaluation_lease(&holder, std::time::Duration::from_secs(20)).await?;
        let subject = Subject::Label(key.clone());
        if leased && store.forget_evaluation(&holder, key).await? {
            findings.repaired(&subject, "the next service that runs evaluates it anew from its runs");
        } else {
            findings
                .lost(&subject, "a collector evaluates now: stop all of them, and check again with --repair");
        }
    }
    store.evaluation_lease(&holder, std::time::Duration::ZERO).await?;
    Ok(())
}

/// Judges a query while a service may be evaluating it: what is found must be of one moment.
async fn settle(opened: &Opened, key: &QueryKey) -> Result<Vec<Problem>, StoreError> {
    let mut history = opened.store.query_history(key).await?;
    for moves in 0.. {
        let Some(now) = &history else { break };
        let problems = judge(opened, key, now).await?;
        if problems.is_empty() || moves == MOVES_MAX {
            return Ok(problems);
        }
        let again = opened.store.query_history(key).await?;
        if again == history {
            return Ok(problems);
        }
        history = again;
    }
    Ok(Vec::new())
}

async fn judge(opened: &Opened, key: &QueryKey, history: &QueryHistory) -> Result<Vec<Problem>, StoreError> {
    let again = match Again::read(key, history) {
        Ok(again) => again,
        Err(error) => return Ok(vec![(None, format!("{:#}", Error::from(error)))]),
    };
    let mut problems = Vec::new();
    let runs: Vec<&EvaluatedRun> = again.runs().collect();
    for page in runs.chunks(PAGE) {
        let ids: Vec<QueryId> = page.iter().map(|run| run.query_id).collect();
        let parts = kept(&*opened.audit, &ids).await;
        let recordings = &read_ahead(&opened.recordings, &parts).await;
        // Items that borrow would make a future that no task takes.
        let judged = stream::iter((0..page.len()).zip(parts)).map(async |(place, kept)| {
            let run = page[place];
            // What cannot be read is named where queries are judged; what is gone says nothing.
            let parts = kept.ok()??.parts;
            let problem = of_run(&opened.store, recordings, &again, run, &parts).await?;
            Some((Some(run.query_id), problem.to_owned()))
        });
        let mut judged = pin!(judged.buffered(READ_AT_ONCE));
        while let Some(problem) = judged.next().await {
            problems.extend(problem);
        }
    }
    let changes = changes(&opened.store, key).await?;
    // Of runs with other features the state says other things.
    if problems.is_empty() {
        problems.extend(again.differences(&changes).into_iter().map(|problem| (None, problem)));
    }
    for (change, found_at, unix_ns) in again.gone(&changes) {
        let run = opened.store.query(found_at).await?;
        if run.is_some_and(|run| run.known == Known::Finished && run.started_unix_ns <= unix_ns) {
            problems.push((None, format!("change {change} is not there")));
        }
    }
    Ok(problems)
}

async fn of_run(
    store: &Arc<dyn Store>,
    recordings: &Recordings,
    again: &Again<'_>,
    run: &EvaluatedRun,
    parts: &RecordingParts,
) -> Option<&'static str> {
    if parts.query.known != Known::Finished {
        return None;
    }
    let Pieces { events, problems, .. } = match Pieces::of_pack(recordings, parts) {
        Some(pieces) => pieces,
        None => Pieces::read(store, recordings, parts).await,
    };
    if !problems.is_empty() {
        return None;
    }
    let events: Vec<&[u8]> = events.values().map(Vec::as_slice).collect();
    again.of_run(run, &parts.query, &events)
}

async fn changes(store: &Arc<dyn Store>, key: &QueryKey) -> Result<Vec<StoredChange>, StoreError> {
    let mut all: Vec<StoredChange> = Vec::new();
    loop {
        let request = ChangesRequest {
            project: Some(key.project.clone()),
            service: Some(key.service.clone().map_or(Is::Absent, Is::Value)),
            label: Some(key.label.clone()),
            after: all.last().map(StoredChange::place),
            limit: PAGE,
            ..ChangesRequest::default()
        };
        let page = store.changes(request).await?;
        let is_last = page.len() < PAGE;
        all.extend(page);
        if is_last {
            return Ok(all);
        }
    }
}
