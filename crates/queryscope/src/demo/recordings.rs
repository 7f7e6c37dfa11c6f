//! Recordings of real runs, played as if they ran now.

use std::collections::BTreeMap;
use std::io::Read;
use std::time::Duration;

use anyhow::{Context, bail};
use flate2::read::MultiGzDecoder;
use queryscope_protocol::{Batch, EventKind, QueryId, StreamId};
use rand::rngs::StdRng;

use super::id::{query_id, stream_id};

/// What each recording holds is said beside the files.
const RECORDINGS: [(&str, &[u8]); 4] = [
    ("orders-etl", include_bytes!("../../assets/demo/orders-etl.jsonl.gz")),
    ("billing", include_bytes!("../../assets/demo/billing.jsonl.gz")),
    ("nightly-batch", include_bytes!("../../assets/demo/nightly-batch.jsonl.gz")),
    ("reports-api", include_bytes!("../../assets/demo/reports-api.jsonl.gz")),
];

/// Which recording begins how many seconds after the first: a minute in which there is always something running.
const PROGRAMME: [(&str, u64); 10] = [
    ("reports-api", 0),
    ("nightly-batch", 1),
    ("orders-etl", 3),
    ("billing", 6),
    ("reports-api", 16),
    ("nightly-batch", 30),
    ("reports-api", 33),
    ("orders-etl", 36),
    ("billing", 42),
    ("reports-api", 48),
];

/// Events of one process that follow each other within this time go out in one batch, as senders do it.
const BATCH_WITHIN: Duration = Duration::from_millis(25);

/// A batch and when to post it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Posting {
    /// Time since the demo's recordings began.
    pub(super) at: Duration,
    /// The batch, as plain JSON Lines.
    pub(super) batch: Vec<u8>,
    /// Queries that end with it.
    pub(super) ended: usize,
}

/// The whole programme in order of time, with streams, queries and times of its own.
pub(super) fn schedule(rng: &mut StdRng, start_unix_ns: i64) -> anyhow::Result<Vec<Posting>> {
    let recordings: BTreeMap<&str, Recording> = RECORDINGS
        .iter()
        .map(|(name, gzip)| {
            Recording::read(gzip)
                .map(|recording| (*name, recording))
                .with_context(|| format!("recording {name}"))
        })
        .collect::<anyhow::Result<_>>()?;
    let mut postings = Vec::new();
    for (name, second) in PROGRAMME {
        let recording = recordings.get(name).with_context(|| format!("no recording {name}"))?;
        postings.extend(recording.play(rng, start_unix_ns, Duration::from_secs(second)));
    }
    postings.sort_by_key(|posting| posting.at);
    Ok(postings)
}

/// One process and some of its queries.
#[derive(Debug)]
struct Recording {
    stream_id: StreamId,
    process_line: String,
    process_started_unix_ns: i64,
    /// When its first query started; what the offsets below count from.
    first_unix_ns: i64,
    /// When each query started.
    queries: BTreeMap<QueryId, i64>,
    events: Vec<Recorded>,
}

#[derive(Debug)]
struct Recorded {
    after: Duration,
    query_id: QueryId,
    ends: bool,
    line: String,
}

impl Recording {
    fn read(gzip: &[u8]) -> anyhow::Result<Self> {
        let mut body = Vec::new();
        MultiGzDecoder::new(gzip).read_to_end(&mut body)?;
        let batch = Batch::open(&body)?;
        let mut queries = BTreeMap::new();
        let mut events = Vec::new();
        for event in batch.events {
            let event = event?;
            let (query_id, ms) = match &event.kind {
                EventKind::Started(id, profile) | EventKind::Finished(id, profile) => {
                    let started =
                        profile.started_unix_ns.context("a profile that does not say when it started")?;
                    queries.insert(*id, started);
                    (*id, profile.wall_ms)
                }
                EventKind::Progress(id, elapsed_ms) => (*id, *elapsed_ms),
                _ => bail!("seq {}: an event that is not a query's", event.seq),
            };
            let started = queries.get(&query_id).with_context(|| format!("query {query_id} has no start"))?;
            let ends = matches!(event.kind, EventKind::Finished(..));
            events.push((started + (ms * 1e6) as i64, query_id, ends, event.line.to_owned()));
        }
        let first_unix_ns = *queries.values().min().context("no query")?;
        let mut latest = Duration::ZERO;
        let events = events
            .into_iter()
            .map(|(at_unix_ns, query_id, ends, line)| {
                // Threads of one process overtake each other by a millisecond; seqs go up all the same.
                latest = latest.max(Duration::from_nanos((at_unix_ns - first_unix_ns).max(0) as u64));
                Recorded { after: latest, query_id, ends, line }
            })
            .collect();
        Ok(Self {
            stream_id: batch.process.id,
            process_line: batch.process_line.to_owned(),
            process_started_unix_ns: batch.process.started_unix_ns.context("a process without a start")?,
            first_unix_ns,
            queries,
            events,
        })
    }

    /// The recording as another process would have sent it, its first query started at `start_unix_ns` + `at`.
    ///
    /// Identities and start times are other ones; every other byte is as it was sent.
    fn play(&self, rng: &mut StdRng, start_unix_ns: i64, at: Duration) -> Vec<Posting> {
        let shift_ns = start_unix_ns + at.as_nanos() as i64 - self.first_unix_ns;
        let process_line = restarted(&self.process_line, self.process_started_unix_ns, shift_ns)
            .replace(&self.stream_id.to_string(), &stream_id(rng).to_string());
        let fresh: BTreeMap<QueryId, String> = self
            .queries
            .iter()
            .map(|(id, started)| (*id, query_id(rng, started + shift_ns).to_string()))
            .collect();
        let near = |a: &Recorded, b: &Recorded| b.after.saturating_sub(a.after) <= BATCH_WITHIN;
        self.events
            .chunk_by(near)
            .map(|events| {
                let mut batch = process_line.clone();
                for event in events {
                    let line = event.line.replace(&event.query_id.to_string(), &fresh[&event.query_id]);
                    batch.push('\n');
                    batch.push_str(&restarted(&line, self.queries[&event.query_id], shift_ns));
                }
                batch.push('\n');
                Posting {
                    at: at + events[events.len() - 1].after,
                    batch: batch.into_bytes(),
                    ended: events.iter().filter(|event| event.ends).count(),
                }
            })
            .collect()
    }
}

/// The line with its start time moved.
fn restarted(line: &str, started_unix_ns: i64, shift_ns: i64) -> String {
    let member = |time: i64| format!("\"started_unix_ns\":{time}");
    line.replace(&member(started_unix_ns), &member(started_unix_ns + shift_ns))
}

#[cfg(test)]
mod tests;
