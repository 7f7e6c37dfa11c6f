//! The events that ended runs, from wherever they are stored.

use std::collections::HashMap;
use std::sync::Arc;

use queryscope_diagnosis::{Context, RunFeatures, seen_run};
use queryscope_insights::Outlines;
use queryscope_issues::SeenRun;
use queryscope_protocol::{Event, EventKind, Profile, QueryId, Seq, profile_of, seq_of};
use queryscope_recordings::{LineReader, RecordingError, Recordings};
use queryscope_store::{Inflater, Known, Query, RecordingParts, StoreError, lines_of, unpack};

use super::look::Waiting;
use crate::app::App;

/// Characters of the path of a file that are kept.
const PATH_CHARS_MAX: usize = 1_000;
/// Bytes of a chunk that is inflated at once; a larger one is inflated piece by piece.
const CHUNK_BYTES_MAX: usize = 16 << 20;
/// Bytes of a buffer that is kept from event to event.
const BUFFER_BYTES_KEPT: usize = 1 << 20;

/// The event that ended a run.
pub(super) struct Ended {
    query: Query,
    seq: Option<Seq>,
    text: Text,
}

enum Text {
    /// A chunk that holds the line.
    Chunk(Vec<u8>),
    Line(Vec<u8>),
}

/// Reads the events that ended these runs, in their order; `None` for one that cannot be read or is gone.
///
/// # Errors
/// When the store or the recordings cannot be reached.
pub(super) async fn read(app: &Arc<App>, runs: &[Waiting]) -> Result<Vec<Option<Ended>>, StoreError> {
    let parts = parts(app, runs).await?;
    let chunk_of = |run: &Waiting, parts: &RecordingParts| {
        let seq = run.seq?;
        let mut chunks = parts.chunks.iter().filter(|chunk| chunk.first <= seq && seq <= chunk.last);
        // Where chunks overlap, only reading them tells.
        chunks.next().filter(|_| chunks.next().is_none()).map(|chunk| chunk.id)
    };
    let places = runs.iter().zip(&parts).map(|(run, parts)| chunk_of(run, parts.as_ref()?));
    let places: Vec<Option<i64>> = places.collect();
    let ids: Vec<i64> = places.iter().flatten().copied().collect();
    let mut chunks: HashMap<i64, Vec<u8>> = HashMap::with_capacity(ids.len());
    if !ids.is_empty() {
        let read = app.store.chunks(ids.clone()).await?;
        chunks.extend(ids.into_iter().zip(read).filter_map(|(id, chunk)| Some((id, chunk?))));
    }
    // Runs that ended together were mostly sealed together: their packs are opened once for all.
    let sealed = parts.iter().zip(&places).filter(|(_, place)| place.is_none());
    let sealed = sealed.filter_map(|(parts, _)| parts.as_ref()?.sealed.as_ref());
    let recordings = app.recordings.read_ahead(sealed).await;
    let mut inflater = Inflater::default();
    let mut all = Vec::with_capacity(runs.len());
    for ((run, parts), place) in runs.iter().zip(parts).zip(places) {
        let Some(parts) = parts else {
            all.push(None);
            continue;
        };
        let query = parts.query.clone();
        // It was deleted, and reported again since.
        let text = match place.and_then(|place| chunks.remove(&place)) {
            _ if query.known != Known::Finished => None,
            Some(chunk) => Some(Text::Chunk(chunk)),
            // It is sealed.
            _ => match recordings.text_ahead(&parts, &mut inflater) {
                Some(text) => end_of(&text, run).map(|line| Text::Line(line.to_vec())),
                None => recorded(app, &recordings, run, parts).await?.map(Text::Line),
            },
        };
        all.push(text.map(|text| Ended { query, seq: run.seq, text }));
    }
    Ok(all)
}

/// Where the events of these runs are.
async fn parts(app: &App, runs: &[Waiting]) -> Result<Vec<Option<RecordingParts>>, StoreError> {
    let ids: Vec<QueryId> = runs.iter().map(|run| run.query_id).collect();
    if let Ok(parts) = app.store.recordings(&ids).await {
        return Ok(parts);
    }
    // One that is damaged must not keep the others from their evaluation.
    let mut all = Vec::with_capacity(ids.len());
    let mut failed = None;
    for &id in &ids {
        match app.store.recording(id).await {
            Ok(parts) => all.push(parts),
            Err(error @ StoreError::Fatal(_)) => return Err(error),
            Err(error) => {
                failed = Some(error);
                all.push(None);
            }
        }
    }
    match failed {
        Some(error) if all.iter().all(Option::is_none) => Err(error),
        _ => Ok(all),
    }
}

/// The line from the recording, wherever that is.
async fn recorded(
    app: &Arc<App>,
    recordings: &Recordings,
    run: &Waiting,
    parts: RecordingParts,
) -> Result<Option<Vec<u8>>, StoreError> {
    let read = async {
        let content = recordings.read(&app.store, parts).await?;
        let mut lines = LineReader::new(run.query_id, content.bytes);
        while let Some(line) = lines.next_text().await? {
            if is_end_of(&line, run) {
                return Ok(Some(line));
            }
        }
        Ok(None)
    };
    match read.await {
        Ok(line) => Ok(line),
        Err(RecordingError::Store(error)) => Err(error),
        Err(RecordingError::Unavailable(error)) => Err(StoreError::Unavailable(error)),
        Err(error) => {
            if !matches!(error, RecordingError::Gone)
                && let Some(times) = app.evaluation.unreadable.due()
            {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, times, query_id = %run.query_id, "an ended run cannot be read to be evaluated");
            }
            Ok(None)
        }
    }
}

/// The line of a text that ended a run.
fn end_of<'t>(text: &'t [u8], run: &Waiting) -> Option<&'t [u8]> {
    lines_of(text).find(|line| is_end_of(line, run))
}

fn is_end_of(line: &[u8], run: &Waiting) -> bool {
    match run.seq {
        Some(seq) => seq_of(line) == Some(seq),
        None => is_end(line),
    }
}

fn is_end(line: &[u8]) -> bool {
    let event = str::from_utf8(line).ok().and_then(|line| Event::read_stored(line).ok());
    event.is_some_and(|event| matches!(event.kind, EventKind::Finished(..)))
}

/// The features that the event which ended a run makes, and their plan; `None` where it is no such event.
pub(super) fn features(query: &Query, line: &[u8]) -> Option<RunFeatures> {
    if !is_end(line) {
        return None;
    }
    features_of(query, line, &mut Outlines::default()).map(|(features, _)| features)
}

fn features_of(query: &Query, line: &[u8], outlines: &mut Outlines) -> Option<(RunFeatures, Option<String>)> {
    let profile = profile_of(str::from_utf8(line).ok()?).ok()?;
    let context = Context {
        host: Some(query.host.as_str().into()),
        environment: query.environment.as_deref().map(Into::into),
        program_version: query.program_version.as_deref().map(Into::into),
    };
    let run = RunFeatures::from_profile(query.query_id, query.started_unix_ns, &profile, &context, outlines);
    Some((run, path_of(&profile)))
}

/// The file that ran a query.
pub(super) fn path_of(profile: &Profile<'_>) -> Option<String> {
    profile.call_site.as_ref().map(|site| site.filepath.chars().take(PATH_CHARS_MAX).collect())
}

/// Makes features of events, with what it keeps from event to event.
#[derive(Debug, Default)]
pub(super) struct Extractor {
    outlines: Outlines,
    inflater: Inflater,
    text: Vec<u8>,
}

impl Extractor {
    /// The features of a run, and what issues see of it; `None` where the profile cannot be read.
    pub(super) fn features(&mut self, ended: &Ended) -> Option<(RunFeatures, SeenRun)> {
        let query = &ended.query;
        let (features, call_site) = match &ended.text {
            Text::Line(line) => features_of(query, line, &mut self.outlines)?,
            Text::Chunk(chunk) => {
                if !self.inflater.inflate(chunk, CHUNK_BYTES_MAX, &mut self.text) {
                    self.text = unpack(chunk).ok()?;
                }
                let line = line_of(&self.text, ended.seq)?;
                features_of(query, line, &mut self.outlines)?
            }
        };
        if self.text.capacity() > BUFFER_BYTES_KEPT {
            self.text = Vec::new();
        }
        let findings = query.rules.clone();
        let seen = SeenRun { findings, ..seen_run(&features, call_site) };
        Some((features, seen))
    }
}

/// The line of a chunk that has this number. A chunk of one line, which most are, has no other.
fn line_of(text: &[u8], seq: Option<Seq>) -> Option<&[u8]> {
    let mut lines = lines_of(text);
    match (lines.next(), lines.next()) {
        (only, None) => only,
        _ => lines_of(text).find(|line| seq_of(line) == seq),
    }
}
