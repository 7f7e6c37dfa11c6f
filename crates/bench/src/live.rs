//! Many readers of `/api/live`, beside the load of W3: how soon they are told, and what that costs ingest. The floor:
//! as many readers of a source that does nothing else, beside the same load.

use std::slice::from_ref;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde::Serialize;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{timeout, timeout_at};

use crate::bare::Bare;
use crate::body::{Packer, Request};
use crate::client::Connection;
use crate::http::Target;
use crate::ids::{self, IdText};
use crate::ingest::{self, Options as IngestOptions, Prepared};
use crate::latency::{Latencies, Percentiles};
use crate::load::{Pace, single_threaded};
use crate::process::memory_peak_mb;
use crate::watched::Watched;
use crate::workload::{Body, Shapes, Workload};

/// Connections that are opened at the same time.
const OPENING_MAX: usize = 128;
/// How long all readers may take to open.
const OPEN_TIMEOUT: Duration = Duration::from_mins(2);
/// How long the last sample may take to arrive.
const ARRIVAL_TIMEOUT: Duration = Duration::from_secs(5);
/// Ids of the query come from a source of their own: those of the load are numbered from 0.
const IDS: u64 = u64::MAX;
/// Time between two samples of the query that is followed.
const SAMPLE_EVERY: Duration = Duration::from_millis(500);

/// What to run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Options {
    /// Readers of `/api/live`.
    pub(crate) subscribers: usize,
    /// How long to measure.
    pub(crate) duration: Duration,
    /// Requests of W3 a second; none when `None`.
    pub(crate) rate: Option<f64>,
    /// Source of ids.
    pub(crate) seed: u64,
    /// Whether the readers read nothing but their snapshot.
    pub(crate) deaf: bool,
    /// Process of the collector, when its memory is wanted.
    pub(crate) pid: Option<u32>,
}

/// What it showed.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Measured {
    /// Readers.
    pub(crate) subscribers: usize,
    /// Whether they read nothing but their snapshot.
    pub(crate) deaf: bool,
    /// Samples that were posted.
    pub(crate) samples: usize,
    /// Pulses that arrived; one for each sample and reader when none is missing.
    pub(crate) received: usize,
    /// From the answer to a sample, when it is durable, to its pulse at a reader's socket.
    pub(crate) after_commit: Percentiles,
    /// From the first byte of its request.
    pub(crate) after_post: Percentiles,
    /// Bytes a reader got, on average.
    pub(crate) bytes_per_reader: u64,
    /// The most memory the collector ever held, in MB.
    pub(crate) memory_peak_mb: Option<f64>,
    /// W3 without readers, and with them.
    pub(crate) alone: Option<ingest::Measured>,
    /// W3 with them.
    pub(crate) beside: Option<ingest::Measured>,
    /// The same readers, of a source that does nothing else.
    pub(crate) floor: Option<Box<Measured>>,
}

impl Measured {
    /// What makes the figures worthless.
    pub(crate) fn faults(&self) -> Vec<String> {
        let expected = self.samples * self.subscribers;
        let mut faults = self.floor.as_ref().map(|floor| floor.faults()).unwrap_or_default();
        if !self.deaf && (self.received != expected || expected == 0) {
            faults.push(format!("{} pulses of {expected} arrived", self.received));
        }
        for measured in self.alone.iter().chain(&self.beside) {
            faults.extend(measured.account.faults());
        }
        faults
    }

    /// W3's p99 with the readers, to that without.
    pub(crate) fn ratio(&self) -> Option<f64> {
        let before = self.alone.as_ref()?.account.latency.p99_ms;
        (before > 0.0).then_some(self.beside.as_ref()?.account.latency.p99_ms / before)
    }
}

/// The service that is posted to, and the one whose stream is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ends<'t> {
    /// Takes the samples, and W3.
    pub(crate) sent: &'t Target,
    /// Tells of them.
    pub(crate) read: &'t Target,
}

impl<'t> Ends<'t> {
    /// One collector is both.
    pub(crate) fn new(target: &'t Target) -> Self {
        Self { sent: target, read: target }
    }
}

/// Measures W3 without readers, then with them while one query is followed, then with readers of the floor.
///
/// # Errors
/// When a reader cannot be opened, or the collector does not answer.
pub(crate) fn run(shapes: &Shapes, ends: Ends<'_>, options: Options) -> Result<Measured> {
    let prepare = |seed: u64| {
        let load = options.rate.map(|rate| IngestOptions {
            workload: Workload::W3,
            duration: options.duration,
            connections: Workload::W3.connections(),
            pace: Pace::Open(rate),
            pool_rate: 0.0,
            seed,
            watched: Watched { collectors: options.pid.as_slice(), database: None },
        });
        load.map(|load| ingest::prepare(shapes, from_ref(ends.sent), &load)).transpose()
    };
    let alone = prepare(options.seed)?.map(Prepared::send).transpose()?;
    let beside = |ends: Ends<'_>, seed: u64| {
        let load = prepare(seed)?;
        let (opened, open) = std::sync::mpsc::channel();
        let (sent, read) = (ends.sent.clone(), ends.read.clone());
        let readers = thread::Builder::new().spawn(move || {
            single_threaded()?.block_on(follow(Ends { sent: &sent, read: &read }, options, || {
                // The load may have given up waiting for it.
                let _ = opened.send(());
            }))
        })?;
        // An error of the readers ends the wait, too.
        let _ = open.recv();
        let load = load.map(Prepared::send).transpose()?;
        let followed = readers.join().map_err(|_| anyhow::anyhow!("the readers panicked"))??;
        anyhow::Ok(Measured { alone: alone.clone(), beside: load, ..followed })
    };
    let mut measured = beside(ends, options.seed.wrapping_add(1))?;
    measured.memory_peak_mb = options.pid.map(memory_peak_mb).transpose()?;
    if !options.deaf && measured.samples > 0 {
        let bare = Bare::start(measured.bytes_per_reader as usize / measured.samples)?;
        let floor = beside(Ends::new(&bare.target), options.seed.wrapping_add(2)).context("the floor")?;
        measured.floor = Some(Box::new(floor));
    }
    Ok(measured)
}

/// When a sample was posted, and when it was answered.
type Times = Arc<Mutex<Vec<(Instant, Instant)>>>;

async fn follow(ends: Ends<'_>, options: Options, opened: impl FnOnce()) -> Result<Measured> {
    let mut query = Query::new(ends.sent, options.seed);
    query.start().await?;
    let slots = Arc::new(Semaphore::new(OPENING_MAX));
    let mut opening = JoinSet::new();
    for _ in 0..options.subscribers {
        let (target, slots) = (ends.read.clone(), Arc::clone(&slots));
        opening.spawn(async move {
            let _slot = slots.acquire().await?;
            Reader::open(&target).await
        });
    }
    let mut readers = Vec::with_capacity(options.subscribers);
    while let Some(reader) =
        timeout(OPEN_TIMEOUT, opening.join_next()).await.context("not all readers opened")?
    {
        readers.push(reader??);
    }
    opened();
    let end = Instant::now() + options.duration;
    let times = Times::default();
    let mut reading = JoinSet::new();
    for reader in readers {
        if options.deaf {
            reading.spawn(reader.hold_until(end));
        } else {
            reading.spawn(reader.read_until(end + ARRIVAL_TIMEOUT));
        }
    }
    while Instant::now() < end {
        query.sample(&times).await?;
        tokio::time::sleep(SAMPLE_EVERY).await;
    }
    let readers = reading.join_all().await;
    let times = times.lock().expect("nobody panicked").clone();
    let (mut after_commit, mut after_post) = (Latencies::default(), Latencies::default());
    for (number, arrived) in readers.iter().flat_map(|reader| &reader.arrived) {
        let (posted, answered) = *times.get(*number).context("a pulse of no sample")?;
        after_commit.push(arrived.saturating_duration_since(answered));
        after_post.push(arrived.saturating_duration_since(posted));
    }
    Ok(Measured {
        subscribers: options.subscribers,
        deaf: options.deaf,
        samples: times.len(),
        received: readers.iter().map(|reader| reader.arrived.len()).sum(),
        after_commit: after_commit.percentiles(),
        after_post: after_post.percentiles(),
        bytes_per_reader: readers.iter().map(|reader| reader.bytes).sum::<u64>()
            / readers.len().max(1) as u64,
        memory_peak_mb: None,
        alone: None,
        beside: None,
        floor: None,
    })
}

/// The running query that is followed. Sample `n` has an elapsed time of `n + 1` seconds.
struct Query<'t> {
    target: &'t Target,
    connection: Connection,
    packer: Packer,
    stream: IdText,
    id: IdText,
    seq: usize,
}

impl<'t> Query<'t> {
    fn new(target: &'t Target, seed: u64) -> Self {
        let mut random = ids::random(seed, IDS);
        let (stream, id) = (IdText::stream(&mut random), IdText::stream(&mut random));
        let connection = Connection::to(target.address);
        Self { target, connection, packer: Packer::default(), stream, id, seq: 2 }
    }

    async fn start(&mut self) -> Result<()> {
        let query = self.id.as_str();
        let event = format!(
            r#""type":"query.started","query_id":"{query}","profile":{{"schema":"engine-telemetry/profile@1","query_id":"{query}","label":"live","wall_ms":1000,"plan":{{"logical":[],"physical":[{{"id":1,"kind":"scan","role":"scan","inputs":[]}}]}}}}"#
        );
        self.post(&event).await
    }

    async fn sample(&mut self, times: &Times) -> Result<()> {
        let number = times.lock().expect("nobody panicked").len() + 1;
        let query = self.id.as_str();
        let event = format!(
            r#""type":"query.progress","query_id":"{query}","elapsed_ms":{number}000.0,"nodes":{{"1":{{"total_time_ns":{number}500000000,"rows_sent":{number}}}}}"#
        );
        let posted = Instant::now();
        self.post(&event).await?;
        times.lock().expect("nobody panicked").push((posted, Instant::now()));
        Ok(())
    }

    async fn post(&mut self, event: &str) -> Result<()> {
        let schema = r#"{"schema":"engine-telemetry/events@1","seq":"#;
        let (stream, seq) = (self.stream.as_str(), self.seq);
        let text = format!(
            "{schema}1,\"type\":\"process\",\"id\":\"{stream}\",\"host\":\"bench\"}}\n{schema}{seq},{event}}}\n"
        );
        self.seq += 1;
        let body = Body { text: text.into_bytes(), events: 1, queries: 0 };
        let Request { bytes, .. } = self.packer.request(self.target, &body);
        let answer = self.connection.send(&bytes).await?;
        let body = String::from_utf8_lossy(&answer.body);
        ensure!(body.contains(r#""accepted":1"#), "a sample was answered with {}: {body}", answer.status);
        Ok(())
    }
}

struct Reader {
    tcp: TcpStream,
    /// What of the stream is no whole message yet.
    text: Vec<u8>,
    bytes: u64,
    /// Numbers of the samples whose pulse arrived, and when.
    arrived: Vec<(usize, Instant)>,
}

impl Reader {
    /// Opens a stream and waits for its snapshot.
    async fn open(target: &Target) -> Result<Self> {
        let mut tcp = TcpStream::connect(target.address).await?;
        tcp.write_all(&target.get("/api/live")).await?;
        let mut reader = Self { tcp, text: Vec::new(), bytes: 0, arrived: Vec::new() };
        while !contains(&reader.text, "event: snapshot") {
            ensure!(reader.read().await?, "a stream ended before its snapshot");
            ensure!(reader.text.starts_with(b"HTTP/1.1 200"), "{}", reader.text.escape_ascii());
        }
        Ok(reader)
    }

    async fn read_until(mut self, end: Instant) -> Self {
        while let Ok(Ok(true)) = timeout_at(end.into(), self.read()).await {
            self.take_pulses();
        }
        self
    }

    /// Stays connected and reads nothing.
    async fn hold_until(self, end: Instant) -> Self {
        tokio::time::sleep_until(end.into()).await;
        self
    }

    async fn read(&mut self) -> Result<bool> {
        let read = self.tcp.read_buf(&mut self.text).await?;
        self.bytes += read as u64;
        Ok(read > 0)
    }

    /// Notes the pulses in what has arrived; keeps what may be the begin of another.
    fn take_pulses(&mut self) {
        let now = Instant::now();
        let Some(end) = self.text.windows(2).rposition(|two| two == b"\n\n") else { return };
        let text = String::from_utf8_lossy(&self.text[..end]);
        for pulse in text.split("event: pulse\n").skip(1) {
            let elapsed =
                pulse.split_once(r#""elapsed_ms":"#).and_then(|(_, rest)| rest.split(['.', ',']).next());
            if let Some(ms) = elapsed.and_then(|ms| ms.parse::<usize>().ok()) {
                self.arrived.push(((ms / 1000).saturating_sub(1), now));
            }
        }
        self.text.drain(..end + 2);
    }
}

fn contains(text: &[u8], part: &str) -> bool {
    text.windows(part.len()).any(|window| window == part.as_bytes())
}
