//! Short histories whose answer is known.

use std::collections::BTreeMap;
use std::sync::Arc;

use queryscope_diagnosis::{
    CauseKind, Detector, Kind, Plan, RunFeatures, Saved, Side, State, Status, Transition, Workspace,
};
use queryscope_insights::Fingerprint;
use uuid::Uuid;

use crate::told::{START_UNIX_NS, Told, id, plan};

#[test]
fn the_first_hour_is_enough() {
    let mut told = Told::new();
    told.runs(6, 70.0).runs(2, 290.0);
    assert_eq!(told.open(), []);
    told.runs(1, 290.0);
    let change = told.change();
    assert_eq!(
        (change.kind, change.state, change.since_query_id.clone()),
        (Kind::Slower, State::Open, id(6))
    );
    assert!((3.9..4.4).contains(&change.factor.expect("medians")), "{change:?}");
    assert_eq!((change.before.runs, change.after.runs), (6, 3));
}

#[test]
fn three_runs_after_five_are_the_least() {
    let mut told = Told::new();
    told.runs(4, 70.0).runs(3, 290.0);
    assert_eq!(told.open(), []);
    let mut told = Told::new();
    told.runs(5, 70.0).runs(3, 290.0);
    assert_eq!(told.open(), [(Kind::Slower, 3)]);
}

#[test]
fn a_drift_of_the_first_runs_hides_no_slowdown() {
    // Query 2 of TPC-H: the first runs differ by 8 %, one after the other.
    let mut told = Told::new();
    for wall_ms in [17.3, 17.5, 17.1, 16.4, 16.2, 16.3, 43.3, 37.4, 48.1] {
        let mut run = told.made(10.0, 1e6);
        run.wall_ns = (wall_ms * 1e6) as u64;
        if wall_ms > 20.0 {
            run.plan =
                Arc::new(Plan { fingerprint: Fingerprint::from_bytes([8; 6]), ..Plan::clone(&run.plan) });
        }
        told.take(run);
    }
    assert_eq!(told.open(), [(Kind::Slower, 3)]);
}

#[test]
fn one_slow_run_is_none() {
    let mut told = Told::new();
    for _ in 0..40 {
        told.runs(9, 70.0).runs(1, 400.0);
    }
    assert_eq!((told.open(), told.transitions.len()), (vec![], 0));
}

#[test]
fn the_medians_are_of_as_many_runs_as_are_said() {
    let mut told = Told::new();
    told.runs(60, 100.0).runs(8, 160.0);
    let mut walls: Vec<f64> = told.detector.runs().skip(60).map(|run| run.wall_ns as f64 / 1e6).collect();
    for wall_ms in [170.0, 180.0, 190.0, 200.0, 210.0, 220.0, 230.0].repeat(3) {
        told.runs(1, wall_ms);
        walls.push(told.detector.runs().last().expect("a run").wall_ns as f64 / 1e6);
        let (runs, change) = (walls.len(), told.change());
        let said = usize::try_from(change.after.runs).expect("a few");
        assert!(said <= runs && runs <= said + said / 5 + 1, "{said} of {runs} runs");
        assert_eq!(change.cost.runs, runs as u64);
        let told_ms = change.after.median_wall_ms.expect("runs");
        let median_ms = queryscope_history::median(&mut walls[..said].to_vec()).expect("runs");
        assert!((told_ms / median_ms - 1.0).abs() < 1e-9, "{told_ms} instead of {median_ms} of {said} runs");
    }
}

#[test]
fn it_is_never_forgotten_and_recovers() {
    let mut told = Told::new();
    told.runs(60, 100.0).runs(700, 160.0);
    // No run from before it is in the window any more.
    assert_eq!(told.open(), [(Kind::Slower, 700)], "{}", told.lines());
    let change = told.change().clone();
    assert_eq!((change.since_query_id.clone(), change.before.runs), (id(60), 60));
    assert!((change.before.median_wall_ms.expect("runs") - 100.0).abs() < 2.0);
    assert!((change.cost.extra_wall_ms / (700.0 * 60.0) - 1.0).abs() < 0.05, "{:?}", change.cost);
    told.runs(8, 100.0);
    assert_eq!(told.open(), []);
    let Some(Transition::Closed(closed)) = told.transitions.last() else { panic!("{:?}", told.transitions) };
    assert_eq!((closed.id.clone(), closed.state), (change.id, State::Recovered));
    assert!(closed.recovered_unix_ns > closed.confirmed_unix_ns);
    // What is usual is again what it was, and the next change is measured by it.
    told.runs(20, 100.0).runs(5, 160.0);
    assert!((told.change().before.median_wall_ms.expect("runs") - 100.0).abs() < 2.0);
}

#[test]
fn a_larger_change_supersedes_and_gives_way_again() {
    let mut told = Told::new();
    told.runs(40, 100.0).runs(30, 200.0);
    let first = told.change().id.clone();
    told.runs(30, 500.0);
    let second = told.change().clone();
    assert_ne!(second.id, first);
    assert!((second.factor.expect("medians") - 5.0).abs() < 0.3, "by the usual time: {:?}", second.factor);
    let superseded = |transition: &Transition| match transition {
        Transition::Closed(change) => change.id == first && change.state == State::Superseded,
        _ => false,
    };
    assert!(told.transitions.iter().any(superseded));
    told.runs(12, 200.0);
    assert_eq!(
        (told.change().id.clone(), told.change().state),
        (first, State::Open),
        "still slower than usual"
    );
    told.runs(12, 100.0);
    assert_eq!(told.open(), []);
}

/// What is left of a slowdown is told when that is over, however short it was: no run comes between.
#[test]
fn half_a_fix_is_told_at_once() {
    for count in [5, 8, 12, 40] {
        let mut told = Told::new();
        told.runs(60, 100.0).runs(count, 500.0);
        assert_eq!(told.open(), [(Kind::Slower, count as u64)]);
        for _ in 0..10 {
            told.runs(1, 180.0);
            assert_eq!(told.open().len(), 1, "{count}: {}", told.lines());
        }
        let left = 60 + count;
        let lines = told.lines();
        assert!(lines.contains("closed Slower since 60: Recovered"), "{lines}");
        assert!(lines.contains(&format!("opened Slower since {left}: ")), "{count}: {lines}");
        let [before, after] = [&told.change().before, &told.change().after].map(|side| side.median_wall_ms);
        assert!((before.expect("runs") - 100.0).abs() < 2.0 && (after.expect("runs") - 180.0).abs() < 4.0);
    }
}

#[test]
fn faster_is_told_and_then_usual() {
    let mut told = Told::new();
    told.runs(40, 300.0).runs(6, 100.0);
    assert_eq!(told.change().kind, Kind::Faster);
    told.runs(40, 100.0).runs(6, 300.0);
    let change = told.change();
    assert_eq!(change.kind, Kind::Slower);
    assert!((change.before.median_wall_ms.expect("runs") - 100.0).abs() < 5.0);
}

#[test]
fn failures_are_told_and_cancelled_runs_are_none() {
    let mut told = Told::new();
    told.runs(30, 100.0);
    for _ in 0..20 {
        told.ended(Status::Cancelled, 10.0);
    }
    assert_eq!(told.open(), []);
    for _ in 0..3 {
        told.ended(Status::Failed, 10.0);
    }
    let change = told.change();
    assert_eq!((change.kind, change.since_query_id.clone()), (Kind::Failing, id(50)));
    assert_eq!((change.causes[0].cause, change.causes[0].share), (CauseKind::Failures, 1.0));
    told.runs(12, 100.0);
    assert_eq!(told.open(), []);
}

#[test]
fn the_sentence_of_failures_counts_those_that_came_since() {
    let mut told = Told::new();
    told.runs(30, 100.0);
    for _ in 0..8 {
        told.ended(Status::Failed, 10.0);
    }
    let change = told.change();
    assert_eq!((change.after.failed, change.after.runs), (8, 8));
    assert_eq!(change.causes[0].sentence, "8 of 8 runs failed; 0 of 30 did before");
}

/// A history of rows that grow, and the time with them.
fn grown() -> Told {
    let mut told = Told::new();
    for n in 0..400 {
        let grown = 1.004_f64.powi(n);
        let run = told.made(100.0 * grown, 1e6 * grown);
        told.take(run);
    }
    told
}

#[test]
fn growth_is_no_regression() {
    let told = grown();
    assert_eq!(told.open().iter().map(|(kind, _)| *kind).collect::<Vec<_>>(), [Kind::DataGrew]);
    let change = told.change();
    assert_eq!(change.causes[0].cause, CauseKind::MoreRows);
    let median = |side: &Side| side.median_wall_ms.expect("finished runs");
    let extra_ms = 48.0 * (median(&change.after) - median(&change.before));
    let cost = change.cost.wall_ms_a_day;
    assert!((cost / extra_ms - 1.0).abs() < 0.02, "a run each half hour: {cost} of {extra_ms}");
}

#[test]
fn growth_that_is_over_is_told_as_it_was() {
    let mut told = grown();
    told.runs(70, 100.0);
    let closed = told.transitions.iter().map(Transition::change);
    let closed = closed.filter(|change| change.kind == Kind::DataGrew && change.state == State::Recovered);
    let factors: Vec<f64> = closed.filter_map(|change| change.factor).collect();
    assert!(matches!(factors[..], [factor] if factor > 1.5), "{factors:?}: {}", told.lines());
}

#[test]
fn rows_that_were_more_for_some_runs_have_not_grown() {
    let mut told = Told::new();
    told.runs(20, 100.0);
    for _ in 0..10 {
        let run = told.made(250.0, 2.5e6);
        told.take(run);
    }
    told.runs(12, 100.0);
    assert_eq!(
        told.lines(),
        "opened Slower since 20: Open of 3 runs\nclosed Slower since 20: Recovered of 14 runs"
    );
}

#[test]
fn the_run_before_to_compare_with_has_the_plan_that_was_compared() {
    let mut told = Told::new();
    told.runs(30, 100.0);
    let other = Plan { fingerprint: Fingerprint::from_bytes([8; 6]), ..(*plan()).clone() };
    told.plan = Arc::new(other);
    // Off the median by more than the runs of the plan before: the nearest of all is one of those.
    told.runs(10, 103.0);
    for _ in 0..6 {
        let run = told.made(300.0, 3e6);
        told.take(run);
    }
    let change = told.change();
    assert_eq!(change.causes[0].cause, CauseKind::MoreRows);
    assert_eq!(change.harmless.len(), 1, "{:?}", change.harmless);
    let base =
        Uuid::parse_str(change.examples.base.as_deref().expect("an example")).expect("an id").as_u128();
    assert!((31..=40).contains(&base), "run {} had the plan before", base - 1);
}

#[test]
fn three_times_the_rows_at_once_is_slower_by_more_rows() {
    let mut told = Told::new();
    told.runs(40, 100.0);
    for _ in 0..5 {
        let run = told.made(300.0, 3e6);
        told.take(run);
    }
    let change = told.change();
    assert_eq!((change.kind, change.causes[0].cause), (Kind::Slower, CauseKind::MoreRows));
    assert!(
        change.causes[0].sentence.starts_with("Scan of orders gives 3.0x the rows"),
        "{:?}",
        change.causes
    );
    assert_eq!(change.causes[0].node.as_ref().map(|node| node.id), Some(1));
}

#[test]
fn what_an_earlier_version_saved_is_read() {
    let mut told = Told::new();
    told.runs(40, 100.0);
    (0..6).for_each(|_| told.ended(Status::Failed, 100.0));
    let mut saved = serde_json::to_value(told.detector.save()).expect("JSON");
    let all = saved.as_object_mut().expect("an object");
    // It had one of each, of one environment.
    let failing = all["failing"][0].take();
    all.insert("failing".into(), failing);
    all.insert("growth".into(), serde_json::Value::Null);
    all.remove("settled_in");
    all.insert("settled".into(), serde_json::json!([START_UNIX_NS, id(3)]));
    all.remove("base");
    let saved: Saved = serde_json::from_value(saved).expect("as it was");
    let runs: Vec<RunFeatures> = told.detector.runs().cloned().collect();
    let restored = Detector::restore(saved, runs).expect("restored");
    assert_eq!(restored.open().map(|change| change.kind).collect::<Vec<_>>(), [Kind::Failing]);
    let saved = serde_json::to_value(restored.save()).expect("JSON");
    assert_eq!(saved["settled_in"], serde_json::json!([[0, [START_UNIX_NS, id(3)]]]));
}

#[test]
fn a_restored_detector_says_the_same() {
    let mut told = Told::new();
    told.runs(40, 100.0).runs(20, 200.0).runs(20, 100.0).runs(10, 220.0);
    told.ended(Status::Failed, 10.0);
    for _ in 0..5 {
        told.ended(Status::Failed, 10.0);
    }
    for times in
        [230.0, 230.0, 500.0, 500.0, 500.0, 500.0, 500.0, 500.0, 100.0, 100.0, 100.0, 100.0, 100.0, 100.0]
    {
        let text = serde_json::to_string(&told.detector.save()).expect("JSON");
        let saved: Saved = serde_json::from_str(&text).expect("JSON");
        let whole: Vec<RunFeatures> = told.detector.runs().rev().cloned().collect();
        let mut restored = Detector::restore(saved, whole.clone()).expect("restored");
        let mut light = restored.clone();
        light.let_go();
        // Runs before an open change are kept, once for each change that waits under a later one.
        assert!(light.bytes() * 3 < restored.bytes() * 2);
        let run = told.made(times, 1e6);
        let other = restored.observe(run.clone(), &mut Workspace::default());
        let loaded = light.observe_with(run.clone(), &mut Workspace::default(), &mut || whole.clone());
        assert!(told.detector.observe(run, &mut told.workspace) == other);
        assert!(loaded == other);
        assert!(told.detector.save() == restored.save() && light.save() == restored.save());
    }
}

#[test]
fn the_contract_is_what_clients_read() {
    let mut told = Told::new();
    told.runs(40, 100.0).runs(5, 300.0);
    let value = serde_json::to_value(told.change()).expect("JSON");
    let names = |value: &serde_json::Value| {
        value.as_object().expect("an object").keys().cloned().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        names(&value),
        "after before causes confirmed_unix_ns cost environment examples factor harmless host id kind label project \
         recovered_unix_ns service since_query_id since_unix_ns state"
    );
    assert_eq!(names(&value["after"]), "failed high_ms low_ms median_cpu_ms median_wall_ms runs");
    assert_eq!(names(&value["causes"][0]), "cause dimension evidence node sentence share wall_ms");
    assert_eq!(names(&value["cost"]), "extra_cpu_ms extra_wall_ms runs wall_ms_a_day");
    assert_eq!((&value["kind"], &value["state"]), (&"slower".into(), &"open".into()));
    let sum = |name: &str| {
        let causes = value["causes"].as_array().expect("causes").iter();
        causes.map(|cause| cause[name].as_f64().expect("a number")).sum::<f64>()
    };
    let of = |side: &str| value[side]["median_wall_ms"].as_f64().expect("a number");
    assert!((sum("wall_ms") - (of("after") - of("before"))).abs() < 1e-6);
    assert!((sum("share") - 1.0).abs() < 1e-9);
}

#[test]
fn a_weekend_is_known_from_an_earlier_one_alone() {
    let mut told = Told::new();
    // From Wednesday; the first slow weekend begins after three days, the second a week later.
    let day = |told: &mut Told, factor: f64| {
        for _ in 0..48 {
            let run = told.made(100.0 * factor, 1e6);
            told.take(run);
        }
    };
    for _ in 0..2 {
        for slower in [1.0, 1.0, 1.0, 1.5, 1.9, 1.0, 1.0] {
            day(&mut told, slower);
        }
    }
    assert_eq!(told.lines(), "");
}

#[test]
fn hours_that_are_slow_each_day_end_no_change() {
    let mut told = Told::new();
    // From Wednesday: twice the time from 12 to 18 o'clock.
    for _ in 0..2 {
        told.runs(24, 100.0).runs(12, 200.0).runs(12, 100.0);
    }
    let usual = told.lines();
    // On Friday from 6 o'clock on. At noon that is what the hour takes.
    told.runs(12, 100.0).runs(36, 200.0);
    let opened = "\nopened Slower since 108: Open of 5 runs";
    assert_eq!(told.lines().strip_prefix(&usual), Some(opened), "{}", told.lines());
    assert_eq!(told.open(), [(Kind::Slower, 36)]);
}

#[test]
fn a_new_plan_excuses_earlier_bursts_no_more() {
    let slow_at_times = |told: &mut Told| {
        for n in 0..240 {
            // Two slow runs now and then.
            told.runs(1, if n % 60 < 2 { 190.0 } else { 100.0 });
        }
    };
    let mut told = Told::new();
    slow_at_times(&mut told);
    told.runs(4, 180.0);
    assert_eq!(told.open(), [], "it may be what the query does at times");
    let mut told = Told::new();
    slow_at_times(&mut told);
    told.plan = Arc::new(Plan { fingerprint: Fingerprint::from_bytes([8; 6]), ..Plan::clone(&told.plan) });
    told.runs(4, 180.0);
    assert_eq!(told.open(), [(Kind::Slower, 4)], "{}", told.lines());
}

#[test]
fn longer_planning_marks_a_change() {
    let mut told = Told::new();
    for n in 0..84 {
        let planning_ms = if n < 80 { 20.0 } else { 70.0 };
        let run = told.made(100.0 + planning_ms, 1e6);
        told.take(RunFeatures { planning_ns: Some((planning_ms * 1e6) as u64), ..run });
    }
    assert_eq!(told.open(), [(Kind::Slower, 4)]);
    assert_eq!(told.change().causes[0].cause, CauseKind::Planning);
}

#[test]
fn a_busy_processor_slows_planning_as_well() {
    let mut told = Told::new();
    for n in 0..28 {
        let slower = if n < 20 { 1.0 } else { 4.0 };
        let run = told.made(100.0 * slower, 1e6);
        told.take(RunFeatures { planning_ns: Some((40e6 * slower) as u64), ..run });
    }
    let causes = &told.change().causes;
    assert_eq!(causes[0].cause, CauseKind::StarvedCpu);
    assert!(causes.iter().all(|cause| cause.cause != CauseKind::Planning), "{causes:?}");
}

#[test]
fn failures_cost_what_the_missing_results_take() {
    let mut told = Told::new();
    told.runs(20, 100.0);
    (0..6).for_each(|_| told.ended(Status::Failed, 10.0));
    let change = told.change();
    assert_eq!((change.kind, change.factor), (Kind::Failing, None), "none failed before");
    assert!((570.0..630.0).contains(&change.cost.wall_ms_a_day), "{:?}", change.cost);
}

#[test]
fn no_two_changes_have_one_id() {
    for seed in 0..400_u64 {
        let mut told = Told::new();
        // A level that wanders and jumps.
        let (mut state, mut level) = (seed, 100.0_f64);
        for _ in 0..200 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let [luck, jump] = [33, 48].map(|shift| (state >> shift) as f64 % 1_000.0 / 1_000.0);
            if jump < 0.05 {
                level = (level * [1.6, 2.5, 0.5, 1.3][(state >> 60) as usize % 4]).clamp(30.0, 3_000.0);
            }
            told.runs(1, level * (1.0 + 0.3 * luck));
        }
        // Each was confirmed once.
        let mut confirmed = BTreeMap::new();
        for change in told.transitions.iter().map(Transition::change) {
            let known = confirmed.entry(&change.id).or_insert(change.confirmed_unix_ns);
            assert_eq!(*known, change.confirmed_unix_ns, "{} of history {seed}", change.id);
        }
    }
}

/// Every slowdown that was told, each time something was told of it: by how much.
fn slowdowns(told: &Told) -> Vec<f64> {
    let of = |transition: &Transition| {
        let (Transition::Opened(change) | Transition::Updated(change) | Transition::Closed(change)) =
            transition;
        (change.kind == Kind::Slower).then_some(change.factor).flatten()
    };
    told.transitions.iter().filter_map(of).collect()
}

#[test]
fn what_was_faster_for_a_while_recovers_and_is_not_slower() {
    for faster in [10, 15, 18] {
        let mut told = Told::new();
        told.runs(40, 900.0).runs(faster, 170.0).runs(20, 900.0);
        assert_eq!(slowdowns(&told), [0.0; 0], "{faster}: {}", told.lines());
        assert_eq!(told.open(), [], "{faster}: {}", told.lines());
    }
    // A faster time that lasted is the usual one: a return to the slow one, or half of the way, is slower than that.
    for (back, factor) in [(900.0, 5.29), (480.0, 2.82)] {
        let mut told = Told::new();
        told.runs(40, 900.0).runs(30, 170.0).runs(20, back);
        let found = slowdowns(&told);
        assert!(
            !found.is_empty() && found.iter().all(|found| (found / factor - 1.0).abs() < 0.1),
            "{found:?}"
        );
        assert_eq!(told.open().iter().map(|(kind, _)| *kind).collect::<Vec<_>>(), [Kind::Slower]);
    }
}

#[test]
fn a_slowdown_of_a_first_weekend_is_told_against_weekdays() {
    // From Wednesday on; the first run of Saturday is the 144th.
    for usual_on_saturday in [0, 6, 20] {
        let mut told = Told::new();
        told.runs(144 + usual_on_saturday, 200.0).runs(200, 320.0);
        let found = slowdowns(&told);
        assert!(!found.is_empty() && found.iter().all(|factor| *factor > 1.4), "{found:?}\n{}", told.lines());
    }
}

#[test]
fn what_failed_from_its_first_run_on_did_not_begin_to_fail() {
    let mut told = Told::new();
    for _ in 0..14 {
        told.ended(Status::Failed, 100.0);
    }
    assert_eq!(told.lines(), "");
    told.runs(30, 100.0);
    assert_eq!(told.lines(), "");
}
