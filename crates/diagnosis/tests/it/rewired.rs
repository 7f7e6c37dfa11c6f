//! A plan whose nodes are the same and take their rows from other ones.

use std::sync::Arc;

use queryscope_diagnosis::{CauseKind, NodeFeatures, Plan, PlanNode, Quantity, RunFeatures};
use queryscope_insights::Fingerprint;
use queryscope_protocol::Role;

use crate::told::Told;

/// Kind, role, inputs, rows it takes and gives, and busy milliseconds.
type Node = (&'static str, Role, &'static [usize], f64, f64, f64);

/// The filter runs before the join.
const EARLY: [Node; 5] = [
    ("ScanOrders", Role::Scan, &[], 0.0, 1e6, 40.0),
    ("Filter", Role::Selection, &[0], 1e6, 1e5, 10.0),
    ("ScanCustomers", Role::Scan, &[], 0.0, 1e4, 2.0),
    ("Join", Role::Join, &[1, 2], 1.1e5, 1e5, 30.0),
    ("GroupBy", Role::Aggregation, &[3], 1e5, 50.0, 8.0),
];
/// After it: the same nodes, and ten times the rows to join.
const LATE: [Node; 5] = [
    ("ScanOrders", Role::Scan, &[], 0.0, 1e6, 40.0),
    ("ScanCustomers", Role::Scan, &[], 0.0, 1e4, 2.0),
    ("Join", Role::Join, &[0, 1], 1.01e6, 1e6, 300.0),
    ("Filter", Role::Selection, &[2], 1e6, 1e5, 10.0),
    ("GroupBy", Role::Aggregation, &[3], 1e5, 50.0, 8.0),
];

fn run(told: &mut Told, nodes: &[Node], fingerprint: u8) -> RunFeatures {
    let wall_ms: f64 = nodes.iter().map(|node| node.5).sum();
    let mut run = told.made(wall_ms, 1e6);
    let speed = run.wall_ns as f64 / 1e6 / wall_ms;
    let shape = |kind: &str| kind.bytes().fold(7, |hash: u64, byte| hash.wrapping_mul(31) ^ u64::from(byte));
    let mut shapes: Vec<u64> = Vec::new();
    for &(kind, _, inputs, ..) in nodes {
        shapes.push(inputs.iter().fold(shape(kind), |hash, &input| hash.wrapping_mul(31) ^ shapes[input]));
    }
    let planned = nodes.iter().enumerate().map(|(place, &(kind, role, inputs, ..))| PlanNode {
        id: place as u64,
        kind: kind.into(),
        role,
        inputs: inputs.to_vec(),
        own_shape: shape(kind),
        shape: shapes[place],
        table: (role == Role::Scan).then(|| kind.to_lowercase()),
        predicate: (role == Role::Selection).then(|| "amount > 3".into()),
        columns: None,
        how: (role == Role::Join).then(|| "inner".into()),
        user_code: None,
    });
    run.plan =
        Arc::new(Plan { fingerprint: Fingerprint::from_bytes([fingerprint; 6]), nodes: planned.collect() });
    let figures = nodes.iter().map(|&(_, role, _, rows_in, rows_out, busy_ms)| NodeFeatures {
        busy_ns: Quantity::new((busy_ms * speed * 1e6) as u64),
        rows_in: if role == Role::Scan { Quantity::NONE } else { Quantity::new(rows_in as u64) },
        rows_out: Quantity::new(rows_out as u64),
        ..NodeFeatures::default()
    });
    run.nodes = figures.collect();
    run.sum_up();
    run
}

#[test]
fn rows_that_come_past_a_moved_filter_are_the_plans_change() {
    let mut told = Told::new();
    for n in 0..48 {
        let run = if n < 40 { run(&mut told, &EARLY, 1) } else { run(&mut told, &LATE, 2) };
        told.take(run);
    }
    let change = told.change();
    let first = &change.causes[0];
    assert_eq!((first.cause, first.share > 0.8), (CauseKind::PlanChange, true), "{change:#?}");
    assert_eq!(first.node.as_ref().map(|node| node.kind.as_str()), Some("Join"), "{change:#?}");
    assert_eq!(first.sentence, "The plan changed and works more: the filter on amount now runs after Join");
    assert!(change.causes.iter().all(|cause| cause.cause != CauseKind::MoreRows), "{change:#?}");
}

/// DuckDB builds from the other side, and puts a projection over each input.
#[test]
fn a_join_that_builds_from_its_other_side_is_named_before_projections_that_came_with_it() {
    const SMALL: [Node; 4] = [
        ("ScanEvents", Role::Scan, &[], 0.0, 6e6, 40.0),
        ("ScanSmall", Role::Scan, &[], 0.0, 1e4, 2.0),
        ("Join", Role::Join, &[0, 1], 6e6, 6e6, 10.0),
        ("GroupBy", Role::Aggregation, &[2], 6e6, 50.0, 8.0),
    ];
    const LARGE: [Node; 6] = [
        ("ScanSmall", Role::Scan, &[], 0.0, 1e4, 2.0),
        ("Projection", Role::Projection, &[0], 1e4, 1e4, 1.0),
        ("ScanEvents", Role::Scan, &[], 0.0, 6e6, 40.0),
        ("Projection", Role::Projection, &[2], 6e6, 6e6, 9.0),
        ("Join", Role::Join, &[1, 3], 6e6, 6e6, 210.0),
        ("GroupBy", Role::Aggregation, &[4], 6e6, 50.0, 8.0),
    ];
    let mut told = Told::new();
    for n in 0..48 {
        let run = if n < 40 { run(&mut told, &SMALL, 1) } else { run(&mut told, &LARGE, 2) };
        told.take(run);
    }
    let change = told.change();
    let first = &change.causes[0];
    assert_eq!(first.cause, CauseKind::PlanChange, "{change:#?}");
    assert!(
        first.sentence.starts_with("The plan changed and works more: Join: its inputs changed places"),
        "{}",
        first.sentence
    );
}

#[test]
fn a_plan_that_works_more_is_told_with_a_node_that_does() {
    /// The scan filters.
    const IN_SCAN: [Node; 4] = [
        ("ScanOrders", Role::Scan, &[], 0.0, 1e5, 40.0),
        ("ScanCustomers", Role::Scan, &[], 0.0, 1e4, 2.0),
        ("Join", Role::Join, &[0, 1], 1.1e5, 1e5, 30.0),
        ("GroupBy", Role::Aggregation, &[2], 1e5, 50.0, 8.0),
    ];
    /// It reads in less time what the join then has to take.
    const AFTER_JOIN: [Node; 5] = [
        ("ScanOrders", Role::Scan, &[], 0.0, 1e6, 20.0),
        ("ScanCustomers", Role::Scan, &[], 0.0, 1e4, 2.0),
        ("Join", Role::Join, &[0, 1], 1.01e6, 1e6, 300.0),
        ("Filter", Role::Selection, &[2], 1e6, 1e5, 10.0),
        ("GroupBy", Role::Aggregation, &[3], 1e5, 50.0, 8.0),
    ];
    let mut told = Told::new();
    for n in 0..48 {
        let mut run = if n < 40 { run(&mut told, &IN_SCAN, 1) } else { run(&mut told, &AFTER_JOIN, 2) };
        if n < 40 {
            let plan = Arc::make_mut(&mut run.plan);
            plan.nodes[0].predicate = Some("amount > 3".into());
            plan.nodes.iter_mut().for_each(|node| node.shape += 1);
            plan.nodes[0].own_shape += 1;
        }
        told.take(run);
    }
    let change = told.change();
    let first = &change.causes[0];
    assert_eq!((first.cause, first.share > 0.8), (CauseKind::PlanChange, true), "{change:#?}");
    assert!(first.sentence.contains("works more"), "{}", first.sentence);
    assert!(
        first.sentence.contains("the predicate on amount no longer reaches ScanOrders"),
        "{}",
        first.sentence
    );
    assert_eq!(first.node.as_ref().map(|node| node.kind.as_str()), Some("Join"), "{change:#?}");
    let busy = &first.evidence[0];
    assert!(busy.after > busy.before, "{busy:?}");
}
