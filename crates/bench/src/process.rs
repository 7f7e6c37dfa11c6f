//! What a process has used, as the kernel counts it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::param::clock_ticks_per_second;
use rustix::time::{ClockId, clock_gettime};

/// Pause between two looks at a process that is not idle yet.
const IDLE_LOOK: Duration = Duration::from_millis(500);
/// A process that uses less than this of one core is idle.
const IDLE_CORES: f64 = 0.05;
/// So many idle looks in a row mean that background work has ended.
const IDLE_LOOKS: u32 = 3;

/// CPU seconds of a process, all threads, user and system; steps of 10 ms.
///
/// # Errors
/// When there is no such process.
pub(crate) fn cpu_seconds(pid: u32) -> Result<f64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))
        .with_context(|| format!("cannot read what process {pid} has used"))?;
    let ticks = cpu_ticks(&stat).with_context(|| format!("/proc/{pid}/stat has another form"))?;
    Ok(ticks as f64 / clock_ticks_per_second() as f64)
}

/// The sum of utime and stime: fields 14 and 15.
fn cpu_ticks(stat: &str) -> Option<u64> {
    ticks(stat, 14)
}

/// The sum of cutime and cstime, of children that were waited for: fields 16 and 17.
fn ticks_of_ended(stat: &str) -> Option<u64> {
    ticks(stat, 16)
}

/// The sum of a field and the next, counted behind the name, which may hold anything: field 3 is the first there.
fn ticks(stat: &str, field: usize) -> Option<u64> {
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace().skip(field - 3);
    let mut field = || fields.next()?.parse::<u64>().ok();
    Some(field()? + field()?)
}

/// CPU seconds of a process, of the children it has waited for, and of those that live: what a PostgreSQL server uses.
///
/// # Errors
/// When there is no such process.
pub(crate) fn tree_cpu_seconds(pid: u32) -> Result<f64> {
    let path = format!("/proc/{pid}/task/{pid}/children");
    let children = fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
    // One that ends meanwhile is counted with those that were waited for, next time.
    let living = children.split_ascii_whitespace().filter_map(|child| cpu_seconds(child.parse().ok()?).ok());
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let ended = ticks_of_ended(&stat).with_context(|| format!("/proc/{pid}/stat has another form"))?;
    Ok(cpu_seconds(pid)? + ended as f64 / clock_ticks_per_second() as f64 + living.sum::<f64>())
}

/// How often the threads of a process, those that live, have gone to sleep: as often they were woken.
///
/// # Errors
/// When there is no such process.
pub(crate) fn wake_ups(pid: u32) -> Result<u64> {
    let folder = format!("/proc/{pid}/task");
    let threads = fs::read_dir(&folder).with_context(|| format!("cannot list {folder}"))?;
    // A thread that ends meanwhile counts nothing.
    let slept = |status: String| {
        let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
        line.trim().parse::<u64>().ok()
    };
    let statuses = threads.filter_map(|thread| fs::read_to_string(thread.ok()?.path().join("status")).ok());
    Ok(statuses.filter_map(slept).sum())
}

/// CPU seconds of the calling thread, in steps of nanoseconds.
pub(crate) fn thread_cpu_seconds() -> f64 {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    used.tv_sec as f64 + used.tv_nsec as f64 / 1e9
}

/// The most memory a process has held, in MB (10^6 bytes).
///
/// # Errors
/// When there is no such process.
pub(crate) fn memory_peak_mb(pid: u32) -> Result<f64> {
    held_mb(pid, "VmHWM:")
}

/// Has [`memory_peak_mb`] tell the most a process holds from now on.
///
/// # Errors
/// When there is no such process, or it is another user's.
pub(crate) fn forget_memory_peak(pid: u32) -> Result<()> {
    fs::write(format!("/proc/{pid}/clear_refs"), "5").context("the peak of memory cannot be reset")
}

/// The memory a process holds, in MB (10^6 bytes).
///
/// # Errors
/// When there is no such process.
pub(crate) fn memory_mb(pid: u32) -> Result<f64> {
    held_mb(pid, "VmRSS:")
}

fn held_mb(pid: u32, field: &str) -> Result<f64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))
        .with_context(|| format!("cannot read what process {pid} holds"))?;
    let kib = status.lines().find_map(|line| line.strip_prefix(field));
    let kib: u64 = kib
        .and_then(|rest| rest.trim().strip_suffix("kB"))
        .with_context(|| format!("no {field}"))?
        .trim()
        .parse()
        .with_context(|| format!("{field} is no number"))?;
    Ok(kib as f64 * 1024.0 / 1e6)
}

/// What a process did after its load had stopped.
#[derive(Debug, Clone, Copy, serde::Serialize)]
pub(crate) struct Aftermath {
    /// CPU seconds until it was idle.
    pub(crate) cpu_s: f64,
    /// Seconds until it was idle.
    pub(crate) seconds: f64,
    /// Whether it became idle within the time given.
    pub(crate) idle: bool,
}

/// Waits until a process is idle: under 5 % of a core for 1.5 s, or until `at_most` has passed.
///
/// # Errors
/// When the process ends.
pub(crate) fn wait_until_idle(pid: u32, at_most: Duration) -> Result<Aftermath> {
    let begin = Instant::now();
    let first = cpu_seconds(pid)?;
    let (mut last, mut idle_looks) = (first, 0);
    let mut aftermath = Aftermath { cpu_s: 0.0, seconds: 0.0, idle: false };
    while begin.elapsed() < at_most && !aftermath.idle {
        std::thread::sleep(IDLE_LOOK);
        let now = cpu_seconds(pid)?;
        if (now - last) / IDLE_LOOK.as_secs_f64() < IDLE_CORES {
            idle_looks += 1;
        } else {
            idle_looks = 0;
            aftermath.seconds = begin.elapsed().as_secs_f64();
        }
        last = now;
        aftermath.cpu_s = now - first;
        aftermath.idle = idle_looks == IDLE_LOOKS;
    }
    Ok(aftermath)
}

/// Bytes a folder takes on its disk, in whole blocks, as `du` counts them.
///
/// # Errors
/// When the folder cannot be listed. A file that goes meanwhile counts nothing.
pub(crate) fn disk_bytes(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    let entries = fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    for entry in entries {
        let Ok(entry) = entry else { continue };
        let Ok(metadata) = entry.metadata() else { continue };
        bytes += metadata.blocks() * 512;
        if metadata.is_dir() {
            bytes += disk_bytes(&entry.path()).unwrap_or_default();
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_stand_behind_any_name() {
        let stat = "17 (a) b (c)) S 1 17 17 0 -1 4194560 1 2 3 4 250 50 7 8 20 0 1 0 1";
        assert_eq!((cpu_ticks(stat), ticks_of_ended(stat)), (Some(300), Some(15)));
        assert_eq!(cpu_ticks("17 (a) S 1"), None);
    }

    #[test]
    fn this_process_uses_cpu_and_memory() {
        let (cpu, begin) = (thread_cpu_seconds(), Instant::now());
        while begin.elapsed() < Duration::from_millis(60) {
            std::hint::spin_loop();
        }
        let used = thread_cpu_seconds() - cpu;
        assert!(used > 0.0 && used < 0.5, "{used}");
        assert!(cpu_seconds(std::process::id()).expect("this process") > 0.0);
        assert!(memory_peak_mb(std::process::id()).expect("this process") > 1.0);
        assert!(cpu_seconds(u32::MAX).is_err());
    }

    #[test]
    fn a_sleep_is_a_wake_up() {
        let before = wake_ups(std::process::id()).expect("this process");
        for _ in 0..5 {
            std::thread::sleep(Duration::from_millis(2));
        }
        let slept = wake_ups(std::process::id()).expect("this process").saturating_sub(before);
        assert!(slept >= 5, "{slept}");
        assert!(wake_ups(u32::MAX).is_err());
    }

    #[test]
    fn files_count_in_blocks() {
        let folder = tempfile::tempdir().expect("a folder");
        let empty = disk_bytes(folder.path()).expect("a folder");
        fs::create_dir(folder.path().join("a")).expect("a folder");
        fs::write(folder.path().join("a/b"), vec![7; 10_000]).expect("a file");
        fs::File::open(folder.path().join("a/b")).and_then(|file| file.sync_all()).expect("on disk");
        let full = disk_bytes(folder.path()).expect("a folder");
        assert!(full - empty >= 10_000, "{full} - {empty}");
    }
}
