//! A run as a profile: its plan with the counters it would have had.

use std::collections::BTreeMap;

use queryscope_protocol::{
    CallSite, Counters, Evidence, Finding, INSIGHTS_FORMAT, Insights, Metrics, Node, Object, Plan, Profile,
    Role,
};

use super::plans::{NodeSpec, PlanSpec, Warning};
use super::{Run, course};

const ENGINE_VERSION: &str = "4.2.0";
/// Threads of every machine.
const THREADS: u64 = 8;
/// Engines number the nodes of physical plans from beyond 32 bits on.
const FIRST_PHYSICAL_ID: u64 = (1 << 32) + 1;
/// Rows of a batch between two nodes.
const MORSEL_ROWS: u64 = 65_536;
/// What a node reads in nanoseconds a byte: 400 MB/s.
const NS_PER_BYTE: f64 = 2.5;

/// The complete profile of a run.
pub(super) fn of(run: &Run) -> anyhow::Result<Profile<'static>> {
    let finished = run.failed.is_none();
    let mut profile = so_far(run, run.wall_ms)?;
    for (position, node) in profile.plan.physical.iter_mut().rev().enumerate() {
        node.metrics =
            if finished { Some(counters(run, position, 1.0)) } else { course::counters(run, position, 1.0) };
    }
    Ok(Profile {
        cpu_ms: Some(cpu_ms(run) * if finished { 1.0 } else { course::worked(run, 1.0) }),
        query_metrics: Some(Metrics::from_iter([("num_threads", THREADS)])),
        result_rows: finished.then(|| rows_in(run, run.plan.nodes.len() - 1) as i64),
        failed: run.failed.map(Into::into),
        insights: Some(Insights {
            schema: INSIGHTS_FORMAT.into(),
            findings: run
                .plan
                .warning
                .iter()
                .filter(|_| finished)
                .map(|warning| finding(run, warning))
                .collect(),
        }),
        ..profile
    })
}

/// What is known of a run while it runs: its plans, without counters.
pub(super) fn so_far(run: &Run, wall_ms: f64) -> anyhow::Result<Profile<'static>> {
    let plan = Plan { physical: physical(run.plan)?, logical: logical(run.plan)? };
    let (filepath, lineno, function) = run.label.call_site;
    Ok(Profile {
        engine_version: Some(ENGINE_VERSION.into()),
        engine_telemetry_version: Some(env!("CARGO_PKG_VERSION").into()),
        label: Some(run.label.name.into()),
        fingerprint: Some(run.plan.fingerprint.into()),
        started_unix_ns: Some(run.started_unix_ns),
        planning_ms: Some(0.4 * run.plan.nodes.len() as f64),
        call_site: Some(CallSite { filepath: filepath.into(), lineno, function: function.into() }),
        diagnostics: Some(Object::of(&BTreeMap::from([("cpu_count", THREADS)]))?),
        ..Profile::new(run.query_id.to_string(), wall_ms, plan)
    })
}

/// The id of the physical node at a position of the plan.
pub(super) fn physical_id(position: usize) -> u64 {
    FIRST_PHYSICAL_ID + position as u64
}

pub(super) fn cpu_ms(run: &Run) -> f64 {
    run.wall_ms * run.label.threads
}

fn physical(plan: &PlanSpec) -> anyhow::Result<Vec<Node<'static>>> {
    plan.nodes
        .iter()
        .enumerate()
        .rev()
        .map(|(position, spec)| node(spec, FIRST_PHYSICAL_ID, position))
        .collect()
}

/// The plan as the program wrote it: where files are written or handed over is the engine's matter.
fn logical(plan: &PlanSpec) -> anyhow::Result<Vec<Node<'static>>> {
    let nodes = plan.nodes.iter().enumerate().rev();
    nodes
        .filter(|(_, spec)| spec.role != Role::Sink)
        .map(|(position, spec)| node(spec, 0, position))
        .collect()
}

fn node(spec: &'static NodeSpec, first_id: u64, position: usize) -> anyhow::Result<Node<'static>> {
    let (name, value) = spec.property;
    Ok(Node {
        id: first_id + position as u64,
        kind: spec.kind.into(),
        role: spec.role,
        inputs: spec.inputs.iter().map(|input| first_id + *input as u64).collect(),
        properties: Some(Object::of(&BTreeMap::from([(name, value)]))?),
        metrics: None,
    })
}

/// What the node has counted when this part of its work is done, 0 to 1.
pub(super) fn counters(run: &Run, position: usize, done: f64) -> Counters<'static> {
    let spec = &run.plan.nodes[position];
    let so_far = |whole: u64| (whole as f64 * done) as u64;
    let (received, sent) = (so_far(rows_in(run, position)), so_far(rows(run, spec.rows)));
    let busy_ns = (cpu_ms(run) * spec.share * done * 1e6) as u64;
    let mut metrics = Metrics::from_iter([
        ("total_time_ns", busy_ns),
        ("rows_received", received),
        ("rows_sent", sent),
        ("morsels_received", received.div_ceil(MORSEL_ROWS)),
        ("morsels_sent", sent.div_ceil(MORSEL_ROWS)),
    ]);
    if spec.bytes > 0 {
        let bytes = so_far(rows(run, spec.bytes));
        metrics.push("io_total_active_ns", (bytes as f64 * NS_PER_BYTE) as u64);
        metrics.push("io_total_bytes_requested", bytes);
    }
    Counters { done: Some(done >= 1.0), custom: Vec::new(), metrics }
}

/// What the run counted where there are usually so many.
fn rows(run: &Run, usual: u64) -> u64 {
    (usual as f64 * run.volume * run.done) as u64
}

fn rows_in(run: &Run, position: usize) -> u64 {
    inputs(run, position).sum()
}

/// Rows of each input of a node.
fn inputs(run: &Run, position: usize) -> impl Iterator<Item = u64> {
    run.plan.nodes[position].inputs.iter().map(|input| rows(run, run.plan.nodes[*input].rows))
}

fn finding(run: &Run, warning: &Warning) -> Finding<'static> {
    let spec = &run.plan.nodes[warning.node];
    let evidence = |name: &'static str, rows: u64| Evidence {
        name: name.into(),
        value: rows.into(),
        unit: Some("rows".into()),
    };
    // Of a join, what its rows are held against.
    let taken = match inputs(run, warning.node).max() {
        Some(larger) if spec.inputs.len() > 1 => evidence("larger_input", larger),
        _ => evidence("rows_in", rows_in(run, warning.node)),
    };
    Finding {
        rule: warning.rule.into(),
        kind: "problem".into(),
        level: "warn".into(),
        node_id: Some((FIRST_PHYSICAL_ID + warning.node as u64) as i64),
        node_kind: Some(spec.kind.into()),
        cpu_share: Some(spec.share),
        blocked_share: Some(spec.share / 2.0),
        title: warning.title.into(),
        fix: Some(warning.fix.into()),
        evidence: vec![taken, evidence("rows_out", rows(run, spec.rows))],
    }
}
