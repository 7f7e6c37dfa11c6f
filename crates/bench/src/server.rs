//! A collector of the bench's own: started on a fresh folder and a free port, stopped by its process id.

use std::ffi::OsString;
use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::client::Connection;
use crate::http::Target;
use crate::ids::{self, IdText};
use crate::load::single_threaded;

/// How long a collector may take until it answers.
const START_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a collector may take to end after SIGTERM; then it is killed.
const STOP_TIMEOUT: Duration = Duration::from_secs(30);
/// Pause between two looks.
const LOOK: Duration = Duration::from_millis(20);
/// Lines of a collector's log that are shown when it fails.
const LOG_LINES: usize = 20;

/// A running collector. It is killed, and its folder removed, when this goes out of scope.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    /// Where it listens, with a token it knows.
    pub(crate) target: Target,
    /// Seconds until it answered.
    pub(crate) start_s: f64,
    folder: TempDir,
}

impl Server {
    /// Runs `BINARY serve` with a data folder inside `folder` and waits until it answers.
    ///
    /// # Errors
    /// When it does not start, or not in time; its last log lines are part of the message.
    pub(crate) fn start(binary: &Path, folder: &Path, seed: u64) -> Result<Self> {
        Self::start_with(binary, folder, seed, &[])
    }

    /// The same, with more arguments of `serve`. The same seed makes the same token.
    ///
    /// # Errors
    /// Those of [`Server::start`].
    pub(crate) fn start_with(binary: &Path, folder: &Path, seed: u64, more: &[OsString]) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("run-").tempdir_in(folder)?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let address = format!("127.0.0.1:{port}");
        let token = IdText::stream(&mut ids::random(seed, 3)).as_str().to_owned();
        let target = Target::parse(&format!("http://{address}"), &token)?;
        let log = File::create(folder.path().join("log"))?;
        let begin = Instant::now();
        let child = Command::new(binary)
            .args(["serve", "--bind", &address, "--token", &token, "--data"])
            .arg(folder.path().join("data"))
            .args(more)
            // So that what runs in the background falls into what is measured.
            .env("QUERYSCOPE_SEAL_WITHIN", "1ms")
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .with_context(|| format!("cannot start {}", binary.display()))?;
        let mut server = Self { child, target, start_s: 0.0, folder };
        let answers = single_threaded()?.block_on(server.wait_until_it_answers(begin));
        answers.with_context(|| format!("its log ends with:\n{}", server.log_end()))?;
        server.start_s = begin.elapsed().as_secs_f64();
        Ok(server)
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Its data folder.
    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Asks it to stop and waits until it has.
    ///
    /// # Errors
    /// When it does not end in time, or ends with a failure.
    pub(crate) fn stop(mut self) -> Result<()> {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).context("no process id")?;
        kill_process(pid, Signal::TERM).context("cannot signal the collector")?;
        let begin = Instant::now();
        while begin.elapsed() < STOP_TIMEOUT {
            if let Some(status) = self.child.try_wait()? {
                if status.success() {
                    return Ok(());
                }
                bail!("the collector ended with {status}; its log ends with:\n{}", self.log_end());
            }
            thread::sleep(LOOK);
        }
        bail!("the collector did not stop within {} s", STOP_TIMEOUT.as_secs())
    }

    async fn wait_until_it_answers(&mut self, begin: Instant) -> Result<()> {
        let mut connection = Connection::to(self.target.address);
        let health = self.target.get("/v1/health");
        while begin.elapsed() < START_TIMEOUT {
            if let Ok(answer) = connection.send(&health).await
                && answer.status == 200
            {
                return Ok(());
            }
            if let Some(status) = self.child.try_wait()? {
                bail!("the collector ended with {status} before it answered");
            }
            tokio::time::sleep(LOOK).await;
        }
        bail!("the collector did not answer within {} s", START_TIMEOUT.as_secs())
    }

    fn log_end(&self) -> String {
        let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        let lines: Vec<_> = log.lines().collect();
        lines[lines.len().saturating_sub(LOG_LINES)..].join("\n")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Both fail when it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_binary_that_ends_is_told_with_its_log() {
        let folder = tempfile::tempdir().expect("a folder");
        // It takes none of a collector's flags, says so and ends.
        let error = Server::start(Path::new("cat"), folder.path(), 1).expect_err("it ends");
        let error = format!("{error:#}");
        assert!(error.contains("--bind") && error.contains("before it answered"), "{error}");
        let left = fs::read_dir(folder.path()).expect("a folder").count();
        assert_eq!(left, 0, "the run's folder is removed");
    }

    #[test]
    fn a_missing_binary_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = Server::start(Path::new("no/such/binary"), folder.path(), 1).expect_err("missing");
        assert!(format!("{error:#}").contains("no/such/binary"), "{error:#}");
    }
}
