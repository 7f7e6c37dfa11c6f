//! Runs as a sender would have posted them: batches of `events@1`.
//!
//! A service that these are posted to makes features of them that say what the run's own say, so that a judge asks a
//! service and a detector the same.

use std::collections::BTreeMap;

use queryscope_diagnosis::{NodeFeatures, PlanNode, RunFeatures, Status};
use queryscope_protocol::Role;
use serde_json::{Map, Value, json};
use uuid::Uuid;

/// A process on each host: it sends the runs of that host.
#[derive(Debug, Clone)]
pub struct Poster {
    service: Option<String>,
    /// Tells its streams from those of others.
    number: u32,
    streams: BTreeMap<String, (Uuid, u64)>,
}

impl Poster {
    /// A service whose streams no other with another number has.
    pub fn new(service: Option<&str>, number: u32) -> Self {
        Self { service: service.map(str::to_owned), number, streams: BTreeMap::new() }
    }

    /// The batch that says a run of this label has ended.
    pub fn ended(&mut self, label: &str, run: &RunFeatures) -> String {
        self.batch(run.host.as_deref().unwrap_or("worker-1"), [(label, run)])
    }

    /// The batch in which the process on a host says that runs of these labels have ended.
    pub fn batch<'r>(
        &mut self,
        host: &str,
        runs: impl IntoIterator<Item = (&'r str, &'r RunFeatures)>,
    ) -> String {
        let count = self.streams.len() as u128;
        let id =
            || Uuid::from_u128(0x5e1f << 112 | 4 << 76 | 8 << 60 | u128::from(self.number) << 16 | count);
        let (stream, seq) = self.streams.entry(host.to_owned()).or_insert_with(|| (id(), 1));
        let mut text = String::new();
        for (label, run) in runs {
            let (engine, version) = engine(run);
            let schema = format!("{engine}-telemetry/events@1");
            if text.is_empty() {
                let process = json!({"schema": &schema, "seq": 1, "type": "process", "id": &stream,
                    "service": &self.service, "environment": run.environment.as_deref(), "host": host});
                text = format!("{process}\n");
            }
            *seq += 1;
            let query_id = run.query_id.to_string();
            let mut profile = json!({
                "schema": format!("{engine}-telemetry/profile@1"),
                "query_id": &query_id,
                "label": label,
                "fingerprint": run.logical.as_deref(),
                "started_unix_ns": run.started_unix_ns,
                "wall_ms": ms(run.wall_ns),
                "planning_ms": run.planning_ns.map(ms),
                "cpu_ms": run.cpu_ns.map(ms),
                "result_rows": run.rows_out,
                "query_metrics": query_metrics(run),
                "failed": match run.status {
                    Status::Finished => None,
                    Status::Failed => Some("ComputeError: division by zero"),
                    Status::Cancelled => Some("cancelled"),
                },
                "plan": {"logical": [], "physical": nodes(run)},
            });
            profile[format!("{engine}_version")] = version.into();
            let event = json!({"schema": &schema, "seq": *seq, "type": "query.finished", "query_id": query_id,
                "profile": profile});
            text += &event.to_string();
            text.push('\n');
        }
        text
    }
}

fn engine(run: &RunFeatures) -> (&str, Option<&str>) {
    match run.engine_version.as_deref().and_then(|version| version.split_once(' ')) {
        Some((engine, version)) => (engine, Some(version)),
        None => ("engine", run.engine_version.as_deref()),
    }
}

fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}

fn query_metrics(run: &RunFeatures) -> Value {
    let mut counters = Map::new();
    let mut put = |name: &str, value: Option<u64>| {
        if let Some(value) = value {
            counters.insert(name.to_owned(), value.into());
        }
    };
    put("io_ns", run.waiting_ns);
    put("threads", run.threads_available);
    put("peak_memory_bytes", run.peak_memory_bytes);
    counters.into()
}

fn nodes(run: &RunFeatures) -> Vec<Value> {
    let ids: Vec<u64> = run.plan.nodes.iter().map(|node| node.id).collect();
    let each = run.plan.nodes.iter().enumerate().map(|(place, node)| {
        let inputs: Vec<u64> = node.inputs.iter().map(|&input| ids[input]).collect();
        json!({
            "id": node.id,
            "kind": node.kind,
            "role": node.role.as_str(),
            "inputs": inputs,
            "properties": properties(node),
            "metrics": run.nodes.get(place).map(counters),
        })
    });
    each.collect()
}

fn properties(node: &PlanNode) -> Value {
    let mut all = Map::new();
    let texts = [("table", &node.table), ("predicate", &node.predicate), ("how", &node.how)];
    for (name, text) in texts.into_iter().chain([("user_code", &node.user_code)]) {
        if let Some(text) = text {
            all.insert(name.to_owned(), text.as_str().into());
        }
    }
    if let Some(columns) = node.columns {
        all.insert("projection".into(), (0..columns).map(|n| format!("c{}", letters(n.into()))).collect());
    }
    if node.role != Role::Scan {
        // A node of another shape computes something else.
        all.insert("expressions".into(), vec![letters(node.own_shape)].into());
    }
    all.into()
}

/// A number as a name without digits, which fingerprints may pass over.
fn letters(number: u64) -> String {
    format!("{number:x}")
        .bytes()
        .map(|digit| char::from(if digit < b'a' { digit - b'0' + b'g' } else { digit }))
        .collect()
}

fn counters(node: &NodeFeatures) -> Value {
    let mut all = Map::new();
    let mut put = |name: &str, value: Option<u64>| {
        if let Some(value) = value {
            all.insert(name.to_owned(), value.into());
        }
    };
    put("busy_ns", node.busy_ns.get());
    put("rows_in", node.rows_in.get());
    put("rows_out", node.rows_out.get());
    put("rows_scanned", node.rows_scanned.get());
    put("bytes_read", node.bytes_read.get());
    put("io_ns", node.waiting_ns.get());
    put("spilled_bytes", node.spilled_bytes.get());
    put("partitions", node.partitions.get());
    let busiest = node.imbalance_permille.get().zip(node.partitions.get()).zip(node.busy_ns.get());
    let busiest =
        busiest.filter(|((_, partitions), _)| *partitions > 0).map(|((permille, partitions), busy)| {
            let share = u128::from(busy) * u128::from(permille) / (u128::from(partitions) * 1000);
            u64::try_from(share).unwrap_or(u64::MAX)
        });
    put("partition_busy_max_ns", busiest);
    all.into()
}

#[cfg(test)]
mod tests {
    use queryscope_diagnosis::Context;
    use queryscope_insights::Outlines;
    use queryscope_protocol::{Batch, EventKind};

    use super::*;
    use crate::{Change, Kind, Noise, Spec, generate};

    #[test]
    fn posted_runs_have_the_features_of_their_runs() {
        for kind in Kind::ALL {
            let change = Some(Change { kind, factor: 2.0, decoy: true });
            let history = generate(Spec { seed: 11, noise: Noise::Hosts, change, young: false });
            let mut poster = Poster::new(Some("etl"), 7);
            let mut plans: BTreeMap<[u8; 6], [u8; 6]> = BTreeMap::new();
            for run in &history.runs {
                let text = poster.ended("orders", run);
                let mut batch = Batch::open(text.as_bytes()).expect("a batch");
                let event = batch.events.next().expect("an event").expect("as the format wants it");
                assert!(matches!(event.kind, EventKind::Finished(..)));
                let profile = event.profile().expect("a profile").expect("a profile");
                let context = Context {
                    host: run.host.clone(),
                    environment: run.environment.clone(),
                    ..Context::default()
                };
                let read = RunFeatures::from_profile(
                    run.query_id,
                    run.started_unix_ns,
                    &profile,
                    &context,
                    &mut Outlines::default(),
                );
                assert_eq!((read.status, read.wall_ns, read.cpu_ns), (run.status, run.wall_ns, run.cpu_ns));
                assert_eq!(read.engine_version, run.engine_version);
                assert_eq!((read.waiting_ns, read.rows_read), (run.waiting_ns, run.rows_read));
                assert_eq!(read.threads_available, run.threads_available);
                assert_eq!(read.busy_ns(), run.busy_ns());
                let physical = run.physical().bytes();
                assert_eq!(
                    *plans.entry(physical).or_insert(read.physical().bytes()),
                    read.physical().bytes()
                );
            }
            let mut read: Vec<[u8; 6]> = plans.values().copied().collect();
            read.sort_unstable();
            read.dedup();
            assert_eq!(read.len(), plans.len(), "another plan stays another");
        }
    }
}
