//! A clock of CPU time, of the process or of the host, while a query ran.
//!
//! Engines do not count the work of user code, so a query may work for seconds that none of its counters shows. The
//! process's CPU clock has it, with all other work of the process. Reading that clock is a system call, which has no
//! place on a query's thread: the sampler reads it whenever it looks, ten times a second while queries run, and takes
//! the time between two looks for spread evenly over it. So a figure is exact to a fraction of a look, which is why
//! only queries that are sampled have one.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Looks that are kept: some seconds, so that the begin of a query that was planned before it was registered is known.
const LOOKS_MAX: usize = 64;

/// The clock at the last looks.
#[derive(Debug, Default)]
pub(crate) struct CpuClock {
    /// In the order of time.
    looks: VecDeque<Look>,
}

#[derive(Debug, Clone, Copy)]
struct Look {
    at: Instant,
    cpu: Duration,
}

impl CpuClock {
    /// Notes what the clock shows now; nothing where there is no such clock.
    pub(crate) fn look(&mut self, at: Instant, cpu: Option<Duration>) {
        if self.looks.len() == LOOKS_MAX {
            self.looks.pop_front();
        }
        self.looks.extend(cpu.map(|cpu| Look { at, cpu }));
    }

    /// What the clock showed at a moment; `None` before the first look that is kept.
    pub(crate) fn at(&self, moment: Instant) -> Option<Duration> {
        let later = self.looks.iter().position(|look| look.at > moment);
        let before = *self.looks.get(later.unwrap_or(self.looks.len()).checked_sub(1)?)?;
        let Some(after) = later.and_then(|later| self.looks.get(later)) else { return Some(before.cpu) };
        let share = (moment - before.at).as_secs_f64() / (after.at - before.at).as_secs_f64();
        Some(before.cpu + after.cpu.saturating_sub(before.cpu).mul_f64(share))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_two_looks_time_is_spread_evenly() {
        let begin = crate::now();
        let ms = Duration::from_millis;
        let mut cpu = CpuClock::default();
        cpu.look(begin + ms(100), Some(ms(10)));
        cpu.look(begin + ms(200), Some(ms(210)));
        cpu.look(begin + ms(300), Some(ms(210)));
        let at = |elapsed| cpu.at(begin + ms(elapsed));
        assert_eq!(
            [99, 100, 150, 200, 250].map(at),
            [None, Some(10), Some(110), Some(210), Some(210)].map(|of| of.map(ms))
        );
        assert_eq!(at(400), Some(ms(210)), "after the last look, what it showed");
    }

    #[test]
    fn old_looks_are_forgotten() {
        let begin = crate::now();
        let mut cpu = CpuClock::default();
        for second in 0..100 {
            cpu.look(begin + Duration::from_secs(second), Some(Duration::from_secs(second)));
        }
        assert_eq!(cpu.at(begin + Duration::from_secs(35)), None);
        assert_eq!(cpu.at(begin + Duration::from_secs(36)), Some(Duration::from_secs(36)));
    }

    #[test]
    fn without_a_clock_nothing_is_known() {
        let mut cpu = CpuClock::default();
        cpu.look(crate::now(), None);
        assert_eq!(cpu.at(crate::now()), None);
    }
}
