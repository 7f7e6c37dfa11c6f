//! A file system of its own that is full: under ingest and backup, at a start, under retention and a stop.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Result, bail, ensure};
use rand::RngExt;

use super::{REFUSED, recovers, serves_reads};
use crate::mounted::Mounted;
use crate::rows::Setup;
use crate::rows::crash::{SERVE, settle};
use crate::rows::retention::{Old, wait};
use crate::service::Launch;
use crate::traffic::Traffic;

/// What is left for a start and what follows, at most.
const LEFT_KIB_MAX: u64 = 600;
const OLD_QUERIES: usize = 200;
const AT_WORK: Duration = Duration::from_millis(600);

pub(crate) fn run(setup: &Setup, rounds: u32) -> Result<String> {
    if !Mounted::is_allowed() {
        return Ok("SKIPPED: mounting a small file system takes root".into());
    }
    let mut random = setup.random();
    let mut figures = String::new();
    for round in 0..rounds {
        let mounted = Mounted::new(setup.folder.join(format!("disk-{round}")))?;
        let logs = setup.folder.join(format!("logs-{round}"));
        fs::create_dir(&logs)?;
        let traffic = Traffic::new(&logs, setup.seed.wrapping_add(round.into()));
        let data = mounted.0.join("data");
        figures = under_load(setup, &mounted, &data, &traffic)?;
        let left = random.random_range(0..LEFT_KIB_MAX) << 10;
        start_and_delete(setup, &mounted, left)?;
    }
    Ok(format!(
        "{rounds} file systems, each full under load, backup, start, retention and stop; the last: {figures}"
    ))
}

fn under_load(setup: &Setup, mounted: &Mounted, data: &Path, traffic: &Traffic) -> Result<String> {
    let mut service = Launch::new(&setup.binary, data, &SERVE).log(setup.folder.join("log")).start()?;
    let outcome = std::thread::scope(|scope| -> Result<()> {
        traffic.send(scope, &service.address, setup.seed, Duration::ZERO);
        let mut shortage = || -> Result<()> {
            std::thread::sleep(AT_WORK);
            let ballast = mounted.fill(64 << 10)?;
            let refused = traffic.refused();
            wait("requests to be refused", || Ok(traffic.refused() >= refused + REFUSED))?;
            // Long enough for recordings to be due.
            std::thread::sleep(AT_WORK);
            serves_reads(&service, &[200])?;
            let copy = mounted.0.join("copy");
            let backup = [Path::new("backup"), &copy, Path::new("--data"), data];
            ensure!(!setup.binary.run(backup)?.status.success(), "a backup to a full disk succeeded");
            let elsewhere = setup.folder.join("copy");
            let backup = [Path::new("backup"), &elsewhere, Path::new("--data"), data];
            let output = setup.binary.run(backup)?;
            ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            setup.binary.check(&elsewhere, [])?;
            fs::remove_dir_all(&elsewhere)?;
            fs::remove_dir_all(&copy)?;
            fs::remove_file(ballast)?;
            recovers(&mut service, traffic)
        };
        let outcome = shortage();
        service.kill()?;
        outcome
    });
    outcome?;
    setup.binary.check(data, traffic.acknowledged())?;
    settle(setup, data, traffic)
}

/// A start with hardly any space, which deletes old queries if it succeeds, and a stop.
fn start_and_delete(setup: &Setup, mounted: &Mounted, left_bytes: u64) -> Result<()> {
    let (data, keep) = (mounted.0.join("old"), ["--keep-days", "1"]);
    let old = Old::new(OLD_QUERIES);
    old.store(setup, &data)?;
    let ballast = mounted.fill(left_bytes)?;
    let launch = Launch::new(&setup.binary, &data, &keep).log(setup.folder.join("log"));
    match launch.try_start()? {
        Ok(service) => {
            std::thread::sleep(AT_WORK);
            // What was in the list may be deleted by now.
            serves_reads(&service, &[200, 404])?;
            service.stop()?;
        }
        Err((status, log)) if status.code() == Some(1) => {
            ensure!(log.contains("error: "), "it does not say why it did not start:\n{log}");
        }
        Err((status, log)) => bail!("it ended with {status}:\n{log}"),
    }
    fs::remove_file(ballast)?;
    setup.binary.check(&data, [])?;
    let service = launch.start()?;
    wait("old queries to go", || {
        Ok(service.get("/api/queries")?.json().as_array().is_some_and(Vec::is_empty))
    })?;
    service.stop()?;
    setup.binary.check(&data, []).map(|_| ())
}
