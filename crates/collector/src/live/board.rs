//! What is known of the running runs, and the messages that come of what changes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use queryscope_diagnosis::Change;
use queryscope_issues::Issue;
use queryscope_protocol::QueryId;
use queryscope_store::Query;
use serde::Serialize;
use tokio::time::Instant;

use super::digest::Report;
use super::filter::Tags;
use super::journal::{Journal, Place};
use super::message::{Flush, Message, Subject, write};
use super::pace::Pace;
use super::progress::{Progress, THREADS_MAX};
use super::snapshot::{Shown, ShownQuery};
use crate::read::QuerySummary;

/// Bytes of messages after which they go out at once.
const FLUSH_BYTES: usize = 256 << 10;

/// What a reader begins with.
#[derive(Debug)]
pub(super) enum Opening {
    Snapshot(Arc<Shown>),
    /// The messages since it was last here.
    Resumed(Vec<Message>),
}

/// The state of `/api/live`.
#[derive(Debug)]
pub(super) struct Board {
    epoch: u32,
    number: u64,
    running: HashMap<QueryId, Running>,
    pending: Vec<Message>,
    pending_bytes: usize,
    /// Queries not told of since the last messages that say so, by project.
    omitted: BTreeMap<Arc<str>, u64>,
    omitted_total: u64,
    pace: Pace,
    journal: Journal,
    shown: Option<Arc<Shown>>,
}

#[derive(Debug)]
struct Running {
    started_unix_ns: i64,
    tags: Arc<Tags>,
    summary: Arc<str>,
    progress: Progress,
}

impl Running {
    fn new(query: Query, progress: Progress) -> Self {
        Self {
            started_unix_ns: query.started_unix_ns,
            tags: Arc::new(Tags::new(&query)),
            summary: summary(query).into(),
            progress,
        }
    }
}

impl Board {
    /// A board of these running queries; no other has had the `epoch`.
    pub(super) fn new(epoch: u32, queries: Vec<(Query, Progress)>, now: Instant) -> Self {
        let running =
            queries.into_iter().map(|(query, progress)| (query.query_id, Running::new(query, progress)));
        Self {
            epoch,
            number: 0,
            running: running.collect(),
            pending: Vec::new(),
            pending_bytes: 0,
            omitted: BTreeMap::new(),
            omitted_total: 0,
            pace: Pace::new(now),
            journal: Journal::default(),
            shown: None,
        }
    }

    pub(super) fn is_running(&self, id: QueryId) -> bool {
        self.running.contains_key(&id)
    }

    /// When messages wait to go out, the time for it.
    pub(super) fn due(&self) -> Option<Instant> {
        if self.pending_bytes >= FLUSH_BYTES { Some(Instant::now()) } else { self.pace.due() }
    }

    /// A query began to run, runs again, or shows something new; `progress` is what is known of it already.
    pub(super) fn runs(&mut self, query: Query, progress: Progress, readers: usize) {
        let id = query.query_id;
        let known = self.running.remove(&id);
        let before = known.as_ref().map(|known| Arc::clone(&known.tags));
        let progress = known.map_or(progress, |known| known.progress);
        let running = Running::new(query, progress);
        let (text, tags) = (Arc::clone(&running.summary), Arc::clone(&running.tags));
        self.running.insert(id, running);
        let before = before.filter(|before| *before != tags);
        self.say("query", &text, tags, before);
        self.pace.seen(readers);
    }

    /// A query that was running has ended.
    pub(super) fn ended(&mut self, query: Query, readers: usize) {
        let known = self.running.remove(&query.query_id);
        let tags = Arc::new(Tags::new(&query));
        let before = known.map(|known| known.tags).filter(|before| *before != tags);
        self.say("query", &summary(query), tags, before);
        self.pace.seen(readers);
    }

    /// A query has ended that nobody saw running. More of these than readers can be told of are counted
    /// instead.
    pub(super) fn ended_unseen(&mut self, query: Query, now: Instant, readers: usize) {
        if self.pace.unseen(now, readers) {
            let tags = Arc::new(Tags::new(&query));
            self.say("query", &summary(query), tags, None);
        } else {
            *self.omitted.entry(query.project.into()).or_default() += 1;
            self.omitted_total += 1;
        }
    }

    /// A running query has reported.
    pub(super) fn reported(&mut self, id: QueryId, reports: &[Report], readers: usize) {
        let Some(running) = self.running.get_mut(&id) else { return };
        let samples = running.progress.hear(reports);
        // What has a pulse in a snapshot may have changed although nothing is said.
        self.shown = None;
        if samples > 0
            && let Some(pulse) = running.progress.pulse(id, samples)
        {
            let tags = Arc::clone(&running.tags);
            self.say("pulse", &json(&pulse), tags, None);
            self.pace.seen(readers);
        }
    }

    /// A change of a query was found, or moved on.
    pub(super) fn found(&mut self, change: &Change, readers: usize) {
        self.say("change", &json(change), Arc::new(Tags::from_change(change)), None);
        self.pace.seen(readers);
    }

    /// An issue has made a transition.
    pub(super) fn moved(&mut self, issue: &Issue, readers: usize) {
        self.say("issue", &json(issue), Arc::new(Tags::from_issue(issue)), None);
        self.pace.seen(readers);
    }

    /// Takes what goes out now.
    pub(super) fn flush(&mut self, now: Instant) -> Option<Arc<Flush>> {
        if !self.pending.is_empty() {
            for (project, omitted) in std::mem::take(&mut self.omitted) {
                self.say_of(
                    "omitted",
                    &format!(r#"{{"queries":{omitted}}}"#),
                    Subject::Project(project),
                    None,
                );
            }
        }
        self.pace.flushed(now);
        if self.pending.is_empty() {
            return None;
        }
        let mut messages = std::mem::take(&mut self.pending);
        let mut joined = BytesMut::with_capacity(std::mem::take(&mut self.pending_bytes));
        for message in &messages {
            joined.extend_from_slice(&message.text);
        }
        // The messages become parts of the whole, which is kept once.
        let joined = joined.freeze();
        let mut begin = 0;
        for message in &mut messages {
            let end = begin + message.text.len();
            message.text = joined.slice(begin..end);
            begin = end;
        }
        self.journal.add(&messages);
        Some(Arc::new(Flush { messages, joined }))
    }

    /// What a reader begins with; everything said before must have gone out.
    pub(super) fn open(&mut self, resume: Option<Place>) -> Opening {
        if let Some(place) = resume.filter(|place| place.epoch == self.epoch)
            && let Some(messages) = self.journal.after(place.number, self.number)
        {
            return Opening::Resumed(messages);
        }
        Opening::Snapshot(self.shown())
    }

    /// All running queries as they are now.
    pub(super) fn shown(&mut self) -> Arc<Shown> {
        let place = Place { epoch: self.epoch, number: self.number };
        let running = &self.running;
        let shown = self.shown.get_or_insert_with(|| {
            let mut ordered: Vec<_> = running.iter().collect();
            ordered.sort_unstable_by_key(|(id, running)| Reverse((running.started_unix_ns, **id)));
            let queries = ordered.into_iter().map(|(id, running)| ShownQuery {
                tags: Arc::clone(&running.tags),
                summary: Arc::clone(&running.summary),
                pulse: running.progress.pulse(*id, THREADS_MAX).as_ref().map(json),
            });
            Arc::new(Shown::new(place, queries.collect()))
        });
        Arc::clone(shown)
    }

    /// Queries that were counted instead of told since this was last asked.
    pub(super) fn take_omitted(&mut self) -> u64 {
        std::mem::take(&mut self.omitted_total)
    }

    fn say(&mut self, event: &str, data: &str, tags: Arc<Tags>, before: Option<Arc<Tags>>) {
        self.say_of(event, data, Subject::Tags(tags), before);
    }

    fn say_of(&mut self, event: &str, data: &str, subject: Subject, before: Option<Arc<Tags>>) {
        self.number += 1;
        let mut text = String::with_capacity(data.len() + 64);
        write(&mut text, Place { epoch: self.epoch, number: self.number }, event, data);
        self.pending_bytes += text.len();
        self.pending.push(Message { text: Bytes::from(text), subject, before });
        self.shown = None;
    }
}

/// A query's summary as JSON.
pub(super) fn summary(query: Query) -> String {
    json(&QuerySummary::from(query))
}

fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("texts and numbers are written to memory")
}
