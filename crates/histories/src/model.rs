//! A query as a model: a plan whose nodes have rows and a price a row, and an engine's habits of counting.

use std::sync::Arc;

use queryscope_diagnosis::{NodeFeatures, Plan, PlanNode, Quantity};
use queryscope_insights::Fingerprint;
use queryscope_protocol::Role;
use rand::RngExt;

use crate::generate::Random;

/// Which engine's counters a query has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Engine {
    /// CPU time is the busy time; reads under way are counted once.
    Polars,
    /// CPU time is counted apart; nodes have partitions, each of which waits for itself.
    DataFusion,
}

/// A node of the model.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) kind: &'static str,
    pub(crate) role: Role,
    pub(crate) inputs: Vec<usize>,
    pub(crate) table: Option<usize>,
    pub(crate) predicate: Option<f64>,
    pub(crate) columns: u32,
    /// Rows of a scan's table, before its predicate.
    pub(crate) table_rows: f64,
    /// Rows given on for each row taken.
    pub(crate) passes: f64,
    /// Busy nanoseconds a row.
    pub(crate) price: f64,
    pub(crate) imbalance: f64,
    pub(crate) spilled_a_row: f64,
    pub(crate) user_code: bool,
    /// Changes the shape without changing the work.
    pub(crate) salt: u64,
}

/// A query.
#[derive(Debug, Clone)]
pub(crate) struct Model {
    pub(crate) engine: Engine,
    pub(crate) nodes: Vec<Node>,
    pub(crate) threads: f64,
    /// Part of the threads that work at a time.
    pub(crate) efficiency: f64,
    pub(crate) planning_ns: f64,
    /// Nanoseconds a byte that scans wait.
    pub(crate) wait_a_byte: f64,
    pub(crate) bytes_a_row: f64,
    /// Wall time of work over CPU time, where threads are kept from the processor.
    pub(crate) starved: f64,
    /// Whether the engine's CPU time sees that.
    pub(crate) cpu_is_busy: bool,
    pub(crate) engine_version: &'static str,
    /// Slowest stage by its largest partition: wall time that the others wait for it.
    pub(crate) skew_wait: f64,
    /// Wall time in user code that no counter sees.
    pub(crate) uncounted_ns: f64,
}

/// What a run of the model does, without noise.
#[derive(Debug, Clone)]
pub(crate) struct Ideal {
    pub(crate) busy: Vec<f64>,
    pub(crate) rows_in: Vec<f64>,
    pub(crate) rows_out: Vec<f64>,
    pub(crate) scanned: Vec<f64>,
    pub(crate) waits: Vec<f64>,
    pub(crate) work_wall: f64,
    pub(crate) wait_wall: f64,
}

impl Ideal {
    pub(crate) fn wall(&self, model: &Model) -> f64 {
        model.planning_ns + self.work_wall + self.wait_wall + model.uncounted_ns
    }
}

impl Model {
    /// A random query.
    pub(crate) fn random(random: &mut Random) -> Self {
        let engine = if random.random_bool(0.5) { Engine::Polars } else { Engine::DataFusion };
        let mut nodes = Vec::new();
        let tables = random.random_range(1..=4_usize);
        let scale = 10_f64.powf(random.random_range(4.5..7.8));
        let mut tops = Vec::new();
        for table in 0..tables {
            let rows = scale * 10_f64.powf(-random.random_range(0.0..1.5) * f64::from(u8::from(table > 0)));
            let predicate = random.random_bool(0.6).then(|| random.random_range(0.05..0.9));
            nodes.push(Node {
                table: Some(table),
                predicate,
                columns: random.random_range(2..12),
                table_rows: rows,
                price: random.random_range(3.0..40.0),
                ..Node::of(scan_kind(engine), Role::Scan, &[])
            });
            let mut top = nodes.len() - 1;
            for _ in 0..random.random_range(0..=3) {
                let (kind, role) =
                    if random.random_bool(0.5) { ("Filter", Role::Selection) } else { ("Select", Role::Map) };
                let passes = if role == Role::Selection { random.random_range(0.2..0.95) } else { 1.0 };
                let price = random.random_range(0.5..6.0);
                nodes.push(Node { passes, price, ..Node::of(kind, role, &[top]) });
                top = nodes.len() - 1;
            }
            tops.push(top);
        }
        while tops.len() > 1 {
            let (right, left) = (tops.pop().expect("two"), tops.pop().expect("two"));
            let passes = random.random_range(0.2..0.9);
            let price = random.random_range(10.0..60.0);
            nodes.push(Node { passes, price, ..Node::of(join_kind(engine), Role::Join, &[left, right]) });
            tops.push(nodes.len() - 1);
        }
        let mut top = tops[0];
        if engine == Engine::DataFusion {
            nodes.push(Node { price: 1.0, ..Node::of("RepartitionExec", Role::Engine, &[top]) });
            top = nodes.len() - 1;
        }
        let passes = 10_f64.powf(-random.random_range(0.5..4.0));
        let price = random.random_range(15.0..80.0);
        nodes.push(Node { passes, price, ..Node::of("GroupBy", Role::Aggregation, &[top]) });
        top = nodes.len() - 1;
        for step in 0..random.random_range(0..=8) {
            let (kind, role) =
                [("Select", Role::Map), ("Sort", Role::Sort), ("Project", Role::Projection)][step % 3];
            nodes.push(Node { price: random.random_range(1.0..30.0), ..Node::of(kind, role, &[top]) });
            top = nodes.len() - 1;
        }
        nodes.push(Node { price: 1.0, ..Node::of("Sink", Role::Sink, &[top]) });
        let mut model = Self {
            engine,
            nodes,
            threads: f64::from(random.random_range(2..=16)),
            efficiency: random.random_range(0.35..0.9),
            planning_ns: 10_f64.powf(random.random_range(6.0..7.5)),
            wait_a_byte: 0.0,
            bytes_a_row: random.random_range(8.0..80.0),
            starved: 1.0,
            cpu_is_busy: engine == Engine::Polars,
            engine_version: if engine == Engine::Polars { "polars 2.1.0" } else { "datafusion 55.1.0" },
            skew_wait: 0.0,
            uncounted_ns: 0.0,
        };
        // Waits are a small to large part of the time.
        let ideal = model.ideal(1.0);
        let bytes: f64 = ideal.scanned.iter().sum::<f64>() * model.bytes_a_row;
        model.wait_a_byte = ideal.work_wall * random.random_range(0.02..0.5) / bytes.max(1.0);
        model
    }

    /// A run over so many times the rows.
    pub(crate) fn ideal(&self, rows: f64) -> Ideal {
        let count = self.nodes.len();
        let zero = || vec![0.0; count];
        let mut ideal = Ideal {
            busy: zero(),
            rows_in: zero(),
            rows_out: zero(),
            scanned: zero(),
            waits: zero(),
            work_wall: 0.0,
            wait_wall: 0.0,
        };
        for (here, node) in self.nodes.iter().enumerate() {
            let rows_in: f64 = node.inputs.iter().map(|&input| ideal.rows_out[input]).sum();
            let read = node.table_rows * rows;
            ideal.rows_in[here] = rows_in;
            ideal.scanned[here] = read;
            let passes = node.passes * node.predicate.unwrap_or(1.0);
            ideal.rows_out[here] = if node.table.is_some() { read * passes } else { rows_in * node.passes };
            let worked = if node.table.is_some() { read } else { rows_in };
            ideal.busy[here] = worked * node.price * self.starved;
            ideal.waits[here] = read * self.bytes_a_row * self.wait_a_byte;
            ideal.wait_wall += ideal.waits[here];
        }
        let busy: f64 = ideal.busy.iter().sum();
        ideal.work_wall = busy / (self.threads * self.efficiency).max(1.0) + self.skew_wait;
        ideal
    }

    /// What all runs of it have in common.
    pub(crate) fn plan(&self) -> Arc<Plan> {
        let mut nodes: Vec<PlanNode> = Vec::new();
        for (place, node) in self.nodes.iter().enumerate() {
            let how = (node.role == Role::Join).then(|| "inner".to_owned());
            let predicate = node.predicate.map(|_| format!("a{} > 1", node.table.unwrap_or(0)));
            let table = node.table.map(|table| format!("t{table}.parquet"));
            let mut own = hash(node.salt, node.kind);
            own = hash(own, table.as_deref().unwrap_or(""));
            own = hash(own, predicate.as_deref().unwrap_or(""));
            own = hash(own, &format!("{} {}", node.columns, node.user_code));
            let shape =
                node.inputs.iter().fold(own, |shape, &input| hash(shape, &nodes[input].shape.to_string()));
            nodes.push(PlanNode {
                id: place as u64 + 1,
                kind: node.kind.to_owned(),
                role: node.role,
                inputs: node.inputs.clone(),
                own_shape: own,
                shape,
                table,
                predicate,
                columns: (node.role == Role::Scan).then_some(node.columns),
                how,
                user_code: node.user_code.then(|| "python_udf".to_owned()),
            });
        }
        let whole = nodes.iter().fold(1, |whole, node| hash(whole, &node.shape.to_string())).to_be_bytes();
        let fingerprint = Fingerprint::from_bytes(std::array::from_fn(|at| whole[at]));
        Arc::new(Plan { fingerprint, nodes: nodes.into() })
    }

    /// Node figures of a run as the engine counts them. `busy` and `waits` have their noise.
    pub(crate) fn figures(
        &self,
        ideal: &Ideal,
        busy: &[f64],
        waits: &[f64],
        even: &[f64],
    ) -> Box<[NodeFeatures]> {
        let partitions = self.threads.round();
        let each = self.nodes.iter().enumerate().map(|(here, node)| {
            let known = |value: f64| Quantity::new(value.max(0.0).round() as u64);
            let scan = node.role == Role::Scan;
            let mut figures = NodeFeatures {
                busy_ns: known(busy[here]),
                rows_in: known(ideal.rows_in[here]),
                rows_out: known(ideal.rows_out[here]),
                bytes_read: if scan { known(ideal.scanned[here] * self.bytes_a_row) } else { Quantity::NONE },
                ..NodeFeatures::default()
            };
            let spilled = ideal.rows_in[here] * node.spilled_a_row;
            match self.engine {
                Engine::Polars => {
                    figures.waiting_ns = if scan { known(waits[here]) } else { known(0.0) };
                    if spilled > 0.0 {
                        figures.spilled_bytes = known(spilled);
                    }
                }
                Engine::DataFusion => {
                    figures.partitions = known(partitions);
                    figures.imbalance_permille =
                        known(1000.0 * (node.imbalance * even[here]).min(partitions));
                    if scan {
                        figures.rows_scanned = known(ideal.scanned[here]);
                        figures.waiting_ns = known(waits[here] * partitions);
                    }
                    if node.role == Role::Aggregation || node.role == Role::Sort {
                        figures.spilled_bytes = known(spilled);
                    }
                }
            }
            figures
        });
        each.collect()
    }
}

impl Node {
    pub(crate) fn of(kind: &'static str, role: Role, inputs: &[usize]) -> Self {
        Self {
            kind,
            role,
            inputs: inputs.to_vec(),
            table: None,
            predicate: None,
            columns: 0,
            table_rows: 0.0,
            passes: 1.0,
            price: 1.0,
            imbalance: 1.1,
            spilled_a_row: 0.0,
            user_code: false,
            salt: 0,
        }
    }
}

fn scan_kind(engine: Engine) -> &'static str {
    if engine == Engine::Polars { "MultiScan" } else { "DataSourceExec" }
}

fn join_kind(engine: Engine) -> &'static str {
    if engine == Engine::Polars { "EquiJoin" } else { "HashJoinExec" }
}

fn hash(seed: u64, text: &str) -> u64 {
    text.bytes().fold(seed ^ 0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
