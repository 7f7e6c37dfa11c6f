//! `SIGKILL` at each point of the path from a request to its recording.
//!
//! A point is the system call that ends a step: the process dies when it is about to make that call for the N-th
//! time. Nothing in the service knows of it. What lies between two calls (decoding, queueing) changes nothing that
//! could outlive the process; rows `crash` and `points` (`queued`) hit it by chance.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, bail, ensure};
use rand::RngExt;

use super::Setup;
use super::crash::{SERVE, settle};
use crate::service::{Launch, Service, was_killed};
use crate::strace::{self, Attached};
use crate::traffic::Traffic;

/// A step has ended, the next has not begun.
struct Point {
    name: &'static str,
    call: &'static str,
    /// The process dies at one of so many calls of a thread.
    among: u32,
    file: Option<&'static str>,
    when: When,
}

/// When the calls that are counted begin.
#[derive(Clone, Copy, PartialEq)]
enum When {
    Starting,
    UnderLoad,
    /// Once it is quiet: queries fall silent and are sealed.
    Quiet,
}

const LOG: Option<&str> = Some("queryscope.db-wal");
const fn point(name: &'static str, call: &'static str, among: u32, when: When) -> Point {
    Point { name, call, among, file: None, when }
}
const POINTS: [Point; 11] = [
    point("starting, migrating", "pwrite64", 40, When::Starting),
    point("body read", "recvfrom", 30, When::UnderLoad),
    point("queued", "futex", 60, When::UnderLoad),
    Point { file: LOG, ..point("written in part", "pwrite64", 150, When::UnderLoad) },
    Point { file: LOG, ..point("written, before the commit is durable", "fdatasync", 20, When::UnderLoad) },
    point("committed, before the answer", "writev", 15, When::UnderLoad),
    point("answered", "epoll_wait", 40, When::UnderLoad),
    point("sealing: file or folder before its sync", "fsync", 40, When::Quiet),
    point("sealing: file written, before its name", "rename", 16, When::Quiet),
    Point { file: LOG, ..point("sealing: named, pointer and chunks in part", "pwrite64", 40, When::Quiet) },
    Point {
        file: LOG,
        ..point("sealing: pointer and chunks before the commit", "fdatasync", 3, When::Quiet)
    },
];
/// Traffic before it becomes quiet, and the longest a point is waited for.
const TRAFFIC: Duration = Duration::from_millis(150);
const HIT_WITHIN: Duration = Duration::from_secs(4);

pub(super) fn run(setup: &Setup, rounds: u32) -> Result<String> {
    strace::version()?;
    let data = setup.folder.join("data");
    let traffic = Traffic::new(&setup.folder, setup.seed);
    let mut random = setup.random();
    let mut hits = [0_u32; POINTS.len()];
    for round in 0..rounds {
        let at = round as usize % POINTS.len();
        let point = &POINTS[at];
        let fault = format!("{}:signal=KILL:when={}", point.call, random.random_range(1..=point.among));
        let seed = setup.seed.wrapping_add(round.into());
        if take(setup, &data, &traffic, point, &fault, seed)? {
            hits[at] += 1;
        }
        if round % 3 == 2 || round + 1 == rounds {
            setup.binary.check(&data, traffic.acknowledged())?;
        }
    }
    if rounds as usize >= 3 * POINTS.len() {
        for (point, hits) in POINTS.iter().zip(hits) {
            ensure!(hits > 0, "{} was never hit", point.name);
        }
    }
    let totals = settle(setup, &data, &traffic)?;
    let hit =
        POINTS.iter().zip(hits).map(|(point, hits)| format!("{} {hits}", point.name)).collect::<Vec<_>>();
    Ok(format!("hits: {}; {totals}", hit.join(", ")))
}

/// Whether the process died at the point; otherwise it is killed at no point.
fn take(
    setup: &Setup,
    data: &Path,
    traffic: &Traffic,
    point: &Point,
    fault: &str,
    seed: u64,
) -> Result<bool> {
    let out = setup.folder.join("trace");
    let file: Option<PathBuf> = point.file.map(|name| data.join(name));
    let paths: Vec<&Path> = file.iter().map(PathBuf::as_path).collect();
    let mut launch = Launch::new(&setup.binary, data, &SERVE);
    if point.when == When::Starting {
        launch = launch.under(strace::inject(fault, "", &paths, &out));
    }
    let mut service = match launch.try_start()? {
        Ok(service) => service,
        Err((status, _)) if was_killed(status) => return Ok(true),
        Err((status, log)) => bail!("{}: the service ended with {status}:\n{log}", point.name),
    };
    if point.when == When::Quiet {
        // Senders end when their service does, so the quiet one is another.
        std::thread::scope(|scope| {
            traffic.send(scope, &service.address, seed, Duration::ZERO);
            std::thread::sleep(TRAFFIC);
            service.kill()
        })?;
        let mut service = launch.start()?;
        let tracer = strace::attach(service.pid(), fault, &paths, &out);
        return die(point, &mut service, Some(tracer));
    }
    std::thread::scope(|scope| {
        traffic.send(scope, &service.address, seed, Duration::ZERO);
        let attach = || strace::attach(service.pid(), fault, &paths, &out);
        let tracer = (point.when == When::UnderLoad).then(attach);
        die(point, &mut service, tracer)
    })
}

/// Waits for the death of a service, which is killed when it does not come: senders end only then.
fn die(point: &Point, service: &mut Service, tracer: Option<Result<Attached>>) -> Result<bool> {
    let died = if matches!(tracer, Some(Err(_))) { None } else { service.ends_within(HIT_WITHIN)? };
    service.kill()?;
    if let Some(tracer) = tracer {
        tracer?.wait()?;
    }
    if let Some(status) = died {
        // Dying of anything but the signal is no hit but a fault.
        ensure!(was_killed(status), "{}: it ended with {status}:\n{}", point.name, service.log());
    }
    Ok(died.is_some())
}
