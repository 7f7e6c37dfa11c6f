//! Senders that do what real ones do to a service that keeps dying, and remember what they were told.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::thread::Scope;
use std::time::Duration;

use queryscope_store::{Packer, lines_of};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::clock;
use crate::http::{Answer, Client};
use crate::source::Source;

/// Connections at once: each has a stream of its own, and all send for the shared ones.
const SENDERS: usize = 6;
const SHARED: usize = 2;
/// Events in a batch that clears up what is left at the end.
const LAST_BATCH: usize = 200;
/// Pause after a refusal, which is shorter than a polite sender's.
const REFUSED_PAUSE: Duration = Duration::from_millis(20);
/// How often what is left at the end is sent while it is refused.
const LAST_TRIES: u32 = 500;

/// Where a service answers, and the token it takes.
#[derive(Debug, Clone)]
pub struct Address {
    /// Its URL.
    pub url: String,
    /// A token of it.
    pub token: String,
}

/// All senders.
#[derive(Debug)]
pub struct Traffic {
    sources: Vec<Mutex<Source>>,
    logs: Vec<Log>,
    answered: AtomicU64,
    unanswered: AtomicU64,
    refused: AtomicU64,
}

/// What one sender was answered with 202, as an events file.
#[derive(Debug)]
struct Log {
    path: PathBuf,
    written: Mutex<Written>,
}

#[derive(Debug)]
struct Written {
    file: File,
    bytes: u64,
    /// When an answer had been read (Unix microseconds), and the length of the file with it.
    marks: Vec<(i64, u64)>,
}

/// Whether a sender goes on.
enum Outcome {
    Answered,
    Refused,
}

impl Traffic {
    /// Senders that log into a folder.
    pub fn new(folder: &Path, seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let log = |sender| {
            let path = folder.join(format!("acknowledged-{sender}.jsonl"));
            let file = OpenOptions::new().create(true).append(true).open(&path).expect("a log");
            let bytes = file.metadata().expect("a log").len();
            Log { path, written: Mutex::new(Written { file, bytes, marks: Vec::new() }) }
        };
        Self {
            sources: (0..SENDERS + SHARED).map(|_| Mutex::new(Source::new(&mut random))).collect(),
            logs: (0..SENDERS).map(log).collect(),
            answered: AtomicU64::new(0),
            unanswered: AtomicU64::new(0),
            refused: AtomicU64::new(0),
        }
    }

    /// Sends over all connections, `pause` after each answer, until the service answers no more.
    pub fn send<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        address: &Address,
        seed: u64,
        pause: Duration,
    ) {
        for (sender, log) in self.logs.iter().enumerate() {
            let (client, token) = (Client::new(&address.url), address.token.clone());
            let mut random = StdRng::seed_from_u64(seed ^ (sender as u64) << 32);
            scope.spawn(move || {
                loop {
                    let shared = SENDERS + random.random_range(0..SHARED);
                    let source = &self.sources[if random.random_bool(0.5) { sender } else { shared }];
                    let picked = lock(source).pick(&mut random);
                    let packed = random.random_bool(0.5);
                    match self.post(&client, &token, source, &picked, packed, log) {
                        Ok(Outcome::Answered) => std::thread::sleep(pause),
                        Ok(Outcome::Refused) => std::thread::sleep(REFUSED_PAUSE),
                        Err(_) => return,
                    }
                }
            });
        }
    }

    /// Posts some lines of a source, and writes down what was acknowledged.
    fn post(
        &self,
        client: &Client,
        token: &str,
        source: &Mutex<Source>,
        picked: &[usize],
        packed: bool,
        log: &Log,
    ) -> Result<Outcome, ureq::Error> {
        let (batch, fresh_max) = {
            let source = lock(source);
            (source.batch(picked), source.unacknowledged(picked))
        };
        let batch = if packed { Packer::new().pack(lines_of(&batch)) } else { batch };
        let answer: Answer = client.post(token, &batch).inspect_err(|_| {
            self.unanswered.fetch_add(1, Ordering::Relaxed);
        })?;
        if answer.status == 503 {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return Ok(Outcome::Refused);
        }
        let (accepted, duplicates) = answer.counts();
        assert_eq!(accepted + duplicates, picked.len() as u64, "every event is one or the other");
        assert!(accepted <= fresh_max, "{accepted} events accepted, {fresh_max} had not been acknowledged");
        self.answered.fetch_add(1, Ordering::Relaxed);
        let acknowledged = lock(source).acknowledge(picked, accepted);
        lock(&log.written).add(&acknowledged);
        Ok(Outcome::Answered)
    }

    /// Ends all queries and sends until everything is acknowledged.
    ///
    /// # Panics
    /// When the service does not answer, or refuses for too long.
    pub fn finish(&self, address: &Address) {
        let client = Client::new(&address.url);
        for (source, log) in self.sources.iter().zip(self.logs.iter().cycle()) {
            lock(source).finish();
            let left: Vec<usize> = lock(source).waiting().collect();
            for picked in left.chunks(LAST_BATCH) {
                let mut tries = 0;
                while let Outcome::Refused =
                    self.post(&client, &address.token, source, picked, false, log).expect("it runs")
                {
                    tries += 1;
                    assert!(tries < LAST_TRIES, "it refuses for ever");
                    std::thread::sleep(REFUSED_PAUSE);
                }
            }
        }
    }

    /// Compares every recording with what was sent.
    ///
    /// # Panics
    /// When one differs.
    pub fn compare(&self, address: &Address) {
        let client = Client::new(&address.url);
        for source in &self.sources {
            let source = lock(source);
            for (query, lines) in source.recordings() {
                let recording = client.recording(query);
                let recording = recording.unwrap_or_else(|| panic!("query {query} has no recording"));
                assert!(recording == lines, "the recording of query {query} is not what was sent");
            }
        }
    }

    /// Queries, their events, and streams.
    pub fn totals(&self) -> (usize, usize, usize) {
        let recordings: Vec<usize> = self
            .sources
            .iter()
            .flat_map(|source| {
                lock(source).recordings().into_values().map(|lines| lines.len() - 1).collect::<Vec<_>>()
            })
            .collect();
        (recordings.len(), recordings.iter().sum(), self.sources.len())
    }

    /// Files of what was acknowledged.
    pub fn acknowledged(&self) -> impl Iterator<Item = PathBuf> {
        self.logs.iter().map(|log| log.path.clone())
    }

    /// Files of what was acknowledged up to a moment (Unix microseconds), written into a folder.
    pub(crate) fn acknowledged_until(&self, unix_us: i64, folder: &Path) -> std::io::Result<Vec<PathBuf>> {
        let copy = |log: &Log| {
            let marks = &lock(&log.written).marks;
            let marked = marks.iter().take_while(|(at, _)| *at <= unix_us).last();
            let path = folder.join(log.path.file_name().unwrap_or_default());
            let mut from = File::open(&log.path)?.take(marked.map_or(0, |(_, bytes)| *bytes));
            std::io::copy(&mut from, &mut File::create(&path)?)?;
            Ok(path)
        };
        self.logs.iter().map(copy).collect()
    }

    /// How many requests were not answered.
    pub fn unanswered(&self) -> u64 {
        self.unanswered.load(Ordering::Relaxed)
    }

    /// How many requests were refused with 503.
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// How many requests were answered with 202.
    pub fn answered(&self) -> u64 {
        self.answered.load(Ordering::Relaxed)
    }

    /// How many requests there were.
    pub fn requests(&self) -> String {
        let unanswered = self.unanswered.load(Ordering::Relaxed);
        format!(
            "{} requests answered, {} refused, {unanswered} without answer",
            self.answered(),
            self.refused()
        )
    }
}

impl Written {
    fn add(&mut self, acknowledged: &[u8]) {
        self.file.write_all(acknowledged).expect("the log is written");
        self.bytes += acknowledged.len() as u64;
        self.marks.push((clock::unix_us(), self.bytes));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no sender panicked")
}
