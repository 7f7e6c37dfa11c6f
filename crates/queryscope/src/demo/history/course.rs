//! How a run goes: what its process tells of it, and when.

use anyhow::Context;
use queryscope_protocol::{BatchWriter, Counters, Sample, Seq};

use super::{Run, profile};

/// Senders tell of a query that has run for so long.
const TOLD_FROM_MS: f64 = 1_000.0;
/// Time between two samples; of long runs it is longer, so that there are at most [`SAMPLES_MAX`].
const SAMPLE_EVERY_MS: f64 = 1_000.0;
const SAMPLES_MAX: f64 = 20.0;
/// Nodes work beside each other: each begins when this part of the work before it is done, …
const BEGINS_AT: f64 = 0.7;
/// … and ends this part of the remaining time after its own work would be done alone.
const ENDS_AFTER: f64 = 0.3;

/// A run that fails has come so far of the way to its result: nodes above have seen no rows.
const FAILS_AT: f64 = 0.55;

/// A process works a little more than its nodes count.
const PROCESS_CPU_FACTOR: f64 = 1.06;
/// Threads of other processes that work on the host all the time.
const OTHER_THREADS: f64 = 0.7;
const MIB: f64 = 1_048_576.0;
/// Memory of a process before a run, …
const PROCESS_BYTES: f64 = 380.0 * MIB;
/// … what a whole run adds to it, …
const RUN_BYTES: f64 = 2_600.0 * MIB;
/// … what other processes of the host take, …
const OTHER_BYTES: f64 = 5_000.0 * MIB;
/// … and what the host has.
const HOST_BYTES: u64 = 32 << 30;

/// Something a process tells of a run, so many milliseconds after the run began.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Told {
    Started(f64),
    Sample(f64),
    Finished(f64),
}

impl Told {
    pub(super) fn after_ms(self) -> f64 {
        match self {
            Self::Started(after_ms) | Self::Sample(after_ms) | Self::Finished(after_ms) => after_ms,
        }
    }
}

/// All that is told of a run, in order: of a short one its end alone.
pub(super) fn course(run: &Run) -> Vec<Told> {
    let every_ms = SAMPLE_EVERY_MS.max(run.wall_ms / SAMPLES_MAX);
    let mut told = Vec::new();
    if run.wall_ms > TOLD_FROM_MS {
        told.push(Told::Started(TOLD_FROM_MS));
        let samples = (1..).map(|at| f64::from(at) * every_ms).take_while(|after_ms| *after_ms < run.wall_ms);
        told.extend(samples.map(Told::Sample));
    }
    told.push(Told::Finished(run.wall_ms));
    told
}

/// Writes what is told of a run.
pub(super) fn write(writer: &mut BatchWriter, seq: u64, run: &Run, told: Told) -> anyhow::Result<()> {
    let seq = Seq::new(seq)?;
    let say = || format!("an event of {}", run.label.name);
    match told {
        Told::Started(after_ms) => {
            let started = profile::so_far(run, after_ms).with_context(say)?;
            writer.started(seq, run.query_id, &started)?;
        }
        Told::Sample(elapsed_ms) => {
            let nodes = (0..run.plan.nodes.len())
                .filter_map(|position| {
                    let counters = counters(run, position, elapsed_ms / run.wall_ms)?;
                    Some((profile::physical_id(position), counters))
                })
                .collect();
            writer.progress(seq, run.query_id, &Sample { elapsed_ms, nodes, ..usage(run, elapsed_ms) })?;
        }
        Told::Finished(_) => {
            let whole = profile::of(run).with_context(say)?;
            writer.finished(seq, run.query_id, &whole)?;
        }
    }
    Ok(())
}

/// What the process and its host use when a run has run for so long: memory grows with what was done.
fn usage(run: &Run, elapsed_ms: f64) -> Sample<'static> {
    let part = worked(run, elapsed_ms / run.wall_ms);
    let process_cpu_ms = PROCESS_CPU_FACTOR * profile::cpu_ms(run) * part;
    let process_memory = PROCESS_BYTES + RUN_BYTES * part * run.volume;
    Sample {
        elapsed_ms,
        nodes: Vec::new(),
        process_cpu_ns: Some((process_cpu_ms * 1e6) as u64),
        process_memory_bytes: Some(process_memory as u64),
        host_cpu_ns: Some(((process_cpu_ms + OTHER_THREADS * elapsed_ms) * 1e6) as u64),
        host_memory_bytes: Some((OTHER_BYTES + process_memory) as u64),
        host_memory_total_bytes: Some(HOST_BYTES),
    }
}

/// What a node has counted when this part of the run's time is over; none before it begins.
pub(super) fn counters(run: &Run, position: usize, passed: f64) -> Option<Counters<'static>> {
    let done = done(run, position, passed);
    (done > 0.0).then(|| profile::counters(run, position, done))
}

/// How much of the work of all nodes is done when this part of the run's time is over, 0 to 1.
pub(super) fn worked(run: &Run, passed: f64) -> f64 {
    let nodes = run.plan.nodes.iter().enumerate();
    nodes.map(|(position, node)| node.share * done(run, position, passed)).sum()
}

/// How much of a node's work is done when this part of the run's time is over, 0 to 1: never more than of the
/// nodes it reads, which stand before it.
fn done(run: &Run, position: usize, passed: f64) -> f64 {
    let passed = if run.failed.is_some() { passed * FAILS_AT } else { passed };
    let before: f64 = run.plan.nodes[..position].iter().map(|node| node.share).sum();
    let until = before + run.plan.nodes[position].share;
    let (begins, ends) = (BEGINS_AT * before, until + ENDS_AFTER * (1.0 - until));
    ((passed - begins) / (ends - begins)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests;
