//! Commands that ask a running service: what ran, what changed, and why.
//!
//! Everything comes from the read API; nothing is judged here. The sentences are those of the dashboard.

pub(crate) mod answers;
pub(crate) mod args;
pub(crate) mod diff;
pub(crate) mod events;
pub(crate) mod issues;
mod list;
pub(crate) mod listing;
mod node_words;
mod notes;
pub(crate) mod plan;
pub(crate) mod run_name;
pub(crate) mod runs;
pub(crate) mod screen;
pub(crate) mod service;
pub(crate) mod show;
pub(crate) mod sse;
pub(crate) mod style;
pub(crate) mod text;
pub(crate) mod tree;
pub(crate) mod units;
pub(crate) mod why;
pub(crate) mod words;

use std::process::ExitCode;

use anyhow::Result;
use serde_json::Value;

use self::args::{DiffArgs, IssuesArgs, ListArgs, NotesArgs, RunsArgs, ShowArgs, WhyArgs};
use self::screen::Screen;
use self::service::{NotFound, Page, Service};

/// Exit code where nothing was found.
const NOTHING_FOUND: u8 = 3;

/// A command that asks a running service.
#[derive(Debug)]
pub(crate) enum Question {
    List(ListArgs),
    Runs(RunsArgs),
    Issues(IssuesArgs),
    Show(ShowArgs),
    Why(WhyArgs),
    Notes(NotesArgs),
    Diff(DiffArgs),
}

/// Whether there was what was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    Something,
    Nothing,
}

impl Found {
    fn when(is_there: bool) -> Self {
        if is_there { Self::Something } else { Self::Nothing }
    }
}

/// Asks, and prints the answer.
///
/// # Errors
/// When there is no answer. What is not there is none: the exit code says so.
pub(crate) async fn run(question: Question) -> Result<ExitCode> {
    let screen = Screen::now();
    let answered = match &question {
        Question::List(args) => list::run(args, screen).await,
        Question::Runs(args) => runs::run(args, screen).await,
        Question::Issues(args) => issues::run(args, screen).await,
        Question::Show(args) => show::run(args, screen).await,
        Question::Why(args) => why::run(args, screen).await,
        Question::Notes(args) => notes::run(args, screen).await,
        Question::Diff(args) => diff::run(args, screen).await,
    };
    match answered {
        Ok(Found::Something) => Ok(ExitCode::SUCCESS),
        Ok(Found::Nothing) => Ok(ExitCode::from(NOTHING_FOUND)),
        Err(error) if error.is::<NotFound>() => {
            eprintln!("error: {error}");
            Ok(ExitCode::from(NOTHING_FOUND))
        }
        Err(error) => Err(error),
    }
}

/// Entries of an answer in pages.
#[derive(Debug, Default)]
pub(crate) struct Entries {
    pub(crate) entries: Vec<Value>,
    /// Whether there are more than were wanted.
    pub(crate) is_cut: bool,
}

/// Reads page by page until so many entries are there; they are the answer itself, or a member of it.
pub(crate) async fn pages(
    service: &Service,
    path: &str,
    mut params: Vec<(&'static str, String)>,
    member: &str,
    wanted: usize,
) -> Result<Entries> {
    let mut entries = Vec::new();
    loop {
        let mut page: Page = service.page(path, &params).await?;
        let list = if member.is_empty() { &mut page.body } else { &mut page.body[member] };
        entries.extend(list.as_array_mut().map(std::mem::take).unwrap_or_default());
        match page.next {
            Some(next) if entries.len() < wanted => {
                params.retain(|(name, _)| *name != "cursor");
                params.push(("cursor", next));
            }
            next => {
                let is_cut = next.is_some() || entries.len() > wanted;
                entries.truncate(wanted);
                return Ok(Entries { entries, is_cut });
            }
        }
    }
}

/// The last digits of an id: runs that began together share the first.
pub(crate) fn short_id(id: &str) -> &str {
    id.rsplit('-').next().unwrap_or(id)
}
