//! Senders that do what real ones do to a service that keeps dying, and remember what they were told.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::thread::Scope;
use std::time::Duration;

use queryscope_store::{Packer, lines_of};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::source::Source;
use crate::common::Service;
use crate::common::http::{Answer, Client};

/// Connections at once: each has a stream of its own, and all send for the shared ones.
const SENDERS: usize = 6;
const SHARED: usize = 2;
/// Events in a batch that clears up what is left at the end.
const LAST_BATCH: usize = 200;

/// All senders.
pub(crate) struct Traffic {
    sources: Vec<Mutex<Source>>,
    logs: Vec<Log>,
    answered: AtomicU64,
    unanswered: AtomicU64,
}

/// What one sender was answered with 202, as an events file.
struct Log {
    path: PathBuf,
    file: Mutex<File>,
}

impl Traffic {
    /// Senders that log into a folder.
    pub(crate) fn new(folder: &Path, seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let log = |sender| {
            let path = folder.join(format!("acknowledged-{sender}.jsonl"));
            let file = OpenOptions::new().create(true).append(true).open(&path).expect("a log");
            Log { path, file: Mutex::new(file) }
        };
        Self {
            sources: (0..SENDERS + SHARED).map(|_| Mutex::new(Source::new(&mut random))).collect(),
            logs: (0..SENDERS).map(log).collect(),
            answered: AtomicU64::new(0),
            unanswered: AtomicU64::new(0),
        }
    }

    /// Sends over all connections, `pause` after each answer, until the service answers no more.
    pub(crate) fn send<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        service: &Service,
        seed: u64,
        pause: Duration,
    ) {
        for (sender, log) in self.logs.iter().enumerate() {
            let (client, token) = (Client::new(&service.url), service.token.clone());
            let mut random = StdRng::seed_from_u64(seed ^ (sender as u64) << 32);
            scope.spawn(move || {
                loop {
                    let shared = SENDERS + random.random_range(0..SHARED);
                    let source = &self.sources[if random.random_bool(0.5) { sender } else { shared }];
                    let picked = lock(source).pick(&mut random);
                    let packed = random.random_bool(0.5);
                    if self.post(&client, &token, source, &picked, packed, log).is_err() {
                        return;
                    }
                    std::thread::sleep(pause);
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
    ) -> Result<(), ureq::Error> {
        let (batch, fresh_max) = {
            let source = lock(source);
            (source.batch(picked), source.unacknowledged(picked))
        };
        let batch = if packed { Packer::new().pack(lines_of(&batch)) } else { batch };
        let answer: Answer = client.post(token, &batch).inspect_err(|_| {
            self.unanswered.fetch_add(1, Ordering::Relaxed);
        })?;
        let (accepted, duplicates) = answer.counts();
        assert_eq!(accepted + duplicates, picked.len() as u64, "every event is one or the other");
        assert!(accepted <= fresh_max, "{accepted} events accepted, {fresh_max} had not been acknowledged");
        self.answered.fetch_add(1, Ordering::Relaxed);
        let acknowledged = lock(source).acknowledge(picked, accepted);
        lock(&log.file).write_all(&acknowledged).expect("the log is written");
        Ok(())
    }

    /// Ends all queries and sends until everything is acknowledged.
    pub(crate) fn finish(&self, service: &Service) {
        let client = Client::new(&service.url);
        for (source, log) in self.sources.iter().zip(self.logs.iter().cycle()) {
            lock(source).finish();
            let left: Vec<usize> = lock(source).waiting().collect();
            for picked in left.chunks(LAST_BATCH) {
                self.post(&client, &service.token, source, picked, false, log).expect("it runs");
            }
        }
    }

    /// Compares every recording with what was sent.
    pub(crate) fn compare(&self, service: &Service) {
        for source in &self.sources {
            let source = lock(source);
            for (query, lines) in source.recordings() {
                let recording = service.recording(query);
                let recording = recording.unwrap_or_else(|| panic!("query {query} has no recording"));
                assert!(recording == lines, "the recording of query {query} is not what was sent");
            }
        }
    }

    /// Queries, their events, and streams.
    pub(crate) fn totals(&self) -> (usize, usize, usize) {
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
    pub(crate) fn acknowledged(&self) -> impl Iterator<Item = PathBuf> {
        self.logs.iter().map(|log| log.path.clone())
    }

    /// How many requests were answered.
    pub(crate) fn answered(&self) -> u64 {
        self.answered.load(Ordering::Relaxed)
    }

    /// How many requests there were.
    pub(crate) fn requests(&self) -> String {
        let unanswered = self.unanswered.load(Ordering::Relaxed);
        format!("{} requests answered, {unanswered} not", self.answered())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no sender panicked")
}
