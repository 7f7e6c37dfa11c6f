//! One stream as its process knows it: what it has made, sent and been told.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use rand::RngExt;
use rand::rngs::StdRng;
use rand::seq::{IndexedRandom, SliceRandom};
use uuid::Uuid;

use crate::events::Stream;

/// Events made for one batch.
const MADE_MAX: usize = 6;
/// Events sent again in one batch.
const AGAIN_MAX: usize = 12;
/// Events that are not acknowledged, beyond which no more are made: a sender's queue is bounded, too.
const WAITING_MAX: usize = 100;
/// Queries of one stream that run at once; the oldest then ends first.
const RUNNING_MAX: usize = 8;

#[derive(Debug)]
pub(crate) struct Source {
    stream: Stream,
    /// Every event made, in the order of seqs.
    lines: Vec<Line>,
    running: Vec<Uuid>,
    /// Indices of lines that are not acknowledged.
    waiting: BTreeSet<usize>,
    last_batch: Vec<usize>,
    accepted: u64,
}

#[derive(Debug)]
struct Line {
    query: Option<Uuid>,
    text: String,
}

impl Source {
    pub(crate) fn new(random: &mut StdRng) -> Self {
        Self {
            stream: Stream { id: uuid(random), ..Stream::new() },
            lines: Vec::new(),
            running: Vec::new(),
            waiting: BTreeSet::new(),
            last_batch: Vec::new(),
            accepted: 0,
        }
    }

    /// Picks lines for a batch: new ones, ones that were not acknowledged, and ones that may have been.
    pub(crate) fn pick(&mut self, random: &mut StdRng) -> Vec<usize> {
        if random.random_bool(0.1) {
            return self.last_batch.clone();
        }
        let made = self.lines.len();
        for _ in 0..random.random_range(0..=MADE_MAX) {
            if self.waiting.len() < WAITING_MAX {
                self.make(random);
            }
        }
        let mut picked: BTreeSet<usize> = (made..self.lines.len()).collect();
        if random.random_bool(0.5) {
            picked.extend(self.waiting.iter().take(random.random_range(0..=AGAIN_MAX)));
        }
        if made > 0 && random.random_bool(0.3) {
            let from = random.random_range(0..made);
            picked.extend(from..made.min(from + random.random_range(1..=AGAIN_MAX)));
        }
        let mut picked: Vec<usize> = picked.into_iter().collect();
        if random.random_bool(0.2) {
            picked.shuffle(random);
        }
        if random.random_bool(0.1) {
            picked.extend(picked.choose(random).copied());
        }
        self.last_batch.clone_from(&picked);
        picked
    }

    /// Makes one event.
    fn make(&mut self, random: &mut StdRng) {
        let oldest = self.running.first().copied();
        let any = self.running.choose(random).copied();
        let (query, text) = match (random.random_range(0..100), any) {
            (0..3, _) => (None, self.stream.event("process.note", r#""text":"of no query""#)),
            (3..35, _) | (_, None) => {
                let query = uuid(random);
                if random.random_bool(0.5) {
                    (Some(query), self.stream.finished(query, "quick"))
                } else {
                    self.running.push(query);
                    (Some(query), self.stream.started(query, "slow"))
                }
            }
            (35..50, Some(query)) if self.running.len() < RUNNING_MAX => {
                self.running.retain(|running| *running != query);
                (Some(query), self.stream.finished(query, "slow"))
            }
            (_, Some(_)) if self.running.len() >= RUNNING_MAX => {
                let query = oldest.expect("some run");
                self.running.remove(0);
                (Some(query), self.stream.finished(query, "slow"))
            }
            (50..55, Some(query)) => {
                (Some(query), self.stream.event("query.note", &format!(r#""query_id":"{query}""#)))
            }
            (_, Some(query)) => (Some(query), self.stream.progress(query)),
        };
        self.add(query, padded(text, random));
    }

    fn add(&mut self, query: Option<Uuid>, text: String) {
        self.waiting.insert(self.lines.len());
        self.lines.push(Line { query, text });
    }

    /// Ends every query that runs.
    pub(crate) fn finish(&mut self) {
        for query in std::mem::take(&mut self.running) {
            let text = self.stream.finished(query, "slow");
            self.add(Some(query), text);
        }
    }

    /// The body of a batch with these lines.
    pub(crate) fn batch(&self, picked: &[usize]) -> Vec<u8> {
        let mut text = self.stream.process() + "\n";
        for at in picked {
            let _ = writeln!(text, "{}", self.lines[*at].text);
        }
        text.into_bytes()
    }

    /// How many of these lines are not acknowledged.
    pub(crate) fn unacknowledged(&self, picked: &[usize]) -> u64 {
        let picked: BTreeSet<usize> = picked.iter().copied().collect();
        picked.intersection(&self.waiting).count() as u64
    }

    /// Notes that these lines are acknowledged; gives those as a batch that were not before.
    pub(crate) fn acknowledge(&mut self, picked: &[usize], accepted: u64) -> Vec<u8> {
        self.accepted += accepted;
        assert!(self.accepted <= self.lines.len() as u64, "more events accepted than there are");
        let new: Vec<usize> = picked.iter().copied().filter(|at| self.waiting.remove(at)).collect();
        if new.is_empty() { Vec::new() } else { self.batch(&new) }
    }

    /// Lines that are not acknowledged.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = usize> {
        self.waiting.iter().copied()
    }

    /// The recording each query must have.
    pub(crate) fn recordings(&self) -> BTreeMap<Uuid, Vec<String>> {
        let mut recordings = BTreeMap::new();
        for line in &self.lines {
            if let Some(query) = line.query {
                let lines = recordings.entry(query).or_insert_with(|| vec![self.stream.process()]);
                lines.push(line.text.clone());
            }
        }
        recordings
    }
}

fn uuid(random: &mut StdRng) -> Uuid {
    uuid::Builder::from_random_bytes(random.random()).into_uuid()
}

/// The event with a member that makes it as long as events are: mostly short, at times very long.
fn padded(mut event: String, random: &mut StdRng) -> String {
    let bytes = match random.random_range(0..100) {
        0..80 => random.random_range(0..1_000),
        80..98 => random.random_range(1_000..10_000),
        _ => random.random_range(10_000..100_000),
    };
    event.truncate(event.len() - 1);
    event.push_str(r#","padding":""#);
    let noise: Vec<u8> = (0..bytes).map(|_| random.random()).collect();
    for byte in noise {
        let _ = write!(event, "{byte:02x}");
    }
    event + r#""}"#
}
