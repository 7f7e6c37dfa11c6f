//! No space left: for any file beyond some byte, and on a file system of its own.

mod full;

use std::time::Duration;

use anyhow::{Result, ensure};
use rand::RngExt;
use rustix::process::{Pid, Resource, Rlimit, prlimit};

pub(super) use full::run as full;

use super::Setup;
use super::crash::{SERVE, settle};
use super::retention::wait;
use crate::service::{Launch, Service};
use crate::traffic::Traffic;

/// The process gets an error at the limit instead of the signal.
const UNDER: [&str; 4] = ["sh", "-c", "trap '' XFSZ; exec \"$0\" \"$@\"", ""];
/// Traffic between two shortages.
const TRAFFIC_MAX: Duration = Duration::from_millis(150);
/// How many bytes are left beyond the end of the log.
const LEFT_BYTES_MAX: u64 = 30_000;
/// A limit that recordings reach as well.
const SMALL_BYTES_MAX: u64 = 4_000;
/// Batches that are refused before there is space again.
const REFUSED: u64 = 4;

/// Writes stop at a byte chosen at random: the one there is short, the next fails.
pub(super) fn limit(setup: &Setup, rounds: u32) -> Result<String> {
    let data = setup.folder.join("data");
    let traffic = Traffic::new(&setup.folder, setup.seed);
    let mut random = setup.random();
    let under = UNDER[..3].iter().map(|&arg| arg.to_owned()).collect();
    let mut service = Launch::new(&setup.binary, &data, &SERVE).under(under).start()?;
    let outcome = std::thread::scope(|scope| -> Result<()> {
        traffic.send(scope, &service.address, setup.seed, Duration::ZERO);
        let mut shortages = || -> Result<()> {
            for _ in 0..rounds {
                std::thread::sleep(random.random_range(Duration::ZERO..TRAFFIC_MAX));
                let log = std::fs::metadata(data.join("queryscope.db-wal"))?.len();
                let small = random.random_bool(0.3);
                let bytes = if small {
                    random.random_range(0..SMALL_BYTES_MAX)
                } else {
                    log + random.random_range(0..LEFT_BYTES_MAX)
                };
                let refused = traffic.refused();
                file_bytes_max(service.pid(), Some(bytes))?;
                wait("requests to be refused", || Ok(traffic.refused() >= refused + REFUSED))?;
                serves_reads(&service, &[200])?;
                file_bytes_max(service.pid(), None)?;
                recovers(&mut service, &traffic)?;
            }
            Ok(())
        };
        let outcome = shortages();
        // The senders end with the service.
        service.kill()?;
        outcome
    });
    outcome?;
    setup.binary.check(&data, traffic.acknowledged())?;
    Ok(format!("{rounds} shortages; {}", settle(setup, &data, &traffic)?))
}

fn file_bytes_max(pid: Pid, bytes: Option<u64>) -> Result<()> {
    prlimit(Some(pid), Resource::Fsize, Rlimit { current: bytes, maximum: None })?;
    Ok(())
}

/// Whether lists can be read, and what they name is answered as it should be.
fn serves_reads(service: &Service, as_it_should: &[u16]) -> Result<()> {
    let list = service.get("/api/queries?limit=20")?;
    ensure!(list.status == 200, "the list is {}", list.status);
    for query in list.json().as_array().into_iter().flatten() {
        let id = query["query_id"].as_str().unwrap_or_default();
        let mut paths = vec![format!("/api/queries/{id}")];
        // One that fell silent may report again meanwhile, and has none while it runs.
        if query["status"] == "finished" {
            paths.push(format!("/api/queries/{id}/recording"));
        }
        for path in paths {
            let status = service.get(&path)?.status;
            ensure!(as_it_should.contains(&status), "{path} is {status}");
        }
    }
    Ok(())
}

/// Whether batches are taken again, by the same process.
fn recovers(service: &mut Service, traffic: &Traffic) -> Result<()> {
    let answered = traffic.answered();
    wait("batches to be taken again", || {
        if let Some(status) = service.status()? {
            anyhow::bail!("the service ended with {status}:\n{}", service.log());
        }
        Ok(traffic.answered() > answered)
    })
}
