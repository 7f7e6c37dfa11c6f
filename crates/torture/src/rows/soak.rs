//! Memory, log and descriptors over a time of load.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use rustix::process::Pid;

use super::Setup;
use super::crash::SERVE;
use crate::service::Launch;
use crate::traffic::Traffic;

/// The log is moved into the database from 16 MiB on; a reader that holds on to a moment lets it grow for a while.
const LOG_BYTES_MAX: u64 = 128 << 20;
/// Connections, files of the store and a few more.
const DESCRIPTORS_MAX: usize = 100;
/// What the second half of a run may hold more than the first: rows of queries in memory, and what the allocator
/// keeps.
const GROWTH_BYTES_MAX: u64 = 64 << 20;
/// The same of a run of less than a minute, which fills buffers for the first time throughout.
const WARM_UP_BYTES_MAX: u64 = 192 << 20;
const WARM_UP_SECONDS: u32 = 60;
/// A sender's pause between batches: load, not a race.
const PAUSE: Duration = Duration::from_millis(5);
const LOOK_EVERY: Duration = Duration::from_millis(250);

#[derive(Debug, Default, Clone, Copy)]
struct Peak {
    memory: u64,
    log: u64,
    descriptors: usize,
}

pub(super) fn run(setup: &Setup, seconds: u32) -> Result<String> {
    let data = setup.folder.join("data");
    let traffic = Traffic::new(&setup.folder, setup.seed);
    let service = Launch::new(&setup.binary, &data, &SERVE).start()?;
    let half = Duration::from_secs(seconds.into()) / 2;
    let [first, second] = std::thread::scope(|scope| -> Result<_> {
        traffic.send(scope, &service.address, setup.seed, PAUSE);
        let peaks = [peak(service.pid(), &data, half), peak(service.pid(), &data, half)];
        service.stop()?;
        let [first, second] = peaks;
        Ok([first?, second?])
    })?;
    ensure!(traffic.refused() == 0, "{} requests were refused", traffic.refused());
    let log = first.log.max(second.log);
    ensure!(log <= LOG_BYTES_MAX, "the log grew to {log} bytes");
    let descriptors = first.descriptors.max(second.descriptors);
    ensure!(descriptors <= DESCRIPTORS_MAX, "{descriptors} descriptors are open");
    let growth_max = if seconds < WARM_UP_SECONDS { WARM_UP_BYTES_MAX } else { GROWTH_BYTES_MAX };
    ensure!(
        second.memory <= first.memory + growth_max,
        "memory grew from {} to {} bytes",
        first.memory,
        second.memory
    );
    let held = setup.binary.check(&data, traffic.acknowledged())?;
    Ok(format!(
        "{} events of {} queries; most memory in the first half {} MB, in the second {} MB; \
         log at most {} MB, {descriptors} descriptors",
        held.events,
        held.queries,
        first.memory / 1_000_000,
        second.memory / 1_000_000,
        log / 1_000_000
    ))
}

/// The most there was at any look.
fn peak(pid: Pid, data: &Path, during: Duration) -> Result<Peak> {
    let proc = format!("/proc/{}", pid.as_raw_nonzero());
    let begun = Instant::now();
    let mut peak = Peak::default();
    while begun.elapsed() < during {
        std::thread::sleep(LOOK_EVERY);
        let status = fs::read_to_string(format!("{proc}/status"))?;
        let kib = status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB"));
        let kib: u64 = kib.context("no VmRSS")?.parse()?;
        peak.memory = peak.memory.max(kib << 10);
        peak.log = peak.log.max(fs::metadata(data.join("queryscope.db-wal"))?.len());
        peak.descriptors = peak.descriptors.max(fs::read_dir(format!("{proc}/fd"))?.count());
    }
    Ok(peak)
}
