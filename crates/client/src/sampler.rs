//! The thread that follows queries, and must be on time.

use std::sync::Arc;
use std::thread::Thread;
use std::time::{Duration, Instant};

use crate::cpu_clock::CpuClock;
use crate::follower::{Follower, Surroundings};
use crate::host::Host;
use crate::machine::Machine;
use crate::problems::Problems;
use crate::profile::Describer;
use crate::publisher::Publisher;
use crate::registry::Registry;
use crate::sender::Ending;

/// How often to look while queries run. Looking, rather than being woken, keeps system calls off their threads.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How often to look when no query has run for a while.
const LOOK_IDLE_EVERY: Duration = Duration::from_millis(500);
/// How long without a query is a while.
const IDLE_AFTER: Duration = Duration::from_secs(2);

/// Follows all queries of a process.
pub(crate) struct Sampler {
    pub(crate) host: Arc<dyn Host>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) describer: Describer,
    pub(crate) publisher: Publisher,
    pub(crate) problems: Arc<Problems>,
    pub(crate) followers: Vec<Follower>,
    pub(crate) process_cpu: CpuClock,
    pub(crate) machine: Machine,
}

impl Sampler {
    /// Follows until the telemetry ends, and reports what ended before that.
    pub(crate) fn run(mut self, ending: &Ending, senders: &[Thread]) {
        let mut last_busy = self.host.now();
        loop {
            let ends = ending.deadline().is_some();
            if self.step() {
                last_busy = self.host.now();
                senders.iter().for_each(Thread::unpark);
            }
            if ends {
                ending.note_made_all();
                senders.iter().for_each(Thread::unpark);
                return;
            }
            std::thread::park_timeout(self.pause(last_busy));
        }
    }

    fn pause(&self, last_busy: Instant) -> Duration {
        if self.host.now().saturating_duration_since(last_busy) < IDLE_AFTER {
            LOOK_EVERY
        } else {
            LOOK_IDLE_EVERY
        }
    }

    /// Looks at every query once; whether there was any.
    pub(crate) fn step(&mut self) -> bool {
        // Taken first: what began before the clock is read began between two looks.
        let began = self.registry.take();
        self.process_cpu.look(self.host.now(), self.host.process_cpu());
        if !began.is_empty() {
            self.machine.look(&*self.host);
        }
        let begin = |query| Follower::new(query, &self.process_cpu, &self.machine);
        self.followers.extend(began.into_iter().map(begin));
        let was_any = !self.followers.is_empty();
        let running = self.followers.iter().filter(|follower| follower.is_running()).count() as u64;
        let mut around = Surroundings {
            host: &*self.host,
            describer: &self.describer,
            publisher: &mut self.publisher,
            problems: &self.problems,
            process_cpu: &self.process_cpu,
            machine: &mut self.machine,
            running,
        };
        self.followers.retain_mut(|follower| {
            let has_ended = follower.step(&mut around);
            if has_ended {
                // At once: thousands may end in one look, and as many begin meanwhile.
                self.registry.note_ended();
            }
            !has_ended
        });
        was_any
    }
}
