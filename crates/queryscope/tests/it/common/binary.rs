//! The binary as a process.

use std::ffi::OsStr;
use std::fs::File;
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::wait_within;

/// Bounds commands; hardly any takes as long.
const COMMAND_WITHIN: Duration = Duration::from_mins(3);

/// What a process left.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// A process that runs; it is killed when dropped.
pub(crate) struct Running {
    child: Child,
    output: TempDir,
}

/// Runs `queryscope` with these arguments to its end.
pub(crate) fn queryscope<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Ended {
    Running::start(command().args(args)).wait()
}

/// `queryscope`, which takes no setting from the environment of the tests.
pub(crate) fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_queryscope"));
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("QUERYSCOPE_") || name == "TELEMETRY_TOKEN" {
            command.env_remove(name.as_ref());
        }
    }
    // Nobody waits a minute for a recording.
    command.env("QUERYSCOPE_SEAL_WITHIN", "1ms");
    command
}

impl Ended {
    /// Asserts success and gives the standard output.
    pub(crate) fn success(self) -> String {
        assert!(self.status.success(), "{self:?}");
        self.out
    }

    /// Asserts failure with this code and gives the standard error.
    pub(crate) fn failure(self, code: i32) -> String {
        assert_eq!(self.status.code(), Some(code), "{self:?}");
        self.err
    }
}

impl Running {
    pub(crate) fn start(command: &mut Command) -> Self {
        let output = tempfile::tempdir().expect("a folder");
        let file = |name| File::create(output.path().join(name)).expect("a file");
        let child = command.stdout(file("out")).stderr(file("err")).spawn().expect("the binary starts");
        Self { child, output }
    }

    /// What it has printed so far.
    pub(crate) fn out(&self) -> String {
        self.read("out")
    }

    /// What it has logged so far.
    pub(crate) fn err(&self) -> String {
        self.read("err")
    }

    fn read(&self, name: &str) -> String {
        let bytes = std::fs::read(self.output.path().join(name)).expect("output");
        String::from_utf8_lossy(&bytes).into_owned()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("it runs");
    }

    /// How it ended; `None` while it runs.
    pub(crate) fn status(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("our child")
    }

    /// Waits for its end, which must come soon.
    pub(crate) fn wait(self) -> Ended {
        self.wait_long(COMMAND_WITHIN)
    }

    /// As [`Running::wait`], with a bound of its own.
    pub(crate) fn wait_long(mut self, within: Duration) -> Ended {
        let status = wait_within(within, "the end of a command", || self.status());
        Ended { status, out: self.out(), err: self.err() }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Fails where it has ended, which is as well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
