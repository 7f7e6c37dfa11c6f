//! What the sender library reads of a run.

use std::sync::atomic::Ordering::Relaxed;

use queryscope_client::protocol::{Metrics, Node, Plan};
use queryscope_client::{QuerySource, Readings, Totals};
use serde_json::{Map, Value};

use crate::clock::tasks_are_measured;
use crate::counters;
use crate::link::link;
use crate::logical;
use crate::properties::Properties;
use crate::run::CountedPlan;
use crate::sql::reconstruct;

impl QuerySource for CountedPlan {
    fn plan(&self) -> Plan<'static> {
        let logical = logical::nodes(&self.plan.logical);
        let links = link(&self.plan.nodes, &logical);
        let physical = self.plan.nodes.iter().zip(links).enumerate().map(|(id, (node, link))| {
            let mut properties = Properties::default();
            node.details.render(&mut properties);
            properties.add("logical_id", link);
            Node {
                id: id as u64,
                kind: node.kind.clone().into(),
                role: node.role,
                inputs: node.inputs.iter().map(|input| *input as u64).collect(),
                properties: properties.into_object(),
                metrics: None,
            }
        });
        let physical = physical.collect();
        let sql = reconstruct(&self.plan.logical);
        let logical = logical.into_iter().enumerate().map(|(id, mut node)| {
            if id == 0
                && let Some(sql) = &sql
            {
                node.properties
                    .add("sql", sql.as_str())
                    .add("sql_origin", "reconstructed from the optimised plan");
            }
            Node {
                id: id as u64,
                kind: node.kind.into(),
                role: node.role,
                inputs: node.inputs.iter().map(|input| *input as u64).collect(),
                properties: node.properties.into_object(),
                metrics: None,
            }
        });
        Plan { physical, logical: logical.collect() }
    }

    fn sample(&self, readings: &mut Readings) {
        let over = self.over.load(Relaxed);
        for (id, (node, counted)) in self.plan.nodes.iter().zip(&self.nodes).enumerate() {
            let rows_in = node.inputs.iter().map(|input| self.nodes[*input].rows()).sum();
            counters::read(node, counted, rows_in, over, readings.node(id as u64));
        }
    }

    fn totals(&self) -> Totals {
        let (cpu_ms, origin) = if tasks_are_measured() {
            (self.cpu.elapsed().as_secs_f64() * 1e3, "CPU clocks of the threads that ran the query")
        } else {
            (self.busy_ns() as f64 / 1e6, "estimated: wall time that threads worked in the nodes")
        };
        let threads = std::iter::once(("threads", self.plan.threads as u64));
        let diagnostics = Map::from_iter([("cpu_origin".to_owned(), Value::from(origin))]);
        Totals {
            result_rows: self.nodes.first().map(crate::counted::CountedNode::rows),
            cpu_ms: Some(cpu_ms),
            planning_ms: self.planning.map(|planning| planning.as_secs_f64() * 1e3),
            query_metrics: threads.collect::<Metrics<'static>>(),
            diagnostics,
        }
    }
}

impl CountedPlan {
    fn busy_ns(&self) -> u64 {
        let partitions = self.nodes.iter().flat_map(crate::counted::CountedNode::partitions);
        partitions.map(|partition| partition.busy_ns.load(Relaxed)).sum()
    }
}
