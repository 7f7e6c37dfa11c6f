//! The captured traffic of a real sender, as templates.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use flate2::read::MultiGzDecoder;
use queryscope_protocol::{Batch, EventKind};

use crate::template::Template;

/// One captured request.
#[derive(Debug)]
pub(crate) struct Capture {
    /// Id of its stream.
    pub(crate) stream: String,
    /// Its first line.
    pub(crate) process: Template,
    /// The lines after it.
    pub(crate) lines: Vec<Line>,
}

/// One captured event.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    /// The event, ready to be copied.
    pub(crate) template: Template,
    /// What it tells.
    pub(crate) kind: Kind,
    /// Number it had within its stream.
    pub(crate) seq: u64,
    /// Query it belongs to; empty where it belongs to none.
    pub(crate) query: String,
    /// Name the program gave the query, where the event says it.
    pub(crate) label: Option<String>,
    /// Length in bytes, without the line feed.
    pub(crate) bytes: usize,
}

/// The event types the workloads tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `query.started`
    Started,
    /// `query.progress`
    Progress,
    /// `query.finished`
    Finished,
    /// Any other type.
    Other,
}

/// Reads every `*.jsonl.gz` of a folder, in the order of the names.
///
/// # Errors
/// When the folder holds none, or one that is not a gzip-compressed batch of `events@1`.
pub(crate) fn read_folder(folder: &Path) -> Result<Vec<Capture>> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .and_then(|entries| entries.map(|entry| entry.map(|entry| entry.path())).collect())
        .with_context(|| format!("cannot list the captures in {}", folder.display()))?;
    files.retain(|file| file.to_string_lossy().ends_with(".jsonl.gz"));
    files.sort();
    ensure!(!files.is_empty(), "no *.jsonl.gz in {}", folder.display());
    files
        .iter()
        .map(|file| read_capture(file).with_context(|| format!("cannot read {}", file.display())))
        .collect()
}

fn read_capture(file: &Path) -> Result<Capture> {
    let mut body = Vec::new();
    MultiGzDecoder::new(fs::File::open(file)?).read_to_end(&mut body)?;
    let batch = Batch::open(&body)?;
    let stream = batch.process.id.to_string();
    let process = Template::cut(batch.process_line, &stream, None);
    let lines = batch
        .events
        .map(|event| {
            let event = event?;
            let query = event.kind.query_id().map(|id| id.to_string()).unwrap_or_default();
            let (kind, label) = match &event.kind {
                EventKind::Started(_, profile) => (Kind::Started, profile.label.as_ref()),
                EventKind::Finished(_, profile) => (Kind::Finished, profile.label.as_ref()),
                EventKind::Progress(..) => (Kind::Progress, None),
                EventKind::Process(_) | EventKind::Other(_) => (Kind::Other, None),
            };
            Ok(Line {
                template: Template::cut(event.line, &stream, Some(&query)),
                kind,
                seq: event.seq.get(),
                label: label.map(ToString::to_string),
                bytes: event.line.len(),
                query,
            })
        })
        .collect::<Result<_>>()?;
    Ok(Capture { stream, process, lines })
}

/// The captures of the repository, for tests.
#[cfg(test)]
pub(crate) fn of_repository() -> Vec<Capture> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/captures");
    read_folder(Path::new(folder)).expect("the captures of the repository")
}
