//! More rows where no node's working time says what they cost: of engines that do not count it, and in user code.

use std::sync::Arc;

use queryscope_diagnosis::{CauseKind, NodeFeatures, Plan, PlanNode, Quantity, RunFeatures};
use queryscope_insights::Fingerprint;
use queryscope_protocol::Role;

use crate::told::Told;

/// The causes of a change after 20 usual runs of 100 ms over a million rows, in steps of 5 percent: noise makes less.
fn causes(
    slow: impl Fn(&mut Told) -> RunFeatures,
    usual: impl Fn(&mut Told) -> RunFeatures,
) -> Vec<(CauseKind, i64)> {
    let mut told = Told::new();
    for n in 0..26 {
        let run = if n < 20 { usual(&mut told) } else { slow(&mut told) };
        told.take(run);
    }
    let causes = &told.change().causes;
    causes
        .iter()
        .map(|cause| (cause.cause, 5 * (20.0 * cause.share).round() as i64))
        .filter(|cause| cause.1 > 0)
        .collect()
}

/// A run whose nodes count rows alone, as those of Daft.
fn rows_alone(told: &mut Told, wall_ms: f64, rows: f64) -> RunFeatures {
    let mut run = told.made(wall_ms, rows);
    run.cpu_ns = None;
    run.nodes.iter_mut().for_each(|node| node.busy_ns = Quantity::NONE);
    run.sum_up();
    run
}

/// A run of which nearly all time is in calls of the program's code, which no node counts, over such a file.
fn of_calls(told: &mut Told, wall_ms: f64, rows: f64, file: &str) -> RunFeatures {
    let mut run = told.made(wall_ms, rows);
    run.nodes.iter_mut().for_each(|node| node.busy_ns = Quantity::new(1_000_000));
    let mut plan = Plan::clone(&run.plan);
    plan.fingerprint = Fingerprint::from_bytes([file.len() as u8; 6]);
    plan.nodes[1].user_code = Some("score".into());
    plan.nodes[0].table = Some(file.into());
    plan.nodes[0].own_shape += 1_000 * file.len() as u64;
    for node in &mut plan.nodes {
        node.shape += 1_000 * file.len() as u64;
    }
    run.plan = Arc::new(plan);
    run.sum_up();
    run
}

#[test]
fn an_engine_that_counts_rows_alone() {
    let usual = |told: &mut Told| rows_alone(told, 100.0, 1e6);
    assert_eq!(causes(|told| rows_alone(told, 300.0, 3e6), usual), [(CauseKind::MoreRows, 100)]);
    // As many rows: nothing says why.
    assert_eq!(causes(|told| rows_alone(told, 300.0, 1e6), usual), [(CauseKind::Unexplained, 100)]);
    // Twice the rows in four times the time: half of the work for a row is in no counter.
    let both = causes(|told| rows_alone(told, 400.0, 2e6), usual);
    let parts = [(CauseKind::MoreRows, 50), (CauseKind::Unexplained, 50)];
    assert!(parts.iter().all(|part| both.contains(part)), "{both:?}");
    // Fewer rows explain nothing of a longer time.
    assert_eq!(causes(|told| rows_alone(told, 300.0, 5e5), usual), [(CauseKind::Unexplained, 100)]);
}

/// Such a run, whose plan filters the rows behind the scan.
fn filtered_later(told: &mut Told, wall_ms: f64, rows: f64, scanned: Quantity) -> RunFeatures {
    let mut run = rows_alone(told, wall_ms, rows);
    let mut plan = Plan::clone(&run.plan);
    plan.fingerprint = Fingerprint::from_bytes([9; 6]);
    let filter = PlanNode {
        id: 3,
        kind: "Filter".into(),
        role: Role::Selection,
        inputs: vec![0],
        own_shape: 9,
        shape: 10,
        table: None,
        predicate: Some("x > 5".into()),
        ..plan.nodes[1].clone()
    };
    let group = PlanNode { inputs: vec![1], shape: 11, ..plan.nodes[1].clone() };
    plan.nodes = [plan.nodes[0].clone(), filter, group].into();
    run.plan = Arc::new(plan);
    let [scan, group] = [run.nodes[0], run.nodes[1]];
    run.nodes = [NodeFeatures { rows_scanned: scanned, ..scan }, group, group].into();
    run.sum_up();
    run
}

#[test]
fn a_scan_that_no_longer_filters_gives_more_rows_and_reads_as_many() {
    let usual = |told: &mut Told| rows_alone(told, 100.0, 1e6);
    let slow = |told: &mut Told| filtered_later(told, 300.0, 3e6, Quantity::NONE);
    assert!(causes(slow, usual).iter().all(|(cause, _)| *cause != CauseKind::MoreRows));
    // A scan that counts what it reads says that it reads more.
    let usual = |told: &mut Told| {
        let mut run = rows_alone(told, 100.0, 1e6);
        run.nodes[0].rows_scanned = Quantity::new(1_000_000);
        run
    };
    let slow = |told: &mut Told| filtered_later(told, 300.0, 3e6, Quantity::new(3_000_000));
    assert_eq!(causes(slow, usual), [(CauseKind::MoreRows, 100)]);
}

#[test]
fn rows_that_a_scan_gives_are_not_told_as_read() {
    let sentence = |scanned: fn(f64) -> Quantity| {
        let mut told = Told::new();
        for n in 0..26 {
            let (wall_ms, rows) = if n < 20 { (100.0, 1e6) } else { (300.0, 3e6) };
            let mut run = told.made(wall_ms, rows);
            run.nodes[0].rows_scanned = scanned(rows);
            run.sum_up();
            told.take(run);
        }
        told.change().causes[0].sentence.clone()
    };
    let words = "3.0x the rows (3.00 M instead of 1.00 M)";
    assert_eq!(sentence(|rows| Quantity::new(rows as u64)), format!("Scan of orders reads {words}"));
    assert_eq!(sentence(|_| Quantity::NONE), format!("Scan of orders gives {words}"));
}

#[test]
fn more_rows_are_more_calls_and_another_file_is_no_other_plan() {
    let usual = |told: &mut Told| of_calls(told, 100.0, 1e6, "a");
    for file in ["a", "aa"] {
        let slow = |told: &mut Told| of_calls(told, 300.0, 3e6, file);
        assert_eq!(causes(slow, usual), [(CauseKind::MoreRows, 100)], "{file}");
    }
    for file in ["a", "aa"] {
        let slow = |told: &mut Told| of_calls(told, 300.0, 1e6, file);
        assert_eq!(causes(slow, usual), [(CauseKind::UserCode, 100)], "{file}");
    }
}

#[test]
fn the_start_of_a_change_stays_where_the_plan_changed() {
    // Runs of DataFusion as they were: the last two before the other file were a little slower.
    let usual =
        [76.3, 28.1, 11.0, 12.4, 12.4, 10.5, 9.8, 10.7, 10.5, 9.4, 11.3, 18.3, 10.7, 10.7, 14.8, 12.1];
    let walls = [&usual[..], &[10.5, 12.2, 21.1, 15.2, 111.1, 107.1, 132.7, 107.4, 52.6, 48.1]].concat();
    let mut told = Told::new();
    for (n, wall_ms) in (0..).zip(walls) {
        let (plan, rows) = if n < 20 { (7, 4e5) } else { (9, 24e5) };
        let mut run = told.made(wall_ms, rows);
        run.wall_ns = (wall_ms * 1e6) as u64;
        run.started_unix_ns = 1_793_750_400_000_000_000 + n * 200_000_000;
        run.plan =
            Arc::new(Plan { fingerprint: Fingerprint::from_bytes([plan; 6]), ..Plan::clone(&run.plan) });
        told.take(run);
    }
    assert_eq!(told.change().cost.runs, 6);
}
