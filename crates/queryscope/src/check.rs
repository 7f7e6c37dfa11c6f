//! `queryscope check`: judges a data folder, or a database that collectors share, by what is promised of it.
//!
//! For every query: its recording decodes to its stream's process event and its own events, each once, in the
//! order of seqs, as many as it was given, and its row is what these events make of it. For every stream: no seq is
//! stored twice, everything stored is marked as seen, and as much is seen as is accounted for. Answers over many
//! queries are what a count of the queries says. What evaluations found is what the runs say anew. What nobody was told
//! of yet can be sent. And the store's own structure is sound. Given files of acknowledged events, each of these is
//! stored byte for byte.
//!
//! Ends with 0 when all is sound (or is again, with `--repair`), 1 when something is not or is lost, 2 when it
//! cannot be judged.

mod acknowledged;
mod columns;
mod evaluation;
mod files;
mod findings;
mod losses;
mod outbox;
mod pieces;
mod place;
mod queries;
mod recording;
mod repair;
mod seqs;
mod streams;
mod summary;
mod tasks;

use std::process::ExitCode;

use anyhow::Result;
use queryscope_store::QueryKey;
use queryscope_store_sqlite::OpenError;
use serde_json::json;

use self::acknowledged::Acknowledged;
use self::files::FilesFound;
use self::findings::{Findings, Subject};
use self::place::Place;
use self::queries::Stored;
use crate::cli::CheckArgs;
use crate::progress::Progress;

/// It cannot be judged.
const UNJUDGED: u8 = 2;

/// What was judged.
struct Judged {
    stored: Stored,
    streams: usize,
    acknowledged: Acknowledged,
    files: FilesFound,
    /// Queries of which evaluations say otherwise than their runs.
    evaluated: Vec<QueryKey>,
    /// Messages that would never be sent.
    damaged: outbox::Damaged,
}

pub(crate) async fn run(args: CheckArgs) -> ExitCode {
    match try_run(&args).await {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(UNJUDGED)
        }
    }
}

async fn try_run(args: &CheckArgs) -> Result<ExitCode> {
    let place = Place::of(args)?;
    let _alone = args.repair.then(|| place.alone()).transpose()?;
    let mut findings = Findings { json: args.json, ..Findings::default() };
    let Some(mut judged) = judge(&place, args, &mut findings).await? else { return Ok(ExitCode::FAILURE) };
    if args.repair && (findings.problems > 0 || !judged.files.left.is_empty()) {
        match &place {
            Place::Folder(data) => {
                repair::run(data, &judged.stored, std::mem::take(&mut judged.files), &mut findings)?;
            }
            Place::Shared { address, .. } => repair::run_shared(address, &mut findings).await?,
        }
        if !judged.evaluated.is_empty() {
            let opened = place.open(true).await?;
            evaluation::repair(&opened.store, &judged.evaluated, &mut findings).await?;
            opened.store.close().await?;
        }
        if !judged.damaged.is_empty() {
            let opened = place.open(true).await?;
            outbox::repair(opened.store.outbox(), std::mem::take(&mut judged.damaged), &mut findings).await?;
            opened.store.close().await?;
        }
        findings.problems = 0;
        findings.notes = 0;
        findings.known_losses = 0;
        let Some(again) = judge(&place, args, &mut findings).await? else { return Ok(ExitCode::FAILURE) };
        judged = again;
    }
    tell(&judged, &findings);
    Ok(if findings.problems + findings.lost + findings.known_losses == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Judges what is there now; `None` when there is no database to judge.
async fn judge(place: &Place, args: &CheckArgs, findings: &mut Findings) -> Result<Option<Judged>> {
    let opened = match place.open(args.repair).await {
        Err(error) if error.downcast_ref::<OpenError>().is_some_and(OpenError::is_damage) => {
            findings.problem(&Subject::Store, &format!("{error:#}: only a backup helps"));
            return Ok(None);
        }
        opened => opened?,
    };
    for problem in opened.audit.verify().await? {
        findings.problem(&Subject::Store, &problem);
    }
    let stored = columns::check(
        &opened.store,
        || place.is_in_use(),
        findings,
        async |findings| {
            let mut progress = Progress::new("queries", None);
            let stored = queries::check(&opened, findings, &mut progress).await;
            progress.finish();
            stored
        },
    )
    .await;
    let seen = streams::check(&*opened.audit, &stored.streams, findings).await;
    let files = match place.files() {
        Some(root) => files::check(&root, &*opened.audit, findings).await,
        None => FilesFound::default(),
    };
    let losses = losses::note(&*opened.audit, seen.keys().copied(), findings).await?;
    let acknowledged = acknowledged::check(&args.acknowledged, &opened, &seen, &losses, findings).await?;
    let evaluated = evaluation::check(&opened, findings).await?;
    let damaged = outbox::check(opened.store.outbox(), findings).await;
    opened.store.close().await?;
    Ok(Some(Judged { stored, streams: seen.len(), acknowledged, files, evaluated, damaged }))
}

fn tell(judged: &Judged, findings: &Findings) {
    let Judged { stored, streams, acknowledged, .. } = judged;
    let Findings { problems, notes, repairs, lost, .. } = findings;
    if findings.json {
        let told = json!({
            "level": "total", "queries": stored.queries, "events": stored.events, "streams": streams,
            "acknowledged": acknowledged.events, "acknowledged_lost": acknowledged.lost.events,
            "deleted": acknowledged.deleted,
            "problems": problems, "notes": notes, "repaired": repairs, "lost": lost,
        });
        println!("{told}");
        return;
    }
    let lost_before = match acknowledged.lost.events {
        0 => None,
        events => Some(format!("{events} lost, recorded by {}", acknowledged.lost.repairs())),
    };
    let deleted = match acknowledged.deleted {
        0 => None,
        events => Some(format!("{events} deleted since")),
    };
    let missing: Vec<String> = lost_before.into_iter().chain(deleted).collect();
    let missing = if missing.is_empty() { String::new() } else { format!(" ({})", missing.join("; ")) };
    let mut verdict = if *problems == 0 { "sound".to_owned() } else { format!("{problems} problems") };
    if repairs + lost > 0 {
        verdict = format!("{verdict} after {repairs} repairs, {lost} losses");
    }
    if acknowledged.lost.events > 0 && *problems == 0 {
        verdict.push_str(" but for these");
    }
    println!(
        "{} queries, {} events, {streams} streams, {} acknowledged events{missing}: {verdict}",
        stored.queries, stored.events, acknowledged.events,
    );
}
