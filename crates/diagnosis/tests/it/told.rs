//! A history that tests write down run by run.

use std::sync::Arc;

use queryscope_diagnosis::{
    Change, Detector, Kind, NodeFeatures, Plan, PlanNode, Quantity, RunFeatures, Status, Transition,
    Workspace,
};
use queryscope_insights::Fingerprint;
use queryscope_protocol::{QueryId, Role};
use uuid::Uuid;

pub(crate) const MINUTE_NS: i64 = 60_000_000_000;
/// Wednesday, 4 November 2026, 00:00 UTC.
pub(crate) const START_UNIX_NS: i64 = 1_793_750_400_000_000_000;

pub(crate) fn plan() -> Arc<Plan> {
    let node = |place: usize, kind: &str, role: Role, inputs: &[usize]| PlanNode {
        id: place as u64 + 1,
        kind: kind.into(),
        role,
        inputs: inputs.to_vec(),
        own_shape: place as u64,
        shape: place as u64,
        table: (role == Role::Scan).then(|| "orders".into()),
        predicate: None,
        columns: None,
        how: None,
        user_code: None,
    };
    let nodes = [node(0, "Scan", Role::Scan, &[]), node(1, "GroupBy", Role::Aggregation, &[0])];
    Arc::new(Plan { fingerprint: Fingerprint::from_bytes([7; 6]), nodes: nodes.into() })
}

/// A history that is written down run by run, half an hour apart.
pub(crate) struct Told {
    pub(crate) detector: Detector,
    pub(crate) workspace: Workspace,
    pub(crate) transitions: Vec<Transition>,
    runs: u64,
    pub(crate) plan: Arc<Plan>,
}

impl Told {
    pub(crate) fn new() -> Self {
        Self {
            detector: Detector::default(),
            workspace: Workspace::default(),
            transitions: Vec::new(),
            runs: 0,
            plan: plan(),
        }
    }

    /// A run of so many milliseconds, 3 % more or less, over so many rows.
    pub(crate) fn made(&mut self, wall_ms: f64, rows: f64) -> RunFeatures {
        let n = self.runs;
        self.runs += 1;
        // No two alike.
        let wobble = 1.0 + 0.03 * ((n * 7 % 11) as f64 / 5.0 - 1.0) + n as f64 * 1e-6;
        let wall_ns = (wall_ms * wobble * 1e6) as u64;
        let started = START_UNIX_NS + n as i64 * 30 * MINUTE_NS;
        let busy = |part: f64| Quantity::new((wall_ns as f64 * part) as u64);
        let rows = Quantity::new(rows as u64);
        let scan = NodeFeatures { busy_ns: busy(0.6), rows_out: rows, ..NodeFeatures::default() };
        let group = NodeFeatures { busy_ns: busy(0.3), rows_in: rows, rows_out: Quantity::new(9), ..scan };
        let mut run = RunFeatures::new(QueryId::new(Uuid::from_u128(u128::from(n) + 1)), started, wall_ns);
        run.plan = Arc::clone(&self.plan);
        run.nodes = [scan, group].into();
        run.cpu_ns = Some((wall_ns as f64 * 0.9) as u64);
        run.host = Some("worker-1".into());
        run.sum_up();
        run
    }

    pub(crate) fn take(&mut self, run: RunFeatures) {
        self.transitions.extend(self.detector.observe(run, &mut self.workspace));
    }

    pub(crate) fn runs(&mut self, count: usize, wall_ms: f64) -> &mut Self {
        for _ in 0..count {
            let run = self.made(wall_ms, 1e6);
            self.take(run);
        }
        self
    }

    pub(crate) fn on(&mut self, host: &str, count: usize, wall_ms: f64) -> &mut Self {
        for _ in 0..count {
            let run = self.made(wall_ms, 1e6);
            self.take(RunFeatures { host: Some(host.into()), ..run });
        }
        self
    }

    pub(crate) fn ended(&mut self, status: Status, wall_ms: f64) {
        let run = self.made(wall_ms, 1e6);
        self.take(RunFeatures { status, ..run });
    }

    pub(crate) fn open(&self) -> Vec<(Kind, u64)> {
        self.detector.open().map(|change| (change.kind, change.cost.runs)).collect()
    }

    /// What was told so far, a line each.
    pub(crate) fn lines(&self) -> String {
        let line = |transition: &Transition| {
            let (word, change) = match transition {
                Transition::Opened(change) => ("opened", change),
                Transition::Updated(_) => return None,
                Transition::Closed(change) => ("closed", change),
            };
            let run = Uuid::parse_str(&change.since_query_id).expect("an id").as_u128() - 1;
            Some(format!(
                "{word} {:?} since {run}: {:?} of {} runs",
                change.kind, change.state, change.cost.runs
            ))
        };
        self.transitions.iter().filter_map(line).collect::<Vec<_>>().join("\n")
    }

    pub(crate) fn change(&self) -> &Change {
        self.detector.open().next().unwrap_or_else(|| panic!("an open change: {}", self.lines()))
    }
}

pub(crate) fn id(run: u64) -> String {
    Uuid::from_u128(u128::from(run) + 1).to_string()
}
