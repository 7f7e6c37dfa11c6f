//! Causes that a history suggests and that its counters disprove.

use std::sync::Arc;

use queryscope_diagnosis::{CauseKind, NodeFeatures, Plan, PlanNode, Quantity, RunFeatures};
use queryscope_insights::Fingerprint;
use queryscope_protocol::Role;

use crate::told::Told;

/// The first cause and what is said to be harmless, after usual runs that are made of their number, and 15 slow ones.
fn told(
    usual: impl Fn(&mut Told, usize) -> RunFeatures,
    slow: impl Fn(&mut Told) -> RunFeatures,
) -> (CauseKind, String, Vec<String>) {
    let mut told = Told::new();
    for n in 0..45 {
        let run = if n < 30 { usual(&mut told, n) } else { slow(&mut told) };
        told.take(run);
    }
    let change = told.change();
    (change.causes[0].cause, change.causes[0].sentence.clone(), change.harmless.clone())
}

/// A run whose scan and grouping are busy for so long, which is its time.
fn busy(told: &mut Told, scan_ms: f64, group_ms: f64) -> RunFeatures {
    let mut run = told.made(scan_ms + group_ms, 1e6);
    let part = |ms: f64| Quantity::new((run.wall_ns as f64 * ms / (scan_ms + group_ms)) as u64);
    let parts = [part(scan_ms), part(group_ms)];
    for (node, busy_ns) in run.nodes.iter_mut().zip(parts) {
        node.busy_ns = busy_ns;
    }
    run.cpu_ns = Some(run.wall_ns);
    run.sum_up();
    run
}

/// A run whose plan sorts between scan and grouping, and passes all rows on.
fn sorted(run: RunFeatures) -> RunFeatures {
    let mut run = run;
    let plan = &run.plan;
    let sort = PlanNode {
        id: 3,
        kind: "Sort".into(),
        role: Role::Sort,
        own_shape: 9,
        shape: 10,
        ..plan.nodes[1].clone()
    };
    let group = PlanNode { inputs: vec![1], shape: 11, ..plan.nodes[1].clone() };
    let nodes = [plan.nodes[0].clone(), sort, group].into();
    run.plan = Arc::new(Plan { fingerprint: Fingerprint::from_bytes([9; 6]), nodes });
    let [scan, group] = [run.nodes[0], run.nodes[1]];
    let sort = NodeFeatures {
        busy_ns: Quantity::new(1),
        rows_in: scan.rows_out,
        rows_out: scan.rows_out,
        ..NodeFeatures::default()
    };
    run.nodes = [scan, sort, group].into();
    run.sum_up();
    run
}

#[test]
fn a_node_that_does_nearly_all_of_the_work_is_not_the_processor() {
    let (cause, sentence, _) = told(|told, _| busy(told, 20.0, 180.0), |told| busy(told, 20.0, 540.0));
    assert_eq!(cause, CauseKind::SlowerPerRow);
    assert_eq!(sentence, "GroupBy takes 3.0x as long for each row");
    // All nodes alike are.
    let (cause, ..) = told(|told, _| busy(told, 20.0, 180.0), |told| busy(told, 60.0, 540.0));
    assert_eq!(cause, CauseKind::StarvedCpu);
}

#[test]
fn a_scan_that_blocks_on_reads_is_not_short_of_the_processor() {
    let reading = |told: &mut Told, reads_ms: f64| {
        let mut run = busy(told, 90.0 + reads_ms, 20.0);
        run.cpu_ns = Some(110_000_000);
        run.nodes[0].waiting_ns = Quantity::new((reads_ms * 1e6) as u64);
        run.sum_up();
        run
    };
    let (cause, ..) = told(|told, _| reading(told, 1.0), |told| reading(told, 300.0));
    assert_eq!(cause, CauseKind::Waiting);
}

#[test]
fn a_plan_that_was_slow_before_is_not_harmless() {
    let slow = |told: &mut Told| {
        let mut run = sorted(busy(told, 60.0, 100.0));
        run.wall_ns += 240_000_000;
        run.cpu_ns = Some(run.wall_ns);
        run.nodes[1].busy_ns = Quantity::new(240_000_000);
        run.sum_up();
        run
    };
    let usual = |told: &mut Told, n: usize| if n % 8 == 7 { slow(told) } else { busy(told, 60.0, 100.0) };
    let (cause, _, harmless) = told(usual, slow);
    assert_eq!((cause, harmless), (CauseKind::PlanChange, Vec::new()));
}

#[test]
fn a_harmless_plan_came_before_the_other_one_went() {
    let slow = |told: &mut Told| sorted(busy(told, 60.0, 400.0));
    let usual = |told: &mut Told, n: usize| {
        let run = busy(told, 60.0, 100.0);
        if n < 20 { run } else { sorted(run) }
    };
    let (_, _, harmless) = told(usual, slow);
    assert!(harmless[0].starts_with("Before that, Sort was added: it changed nothing"), "{harmless:?}");
    let usual = |told: &mut Told, n: usize| {
        let run = busy(told, 60.0, 100.0);
        if n < 10 { sorted(run) } else { run }
    };
    assert_eq!(told(usual, slow).2, Vec::<String>::new());
}

#[test]
fn a_plan_that_came_while_there_were_fewer_rows_is_not_harmless() {
    // Each thousand rows take 0.17 ms to read and group, and 0.11 ms to sort.
    let made = |told: &mut Told, rows: f64, sorts: bool| {
        let ms = [rows / 1e4, 0.7 * rows / 1e4, if sorts { 1.1 * rows / 1e4 } else { 0.0 }];
        let mut run = told.made(ms.iter().sum(), rows);
        let wobble = run.wall_ns as f64 / ms.iter().sum::<f64>();
        let [scan, group, sort] = ms.map(|ms| Quantity::new((ms * wobble) as u64));
        (run.nodes[0].busy_ns, run.nodes[1].busy_ns) = (scan, group);
        if sorts {
            run = sorted(run);
            run.nodes[1].busy_ns = sort;
        }
        run.cpu_ns = Some(run.wall_ns);
        run.sum_up();
        run
    };
    let usual = |told: &mut Told, n: usize| match n {
        0..20 => made(told, 1e6, false),
        _ => made(told, 5e5, true),
    };
    let (cause, sentence, harmless) = told(usual, |told| made(told, 1e6, true));
    assert_eq!((cause, harmless), (CauseKind::PlanChange, Vec::new()), "{sentence}");
}

#[test]
fn a_scan_that_gives_more_rows_of_as_many_does_not_read_more() {
    let given = |told: &mut Told, wall_ms: f64, rows: f64| {
        let mut run = told.made(wall_ms, rows);
        run.nodes[0].rows_scanned = Quantity::new(5_000_000);
        run.nodes[0].busy_ns = Quantity::new(10_000_000);
        run.nodes[1].busy_ns = Quantity::new(run.wall_ns - 10_000_000);
        run.sum_up();
        run
    };
    let (cause, sentence, _) = told(|told, _| given(told, 100.0, 1e5), |told| given(told, 900.0, 1e6));
    assert_eq!(cause, CauseKind::MoreRows);
    assert_eq!(sentence, "Scan of orders gives 10x the rows (1.00 M instead of 100 k)");
}

#[test]
fn a_node_that_gives_more_rows_of_as_many_is_where_they_come_from() {
    let joined = |told: &mut Told, wall_ms: f64, rows: u64| {
        let mut run = sorted(busy(told, 10.0, wall_ms));
        run.nodes[1].rows_out = Quantity::new(rows);
        run.nodes[2].rows_in = Quantity::new(rows);
        let mut plan = Plan::clone(&run.plan);
        plan.nodes[1].kind = "HashJoin".into();
        plan.nodes[1].role = Role::Join;
        run.plan = Arc::new(plan);
        run.sum_up();
        run
    };
    let usual = |told: &mut Told, _| joined(told, 100.0, 1_000_000);
    let (cause, sentence, _) = told(usual, |told| joined(told, 600.0, 6_000_000));
    assert_eq!(cause, CauseKind::MoreRows);
    assert_eq!(sentence, "HashJoin gives 6.0x the rows (6.00 M instead of 1.00 M)");
}

#[test]
fn a_join_that_gives_as_many_times_the_rows_as_an_input_does_not_make_them() {
    let joined = |told: &mut Told, wall_ms: f64, rows: u64| {
        let mut run = busy(told, 10.0, wall_ms);
        let mut plan = Plan::clone(&run.plan);
        let customers = PlanNode {
            id: 3,
            own_shape: 9,
            shape: 9,
            table: Some("customers".into()),
            ..plan.nodes[0].clone()
        };
        let join = PlanNode {
            inputs: vec![0, 1],
            kind: "HashJoin".into(),
            role: Role::Join,
            ..plan.nodes[1].clone()
        };
        plan.nodes = [plan.nodes[0].clone(), customers, join].into();
        run.plan = Arc::new(plan);
        let [scan, group] = [run.nodes[0], run.nodes[1]];
        let given = |rows: u64, busy_ns| NodeFeatures {
            busy_ns,
            rows_out: Quantity::new(rows),
            rows_scanned: Quantity::new(5_000_000),
            ..NodeFeatures::default()
        };
        let join = NodeFeatures {
            rows_in: Quantity::new(rows + 500_000),
            rows_scanned: Quantity::NONE,
            ..given(rows, group.busy_ns)
        };
        run.nodes = [given(rows, scan.busy_ns), given(500_000, Quantity::new(1)), join].into();
        run.sum_up();
        run
    };
    let usual = |told: &mut Told, _| joined(told, 100.0, 100_000);
    let (cause, sentence, _) = told(usual, |told| joined(told, 600.0, 1_000_000));
    assert_eq!(cause, CauseKind::MoreRows);
    assert_eq!(sentence, "Scan of orders gives 10x the rows (1.00 M instead of 100 k)");
}

#[test]
fn a_node_that_passes_all_rows_on_does_not_make_them() {
    let rows = |told: &mut Told, wall_ms: f64, rows: f64| {
        let mut run = told.made(wall_ms, rows);
        run.nodes[0].rows_scanned = Quantity::new(rows as u64);
        run.sum_up();
        run
    };
    let (cause, sentence, _) = told(|told, _| rows(told, 100.0, 1e6), |told| sorted(rows(told, 400.0, 4e6)));
    assert_eq!(cause, CauseKind::MoreRows);
    assert_eq!(sentence, "Scan of orders reads 4.0x the rows (4.00 M instead of 1.00 M)");
}

#[test]
fn planning_that_was_not_counted_before_is_no_cause_and_hides_none() {
    let planned = |told: &mut Told, wall_ms: f64, planning_ns: Option<u64>| {
        let mut run = busy(told, 60.0, 100.0);
        run.wall_ns += (wall_ms * 1e6) as u64;
        RunFeatures { planning_ns, ..run }
    };
    let slow = |told: &mut Told| planned(told, 300.0, Some(300_000_000));
    let (cause, ..) = told(|told, _| planned(told, 0.0, None), slow);
    assert_eq!(cause, CauseKind::Unexplained);
    assert_eq!(told(|told, _| planned(told, 0.0, Some(1_000_000)), slow).0, CauseKind::Planning);
}

/// The first cause where the nodes work as before, and something else of each run changes.
fn not_working(usual: impl Fn(&mut RunFeatures), slow: impl Fn(&mut RunFeatures)) -> CauseKind {
    let made = |told: &mut Told, longer_ms: u64, set: &dyn Fn(&mut RunFeatures)| {
        let mut run = busy(told, 60.0, 100.0);
        run.wall_ns += longer_ms * 1_000_000;
        set(&mut run);
        run.sum_up();
        run
    };
    told(|told, _| made(told, 0, &usual), |told| made(told, 400, &slow)).0
}

#[test]
fn skew_at_a_node_that_another_plan_brought_is_the_plans() {
    let join = |how: &'static str, imbalance: u64| {
        move |run: &mut RunFeatures| {
            let mut plan = Plan::clone(&run.plan);
            plan.nodes[1].kind = how.into();
            plan.nodes[1].own_shape = how.len() as u64;
            plan.fingerprint = Fingerprint::from_bytes([how.len() as u8; 6]);
            run.plan = Arc::new(plan);
            run.nodes[1].imbalance_permille = Quantity::new(imbalance);
            // A longer name works longer.
            let busy = run.nodes[1].busy_ns.get().unwrap_or(0);
            run.nodes[1].busy_ns = Quantity::new(busy * how.len() as u64 / 8);
        }
    };
    let usual = join("HashJoin", 1_100);
    assert_eq!(not_working(usual, join("SortMergeJoin", 2_000)), CauseKind::PlanChange);
    assert_eq!(not_working(usual, join("HashJoin", 2_000)), CauseKind::Skew);
}

#[test]
fn a_counter_that_moved_a_little_has_not_the_whole_difference() {
    let spilled = |bytes: u64| move |run: &mut RunFeatures| run.nodes[1].spilled_bytes = Quantity::new(bytes);
    assert_eq!(not_working(|_| {}, spilled(4_096)), CauseKind::Unexplained);
    assert_eq!(not_working(|_| {}, spilled(64 << 20)), CauseKind::Spilling);
    let threads = |count: u64, part: u64| {
        move |run: &mut RunFeatures| {
            run.threads_available = Some(count);
            for node in &mut run.nodes {
                node.busy_ns = Quantity::new(node.busy_ns.get().unwrap_or(0) * part);
            }
            run.cpu_ns = run.cpu_ns.map(|ns| ns * part);
        }
    };
    // One thread worked all the time, so that half of them are as good.
    assert_eq!(not_working(threads(8, 1), threads(4, 1)), CauseKind::Unexplained);
    assert_eq!(not_working(threads(8, 6), threads(4, 6)), CauseKind::FewerThreads);
    let partitions = |count: u64, waits_ms: u64| {
        move |run: &mut RunFeatures| {
            run.threads_available = Some(4);
            run.waiting_ns = Some(waits_ms * 1_000_000);
            run.nodes[0].waiting_ns = Quantity::new(waits_ms * 1_000_000);
            run.nodes[1].partitions = Quantity::new(count);
        }
    };
    assert_eq!(not_working(partitions(8, 1), partitions(1, 400)), CauseKind::Waiting);
    assert_eq!(not_working(partitions(8, 1), partitions(1, 1)), CauseKind::FewerThreads);
}

#[test]
fn a_wait_that_has_the_whole_difference_is_no_matter_of_threads() {
    let waits = |ms: u64, set: &'static dyn Fn(&mut RunFeatures)| {
        move |run: &mut RunFeatures| {
            run.threads_available = Some(8);
            run.waiting_ns = Some(ms * 1_000_000);
            run.nodes[0].waiting_ns = Quantity::new(ms * 1_000_000);
            set(run);
        }
    };
    let on_four = waits(400, &|run| run.threads_available = Some(4));
    assert_eq!(not_working(waits(1, &|_| {}), on_four), CauseKind::Waiting);
    // DataFusion's scans count the time that what reads from them spills, too.
    let spills = waits(400, &|run| run.nodes[1].spilled_bytes = Quantity::new(64 << 20));
    assert_eq!(not_working(waits(1, &|_| {}), spills), CauseKind::Spilling);
    let even = waits(1, &|run| run.nodes[1].imbalance_permille = Quantity::new(1_100));
    let skewed = waits(400, &|run| run.nodes[1].imbalance_permille = Quantity::new(4_000));
    assert_eq!(not_working(even, skewed), CauseKind::Skew);
}

/// A run over so many million rows, which works 40 ms for a million and waits for its reads beside that.
fn reading(told: &mut Told, millions: f64, waits_ms: f64) -> RunFeatures {
    let mut run = busy(told, 20.0 * millions, 20.0 * millions);
    let rows = Quantity::new((millions * 1e6) as u64);
    (run.nodes[0].rows_out, run.nodes[1].rows_in) = (rows, rows);
    let waits_ns = (waits_ms * 1e6) as u64;
    run.wall_ns += waits_ns;
    run.nodes[0].waiting_ns = Quantity::new(waits_ns);
    run.waiting_ns = Some(waits_ns);
    run.sum_up();
    run
}

#[test]
fn reads_that_wait_longer_for_more_rows_are_of_the_rows() {
    let slow = |told: &mut Told| reading(told, 2.5, 150.0);
    let (cause, sentence, _) = told(|told, _| reading(told, 1.0, 60.0), slow);
    assert_eq!(cause, CauseKind::MoreRows);
    assert_eq!(sentence, "Scan of orders gives 2.5x the rows (2.50 M instead of 1.00 M)");
    // The disk became slower, too: that is told of what the rows do not have.
    let (cause, ..) = told(|told, _| reading(told, 1.0, 60.0), |told| reading(told, 1.2, 600.0));
    assert_eq!(cause, CauseKind::Waiting);
    // As many bytes are as many reads, whatever rows they have.
    let same_bytes = |mut run: RunFeatures| {
        run.nodes[0].bytes_read = Quantity::new(5_000_000);
        run
    };
    let usual = |told: &mut Told, _: usize| same_bytes(reading(told, 1.0, 60.0));
    let (cause, ..) = told(usual, |told| same_bytes(reading(told, 2.5, 600.0)));
    assert_eq!(cause, CauseKind::Waiting);
}

#[test]
fn reads_of_more_columns_are_the_plans() {
    let of = |told: &mut Told, columns: u64| {
        let mut run = reading(told, 1.0, 60.0 * columns as f64);
        run.nodes[0].bytes_read = Quantity::new(5_000_000 * columns);
        let mut plan = Plan::clone(&run.plan);
        plan.fingerprint = Fingerprint::from_bytes([columns as u8; 6]);
        plan.nodes[0].columns = Some(columns as u32);
        plan.nodes[0].own_shape = 100 + columns;
        for node in &mut plan.nodes {
            node.shape += 100 + columns;
        }
        run.plan = Arc::new(plan);
        run
    };
    let (cause, sentence, _) = told(|told, _| of(told, 2), |told| of(told, 10));
    assert_eq!(cause, CauseKind::PlanChange, "{sentence}");
}

#[test]
fn longer_rows_are_no_slower_processor() {
    let of = |told: &mut Told, times: u64| {
        let mut run = busy(told, 60.0 * times as f64, 60.0 * times as f64);
        run.nodes[0].bytes_read = Quantity::new(5_000_000 * times);
        run
    };
    let (cause, ..) = told(|told, _| of(told, 1), |told| of(told, 3));
    assert_eq!(cause, CauseKind::SlowerPerRow);
}

#[test]
fn a_plan_that_made_a_query_a_little_slower_is_said_to() {
    let slow = |told: &mut Told| sorted(busy(told, 60.0, 400.0));
    let usual = |told: &mut Told, n: usize| {
        if n < 20 { busy(told, 60.0, 100.0) } else { sorted(busy(told, 60.0, 120.0)) }
    };
    let (_, _, harmless) = told(usual, slow);
    assert!(harmless[0].starts_with("Before that, Sort was added: it changed little"), "{harmless:?}");
}

#[test]
fn a_version_that_makes_all_nodes_slower_is_no_processor() {
    let of = |told: &mut Told, version: &str, times: f64| {
        let mut run = busy(told, 60.0 * times, 60.0 * times);
        run.engine_version = Some(version.into());
        run
    };
    let (cause, sentence, _) =
        told(|told, _| of(told, "polars 2.1.0", 1.0), |told| of(told, "polars 2.2.0", 2.5));
    assert_eq!(cause, CauseKind::EngineVersion);
    assert_eq!(
        sentence,
        "Since polars 2.2.0 (was polars 2.1.0): The nodes together take 2.5x as long for the same work"
    );
}

#[test]
fn writes_that_wait_are_not_said_of_the_scan() {
    let waits = |query_ms: u64| {
        move |told: &mut Told, _: usize| {
            let mut run = busy(told, 60.0, 100.0);
            run.wall_ns += query_ms * 1_000_000;
            run.threads_available = Some(8);
            run.sum_up();
            run.nodes[0].waiting_ns = Quantity::new(1_000_000 + query_ms * 500);
            run.waiting_ns = Some(query_ms * 1_000_000);
            run
        }
    };
    let (cause, sentence, _) = told(waits(5), |told| waits(400)(told, 0));
    assert_eq!(cause, CauseKind::Waiting);
    assert_eq!(sentence, "Reads and writes are under way for 400 ms instead of 5.00 ms");
}

#[test]
fn partitions_of_a_node_that_hardly_works_are_no_cause() {
    let partitions = |small: u64, large: u64| {
        move |run: &mut RunFeatures| {
            run.threads_available = Some(4);
            run.nodes[0].partitions = Quantity::new(small);
            run.nodes[0].busy_ns = Quantity::new(1_000);
            run.nodes[1].partitions = Quantity::new(large);
        }
    };
    assert_eq!(not_working(partitions(16, 4), partitions(4, 4)), CauseKind::Unexplained);
    assert_eq!(
        not_working(partitions(16, 4), partitions(16, 1)),
        CauseKind::Unexplained,
        "the most are as before"
    );
}

#[test]
fn a_plan_that_reads_other_columns_does_not_wait_for_that() {
    let columns = |count: u32| {
        move |run: &mut RunFeatures| {
            let mut plan = Plan::clone(&run.plan);
            plan.nodes[0].columns = Some(count);
            plan.nodes[0].own_shape = u64::from(count);
            plan.fingerprint = Fingerprint::from_bytes([count as u8; 6]);
            run.plan = Arc::new(plan);
        }
    };
    assert_eq!(not_working(columns(2), columns(3)), CauseKind::Unexplained);
}

#[test]
fn runs_of_a_plan_that_is_as_fast_do_not_explain_those_of_another() {
    let mut told = Told::new();
    for n in 0..60 {
        let usual = n < 40 || n % 2 == 0;
        let run = busy(&mut told, 60.0, 100.0);
        let slower = if n < 40 { 0 } else { 300_000_000 };
        let mut run = if usual { run } else { sorted(run) };
        run.wall_ns += if usual { slower / 300 } else { slower };
        run.sum_up();
        told.take(run);
    }
    for change in told.detector.open() {
        let first = &change.causes[0];
        assert!(
            !first.sentence.contains("about as long") && first.cause != CauseKind::SlowerPerRow,
            "{first:?}"
        );
    }
}

/// A run of DataFusion in two partitions: its scan counts the time of what reads from it as a wait, too.
fn polled(told: &mut Told, wall_ms: f64, reader_ms: f64, waits_ms: f64) -> RunFeatures {
    let mut run = busy(told, 6.0, reader_ms);
    run.wall_ns = (run.wall_ns as f64 * wall_ms / (6.0 + reader_ms)) as u64;
    run.cpu_ns = None;
    run.engine_version = Some("datafusion 55.0.0".into());
    run.nodes[0].partitions = Quantity::new(2);
    run.nodes[0].waiting_ns = Quantity::new((2.0 * waits_ms * 1e6) as u64);
    run.waiting_ns = Some((waits_ms * 1e6) as u64);
    run.sum_up();
    run
}

#[test]
fn a_scan_that_waits_for_its_reader_does_not_wait_for_data() {
    let mut slower = Told::new();
    for n in 0..45 {
        let run = if n < 30 {
            polled(&mut slower, 20.0, 10.0, 6.0)
        } else {
            polled(&mut slower, 340.0, 290.0, 146.0)
        };
        slower.take(run);
    }
    let causes = &slower.change().causes;
    assert!(causes.iter().all(|cause| cause.cause != CauseKind::Waiting), "{causes:?}");
    // Where its reader works as long as before, it does.
    let (cause, ..) = told(|told, _| polled(told, 40.0, 20.0, 6.0), |told| polled(told, 340.0, 20.0, 306.0));
    assert_eq!(cause, CauseKind::Waiting);
}

#[test]
fn the_evidence_of_a_changed_node_is_of_that_node() {
    let mut told = Told::new();
    for n in 0..45 {
        let mut run = busy(&mut told, if n < 30 { 20.0 } else { 300.0 }, 60.0);
        if n >= 30 {
            let mut nodes = run.plan.nodes.to_vec();
            (nodes[0].own_shape, nodes[0].shape, nodes[1].shape) = (8, 8, 9);
            nodes[0].predicate = Some("a > 5".into());
            run.plan = Arc::new(Plan { fingerprint: Fingerprint::from_bytes([8; 6]), nodes: nodes.into() });
        }
        told.take(run);
    }
    let cause = &told.change().causes[0];
    assert_eq!(cause.cause, CauseKind::PlanChange);
    assert_eq!(cause.node.as_ref().map(|node| node.id), Some(1));
    let busy = cause.evidence.iter().find(|figure| figure.name == "busy").expect("evidence");
    assert!((18.0..22.0).contains(&busy.before.unwrap_or(0.0)), "{busy:?}");
    assert!((280.0..320.0).contains(&busy.after.unwrap_or(0.0)), "{busy:?}");
}

/// Twice the rows, each of which takes all nodes 3 times as long: the times of all work are six times as long.
#[test]
fn the_evidence_of_a_slower_processor_is_of_the_same_work() {
    let mut told = Told::new();
    for n in 0..45 {
        let (times, rows) = if n < 30 { (1.0, 1) } else { (6.0, 2) };
        let mut run = busy(&mut told, 60.0 * times, 60.0 * times);
        for node in &mut run.nodes {
            let grown = |count: Quantity| count.get().map_or(count, |count| Quantity::new(count * rows));
            (node.rows_in, node.rows_out) = (grown(node.rows_in), grown(node.rows_out));
        }
        run.sum_up();
        told.take(run);
    }
    let causes = &told.change().causes;
    let starved = causes.iter().find(|cause| cause.cause == CauseKind::StarvedCpu);
    let starved = starved.unwrap_or_else(|| panic!("{causes:?}"));
    assert!(starved.sentence.contains("3.0x as long for the same work"), "{starved:?}");
    let [busy] = &starved.evidence[..] else { panic!("{starved:?}") };
    assert_eq!(busy.name, "busy_for_the_same_work");
    let ratio = busy.after.unwrap_or(0.0) / busy.before.unwrap_or(0.0);
    assert!((2.8..3.2).contains(&ratio), "{busy:?}");
}
