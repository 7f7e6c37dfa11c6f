//! The service as a process.

use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};

use crate::binary::Binary;
use crate::http::{Answer, Client};
use crate::traffic::Address;

/// A service that is not ready by then hangs. What is promised of a start is judged where it is measured, in row
/// `crash`.
const READY_WITHIN: Duration = Duration::from_mins(1);
/// A start that is traced has longer.
const READY_WITHIN_TRACED: Duration = Duration::from_mins(2);
/// A stop answers what is in flight, within 10 s, and closes its store: who is not done by then hangs.
const STOPPED_WITHIN: Duration = Duration::from_mins(1);
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// How to start a service.
#[derive(Debug, Clone)]
pub(crate) struct Launch<'a> {
    pub(crate) binary: &'a Binary,
    pub(crate) data: &'a Path,
    pub(crate) args: &'a [&'a str],
    /// A command it runs under, which becomes it: the process of the service is ours.
    pub(crate) under: Vec<String>,
    pub(crate) ready_within: Duration,
    /// Where it logs; beside the data folder.
    log: PathBuf,
}

/// A service that runs; it is killed when dropped.
#[derive(Debug)]
pub(crate) struct Service {
    child: Child,
    log: PathBuf,
    pub(crate) address: Address,
    client: Client,
    /// How long its start took.
    pub(crate) started_in: Duration,
}

impl<'a> Launch<'a> {
    pub(crate) fn new(binary: &'a Binary, data: &'a Path, args: &'a [&'a str]) -> Self {
        let log = data.with_extension("log");
        Self { binary, data, args, under: Vec::new(), ready_within: READY_WITHIN, log }
    }

    /// With another file to log to.
    pub(crate) fn log(self, log: PathBuf) -> Self {
        Self { log, ..self }
    }

    /// Under a tracer, which takes its time.
    pub(crate) fn under(self, under: Vec<String>) -> Self {
        Self { under, ready_within: READY_WITHIN_TRACED, ..self }
    }

    /// Starts it; it answers when this returns.
    pub(crate) fn start(&self) -> Result<Service> {
        match self.try_start()? {
            Ok(service) => Ok(service),
            Err((status, log)) => bail!("the service ended with {status}:\n{log}"),
        }
    }

    /// Starts it; how it ended and what it had logged, when it did not come to answering.
    pub(crate) fn try_start(&self) -> Result<Result<Service, (ExitStatus, String)>> {
        let log = self.log.clone();
        let file = File::create(&log)?;
        let mut command = self.binary.command_under(&self.under);
        command.args(["serve", "--bind", "127.0.0.1:0", "--data"]).arg(self.data).args(self.args);
        command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
        let begun = Instant::now();
        let mut child = command.spawn().with_context(|| format!("{command:?} cannot be run"))?;
        loop {
            let said = std::fs::read(&log)?;
            let said = String::from_utf8_lossy(&said);
            if let Some(status) = child.try_wait()? {
                return Ok(Err((status, said.into())));
            }
            if let Some(url) = said.lines().find_map(|line| line.trim().strip_prefix("dashboard ")) {
                let url = url.trim().to_owned();
                let client = Client::new(&url);
                if client.get("/v1/health").is_ok_and(|health| health.status == 200) {
                    let token = std::fs::read_to_string(self.data.join("token"))?.trim().to_owned();
                    let started_in = begun.elapsed();
                    return Ok(Ok(Service {
                        child,
                        log,
                        address: Address { url, token },
                        client,
                        started_in,
                    }));
                }
            }
            if begun.elapsed() > self.ready_within {
                let _ = child.kill();
                let _ = child.wait();
                bail!("the service is not ready after {:?}:\n{said}", self.ready_within);
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }
}

impl Service {
    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Reads a path.
    pub(crate) fn get(&self, path: &str) -> Result<Answer> {
        Ok(self.client.get(path)?)
    }

    /// What it has logged.
    pub(crate) fn log(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(&self.log).unwrap_or_default()).into_owned()
    }

    /// Ends it as a crash would.
    pub(crate) fn kill(&mut self) -> Result<ExitStatus> {
        // Fails where it has ended by itself, which the status tells.
        let _ = kill_process(self.pid(), Signal::KILL);
        Ok(self.child.wait()?)
    }

    /// How it ended; `None` while it runs.
    pub(crate) fn status(&mut self) -> Result<Option<ExitStatus>> {
        Ok(self.child.try_wait()?)
    }

    /// Waits for its end; `None` when it does not come.
    pub(crate) fn ends_within(&mut self, within: Duration) -> Result<Option<ExitStatus>> {
        let begun = Instant::now();
        loop {
            let status = self.status()?;
            if status.is_some() || begun.elapsed() > within {
                return Ok(status);
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Asks it to end.
    pub(crate) fn terminate(&self) {
        // Fails where it has ended by itself, which the status tells.
        let _ = kill_process(self.pid(), Signal::TERM);
    }

    /// Asks it to end, unless it has, and waits until it has.
    pub(crate) fn end(&mut self) -> Result<ExitStatus> {
        if let Some(status) = self.status()? {
            return Ok(status);
        }
        self.terminate();
        self.ends_within(STOPPED_WITHIN)?.context("it does not stop")
    }

    /// Ends it in order.
    pub(crate) fn stop(mut self) -> Result<()> {
        let status = self.end()?;
        ensure!(status.success(), "it stopped with {status}:\n{}", self.log());
        Ok(())
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // Fails where it has ended, which is as well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether a process was ended by `SIGKILL`.
pub(crate) fn was_killed(status: ExitStatus) -> bool {
    status.signal() == Some(Signal::KILL.as_raw())
}
