//! Pairs of runs whose difference is known: what it is made of.

use proptest::prelude::*;
use queryscope_diagnosis::{Account, Cause, CauseKind, Context, Dimension, RunFeatures, Status};
use queryscope_insights::Outlines;
use queryscope_protocol::{Counters, Metrics, Node, Profile, QueryId};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::captures::Captures;
use crate::made::{filtered, joins_swapped, unfiltered};
use crate::profiles::{inflate, profiles};

fn features(profile: &Profile<'_>) -> RunFeatures {
    let (id, context) = (QueryId::new(Uuid::nil()), Context::default());
    RunFeatures::from_profile(id, 7, profile, &context, &mut Outlines::default())
}

fn account(base: &Profile<'_>, run: &Profile<'_>) -> Account {
    let account = Account::of(&features(base), &features(run), &[]);
    assert_eq!(account.parts.iter().map(|part| part.ns).sum::<i64>(), account.difference_ns);
    account
}

/// Its parts of half a millisecond and more, in milliseconds, a line each.
fn told(account: &Account) -> Vec<String> {
    let parts = account.parts.iter().filter(|part| part.ns.abs() >= 500_000);
    let name = |cause| serde_json::to_value(cause).expect("JSON").as_str().expect("a name").to_owned();
    parts.map(|part| format!("{} {:+.0}", name(part.cause), part.ns as f64 / 1e6)).collect()
}

fn differ(base: &str, run: &str) -> Vec<String> {
    let read = |text| serde_json::from_str(text).expect("a profile");
    told(&account(&read(base), &read(run)))
}

/// The text of a profile of so much wall time with such a physical plan.
fn profile(wall_ms: f64, physical: &[Value], query_metrics: &Value) -> String {
    json!({
        "schema": "engine-telemetry/profile@1",
        "query_id": "q",
        "wall_ms": wall_ms,
        "query_metrics": query_metrics,
        "plan": {"physical": physical, "logical": []},
    })
    .to_string()
}

#[expect(clippy::needless_pass_by_value, reason = "tests write the values where they call")]
fn node(id: u64, kind: &str, inputs: &[u64], properties: Value, metrics: Value) -> Value {
    let role = if kind == "Select" { "map" } else { kind };
    json!({
        "id": id, "kind": kind, "role": role, "inputs": inputs, "properties": properties, "metrics": metrics
    })
}

/// A profile with the counters of some nodes multiplied, and its wall time with them.
fn scaled<'a>(
    profile: &Profile<'a>,
    wall_ms: f64,
    of_node: impl Fn(&Node<'_>, &str, u64) -> u64,
) -> Profile<'a> {
    let mut scaled = profile.clone();
    scaled.wall_ms = wall_ms;
    for node in &mut scaled.plan.physical {
        let Some(counters) = &node.metrics else { continue };
        let metrics: Metrics<'a> = counters
            .metrics
            .iter()
            .map(|(name, value)| (name.to_owned(), of_node(node, name, value)))
            .collect();
        node.metrics = Some(Counters { metrics, ..counters.clone() });
    }
    scaled
}

fn is_work(name: &str) -> bool {
    name.starts_with("rows_") || name == "total_time_ns"
}

#[test]
fn a_run_differs_from_itself_in_nothing() {
    let captures = Captures::read();
    for (capture, profile) in captures.finished() {
        let account = account(&profile, &profile);
        assert!(account.parts.iter().all(|part| part.ns == 0), "{capture}");
    }
}

/// The same sort in four threads at once: each gets less of the two cores, and for most of the time none. No counter
/// says for what it waits.
#[test]
fn the_same_plan_beside_others() {
    let captures = Captures::read();
    let base = captures.labelled("worker-1/threads/sort", 0);
    let run = captures.labelled("worker-0/threads/sort", 0);
    assert_eq!(
        told(&account(&base, &run)),
        ["unexplained +770", "slower_per_row +106", "slower_per_row -100"]
    );
}

/// Real: a function that sleeps for 13 s in one run and for 1.3 s in the other, over as many rows.
#[test]
fn a_slower_function() {
    let captures = Captures::read();
    let base = captures.labelled("traced/long", 0);
    let run = captures.labelled("idle/udf-sleeps-13s", 0);
    assert_eq!(told(&account(&base, &run)), ["user_code +11413"]);
}

/// Real: the function runs once more while the query is planned.
#[test]
fn longer_planning() {
    let captures = Captures::read();
    let base = captures.labelled("traced/long", 0);
    let run = captures.labelled("odd/udf-runs-while-planning", 0);
    assert_eq!(told(&account(&base, &run)), ["planning +1299", "user_code -300"]);
}

/// Real: query 5 of TPC-H on DataFusion before and after `--slow-down merge-joins`, and query 18 before and after
/// `--slow-down more-data`.
#[test]
fn joins_that_sort_are_another_plan_and_twice_the_data_more_rows() {
    let text = inflate("crates/insights/tests/data/pairs.jsonl.gz");
    let [hash, merge, less, more] = &profiles(&text)[..] else { panic!("two pairs") };
    let parts = account(hash, merge).parts;
    assert!(parts.iter().any(|part| part.cause == CauseKind::PlanChange && part.ns > 0), "{parts:?}");
    assert!(parts.iter().all(|part| part.cause != CauseKind::MoreRows), "{parts:?}");
    let parts = account(less, more).parts;
    assert!(parts.iter().all(|part| part.cause != CauseKind::PlanChange), "{parts:?}");
    assert_eq!((parts[0].cause, parts[0].ns > 0), (CauseKind::MoreRows, true), "{parts:?}");
}

/// So many times the rows everywhere, as many times the work, as many times the time.
fn times<'a>(profile: &Profile<'a>, factor: u64) -> Profile<'a> {
    let wall_ms = profile.wall_ms * factor as f64;
    scaled(profile, wall_ms, |_, name, value| if is_work(name) { value * factor } else { value })
}

/// Made: three times the rows everywhere, three times the work, three times the time.
#[test]
fn more_rows() {
    let captures = Captures::read();
    let base = captures.labelled("join/three-way", 0);
    assert_eq!(told(&account(&base, &times(&base, 3))), ["more_rows +2430", "unexplained +21"]);
}

/// Made: the scan's predicate is gone, and it reads more columns: four times the rows and the work everywhere. The
/// other scan has its four times from storage.
#[test]
fn a_lost_predicate() {
    let captures = Captures::read();
    let base = captures.labelled("join/inner", 0);
    let (base, run) = (filtered(&base), unfiltered(&times(&base, 4)));
    assert_eq!(told(&account(&base, &run)), ["plan_change +2091"]);
}

/// Made: a predicate that prunes instead of one that does not. The scan gives as many rows, and decodes far fewer.
#[test]
fn a_predicate_that_prunes_is_the_plan_of_a_faster_run_as_its_loss_is_that_of_a_slower_one() {
    let run = |wall_ms: f64, predicate: &str, busy_ms: u64| {
        let read = json!({"table": "orders.parquet", "predicate": predicate});
        let busy = |ms: u64| json!({"busy_ns": ms * 1_000_000, "rows_out": 200_000, "rows_in": 200_000});
        let plan =
            [node(1, "scan", &[], read, busy(busy_ms)), node(2, "aggregation", &[1], json!({}), busy(20))];
        profile(wall_ms, &plan, &json!({}))
    };
    let (slow, fast) = (run(330.0, "cast(ts) >= 5", 300), run(50.0, "ts >= 5", 30));
    assert_eq!(differ(&slow, &fast), ["plan_change -280"]);
    assert_eq!(differ(&fast, &slow), ["plan_change +280"]);
}

/// Real: a join of Polars 2.1 that builds from its other side, and a function in an aggregation of DataFusion 55. The
/// other nodes are slower as well, by far less.
#[test]
fn a_node_that_has_nearly_all_of_the_longer_work_is_that_node() {
    let run = |wall_ms: f64, [scan, join, reduce]: [u64; 3]| {
        let counted = |us: u64| json!({"busy_ns": us * 1_000, "rows_in": 6_000_000, "rows_out": 6_000_000});
        let plan = [
            node(1, "scan", &[], json!({"table": "ev.parquet"}), counted(scan)),
            node(2, "join", &[1], json!({}), counted(join)),
            node(3, "aggregation", &[2], json!({}), counted(reduce)),
        ];
        profile(wall_ms, &plan, &json!({}))
    };
    let (base, swapped) = (run(83.1, [62_815, 90_698, 5_188]), run(546.2, [88_868, 1_024_019, 10_326]));
    assert_eq!(differ(&base, &swapped)[0], "slower_per_row +489");
    let (base, udf) = (run(16.4, [5_500, 6_435, 407]), run(322.3, [10_560, 306_065, 1_476]));
    assert_eq!(differ(&base, &udf)[0], "slower_per_row +316");
}

/// As DataFusion counts it: until the other side of a join is built, the scan of the first one waits.
#[test]
fn a_scan_that_waits_for_the_other_side_of_a_join_waits_for_no_data() {
    let run = |wall_ms: f64, sides: [u64; 2], join_ms: u64, waits_ms: u64| {
        let read = |table: &str| json!({"table": table});
        let counted = |ms: u64| json!({"busy_ns": ms * 1_000_000, "rows_in": 50_000, "rows_out": 50_000});
        let mut dim = counted(1);
        dim["io_ns"] = json!(waits_ms * 1_000_000);
        let plan = [
            node(1, "scan", &[], read("dim.parquet"), dim),
            node(2, "scan", &[], read("ev.parquet"), counted(20)),
            node(3, "join", &sides, json!({}), counted(join_ms)),
        ];
        profile(wall_ms, &plan, &json!({}))
    };
    let base = run(70.0, [1, 2], 40, 1);
    assert_eq!(differ(&base, &run(680.0, [2, 1], 400, 343)), ["plan_change +610"]);
    // Where the plan is as before, nothing else is known.
    assert_eq!(differ(&base, &run(400.0, [1, 2], 40, 343)), ["waiting +330"]);
}

/// Made: the two joins change places, and with them their inputs; the first now has as many rows as the second.
#[test]
fn another_join_order() {
    let captures = Captures::read();
    let base = captures.labelled("join/three-way", 0);
    let run = joins_swapped(&base);
    let wall_ms = run.wall_ms + 400.0;
    let lower = run.plan.physical.iter().rfind(|node| &*node.kind == "EquiJoin").expect("a join");
    let lower_id = lower.id;
    let run =
        scaled(
            &run,
            wall_ms,
            |node, name, value| {
                if node.id == lower_id && name == "total_time_ns" { value * 2 } else { value }
            },
        );
    assert_eq!(told(&account(&base, &run)), ["plan_change +670", "slower_per_row -182", "fewer_threads -88"]);
}

/// Made: the same work by one thread instead of two.
#[test]
fn fewer_threads() {
    let captures = Captures::read();
    let base = captures.labelled("join/three-way", 0);
    let mut run = base.clone();
    run.wall_ms = base.wall_ms * 1.8;
    run.query_metrics = Some(threads_and_io(&base, 1, 1.0));
    assert_eq!(told(&account(&base, &run)), ["fewer_threads +980"]);
}

/// Made: the files come from a slow disk, so reads are under way for 2 s more, and the query takes 2 s more.
#[test]
fn a_slow_disk() {
    let captures = Captures::read();
    let base = captures.labelled("join/three-way", 0);
    let mut run = base.clone();
    run.wall_ms = base.wall_ms + 2000.0;
    run.query_metrics = Some(threads_and_io(&base, 2, 220.0));
    assert_eq!(told(&account(&base, &run)), ["waiting +2000"]);
}

/// The query's counters with so many threads, and reads under way so many times as long.
fn threads_and_io(profile: &Profile<'_>, threads: u64, times: f64) -> Metrics<'static> {
    let counters = profile.query_metrics.as_ref().expect("counters").iter();
    let changed = counters.map(|(name, value)| match name {
        "num_threads" => (name.to_owned(), threads),
        _ => (name.to_owned(), (value as f64 * times) as u64),
    });
    changed.collect()
}

/// A run whose reads take as long as it does, and the same ten times as long.
fn reads_all_the_time(properties: &Value, process_cpu_ms: Option<u64>) -> Vec<String> {
    let of = |wall_ms: u64| {
        let io = json!({"io_ns": wall_ms * 900_000, "busy_ns": 100_000_000, "rows_in": 7, "rows_out": 7});
        let plan = [
            node(1, "scan", &[], json!({"table": "t"}), io),
            node(2, "Select", &[1], properties.clone(), json!({"rows_in": 7, "rows_out": 7})),
        ];
        let cpu = process_cpu_ms.map(|ms| json!({"process_cpu_ns": ms * wall_ms * 1_000}));
        profile(wall_ms as f64, &plan, &json!(cpu))
    };
    differ(&of(1_000), &of(10_000))
}

#[test]
fn code_of_the_program_may_have_worked_while_reads_were_under_way() {
    assert_eq!(reads_all_the_time(&json!({}), None), ["waiting +9000"]);
    let calls = json!({"user_code": "score"});
    assert_eq!(reads_all_the_time(&calls, None), ["user_code +9000"]);
    // The process worked all the time, or for a tenth of it.
    assert_eq!(reads_all_the_time(&calls, Some(1_000)), ["user_code +9000"]);
    assert_eq!(reads_all_the_time(&calls, Some(100)), ["waiting +9000"]);
}

#[test]
fn calls_that_were_measured_have_no_more_than_they_took() {
    let of = |wall_ms: f64, called_ms: u64| {
        let plan = [node(1, "Select", &[], json!({"user_code": "score"}), json!({"busy_ns": 1_000_000}))];
        profile(wall_ms, &plan, &json!({"user_code_ns": called_ms * 1_000_000}))
    };
    let (fast, slow) = (of(1_000.0, 900), of(3_000.0, 2_800));
    assert_eq!(differ(&fast, &slow), ["user_code +1900", "unexplained +100"]);
    assert_eq!(differ(&slow, &fast), ["user_code -1900", "unexplained -100"]);
    // The calls took no longer, or more longer than the run did.
    assert_eq!(differ(&fast, &of(3_000.0, 900)), ["unexplained +2000"]);
    assert_eq!(differ(&of(1_000.0, 0), &of(1_500.0, 1_500)), ["user_code +500"]);
}

#[test]
fn rows_of_storage_are_more_rows_under_another_plan_too() {
    let plan = |columns: &[&str], table: &str, scanned: u64, given: u64, busy_ms: [u64; 2]| {
        let of = |rows: u64, busy_ms: u64| json!({"rows_out": rows, "busy_ns": busy_ms * 1_000_000});
        let mut scan = of(given, busy_ms[0]);
        scan["rows_scanned"] = json!(scanned);
        let properties = json!({"table": table, "projection": columns});
        let plan = [
            node(1, "scan", &[], properties, scan),
            node(2, "join", &[1], json!({"keys": ["k"]}), of(given, busy_ms[1])),
        ];
        profile((busy_ms[0] + busy_ms[1]) as f64, &plan, &Value::Null)
    };
    let base = plan(&["a"], "t", 1_000, 1_000, [60, 40]);
    let more = |scanned, given, busy_ms| differ(&base, &plan(&["a", "b"], "t", scanned, given, busy_ms));
    // Storage has three times the rows, and the scan reads one more column, at no cost or for a third more a row.
    assert_eq!(more(3_000, 3_000, [180, 120]), ["more_rows +200"]);
    assert_eq!(more(3_000, 3_000, [240, 120]), ["more_rows +220", "plan_change +40"]);
    // As many are read, and more let through.
    assert_eq!(more(1_000, 3_000, [60, 120]), ["plan_change +80"]);
    // Another file is no other plan: its rows are of the data, and so is what a row takes longer.
    assert_eq!(
        differ(&base, &plan(&["a"], "u", 3_000, 3_000, [270, 120])),
        ["more_rows +230", "slower_per_row +60"]
    );
    // Where the plan is the same, how many rows a condition lets through is of the data.
    assert_eq!(differ(&base, &plan(&["a"], "t", 1_000, 3_000, [60, 120])), ["more_rows +80"]);
}

#[test]
fn more_rows_are_more_calls() {
    let of = |wall_ms: u64, rows: u64, file: &str| {
        let calls = json!({"rows_in": rows, "rows_out": rows, "busy_ns": 1});
        let plan = [
            node(1, "scan", &[], json!({"table": file}), json!({"rows_out": rows, "busy_ns": 1})),
            node(2, "Select", &[1], json!({"user_code": "score"}), calls),
        ];
        profile(wall_ms as f64, &plan, &json!({"user_code_ns": wall_ms * 1_000_000}))
    };
    for file in ["t", "u"] {
        let run = |wall_ms, rows| differ(&of(1_000, 10, "t"), &of(wall_ms, rows, file));
        assert_eq!(run(3_000, 30), ["more_rows +2000"]);
        assert_eq!(run(3_000, 10), ["user_code +2000"]);
        assert_eq!(run(4_000, 20), ["more_rows +1500", "user_code +1500"]);
        assert_eq!(run(500, 5), ["more_rows -500"]);
    }
}

/// A run of 4 threads, with a scan in so many partitions that reads for so long.
fn partitioned(wall_ms: f64, partitions: u64, reads_ms: u64) -> String {
    let counters = json!({
        "rows_out": 7, "busy_ns": 400_000_000, "partitions": partitions, "io_ns": reads_ms * 1_000_000
    });
    profile(wall_ms, &[node(1, "scan", &[], json!({"table": "t"}), counters)], &json!({"threads": 4}))
}

fn sentence(base: &str, run: &str) -> String {
    let read = |text| serde_json::from_str(text).expect("a profile");
    account(&read(base), &read(run)).parts[0].sentence.clone()
}

#[test]
fn reads_of_a_node_in_partitions_take_as_long_as_they_are_under_way() {
    let (base, run) = (partitioned(100.0, 8, 1), partitioned(400.0, 8, 301));
    assert_eq!(differ(&base, &run), ["waiting +300"]);
    assert_eq!(sentence(&base, &run), "scan of t waits for data for 301 ms instead of 1.00 ms");
}

#[test]
fn fewer_partitions_are_no_fewer_threads_in_words() {
    let (base, run) = (partitioned(100.0, 8, 1), partitioned(400.0, 1, 1));
    assert_eq!(differ(&base, &run), ["fewer_threads +300"]);
    assert_eq!(sentence(&base, &run), "The query runs in 1 partition instead of 8");
}

/// A run that scans so many rows, each of which takes a millisecond of a thread.
fn scanned(wall_ms: f64, rows: u64) -> String {
    let counters = json!({"rows_out": rows, "busy_ns": rows * 1_000_000});
    profile(wall_ms, &[node(1, "scan", &[], json!({"table": "t"}), counters)], &json!({"threads": 8}))
}

/// More rows, and as many more threads at a time: the time is as before.
#[test]
fn parts_that_outweigh_each_other_are_both_told() {
    assert_eq!(
        differ(&scanned(1_000.0, 1_000), &scanned(1_010.0, 3_000)),
        ["more_rows +2002", "fewer_threads -1992"]
    );
}

/// What the change between them puts down to a version, a pair of runs does as well; rows are of no version.
#[test]
fn what_a_run_that_failed_lacks_is_no_cause() {
    let [usual, other] = [scanned(100.0, 1_000_000), scanned(40.0, 300_000)];
    let [usual, mut other] =
        [&usual, &other].map(|text| features(&serde_json::from_str(text).expect("a profile")));
    let causes = |base: &RunFeatures, run: &RunFeatures| -> Vec<CauseKind> {
        Account::of(base, run, &[]).parts.iter().map(|part| part.cause).collect()
    };
    assert_eq!(causes(&usual, &other)[0], CauseKind::MoreRows);
    for status in [Status::Failed, Status::Cancelled] {
        other.status = status;
        assert_eq!(causes(&usual, &other), [CauseKind::Unexplained]);
        assert_eq!(causes(&other, &usual), [CauseKind::Unexplained]);
    }
}

#[test]
fn a_version_carries_what_it_carries_in_the_change() {
    let of = |wall_ms: f64, rows: u64, busy_ms: u64| {
        let counters = json!({"rows_out": rows, "busy_ns": busy_ms * 1_000_000});
        let text = profile(wall_ms, &[node(1, "scan", &[], json!({"table": "t"}), counters)], &Value::Null);
        features(&serde_json::from_str(&text).expect("a profile"))
    };
    let on = |run: RunFeatures, version: &str| RunFeatures {
        engine_version: Some(version.into()),
        program_version: Some(version.into()),
        ..run
    };
    let (base, run) = (on(of(1_000.0, 100, 1_000), "e 1"), on(of(3_000.0, 150, 3_000), "e 2"));
    let told = |causes: &[Cause]| told(&Account::of(&base, &run, causes));
    assert_eq!(told(&[]), ["slower_per_row +1250", "more_rows +750"]);
    let version =
        Dimension { name: "engine_version".into(), before: Some("e 1".into()), after: Some("e 2".into()) };
    let cause = Cause {
        cause: CauseKind::EngineVersion,
        share: 0.6,
        wall_ms: 1.0,
        node: None,
        dimension: Some(version),
        evidence: Vec::new(),
        sentence: "Since e 2 (was e 1)".into(),
    };
    assert_eq!(told(std::slice::from_ref(&cause)), ["engine_version +1250", "more_rows +750"]);
    let program = Cause { cause: CauseKind::ProgramVersion, ..cause.clone() };
    assert_eq!(told(&[program, cause]), ["more_rows +749", "program_version +626", "engine_version +626"]);
}

/// Plans of few kinds, so that much looks alike.
fn any_plan() -> impl Strategy<Value = Vec<Value>> {
    let counter = prop_oneof![Just(Value::Null), (0..5_000_000_000_u64).prop_map(|n| json!(n))];
    let one = (
        0..4_usize,
        prop::collection::vec(0..8_u64, 0..3),
        0..3_u8,
        [counter.clone(), counter.clone(), counter],
    );
    prop::collection::vec(one, 0..8).prop_map(|nodes| {
        let role = ["scan", "join", "selection", "sort"];
        let each = nodes.into_iter().enumerate().map(|(id, (what, inputs, table, counters))| {
            let names = ["busy_ns", "rows_in", "rows_out"];
            let counters = names.into_iter().zip(counters).filter(|(_, value)| !value.is_null());
            let counters: serde_json::Map<String, Value> =
                counters.map(|(name, value)| (name.to_owned(), value)).collect();
            node(id as u64, role[what], &inputs, json!({"table": table.to_string()}), json!(counters))
        });
        each.collect()
    })
}

prop_compose! {
    fn any_profile()(
        plan in any_plan(),
        wall_ms in prop_oneof![0.0..1e7_f64, Just(0.0), Just(1e300)],
        planning_ms in prop::option::of(0.0..1e4_f64),
        threads in prop::option::of(0..64_u64),
        io_ns in prop::option::of(0..u64::MAX),
    ) -> String {
        let mut counters = serde_json::Map::new();
        threads.map(|threads| counters.insert("threads".into(), json!(threads)));
        io_ns.map(|io_ns| counters.insert("io_ns".into(), json!(io_ns)));
        let mut profile: Value = serde_json::from_str(&profile(wall_ms, &plan, &json!(counters))).expect("JSON");
        profile["planning_ms"] = json!(planning_ms);
        profile.to_string()
    }
}

proptest! {
    #[test]
    fn the_parts_sum_to_the_difference(base in any_profile(), run in any_profile()) {
        let read = |text| serde_json::from_str(text).expect("a profile");
        let account = account(&read(&base), &read(&run));
        prop_assert_eq!(account.difference_ns, account.run_wall_ns - account.base_wall_ns);
    }
}

/// Half of the time of the base was in no node: it does not grow with their work.
#[test]
fn work_that_came_takes_no_longer_than_the_run() {
    assert_eq!(differ(&scanned(20.0, 10), &scanned(260.0, 450)), ["more_rows +260", "fewer_threads -20"]);
}

/// A node of one row takes the place of one of 100,000, or passes on 5,000 for one: neither takes longer than it works.
#[test]
fn rows_have_no_more_than_their_node_takes() {
    let of = |wall_ms: f64, rows: u64, group_ms: u64| {
        let scan = json!({"rows_out": 100_000, "busy_ns": 10_000_000});
        let group = json!({"rows_in": rows, "rows_out": 1, "busy_ns": group_ms * 1_000_000});
        let nodes = [
            node(1, "scan", &[], json!({"table": "t"}), scan),
            node(2, "aggregation", &[1], json!({"keys": ["k"]}), group),
        ];
        profile(wall_ms, &nodes, &json!({"threads": 1}))
    };
    assert_eq!(differ(&of(20.0, 100_000, 10), &of(40.0, 1, 30)), ["slower_per_row +30", "more_rows -10"]);
    assert_eq!(differ(&of(20.0, 1, 10), &of(22.0, 5_000, 12)), ["more_rows +2"]);
}
