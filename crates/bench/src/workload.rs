//! W1 to W4: what the requests of each workload hold.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use clap::ValueEnum;
use rand::RngExt;

use crate::captures::{Capture, Kind, Line};
use crate::ids::{self, IdText, Random};
use crate::template::{Filling, Template};

/// The workloads of the performance goals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Workload {
    /// 24 whole query lives a request (216 events, about 990 KB decoded, 100 KB gzip), a new stream a request.
    W1,
    /// One whole query life a request (9 events, about 41 KB decoded), a new stream a request.
    W2,
    /// One query.finished of 5 KB a request, from long-lived streams: one for each connection.
    W3,
    /// The captures in a loop, with fresh stream and query ids.
    W4,
}

impl Workload {
    /// Connections, unless told otherwise.
    pub(crate) fn connections(self) -> usize {
        match self {
            Self::W1 | Self::W2 | Self::W4 => 8,
            Self::W3 => 64,
        }
    }

    /// Requests made ready for each second of a run: more than a collector on two cores has ever taken.
    pub(crate) fn pool_rate(self) -> f64 {
        match self {
            Self::W1 => 350.0,
            Self::W2 => 10_000.0,
            Self::W3 => 30_000.0,
            Self::W4 => 20_000.0,
        }
    }

    /// Name of the workload.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::W1 => "W1",
            Self::W2 => "W2",
            Self::W3 => "W3",
            Self::W4 => "W4",
        }
    }
}

/// Lives of a W1 request: captured label and how many lives of its shape, 24 in all.
const LIVES: [(&str, usize); 4] = [
    ("join/three-way", 10),
    ("long/regex-groupby", 5),
    ("unique/redundant", 5),
    ("worker-1/threads/join", 4),
];
/// Samples of one life.
const PROGRESS_EVENTS: u64 = 7;
/// Sizes in bytes of the captured `query.finished` that W3 takes: 5 KB.
const FINISHED_BYTES: std::ops::RangeInclusive<usize> = 4_800..=5_350;
/// A life's counters and durations are the captured ones times a factor of this range.
const SCALE: std::ops::Range<f64> = 0.6..1.4;
/// The process event of a stream is its first; other events count on from here.
const FIRST_SEQ: u64 = 2;

/// Everything that the bodies of one run are made from.
#[derive(Debug)]
pub(crate) struct Shapes {
    captures: Vec<Capture>,
    process: Template,
    lives: Vec<Life>,
    finished: Vec<Template>,
}

/// The shape of a query life: its plan, its fullest sample, its profile.
#[derive(Debug, Clone)]
struct Life {
    started: Template,
    progress: Template,
    finished: Template,
}

/// A batch as a sender would post it, not yet compressed.
#[derive(Debug, Default)]
pub(crate) struct Body {
    /// The lines.
    pub(crate) text: Vec<u8>,
    /// Events in it, the process event left out.
    pub(crate) events: u64,
    /// Queries whose first event it holds, where the workload knows.
    pub(crate) queries: u64,
}

impl Shapes {
    /// Picks the shapes out of captured traffic.
    ///
    /// # Errors
    /// When the captures lack one of the shapes.
    pub(crate) fn from_captures(captures: Vec<Capture>) -> Result<Self> {
        let process = captures.first().context("no captures")?.process.clone();
        let lives = LIVES
            .iter()
            .map(|(label, count)| Ok(std::iter::repeat_n(Life::from_captures(&captures, label)?, *count)))
            .collect::<Result<Vec<_>>>()?
            .into_iter()
            .flatten()
            .collect();
        let finished: Vec<_> = lines(&captures)
            .filter(|line| line.kind == Kind::Finished && FINISHED_BYTES.contains(&line.bytes))
            .map(|line| line.template.clone())
            .collect();
        anyhow::ensure!(!finished.is_empty(), "no captured query.finished of {FINISHED_BYTES:?} bytes");
        Ok(Self { captures, process, lives, finished })
    }

    /// The bodies of one connection, one after the other, without end.
    ///
    /// A seed and a lane give the same bodies again; started times are `now_unix_ns`.
    pub(crate) fn bodies(
        &self,
        workload: Workload,
        lane: u64,
        seed: u64,
        now_unix_ns: i64,
    ) -> impl Iterator<Item = Body> + '_ {
        let random = ids::random(seed, lane);
        let mut lane = Lane { shapes: self, random, now_unix_ns, turn: 0, ids: BTreeMap::new() };
        let long_lived = IdText::stream(&mut lane.random);
        std::iter::from_fn(move || {
            let body = match workload {
                Workload::W1 => lane.lives(&self.lives),
                Workload::W2 => {
                    let turn = lane.turn % self.lives.len();
                    lane.lives(&self.lives[turn..=turn])
                }
                Workload::W3 => lane.finished(long_lived),
                Workload::W4 => lane.capture(),
            };
            lane.turn += 1;
            Some(body)
        })
    }
}

impl Life {
    fn from_captures(captures: &[Capture], label: &str) -> Result<Self> {
        let begins = |line: &&Line| line.kind == Kind::Started && line.label.as_deref() == Some(label);
        let query =
            &lines(captures).find(begins).with_context(|| format!("no captured start of {label}"))?.query;
        let fullest = |kind| {
            lines(captures)
                .filter(|line| line.query == *query && line.kind == kind)
                .max_by_key(|line| line.bytes)
                .map(|line| line.template.clone())
                .with_context(|| format!("no captured {kind:?} of {label}"))
        };
        Ok(Self {
            started: fullest(Kind::Started)?,
            progress: fullest(Kind::Progress)?,
            finished: fullest(Kind::Finished)?,
        })
    }
}

fn lines(captures: &[Capture]) -> impl Iterator<Item = &Line> {
    captures.iter().flat_map(|capture| &capture.lines)
}

/// What one connection has sent so far.
struct Lane<'a> {
    shapes: &'a Shapes,
    random: Random,
    now_unix_ns: i64,
    turn: usize,
    /// Captured id to the fresh one of this round through the captures.
    ids: BTreeMap<&'a str, IdText>,
}

impl Lane<'_> {
    fn lives(&mut self, lives: &[Life]) -> Body {
        let mut body = Body { queries: lives.len() as u64, ..Body::default() };
        let stream = IdText::stream(&mut self.random);
        let mut filling = self.filling(stream);
        self.shapes.process.write(&filling, &mut body.text);
        filling.seq = FIRST_SEQ;
        for life in lives {
            filling.query = IdText::query(&mut self.random, self.now_unix_ns);
            let scale = self.random.random_range(SCALE);
            let sample = |k| (&life.progress, (k + 1) as f64 / (PROGRESS_EVENTS + 1) as f64);
            let events = std::iter::once((&life.started, 1.0))
                .chain((0..PROGRESS_EVENTS).map(sample))
                .chain([(&life.finished, 1.0)]);
            for (template, done) in events {
                filling.scale = scale * done;
                template.write(&filling, &mut body.text);
                filling.seq += 1;
                body.events += 1;
            }
        }
        body
    }

    fn finished(&mut self, stream: IdText) -> Body {
        let mut body = Body { queries: 1, events: 1, ..Body::default() };
        let mut filling = self.filling(stream);
        self.shapes.process.write(&filling, &mut body.text);
        filling.seq = FIRST_SEQ + self.turn as u64;
        filling.query = IdText::query(&mut self.random, self.now_unix_ns);
        filling.scale = self.random.random_range(SCALE);
        self.shapes.finished[self.turn % self.shapes.finished.len()].write(&filling, &mut body.text);
        body
    }

    fn capture(&mut self) -> Body {
        let place = self.turn % self.shapes.captures.len();
        if place == 0 {
            self.ids.clear();
        }
        let shapes = self.shapes;
        let capture = &shapes.captures[place];
        let mut body = Body::default();
        let random = &mut self.random;
        let stream = *self.ids.entry(&capture.stream).or_insert_with(|| IdText::stream(random));
        let mut filling = self.filling(stream);
        capture.process.write(&filling, &mut body.text);
        for line in &capture.lines {
            if !line.query.is_empty() {
                filling.query = *self.ids.entry(&line.query).or_insert_with(|| {
                    body.queries += 1;
                    IdText::query(&mut self.random, self.now_unix_ns)
                });
            }
            filling.seq = line.seq;
            line.template.write(&filling, &mut body.text);
            body.events += 1;
        }
        body
    }

    fn filling(&self, stream: IdText) -> Filling {
        Filling { stream, query: stream, seq: 1, started_unix_ns: self.now_unix_ns, scale: 1.0 }
    }
}

#[cfg(test)]
mod tests;
