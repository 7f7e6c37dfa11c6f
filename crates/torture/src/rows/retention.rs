//! Old queries go while they are read, and while the process is killed.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use rand::RngExt;
use rand::seq::IndexedRandom;
use uuid::Uuid;

use super::Setup;
use crate::clock;
use crate::events::Stream;
use crate::http::Client;
use crate::service::{Launch, was_killed};
use crate::strace;
use crate::traffic::Address;

const KEEP: [&str; 2] = ["--keep-days", "1"];
/// More than one round of the job deletes at once.
const QUERIES: usize = 300;
pub(super) const DAY_NS: i64 = 86_400 * 1_000_000_000;
const AGE_NS: i64 = 5 * DAY_NS;
/// Kills before the rest goes undisturbed.
const KILLS: u32 = 3;
/// A wait that takes longer has failed.
const WITHIN: Duration = Duration::from_mins(2);
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Queries of one stream, ended long ago.
pub(super) struct Old {
    stream: Stream,
    events: Vec<String>,
    ids: Vec<Uuid>,
}

impl Old {
    pub(super) fn new(queries: usize) -> Self {
        let mut stream = Stream { started_unix_ns: clock::unix_us() * 1000 - AGE_NS, ..Stream::new() };
        let ids: Vec<Uuid> = (0..queries).map(|_| Uuid::new_v4()).collect();
        let begin = stream.started_unix_ns;
        let mut events = Vec::new();
        for (at, id) in ids.iter().enumerate() {
            // Of three days, one has a run, the next two that share a pack, and the last none.
            let day = at - usize::from(at % 3 == 2);
            stream.started_unix_ns = begin - day as i64 * DAY_NS;
            events.push(stream.finished(*id, "old"));
        }
        Self { stream, events, ids }
    }

    /// Sends all of them, and waits until each has its recording.
    pub(super) fn store(&self, setup: &Setup, data: &Path) -> Result<()> {
        let service = Launch::new(&setup.binary, data, &[]).start()?;
        let stored = self.send(&service.address)?;
        ensure!(stored.0 == self.events.len() as u64, "{stored:?} stored");
        let client = Client::new(&service.address.url);
        wait("every recording to be written", || {
            let metrics = client.get("/metrics")?.body;
            Ok(metrics.split(|byte| *byte == b'\n').any(|line| line == b"queryscope_recordings_unsealed 0"))
        })?;
        service.stop()
    }

    fn send(&self, address: &Address) -> Result<(u64, u64)> {
        Ok(Client::new(&address.url).post(&address.token, &self.stream.batch(&self.events))?.counts())
    }
}

pub(super) fn run(setup: &Setup, rounds: u32) -> Result<String> {
    strace::version()?;
    let (mut killed, reads) = (0, AtomicU64::new(0));
    let mut random = setup.random();
    for round in 0..rounds {
        let data = setup.folder.join(format!("data-{round}"));
        let old = Old::new(QUERIES);
        old.store(setup, &data)?;
        for kill in 0..=KILLS {
            let out = setup.folder.join("trace");
            let mut launch = Launch::new(&setup.binary, &data, &KEEP);
            if kill < KILLS {
                let fault = format!("unlink:signal=KILL:when={}", random.random_range(1..=60));
                launch = launch.under(strace::inject(&fault, "", &[], &out));
            }
            let mut service = match launch.try_start()? {
                Ok(service) => service,
                Err((status, _)) if was_killed(status) => continue,
                Err((status, log)) => bail!("the service ended with {status}:\n{log}"),
            };
            let done = AtomicBool::new(false);
            let (address, done, ids, reads) = (&service.address.clone(), &done, &old.ids, &reads);
            std::thread::scope(|scope| -> Result<()> {
                for _ in 0..2 {
                    scope.spawn(move || read(address, ids, done, reads));
                }
                let client = Client::new(&address.url);
                let outcome = wait("the old queries to go", || {
                    let list = client.get("/api/queries").map(|answer| answer.body);
                    Ok(list.is_ok_and(|list| list == b"[]") || service.status()?.is_some())
                });
                done.store(true, Ordering::Relaxed);
                outcome
            })?;
            if kill < KILLS {
                // The kill may come with what is left to delete, or as late as with the store's own files.
                let status = service.end()?;
                ensure!(status.success() || was_killed(status), "it ended with {status}:\n{}", service.log());
                killed += u32::from(was_killed(status));
            } else {
                let again = old.send(&service.address)?;
                ensure!(again == (0, QUERIES as u64), "{again:?}: what was deleted came back");
                service.stop()?;
            }
            setup.binary.check(&data, [])?;
        }
        let held = setup.binary.check(&data, [])?;
        ensure!(held.queries == 0, "{held:?} are left");
    }
    Ok(format!(
        "{} old queries gone, with {} reads meanwhile and {killed} kills between their deletions",
        QUERIES * rounds as usize,
        reads.load(Ordering::Relaxed)
    ))
}

/// Reads queries until it is done: each is whole or not there.
fn read(address: &Address, ids: &[Uuid], done: &AtomicBool, reads: &AtomicU64) {
    let client = Client::new(&address.url);
    let mut random = rand::rng();
    while !done.load(Ordering::Relaxed) {
        let Some(id) = ids.choose(&mut random) else { return };
        for path in
            [format!("/api/queries/{id}/recording"), format!("/api/queries/{id}"), "/api/queries".into()]
        {
            // The service may have been killed.
            let Ok(answer) = client.get(&path) else { return };
            let text = String::from_utf8_lossy(&answer.body).into_owned();
            assert!([200, 404].contains(&answer.status), "{path}: {} {text}", answer.status);
            if path.ends_with("/recording") && answer.status == 200 {
                let lines = queryscope_store::unpack(&answer.body).expect("a whole recording");
                assert_eq!(lines.split(|byte| *byte == b'\n').count(), 3, "the process event and its own");
            }
            reads.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Looks until something has come about.
pub(super) fn wait(what: &str, mut look: impl FnMut() -> Result<bool>) -> Result<()> {
    let begun = Instant::now();
    while !look()? {
        ensure!(begun.elapsed() < WITHIN, "waited {WITHIN:?} in vain for {what}");
        std::thread::sleep(LOOK_EVERY);
    }
    Ok(())
}
