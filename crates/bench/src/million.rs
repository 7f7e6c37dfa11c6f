//! What the next batch costs of a stream that has sent a million events, against one that has just begun.

use std::io::Write;
use std::time::Instant;

use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};

use crate::body::Packer;
use crate::client::Connection;
use crate::http::Target;
use crate::ids::{self, IdText};
use crate::latency::{Latencies, Percentiles};
use crate::load::single_threaded;
use crate::process::cpu_seconds;
use crate::workload::Body;

/// Events of each batch of the long stream.
const BATCH_EVENTS: u64 = 10_000;
/// Both streams take turns this often, so that a disturbance meets both.
const TURNS: u64 = 4;

/// How to measure.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Options {
    /// Events the long stream has sent before.
    pub(crate) events: u64,
    /// Batches of one event that are measured of each stream.
    pub(crate) batches: u64,
    /// Distance of two seqs: 1 as a sender counts, 2 when it dropped every other event.
    pub(crate) step: u64,
    /// Source of the streams' ids.
    pub(crate) seed: u64,
    /// Process of the collector, when its use of CPU is wanted.
    pub(crate) pid: Option<u32>,
}

/// What batches of one event cost.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct Cost {
    /// CPU milliseconds of the collector for one batch.
    pub(crate) cpu_ms: Option<f64>,
    /// Time to its answer.
    pub(crate) latency: Percentiles,
}

/// The two streams beside each other.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct Million {
    /// Events the long stream had sent.
    pub(crate) events: u64,
    /// Batches measured of each stream.
    pub(crate) batches: u64,
    /// Events a second while the long stream sent them.
    pub(crate) events_per_s: f64,
    /// The stream that had just begun.
    pub(crate) new: Cost,
    /// The long stream.
    pub(crate) long: Cost,
}

/// Sends the long stream, then measures batches of one event of both, on one connection.
///
/// # Errors
/// When a batch is not taken whole.
pub(crate) fn run(target: &Target, options: Options) -> Result<Million> {
    single_threaded()?.block_on(async {
        let mut random = ids::random(options.seed, 0);
        let mut long = Stream::new(IdText::stream(&mut random), options.step);
        let mut new = Stream::new(IdText::stream(&mut random), options.step);
        let mut sender =
            Sender { target, connection: Connection::to(target.address), packer: Packer::default() };
        let begin = Instant::now();
        let mut left = options.events;
        while left > 0 {
            let events = left.min(BATCH_EVENTS);
            sender.send(&mut long, events).await?;
            left -= events;
        }
        let events_per_s = options.events as f64 / begin.elapsed().as_secs_f64();
        sender.send(&mut new, 1).await?;
        let (mut of_new, mut of_long) = (Sum::default(), Sum::default());
        for _ in 0..TURNS {
            of_new.measure(&mut sender, &mut new, &options).await?;
            of_long.measure(&mut sender, &mut long, &options).await?;
        }
        let batches = options.batches / TURNS * TURNS;
        let (new, long) = (of_new.cost(batches, options.pid), of_long.cost(batches, options.pid));
        Ok(Million { events: options.events, batches, events_per_s, new, long })
    })
}

#[derive(Debug)]
struct Stream {
    id: IdText,
    step: u64,
    seq: u64,
}

impl Stream {
    fn new(id: IdText, step: u64) -> Self {
        Self { id, step: step.max(1), seq: 1 }
    }

    /// The next events, of a type nobody knows: a collector keeps nothing of them but that it has seen them.
    fn batch(&mut self, events: u64) -> Body {
        let mut text = Vec::new();
        let mut line = |seq, rest: &str| {
            writeln!(text, r#"{{"schema":"engine-telemetry/events@1","seq":{seq},{rest}}}"#)
                .expect("a Vec takes every byte");
        };
        line(1, &format!(r#""type":"process","id":"{}","host":"bench""#, self.id.as_str()));
        for _ in 0..events {
            self.seq += self.step;
            line(self.seq, r#""type":"bench.tick""#);
        }
        Body { text, events, queries: 0 }
    }
}

struct Sender<'a> {
    target: &'a Target,
    connection: Connection,
    packer: Packer,
}

#[derive(Deserialize)]
struct Counts {
    accepted: u64,
}

impl Sender<'_> {
    async fn send(&mut self, stream: &mut Stream, events: u64) -> Result<()> {
        let request = self.packer.request(self.target, &stream.batch(events));
        let answer = self.connection.send(&request.bytes).await?;
        let taken =
            answer.status == 202 && serde_json::from_slice::<Counts>(&answer.body)?.accepted == events;
        ensure!(
            taken,
            "a batch of {events} events was answered {}: {}",
            answer.status,
            String::from_utf8_lossy(&answer.body)
        );
        Ok(())
    }
}

#[derive(Default)]
struct Sum {
    cpu_s: f64,
    latency: Latencies,
}

impl Sum {
    async fn measure(
        &mut self,
        sender: &mut Sender<'_>,
        stream: &mut Stream,
        options: &Options,
    ) -> Result<()> {
        let cpu = || options.pid.map_or(Ok(0.0), cpu_seconds);
        let before = cpu()?;
        for _ in 0..options.batches / TURNS {
            let sent = Instant::now();
            sender.send(stream, 1).await?;
            self.latency.push(sent.elapsed());
        }
        self.cpu_s += cpu()? - before;
        Ok(())
    }

    fn cost(self, batches: u64, pid: Option<u32>) -> Cost {
        let cpu_ms = pid.map(|_| self.cpu_s * 1e3 / batches.max(1) as f64);
        Cost { cpu_ms, latency: self.latency.percentiles() }
    }
}

#[cfg(test)]
mod tests {
    use queryscope_protocol::Batch;

    use super::*;
    use crate::stub::{Stub, accepted};

    #[test]
    fn batches_of_a_stream_count_on() {
        let id = IdText::stream(&mut ids::random(1, 1));
        for (step, expected) in [(1, [2, 3, 4, 5]), (2, [3, 5, 7, 9])] {
            let mut stream = Stream::new(id, step);
            let bodies = [stream.batch(3), stream.batch(1)];
            let seqs = bodies.iter().flat_map(|body| {
                let batch = Batch::open(&body.text).expect("a batch");
                assert_eq!(batch.process.id.to_string(), id.as_str());
                batch.events.map(|event| event.expect("an event").seq.get()).collect::<Vec<_>>()
            });
            assert_eq!(seqs.collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn both_streams_are_measured() {
        // Two large batches, the first of the new stream, then two turns' worth of one event each.
        let stub = Stub::start(|number| Some(accepted(if number < 2 { 10_000 } else { 1 }, 0)));
        let pid = Some(std::process::id());
        let options = Options { events: 20_000, batches: 8, step: 1, seed: 1, pid };
        let million = run(&stub.target, options).expect("a measurement");
        assert_eq!(stub.requests(), 2 + 1 + 16);
        assert!(million.new.latency.p50_ms > 0.0 && million.long.latency.p50_ms > 0.0);
        assert!(million.long.cpu_ms.is_some());
    }

    #[test]
    fn a_batch_not_taken_whole_ends_it() {
        let stub = Stub::start(|_| Some(accepted(1, 9_999)));
        let options = Options { events: 10_000, batches: 4, step: 1, seed: 1, pid: None };
        assert!(run(&stub.target, options).is_err());
    }
}
