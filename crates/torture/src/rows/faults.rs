//! A call fails: EIO, ENOSPC, a short write, at the N-th of its kind, for each N.
//!
//! The same short story is told again and again: a start, some batches, recordings, a stop. Each time another call
//! on the data folder fails. What was refused is sent again; what was acknowledged must be there in the end.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rand::seq::SliceRandom;
use uuid::Uuid;

use super::Setup;
use super::retention::{DAY_NS, wait};
use crate::clock;
use crate::events::Stream;
use crate::http::Client;
use crate::service::Launch;
use crate::strace;
use crate::trace::{Call, calls};
use crate::traffic::Address;

const SERVE: [&str; 2] = ["--silent-after", "300ms"];
const BATCHES: usize = 4;
/// How long a batch is sent again while it is refused.
const REFUSED_MAX: Duration = Duration::from_mins(1);
/// Recordings are begun half a second after the last batch.
const SEALED_WITHIN: Duration = Duration::from_millis(1100);
/// A failed sync is noticed by a job within a fraction of a second: who has not ended by then goes on.
const ENDS_WITHIN: Duration = Duration::from_mins(1);
/// Calls that fail, and how. A result of 0 is a write of nothing.
const FAULTS: [(&str, &[&str]); 9] = [
    ("pwrite64", &["error=EIO", "error=ENOSPC", "retval=0"]),
    ("write", &["error=EIO", "error=ENOSPC", "retval=0"]),
    ("fdatasync", &["error=EIO", "error=ENOSPC"]),
    ("fsync", &["error=EIO", "error=ENOSPC"]),
    ("pread64", &["error=EIO"]),
    ("rename", &["error=EIO", "error=ENOSPC"]),
    ("mkdir", &["error=EIO", "error=ENOSPC"]),
    ("ftruncate", &["error=EIO"]),
    ("openat", &["error=EIO", "error=EMFILE"]),
];

/// What happens, whatever fails.
struct Story {
    batches: Vec<Vec<u8>>,
    /// The recording of each batch's query.
    recordings: Vec<PathBuf>,
    /// Everything the service touches that can be named before: the tracer fails calls on these alone.
    paths: Vec<PathBuf>,
}

impl Story {
    fn new(data: &Path) -> Result<Self> {
        let mut stream = Stream::new();
        let mut paths: Vec<PathBuf> = [
            "",
            "queryscope.db",
            "queryscope.db-wal",
            "queryscope.db-journal",
            "queryscope.db-shm",
            "recordings",
        ]
        .iter()
        .map(|name| data.join(name))
        .collect();
        let (mut batches, mut recordings) = (Vec::new(), Vec::new());
        for _ in 0..BATCHES {
            // Each query is alone in its day: a pack has a name that nobody knows before.
            stream.started_unix_ns -= DAY_NS;
            let folder = data.join("recordings").join(day(stream.started_unix_ns / DAY_NS)?);
            paths.extend(folder.ancestors().take(3).map(Path::to_owned));
            let query = Uuid::new_v4();
            let path = folder.join(format!("{query}.jsonl.gz"));
            paths.push(PathBuf::from(format!("{}#1", path.display())));
            paths.push(path.clone());
            recordings.push(path);
            let events =
                [stream.started(query, "fault"), stream.progress(query), stream.finished(query, "fault")];
            batches.push(stream.batch(&events));
        }
        paths.sort();
        paths.dedup();
        Ok(Self { batches, recordings, paths })
    }

    /// Sends every batch until it is taken, or the service has ended.
    fn send(&self, address: &Address) -> Result<Taken> {
        let client = Client::new(&address.url);
        let mut taken = Taken::default();
        for batch in &self.batches {
            let begun = Instant::now();
            loop {
                let sent_us = clock::unix_us();
                match client.post(&address.token, batch) {
                    Ok(answer) if answer.status == 503 => {
                        ensure!(begun.elapsed() < REFUSED_MAX, "it refuses for ever");
                        std::thread::sleep(Duration::from_millis(20));
                    }
                    Ok(answer) if answer.status == 202 => {
                        taken.batches += 1;
                        taken.last_sent_us = Some(sent_us);
                        break;
                    }
                    Ok(answer) => bail!("{}: {}", answer.status, String::from_utf8_lossy(&answer.body)),
                    Err(_) => return Ok(taken),
                }
            }
        }
        Ok(taken)
    }
}

/// Batches that were taken, the first ones.
#[derive(Debug, Default)]
struct Taken {
    batches: usize,
    /// When the last of them was sent.
    last_sent_us: Option<i64>,
}

/// A call that fails.
struct Fault {
    call: &'static str,
    /// How, and at which time.
    how: String,
    /// While it starts, or from then on: the tracer counts the calls of each thread, and the first thread that comes
    /// to a number of its own takes the fault.
    when: When,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum When {
    Starting,
    Running,
}

pub(super) fn run(setup: &Setup, rounds: u32) -> Result<String> {
    strace::version()?;
    let mut plan = plan(setup)?;
    let all = plan.len();
    plan.shuffle(&mut setup.random());
    // A failed sync of a commit is among them, however few there are.
    let is_commit = |fault: &Fault| fault.call == "fdatasync" && fault.when == When::Running;
    if let Some(at) = plan.iter().position(|fault| is_commit(fault) && fault.how.ends_with("EIO:when=2")) {
        plan.swap(0, at);
    }
    plan.truncate(rounds as usize);
    let mut ends: BTreeMap<String, u32> = BTreeMap::new();
    for (at, fault) in plan.iter().enumerate() {
        let folder = setup.folder.join(format!("{at}"));
        fs::create_dir(&folder)?;
        let end = tell(setup, &folder, fault).with_context(|| {
            format!("{}:{} {:?} in {}", fault.call, fault.how, fault.when, folder.display())
        })?;
        *ends.entry(format!("{:?}: {end}", fault.when)).or_default() += 1;
        fs::remove_dir_all(&folder)?;
    }
    let ends: Vec<String> = ends.into_iter().map(|(end, count)| format!("{end} {count}")).collect();
    Ok(format!("{} of {all} faults: {}", plan.len(), ends.join(", ")))
}

/// Every call of the story that can fail, in every way.
fn plan(setup: &Setup) -> Result<Vec<Fault>> {
    let data = setup.folder.join("counted/data");
    fs::create_dir(setup.folder.join("counted"))?;
    let out = setup.folder.join("trace");
    let story = Story::new(&data)?;
    let names: Vec<&str> = FAULTS.iter().map(|(call, _)| *call).collect();
    let mut under = strace::record(&names.join(","), &out, 32);
    for path in &story.paths {
        under.extend(["-P".into(), path.to_string_lossy().into_owned()]);
    }
    let service = Launch::new(&setup.binary, &data, &SERVE).under(under).start()?;
    let pid = service.pid();
    ensure!(story.send(&service.address)?.batches == BATCHES, "the service ended");
    wait("recordings to be written", || Ok(story.recordings.iter().all(|path| path.exists())))?;
    service.stop()?;
    let calls = calls(&strace::whole(&out, pid)?)?;
    let mut plan = Vec::new();
    let leader = pid.as_raw_nonzero().get().unsigned_abs();
    for (call, faults) in FAULTS {
        let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
        for made in calls.iter().filter(|made| made.name == call) {
            *counts.entry(made.thread).or_default() += 1;
        }
        ensure!(!counts.is_empty(), "the story makes no call of {call}");
        let starting = counts.remove(&leader).unwrap_or(0);
        let running = counts.into_values().max().unwrap_or(0);
        for (when, most) in [(When::Starting, starting), (When::Running, running)] {
            for n in 1..=most {
                plan.extend(faults.iter().map(|how| Fault { call, how: format!("{how}:when={n}"), when }));
            }
        }
    }
    Ok(plan)
}

/// Tells the story with a fault; how the service took it.
fn tell(setup: &Setup, folder: &Path, fault: &Fault) -> Result<&'static str> {
    let (data, out, log) = (folder.join("data"), folder.join("trace"), folder.join("acknowledged.jsonl"));
    let story = Story::new(&data)?;
    let paths: Vec<&Path> = story.paths.iter().map(PathBuf::as_path).collect();
    let spec = format!("{}:{}", fault.call, fault.how);
    let mut launch = Launch::new(&setup.binary, &data, &SERVE);
    if fault.when == When::Starting {
        launch = launch.under(strace::inject(&spec, "", &paths, &out));
    }
    let (told, taken) = match launch.try_start()? {
        Err((status, log)) => {
            ensure!(status.code() == Some(1) && says_why(&log), "it ended with {status}:\n{log}");
            ("kept it from starting", 0)
        }
        Ok(mut service) => {
            let pid = service.pid();
            let attach = || strace::attach(pid, &spec, &paths, &out);
            let _tracer = (fault.when == When::Running).then(attach).transpose()?;
            let taken = story.send(&service.address)?;
            if taken.batches == BATCHES {
                std::thread::sleep(SEALED_WITHIN);
            }
            let must_end = taken.batches < BATCHES || failed_sync(&calls(&strace::so_far(&out)?)?).is_some();
            let by_itself = if must_end { service.ends_within(ENDS_WITHIN)? } else { service.status()? };
            let status = service.end()?;
            let calls = calls(&strace::whole(&out, pid)?)?;
            let read = fault.call == "pread64";
            let end = End { had_to: must_end, by_itself: by_itself.is_some(), status, calls, read };
            (end.judge(&taken, &service.log())?, taken.batches)
        }
    };
    if taken > 0 {
        fs::write(&log, story.batches[..taken].concat())?;
        setup.binary.check(&data, [log.clone()]).context("right after it")?;
    }
    // Nothing fails any more: all is taken, and nothing twice.
    let service = Launch::new(&setup.binary, &data, &SERVE).start().context("the next start")?;
    ensure!(story.send(&service.address)?.batches == BATCHES, "the service ended");
    service.stop()?;
    fs::write(&log, story.batches.concat())?;
    let held = setup.binary.check(&data, [log])?;
    ensure!(held.events == 3 * BATCHES as u64, "{held:?}");
    Ok(told)
}

/// How a service that had started ended.
struct End {
    /// It left batches without answer, or a sync had failed before it was asked to end.
    had_to: bool,
    /// Before it was asked to.
    by_itself: bool,
    status: ExitStatus,
    calls: Vec<Call>,
    /// The call that failed was a read.
    read: bool,
}

impl End {
    /// A failed sync ends acknowledging at once and the process soon, and so may a failed read of the store, which
    /// SQLite takes for damage (`SQLITE_IOERR_CORRUPTFS`); anything else is passed over.
    fn judge(&self, taken: &Taken, said: &str) -> Result<&'static str> {
        let Some(failed_us) = failed_sync(&self.calls) else {
            if self.read && self.status.code() == Some(1) && says_why(said) {
                return Ok("ended it by a failed read");
            }
            ensure!(!self.by_itself && self.status.success(), "it ended with {}:\n{said}", self.status);
            return Ok("passed over");
        };
        // One batch after the other is sent: what was taken was synced before, the last by a sync of its own.
        let synced = |sent_us: i64| {
            self.calls.iter().any(|call| {
                call.name == "fdatasync"
                    && call.result == Some(0)
                    && (sent_us..failed_us).contains(&call.unix_us)
            })
        };
        ensure!(taken.last_sent_us.is_none_or(synced), "a batch was taken after a sync had failed");
        if !self.by_itself && !self.had_to {
            // All that is in the log is durable when the store is closed, and it stays.
            return Ok("failed a sync at the end");
        }
        let ended = self.by_itself && self.status.code() == Some(1) && says_why(said);
        ensure!(ended, "a sync failed, and it ended with {}:\n{said}", self.status);
        Ok("ended it by a failed sync")
    }
}

fn says_why(said: &str) -> bool {
    said.lines().any(|line| line.starts_with("error: "))
}

/// When a sync of a file of the store failed.
fn failed_sync(calls: &[Call]) -> Option<i64> {
    let failed = calls.iter().find(|call| call.name == "fdatasync" && call.injected && call.result.is_none());
    failed.map(|call| call.unix_us)
}

/// `YYYY/MM/DD` of a day since 1970-01-01 (Howard Hinnant, "chrono-compatible low-level date algorithms").
fn day(days: i64) -> Result<String> {
    let shifted = u64::try_from(days + 719_468)?;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    Ok(format!("{year:04}/{month:02}/{day:02}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_named() {
        assert_eq!(day(0).expect("a day"), "1970/01/01");
        assert_eq!(day(20_778).expect("a day"), "2026/11/21");
        assert_eq!(day(19_782).expect("a day"), "2024/02/29");
    }
}
