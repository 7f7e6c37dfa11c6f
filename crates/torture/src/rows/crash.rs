//! `kill -9` at any moment.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use rand::RngExt;

use super::Setup;
use crate::clock;
use crate::service::{Launch, was_killed};
use crate::traffic::Traffic;

/// What is promised of a start, whatever happened before.
const READY_WITHIN: Duration = Duration::from_secs(10);
/// Traffic runs for up to this long before the process is killed.
const KILLED_WITHIN: Duration = Duration::from_millis(60);
/// Some rounds begin with quiet until recordings are being written, so that kills hit that as well: it begins
/// half a second after the last query fell silent.
const QUIET_MAX: Duration = Duration::from_millis(1500);
const KILLED_SEALING_WITHIN: Duration = Duration::from_millis(20);
/// The folder is checked about so often, beside the service that runs and once it is killed.
const CHECKS: u32 = 20;
/// Traffic beside a check is as of senders that do not hurry: it must not grow faster than it is checked.
const PAUSE_WHILE_CHECKED: Duration = Duration::from_millis(200);
/// Queries fall silent within a round that begins with quiet: they end, are sealed, and report again later.
pub(super) const SERVE: [&str; 2] = ["--silent-after", "300ms"];

/// On one data folder. The seed decides what is sent and when the process is killed; which request a kill hits is
/// up to the machine all the same.
pub(super) fn run(setup: &Setup, rounds: u32) -> Result<String> {
    let data = setup.folder.join("data");
    let traffic = Traffic::new(&setup.folder, setup.seed);
    let mut random = setup.random();
    let mut slowest_start = Duration::ZERO;

    for round in 0..rounds {
        let mut service = Launch::new(&setup.binary, &data, &SERVE).start()?;
        slowest_start = slowest_start.max(service.started_in);
        let sealing = round % 5 == 3;
        if sealing {
            wait_for_sealing(&data.join("recordings"));
        }
        let within = if sealing { KILLED_SEALING_WITHIN } else { KILLED_WITHIN };
        let lives_for = random.random_range(Duration::ZERO..=within);
        let checked = (round + 1) % (rounds / CHECKS).max(3) == 0;
        std::thread::scope(|scope| -> Result<()> {
            let pause = if checked { PAUSE_WHILE_CHECKED } else { Duration::ZERO };
            traffic.send(scope, &service.address, setup.seed.wrapping_add(round.into()), pause);
            // The senders end when the service does, also where the check fails.
            let beside = if checked { check_beside(setup, &data, &traffic) } else { Ok(()) };
            std::thread::sleep(lives_for);
            let status = service.kill()?;
            beside?;
            ensure!(was_killed(status), "it ended by itself with {status}:\n{}", service.log());
            Ok(())
        })?;
        if checked {
            setup.binary.check(&data, traffic.acknowledged())?;
        }
    }
    ensure!(traffic.refused() == 0, "{} requests were refused", traffic.refused());
    ensure!(slowest_start <= READY_WITHIN, "a start took {slowest_start:?}");
    let totals = settle(setup, &data, &traffic)?;
    Ok(format!("{totals}; slowest start {} ms", slowest_start.as_millis()))
}

/// Judges the folder while its service goes on, against what had been acknowledged before.
fn check_beside(setup: &Setup, data: &Path, traffic: &Traffic) -> Result<()> {
    let before = setup.folder.join("before");
    std::fs::create_dir_all(&before)?;
    let acknowledged = traffic.acknowledged_until(clock::unix_us(), &before)?;
    setup.binary.check(data, acknowledged).map(|_| ()).context("beside the service")
}

/// Waits until files are written, unless there is nothing to write.
fn wait_for_sealing(recordings: &Path) {
    let (begun, before) = (Instant::now(), below(recordings));
    while below(recordings) == before && begun.elapsed() < QUIET_MAX {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// How many files and folders are under a folder, which need not be there.
pub(super) fn below(folder: &Path) -> usize {
    // What is deleted meanwhile is passed over.
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| 1 + if entry.path().is_dir() { below(&entry.path()) } else { 0 }).sum()
}

/// Sends what is left, reads everything back, and judges the folder: it holds all that was sent, and no more.
pub(super) fn settle(setup: &Setup, data: &Path, traffic: &Traffic) -> Result<String> {
    let service = Launch::new(&setup.binary, data, &SERVE).start()?;
    traffic.finish(&service.address);
    traffic.compare(&service.address);
    service.stop()?;
    let held = setup.binary.check(data, traffic.acknowledged())?;
    let (queries, events, streams) = traffic.totals();
    let sent = (queries as u64, events as u64);
    ensure!((held.queries, held.events) == sent, "{held:?} is stored, (queries, events) {sent:?} were sent");
    Ok(format!("{queries} queries, {events} events, {streams} streams; {}", traffic.requests()))
}
