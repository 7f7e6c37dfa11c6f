//! The queries of the population: 90 days of them in the order of time, as batches of their processes.

use std::io::Write;

use rand::RngExt;

use crate::ids::{self, IdText, Random};
use crate::population::{Label, Population, Process};
use crate::workload::Body;

/// How far the past reaches back: 90 days, in nanoseconds.
const PAST_NS: i64 = 90 * 86_400 * 1_000_000_000;
/// Queries a batch holds on average, where the population is large enough.
const BATCH_QUERIES: u64 = 100;
/// Queries a batch holds at most.
const BATCH_QUERIES_MAX: u64 = 2_000;
/// The past comes in slices, in each of which every process posts once: one a day at most.
const SLICES_MAX: u64 = 90;
const UNLABELLED: f64 = 0.05;
const FAILED: f64 = 0.02;
const UNFINISHED: f64 = 0.005;
const WARNED: f64 = 0.30;
const FAILURE: &str = "ComputeError: conversion from `str` to `i64` failed in column 'amount'";

/// Writes the past of a population, slice by slice.
#[derive(Debug)]
pub(crate) struct Past<'a> {
    population: &'a Population,
    random: Random,
    begin_unix_ns: i64,
    count: u64,
    slices: u64,
    slice: u64,
    /// The last seq of every process's stream.
    seqs: Vec<u64>,
}

/// A batch and the place of its process in the population.
pub(crate) type Post = (usize, Body);

impl<'a> Past<'a> {
    /// The past of so many queries that ends at a time (Unix nanoseconds). A seed gives the same again.
    pub(crate) fn new(population: &'a Population, seed: u64, count: u64, end_unix_ns: i64) -> Self {
        let processes = population.processes.len() as u64;
        Self {
            population,
            random: ids::random(seed, 1),
            begin_unix_ns: end_unix_ns - PAST_NS,
            count,
            slices: (count / (processes * BATCH_QUERIES)).clamp(1, SLICES_MAX),
            slice: 0,
            seqs: vec![1; population.processes.len()],
        }
    }

    fn write_slice(&mut self) -> Vec<Post> {
        let place = |slice| (u128::from(self.count) * u128::from(slice) / u128::from(self.slices)) as u64;
        let (from, to) = (place(self.slice), place(self.slice + 1));
        let mut bodies: Vec<Vec<Body>> = Vec::new();
        bodies.resize_with(self.population.processes.len(), Vec::new);
        for number in from..to {
            let when = (number as f64 + self.random.random::<f64>()) / self.count as f64;
            let label = self.population.label(&mut self.random);
            let home = label.processes[self.random.random_range(0..label.processes.len())];
            let seq = &mut self.seqs[home];
            *seq += 1;
            let bodies = &mut bodies[home];
            if bodies.last().is_none_or(|body| body.queries == BATCH_QUERIES_MAX) {
                bodies.push(Body::default());
                let body = bodies.last_mut().expect("one was just pushed");
                write_process(&self.population.processes[home], self.begin_unix_ns, &mut body.text);
            }
            let body = bodies.last_mut().expect("there is one");
            let started_unix_ns = self.begin_unix_ns + (when * PAST_NS as f64) as i64;
            write_query(label, *seq, when, started_unix_ns, &mut self.random, &mut body.text);
            body.queries += 1;
            body.events += 1;
        }
        let of_process =
            |(home, bodies): (usize, Vec<Body>)| bodies.into_iter().map(move |body| (home, body));
        bodies.into_iter().enumerate().flat_map(of_process).collect()
    }
}

/// The posts of one slice after the other; each process's posts are in the order of time.
impl Iterator for Past<'_> {
    type Item = Vec<Post>;

    fn next(&mut self) -> Option<Vec<Post>> {
        (self.slice < self.slices).then(|| {
            let posts = self.write_slice();
            self.slice += 1;
            posts
        })
    }
}

fn write_process(process: &Process, started_unix_ns: i64, out: &mut Vec<u8>) {
    let environment = process.environment.map_or("null".into(), |name| format!("\"{name}\""));
    writeln!(
        out,
        r#"{{"schema":"engine-telemetry/events@1","seq":1,"type":"process","id":"{}","service":"{}","environment":{environment},"host":"{}","pid":4242,"started_unix_ns":{started_unix_ns}}}"#,
        process.stream.as_str(),
        process.service,
        process.host,
    )
    .expect("a Vec takes every byte");
}

/// Writes one query of a label, as far into the past as `when` (0 to 1) says.
fn write_query(
    label: &Label,
    seq: u64,
    when: f64,
    started_unix_ns: i64,
    random: &mut Random,
    out: &mut Vec<u8>,
) {
    let options = (when * label.plans.len() as f64) as usize;
    let (fingerprint, slowness) = &label.plans[options.min(label.plans.len() - 1)];
    // Four draws make a bell: a time is within a third of the usual one mostly.
    let luck: f64 = (0..4).map(|_| random.random_range(-0.2..0.2)).sum();
    let wall_ms = label.wall_ms * slowness * luck.exp();
    let unfinished = random.random_bool(UNFINISHED);
    let kind = if unfinished { "started" } else { "finished" };
    let query = IdText::query(random, started_unix_ns);
    let name = if random.random_bool(UNLABELLED) { "null".into() } else { format!("\"{}\"", label.name) };
    let failed = !unfinished && random.random_bool(FAILED / (1.0 - UNFINISHED));
    let failure = if failed { format!("\"{FAILURE}\"") } else { "null".into() };
    let findings = if random.random_bool(WARNED) { findings(label, random) } else { String::new() };
    writeln!(
        out,
        r#"{{"schema":"engine-telemetry/events@1","seq":{seq},"type":"query.{kind}","query_id":"{id}","profile":{{"schema":"engine-telemetry/profile@1","query_id":"{id}","label":{name},"fingerprint":"{fingerprint}","started_unix_ns":{started_unix_ns},"wall_ms":{wall_ms:.3},"cpu_ms":{:.3},"result_rows":{},"failed":{failure},"plan":{{"physical":[],"logical":[]}},"insights":{{"schema":"insights@1","findings":[{findings}]}}}}}}"#,
        wall_ms * 1.6,
        random.random_range(0..100_000),
        id = query.as_str(),
    )
    .expect("a Vec takes every byte");
}

fn findings(label: &Label, random: &mut Random) -> String {
    let count = random.random_range(1..=label.rules.len());
    let finding = |rule: &&str| {
        format!(r#"{{"rule":"{rule}","kind":"problem","level":"warn","node_id":null,"title":"{rule}"}}"#)
    };
    label.rules[..count].iter().map(finding).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use queryscope_protocol::{Batch, EventKind};

    use super::*;

    const END_UNIX_NS: i64 = 1_795_206_683_560_726_422;
    const COUNT: u64 = 100_000;

    #[test]
    fn the_past_is_as_described() {
        let population = Population::new(1);
        let (mut unlabelled, mut failed, mut unfinished, mut warned) = (0, 0, 0, 0);
        let mut seqs: BTreeMap<String, u64> = BTreeMap::new();
        let mut previous_end = END_UNIX_NS - PAST_NS;
        let mut queries = 0;
        for slice in Past::new(&population, 1, COUNT, END_UNIX_NS) {
            let mut end = previous_end;
            for (home, body) in slice {
                let batch = Batch::open(&body.text).expect("a batch");
                let stream = batch.process.id.to_string();
                assert_eq!(stream, population.processes[home].stream.as_str());
                let seq = seqs.entry(stream).or_insert(1);
                for event in batch.events {
                    let event = event.expect("an event");
                    *seq += 1;
                    assert_eq!(event.seq.get(), *seq);
                    let (EventKind::Finished(_, profile) | EventKind::Started(_, profile)) = &event.kind
                    else {
                        panic!("{}", event.line)
                    };
                    let started = profile.started_unix_ns.expect("a time");
                    assert!((previous_end..=END_UNIX_NS).contains(&started));
                    end = end.max(started);
                    unlabelled += u64::from(profile.label.is_none());
                    failed += u64::from(profile.failed.is_some());
                    unfinished += u64::from(matches!(event.kind, EventKind::Started(..)));
                    warned += u64::from(profile.warnings().count() > 0);
                    queries += 1;
                }
            }
            previous_end = end;
        }
        assert_eq!(queries, COUNT);
        for (count, share) in
            [(unlabelled, UNLABELLED), (failed, FAILED), (unfinished, UNFINISHED), (warned, WARNED)]
        {
            let found = count as f64 / COUNT as f64;
            assert!((found / share - 1.0).abs() < 0.15, "{found} for {share}");
        }
    }

    #[test]
    fn a_seed_gives_the_same_past() {
        let population = Population::new(1);
        let texts = |seed| {
            let past = Past::new(&population, seed, 1_000, END_UNIX_NS);
            past.flatten().map(|(_, body)| body.text).collect::<Vec<_>>()
        };
        assert_eq!(texts(1), texts(1));
        assert_ne!(texts(1), texts(2));
    }

    #[test]
    fn a_large_past_comes_day_by_day_in_large_batches() {
        let population = Population::new(1);
        let past = Past::new(&population, 1, 10_000_000, END_UNIX_NS);
        assert_eq!(past.slices, SLICES_MAX);
        assert_eq!(Past::new(&population, 1, 1_000_000, END_UNIX_NS).slices, 20);
    }
}
