//! Memory of the process, and CPU time and memory of its host, while queries run.
//!
//! Linux tells them in `/proc` (<https://man7.org/linux/man-pages/man5/proc.5.html>), of the host also within a
//! container. Reading takes some 50 µs, longer on hosts of many cores, so that the sampler reads only for a sample,
//! and no more often than every [`FRESH`]. Elsewhere nothing is told.

use std::time::{Duration, Instant};

use crate::cpu_clock::CpuClock;
use crate::host::Host;

/// What was read within this time is not read again.
const FRESH: Duration = Duration::from_millis(400);

/// What a process and its host use at a moment; `None` where that is not told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    /// Memory of the process that is in RAM, in bytes.
    pub(crate) process_memory: Option<u64>,
    /// Time all processors of the host have worked since it booted.
    pub(crate) host_cpu: Option<Duration>,
    /// Memory of the host that is in use, in bytes: what a new program could not have.
    pub(crate) host_memory: Option<u64>,
    /// Memory of the host, in bytes.
    pub(crate) host_memory_total: Option<u64>,
}

/// The last readings.
#[derive(Debug, Default)]
pub(crate) struct Machine {
    read_at: Option<Instant>,
    usage: Usage,
    cpu: CpuClock,
}

impl Machine {
    /// Reads, unless that was done just before.
    pub(crate) fn look(&mut self, host: &dyn Host) -> Usage {
        let now = host.now();
        if self.read_at.is_none_or(|at| now.saturating_duration_since(at) >= FRESH) {
            self.read_at = Some(now);
            self.usage = host.usage();
            self.cpu.look(now, self.usage.host_cpu);
        }
        self.usage
    }

    /// What the host's clock showed when a query began: at the first reading, where it began before that.
    pub(crate) fn cpu_at(&self, began: Instant) -> Option<Duration> {
        self.cpu.at(began).or(self.usage.host_cpu)
    }
}

impl Usage {
    /// Reads it.
    #[cfg(target_os = "linux")]
    pub(crate) fn read() -> Self {
        let file = |path| std::fs::read_to_string(path).ok();
        let ticks = rustix::param::clock_ticks_per_second();
        let (host_memory, host_memory_total) = file("/proc/meminfo").as_deref().and_then(memory).unzip();
        Self {
            process_memory: file("/proc/self/statm")
                .and_then(|text| resident(&text, rustix::param::page_size() as u64)),
            host_cpu: file("/proc/stat").and_then(|text| worked(&text, ticks)),
            host_memory,
            host_memory_total,
        }
    }

    /// Nothing is told here.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn read() -> Self {
        Self::default()
    }
}

/// Resident memory of `/proc/self/statm`, in bytes.
#[cfg(any(target_os = "linux", test))]
fn resident(statm: &str, page_bytes: u64) -> Option<u64> {
    let mut pages = statm.split_ascii_whitespace().map(|word| word.parse::<u64>().ok());
    let (_all, resident) = (pages.next()??, pages.next()??);
    resident.checked_mul(page_bytes)
}

/// Time all processors have worked, from the first line of `/proc/stat`: all but idle, waiting and stolen time. What
/// guests used is within the user's.
#[cfg(any(target_os = "linux", test))]
fn worked(stat: &str, ticks_a_second: u64) -> Option<Duration> {
    let mut words = stat.lines().next()?.split_ascii_whitespace();
    if words.next() != Some("cpu") {
        return None;
    }
    let times: Vec<u64> = words.map_while(|word| word.parse().ok()).collect();
    let [user, nice, system, _idle, _waiting, irq, soft_irq, ..] = times[..] else { return None };
    let ticks = [nice, system, irq, soft_irq].into_iter().try_fold(user, u64::checked_add)?;
    Some(Duration::from_secs_f64(ticks as f64 / ticks_a_second.max(1) as f64))
}

/// Memory in use and in all, in bytes, of `/proc/meminfo`.
#[cfg(any(target_os = "linux", test))]
fn memory(meminfo: &str) -> Option<(u64, u64)> {
    let bytes = |name: &str| -> Option<u64> {
        let line = meminfo.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
    };
    let total = bytes("MemTotal")?;
    Some((total.saturating_sub(bytes("MemAvailable")?), total))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::fake::Fake;

    #[test]
    fn linux_is_read() {
        assert_eq!(resident("14220 2041 1100 200 0 900 0\n", 4096), Some(2041 * 4096));
        let stat = "cpu  1000 200 300 9000 400 50 60 70 500 0\ncpu0 1 1 1 1 1 1 1 1 1 1\nintr 5\n";
        assert_eq!(worked(stat, 100), Some(Duration::from_millis(16_100)));
        let meminfo = "MemTotal:       24000000 kB\nMemFree:  1 kB\nMemAvailable:   20000000 kB\n";
        assert_eq!(memory(meminfo), Some((4_000_000 * 1024, 24_000_000 * 1024)));
    }

    #[test]
    fn what_is_no_such_file_tells_nothing() {
        for text in ["", "cpu", "cpu 1 2 3", "intr 1 2 3 4 5 6 7 8", "MemTotal: 5 pages", "\u{0}", "1"] {
            assert_eq!((resident(text, 4096), worked(text, 100), memory(text)), (None, None, None), "{text}");
        }
        assert_eq!(resident("1 18446744073709551615", 4096), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_machine_tells() {
        let Usage { process_memory, host_cpu, host_memory, host_memory_total } = Usage::read();
        assert!(process_memory.is_some_and(|bytes| bytes > 100_000), "{process_memory:?}");
        assert!(host_cpu.is_some_and(|cpu| cpu > Duration::from_millis(100)), "{host_cpu:?}");
        assert!(process_memory < host_memory_total && host_memory < host_memory_total);
    }

    #[test]
    fn it_is_read_no_more_often_than_needed() {
        let host = Fake::new();
        let mut machine = Machine::default();
        let begin = host.now();
        machine.look(&host);
        host.compute(FRESH / 2, 2);
        assert_eq!(machine.look(&host).host_cpu, Some(Duration::ZERO), "read just before");
        host.compute(FRESH, 2);
        assert_eq!(machine.look(&host).host_cpu, Some(FRESH * 3));
        assert_eq!(machine.cpu_at(begin), Some(Duration::ZERO));
    }
}
