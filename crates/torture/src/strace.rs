//! Following and bending the system calls of a service.

use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::Pid;

const LOOK_EVERY: Duration = Duration::from_millis(5);
const ENDS_WITHIN: Duration = Duration::from_mins(2);
/// Enough of the end of a trace to hold the line that ends it.
const LAST_LINE_BYTES: u64 = 4096;
const ATTACHED_WITHIN: Duration = Duration::from_mins(1);

/// A tracer that was attached to a running service; it ends with it.
#[derive(Debug)]
pub(crate) struct Attached {
    child: Child,
}

/// Whether `strace` is there, and of which version.
pub(crate) fn version() -> Result<String> {
    let output = Command::new("strace").arg("--version").output();
    let output = output.context("strace is needed: scripts/install-packages strace")?;
    Ok(String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_owned())
}

/// The command line that records these calls, whole, into a file.
pub(crate) fn record(calls: &str, out: &Path, bytes_max: usize) -> Vec<String> {
    let trace = format!("trace={calls}");
    let (bytes_max, out) = (bytes_max.to_string(), out.to_string_lossy());
    let args = [
        "strace",
        "-D",
        "-f",
        "-y",
        "-ttt",
        "-xx",
        "--seccomp-bpf",
        "-s",
        &bytes_max,
        "-o",
        &out,
        "-e",
        &trace,
    ];
    args.map(str::to_owned).to_vec()
}

/// The command line that bends calls (`fdatasync:error=EIO:when=2`), of these paths alone if there are any.
///
/// A count is that of each thread. `also` is recorded beside.
pub(crate) fn inject(fault: &str, also: &str, paths: &[&Path], out: &Path) -> Vec<String> {
    let call = fault.split(':').next().unwrap_or_default();
    let trace = format!("trace={call}{also}");
    let inject = format!("inject={fault}");
    let out = out.to_string_lossy();
    let args =
        ["strace", "-D", "-f", "-y", "-ttt", "-xx", "-s", "1024", "-o", &out, "-e", &trace, "-e", &inject];
    let mut args = args.map(str::to_owned).to_vec();
    for path in paths {
        args.extend(["-P".into(), path.to_string_lossy().into_owned()]);
    }
    args
}

/// Begins to bend the calls of a process that runs.
pub(crate) fn attach(pid: Pid, fault: &str, paths: &[&Path], out: &Path) -> Result<Attached> {
    let mut args = inject(fault, "", paths, out);
    args.retain(|arg| arg != "-D");
    let messages = out.with_extension("err");
    let mut command = Command::new(&args[0]);
    command.args(&args[1..]).args(["-p", &pid.as_raw_nonzero().to_string()]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(fs::File::create(&messages)?);
    let mut child = command.spawn().context("strace is needed: scripts/install-packages strace")?;
    let begun = Instant::now();
    loop {
        // Looked at before its words are: it may attach, and end with the service at once.
        let ended = child.try_wait()?.is_some();
        let said = fs::read_to_string(&messages)?;
        if said.contains(" attached") {
            return Ok(Attached { child });
        }
        if ended || begun.elapsed() > ATTACHED_WITHIN {
            bail!(
                "strace could not attach (as another user than root it needs kernel.yama.ptrace_scope=0): {said}"
            );
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

impl Attached {
    /// Waits until the tracer has ended, as it does with the service.
    pub(crate) fn wait(mut self) -> Result<()> {
        let begun = Instant::now();
        while self.child.try_wait()?.is_none() {
            ensure!(begun.elapsed() < ENDS_WITHIN, "the tracer does not end");
            std::thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        // Fails where it has ended, which is as well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads a trace once it is whole: it ends with the end of the process it followed.
pub(crate) fn whole(path: &Path, pid: Pid) -> Result<String> {
    let begun = Instant::now();
    let leader = format!("{} ", pid.as_raw_nonzero());
    while !last_line(path)?.is_some_and(|last| last.starts_with(&leader) && last.ends_with("+++")) {
        ensure!(begun.elapsed() < ENDS_WITHIN, "the trace {} does not end", path.display());
        std::thread::sleep(LOOK_EVERY);
    }
    Ok(fs::read_to_string(path)?)
}

/// The lines of a trace that goes on.
pub(crate) fn so_far(path: &Path) -> Result<String> {
    let mut text = fs::read_to_string(path)?;
    text.truncate(text.rfind('\n').map_or(0, |at| at + 1));
    Ok(text)
}

/// The last line, if it is short and ends.
fn last_line(path: &Path) -> Result<Option<String>> {
    let mut file = fs::File::open(path)?;
    file.seek(SeekFrom::Start(file.metadata()?.len().saturating_sub(LAST_LINE_BYTES)))?;
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    Ok(text.strip_suffix('\n').and_then(|text| text.rsplit('\n').next()).map(Into::into))
}
