//! `queryscope check`: judges a data folder by what is promised of it.
//!
//! For every query: its recording decodes to its stream's process event and its own events, each once, in the
//! order of seqs, and its row is what these events make of it. For every stream: no seq is stored twice, and
//! everything stored is marked as seen. And the store's own structure is sound. Given files of acknowledged
//! events, each of these is stored byte for byte.

mod acknowledged;
mod queries;
mod recording;
mod streams;

use std::process::ExitCode;

use anyhow::Result;

use crate::cli::CheckArgs;
use crate::data::DataFolder;
use crate::progress::Progress;
use crate::store;

/// Problems that are printed; further ones are counted.
const SHOWN_MAX: usize = 100;

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    problems: usize,
}

impl Findings {
    /// Prints and counts a problem.
    pub(crate) fn problem(&mut self, text: &str) {
        self.problems += 1;
        if self.problems <= SHOWN_MAX {
            println!("problem: {text}");
        }
    }
}

pub(crate) async fn run(args: CheckArgs) -> Result<ExitCode> {
    let data = DataFolder::existing(&args.data.data)?;
    let opened = store::open(&data)?;
    let mut findings = Findings::default();
    for problem in opened.store.verify().await? {
        findings.problem(&problem);
    }
    let mut progress = Progress::new("queries", None);
    let stored = queries::check(&opened.store, &opened.recordings, &mut findings, &mut progress).await?;
    progress.finish();
    let streams = streams::check(&opened.store, &stored.streams, &mut findings).await?;
    let mut acknowledged = 0;
    for path in &args.acknowledged {
        acknowledged += acknowledged::check(path, &opened.store, &opened.recordings, &mut findings).await?;
    }
    opened.store.close().await?;
    println!(
        "{} queries, {} events, {streams} streams, {acknowledged} acknowledged events: {}",
        stored.queries,
        stored.events,
        match findings.problems {
            0 => "sound".to_owned(),
            count => format!("{count} problems"),
        }
    );
    Ok(if findings.problems == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
