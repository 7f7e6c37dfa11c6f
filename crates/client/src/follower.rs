//! Follows one query from its registration to its end.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use queryscope_protocol::limits::{EMPTY_SAMPLE_INTERVAL, REPORT_AFTER, SENDER_BATCH_INTERVAL};
use queryscope_protocol::{Plan, Sample};

use crate::active::Shared;
use crate::cpu_clock::CpuClock;
use crate::host::{Host, millis};
use crate::machine::Machine;
use crate::problems::{Problem, Problems};
use crate::profile::{Describer, Ended, ProcessWork, Work};
use crate::publisher::Publisher;
use crate::readings::Readings;

/// A query is sampled no more often than this many times the CPU time of its last sample: at most 1 % of a core.
const COST_FACTOR: u32 = 100;

/// What the sampler knows of one query.
pub(crate) struct Follower {
    query: Arc<Shared>,
    readings: Readings,
    plan: Option<Plan<'static>>,
    /// Set once the query has run for a second.
    reported: Option<Reported>,
    work: Work,
    /// The process's CPU clock when the query began, where that is known.
    cpu_begin: Option<Duration>,
    /// The host's CPU clock then, where that is known.
    host_cpu_begin: Option<Duration>,
    /// The most queries of the process that were followed at a time.
    running_most: u64,
}

#[derive(Debug)]
struct Reported {
    next_sample: Instant,
    last_event: Instant,
}

/// What a follower needs of its surroundings.
pub(crate) struct Surroundings<'s> {
    pub(crate) host: &'s dyn Host,
    pub(crate) describer: &'s Describer,
    pub(crate) publisher: &'s mut Publisher,
    pub(crate) problems: &'s Problems,
    pub(crate) process_cpu: &'s CpuClock,
    pub(crate) machine: &'s mut Machine,
    /// Queries of the process that are followed now.
    pub(crate) running: u64,
}

impl Follower {
    pub(crate) fn new(query: Arc<Shared>, process_cpu: &CpuClock, machine: &Machine) -> Self {
        let cpu_begin = process_cpu.at(query.started);
        let host_cpu_begin = machine.cpu_at(query.started);
        Self {
            query,
            readings: Readings::default(),
            plan: None,
            reported: None,
            work: Work::default(),
            cpu_begin,
            host_cpu_begin,
            running_most: 0,
        }
    }

    pub(crate) fn is_running(&self) -> bool {
        self.query.ended.get().is_none()
    }

    /// Reports what is due; true once the query has ended and everything is told of it.
    pub(crate) fn step(&mut self, around: &mut Surroundings<'_>) -> bool {
        self.running_most = self.running_most.max(around.running);
        if self.query.ended.get().is_some() {
            self.finish(around);
            return true;
        }
        let now = around.host.now();
        if self.reported.is_none() && now.saturating_duration_since(self.query.started) >= REPORT_AFTER {
            self.report(around, now);
        }
        if self.reported.as_ref().is_some_and(|reported| now >= reported.next_sample) {
            self.sample(around, now);
        } else if self.is_silent(now) {
            self.progress(around, now);
        }
        false
    }

    fn report(&mut self, around: &mut Surroundings<'_>, now: Instant) {
        let plan = self.render_plan(around);
        let profile = around.describer.started(&self.query, plan, now);
        around.publisher.started(self.query.id, &profile, now);
        self.plan = Some(profile.plan);
        self.reported = Some(Reported { next_sample: now, last_event: now });
    }

    fn sample(&mut self, around: &mut Surroundings<'_>, now: Instant) {
        let worked = around.host.worked();
        self.read(around);
        if self.readings.has_changed() || self.is_silent(now) {
            self.progress(around, now);
        }
        let cost = around.host.worked().saturating_sub(worked);
        if let Some(reported) = &mut self.reported {
            reported.next_sample = now + SENDER_BATCH_INTERVAL.max(cost * COST_FACTOR);
        }
    }

    /// Whether nothing was told of the query for a while.
    fn is_silent(&self, now: Instant) -> bool {
        self.reported.as_ref().is_some_and(|reported| {
            now.saturating_duration_since(reported.last_event) >= EMPTY_SAMPLE_INTERVAL
        })
    }

    /// Tells what has changed, or that nothing has.
    fn progress(&mut self, around: &mut Surroundings<'_>, now: Instant) {
        let elapsed_ms = millis(now.saturating_duration_since(self.query.started));
        let usage = around.machine.look(around.host);
        let sample = Sample {
            elapsed_ms,
            nodes: self.readings.changed(),
            process_cpu_ns: grown_ns(self.cpu_begin, around.process_cpu.at(now)),
            process_memory_bytes: usage.process_memory,
            host_cpu_ns: grown_ns(self.host_cpu_begin, usage.host_cpu),
            host_memory_bytes: usage.host_memory,
            host_memory_total_bytes: usage.host_memory_total,
        };
        around.publisher.progress(self.query.id, &sample, now);
        self.readings.note_sent();
        if let Some(reported) = &mut self.reported {
            reported.last_event = now;
        }
    }

    fn finish(&mut self, around: &mut Surroundings<'_>) {
        let query = Arc::clone(&self.query);
        let Some((ended, outcome)) = query.ended.get() else { return };
        let plan = match self.plan.take() {
            Some(plan) => guard(around.problems, || query.source.final_plan()).flatten().unwrap_or(plan),
            None => self.render_plan(around),
        };
        self.read(around);
        let totals = guard(around.problems, || query.source.totals()).unwrap_or_default();
        let process = self.process_work(*ended, around);
        let ended = Ended { at: *ended, outcome, totals, work: self.work, process };
        let profile = around.describer.finished(&query, plan, &self.readings, ended);
        around.publisher.finished(query.id, &profile, around.host.now());
    }

    /// What the process used meanwhile; of a query too short to be sampled, nothing is said.
    fn process_work(&self, ended: Instant, around: &Surroundings<'_>) -> Option<ProcessWork> {
        self.reported.as_ref()?;
        let cpu = around.process_cpu.at(ended)?.checked_sub(self.cpu_begin?)?;
        Some(ProcessWork { cpu, queries: self.running_most.max(1) })
    }

    fn render_plan(&mut self, around: &Surroundings<'_>) -> Plan<'static> {
        let worked = around.host.worked();
        let plan = guard(around.problems, || self.query.source.plan()).unwrap_or_default();
        self.work.rendering += around.host.worked().saturating_sub(worked);
        plan
    }

    fn read(&mut self, around: &Surroundings<'_>) {
        let worked = around.host.worked();
        self.readings.reset();
        guard(around.problems, || self.query.source.sample(&mut self.readings));
        self.work.samples += 1;
        self.work.sampling += around.host.worked().saturating_sub(worked);
    }
}

/// How far a clock went, in nanoseconds.
fn grown_ns(begin: Option<Duration>, now: Option<Duration>) -> Option<u64> {
    u64::try_from(now?.checked_sub(begin?)?.as_nanos()).ok()
}

/// Calls an adapter, whose panic must not end the thread that follows all queries.
fn guard<T>(problems: &Problems, call: impl FnOnce() -> T) -> Option<T> {
    let result = catch_unwind(AssertUnwindSafe(call)).ok();
    if result.is_none() {
        problems.warn(Problem::Source, "a query's source panicked: its plan or counters are missing");
    }
    result
}

#[cfg(test)]
mod tests;
