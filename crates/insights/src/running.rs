//! A running run as a profile: its plan, and what its nodes have counted so far.

use std::collections::HashMap;

use queryscope_protocol::{Counters, Custom, Metrics, Profile, Sample};

use crate::vocabulary::query_counters::PROCESS_CPU;

/// The latest counters of each node.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Latest {
    elapsed_ms: f64,
    process_cpu_ns: Option<u64>,
    nodes: HashMap<u64, Counters<'static>>,
}

impl Latest {
    /// Takes the next sample; samples come in their order.
    pub fn take(&mut self, sample: Sample<'_>) {
        self.elapsed_ms = self.elapsed_ms.max(sample.elapsed_ms);
        self.process_cpu_ns = sample.process_cpu_ns.or(self.process_cpu_ns);
        self.nodes.extend(sample.nodes.into_iter().map(|(id, counters)| (id, owned(counters))));
    }

    /// The profile that a `query.started` sent, with what the samples since have counted.
    ///
    /// A node that was not said to be done runs: rules that judge its output wait for its end.
    #[must_use]
    pub fn of<'a>(&self, mut started: Profile<'a>) -> Profile<'a> {
        started.wall_ms = started.wall_ms.max(self.elapsed_ms);
        if let Some(cpu_ns) = self.process_cpu_ns {
            let sent = started.query_metrics.take().unwrap_or_default();
            let sent = sent.iter().map(|(name, value)| (name.to_owned(), value));
            let latest = (PROCESS_CPU.name().to_owned(), cpu_ns);
            started.query_metrics = Some(sent.chain([latest]).collect());
        }
        for node in &mut started.plan.physical {
            let mut counters = self.nodes.get(&node.id).cloned().unwrap_or_default();
            counters.done.get_or_insert(false);
            node.metrics = Some(counters);
        }
        started
    }
}

fn owned(counters: Counters<'_>) -> Counters<'static> {
    let metrics: Metrics<'static> =
        counters.metrics.iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let custom = counters.custom.into_iter().map(|custom| Custom {
        key: custom.key.to_string().into(),
        unit: custom.unit.to_string().into(),
        value: custom.value,
    });
    Counters { done: counters.done, custom: custom.collect(), metrics }
}

#[cfg(test)]
mod tests {
    use queryscope_protocol::Event;
    use serde_json::{Value, json};

    use super::*;
    use crate::testing::{node, profile, profile_text};

    fn take(latest: &mut Latest, elapsed_ms: f64, nodes: &Value) {
        let line = json!({
            "schema": "engine-telemetry/events@1", "seq": 2, "type": "query.progress",
            "query_id": "01a1faa8-1bd9-77b2-97ab-860dd7026506", "elapsed_ms": elapsed_ms,
            "nodes": nodes, "process_cpu_ns": elapsed_ms as u64,
        });
        let line = line.to_string();
        latest.take(Event::read(&line).expect("an event").sample().expect("valid").expect("a sample"));
    }

    #[test]
    fn the_latest_counters_of_each_node_count() {
        let mut latest = Latest::default();
        take(&mut latest, 1000.0, &json!({"1": {"rows_out": 5, "done": true}, "2": {"rows_in": 3}}));
        take(&mut latest, 1500.0, &json!({"2": {"rows_in": 5}}));
        let plan = [1, 2, 3].map(|id| node(id, "K", "map", &[], json!({}), Value::Null));
        let text = profile_text(900.0, &plan, json!({}));
        let now = latest.of(profile(&text));
        assert!((now.wall_ms - 1500.0).abs() < f64::EPSILON);
        let process_cpu = now.query_metrics.as_ref().and_then(|counters| counters.get("process_cpu_ns"));
        assert_eq!(process_cpu, Some(1500));
        let counters: Vec<_> = now
            .plan
            .physical
            .iter()
            .map(|node| node.metrics.as_ref().expect("counters"))
            .map(|counters| (counters.done, counters.get("rows_in"), counters.get("rows_out")))
            .collect();
        assert_eq!(
            counters,
            [(Some(true), None, Some(5)), (Some(false), Some(5), None), (Some(false), None, None)]
        );
    }
}
