//! What is told of versions and hosts that came near a change, and of runs that disprove them.

use std::sync::Arc;

use queryscope_diagnosis::{Account, CauseKind, Quantity, RunFeatures, Transition};

use crate::told::{Told, id};

/// A stretch of runs: how many, of which version, of how many milliseconds.
type Stretch<'s> = (usize, &'s str, f64);

fn told(stretches: &[Stretch<'_>]) -> Told {
    let mut told = Told::new();
    for &(count, version, wall_ms) in stretches {
        of_version(&mut told, count, version, wall_ms);
    }
    told
}

fn of_version(told: &mut Told, count: usize, version: &str, wall_ms: f64) {
    for _ in 0..count {
        let run = made(told, wall_ms);
        told.take(RunFeatures { program_version: Some(version.into()), ..run });
    }
}

/// A run whose scan takes 60 ms: the rest is of the aggregation.
fn made(told: &mut Told, wall_ms: f64) -> RunFeatures {
    let mut run = told.made(wall_ms, 1e6);
    let scan_ns = run.wall_ns as f64 / wall_ms * 60.0;
    run.nodes[0].busy_ns = Quantity::new(scan_ns as u64);
    run.nodes[1].busy_ns = Quantity::new((run.wall_ns as f64 - scan_ns * 1.1) as u64);
    run.sum_up();
    run
}

/// The versions that are named as causes, and all sentences.
fn named(told: &Told) -> (Vec<String>, String) {
    let causes = &told.change().causes;
    let versions = causes.iter().filter(|cause| cause.cause == CauseKind::ProgramVersion);
    let named = versions.filter_map(|cause| cause.dimension.as_ref()).map(|version| {
        let of = |side: &Option<String>| side.clone().unwrap_or_default();
        format!("{} {}", of(&version.before), of(&version.after))
    });
    let sentences: Vec<&str> = causes.iter().map(|cause| cause.sentence.as_str()).collect();
    (named.collect(), sentences.join("\n"))
}

#[test]
fn a_version_that_came_with_the_change_is_named() {
    let told = told(&[(30, "1", 100.0), (20, "2", 200.0)]);
    assert_eq!(told.change().since_query_id, id(30));
    assert_eq!(named(&told).0, ["1 2"]);
}

/// A machine that is free again, or taken, moves all nodes: a version that came at that run may be chance.
#[test]
fn a_version_is_not_said_to_be_why_where_all_nodes_moved() {
    let sentences = |before: (u64, u64), since: (u64, u64)| {
        let mut told = Told::new();
        for n in 0..50 {
            let (version, (scan_ms, rest_ms)) = if n < 30 { ("1", before) } else { ("2", since) };
            let mut run = made(&mut told, (scan_ms + rest_ms) as f64 * 1.1);
            let noise = run.wall_ns as f64 / ((scan_ms + rest_ms) as f64 * 1.1);
            run.nodes[0].busy_ns = Quantity::new((scan_ms as f64 * noise) as u64);
            run.nodes[1].busy_ns = Quantity::new((rest_ms as f64 * noise) as u64);
            run.sum_up();
            told.take(RunFeatures { program_version: Some(version.into()), ..run });
        }
        let (versions, sentences) = named(&told);
        assert_eq!(versions, ["1 2"], "{sentences}");
        sentences
    };
    let unsure =
        |word: &str| format!("All larger nodes are {word}: whether the processor is why, is not known");
    let faster = sentences((30, 60), (24, 30));
    assert!(faster.contains(&unsure("faster")), "{faster}");
    let slower = sentences((24, 30), (30, 60));
    assert!(slower.contains(&unsure("slower")), "{slower}");
    let one_node = sentences((30, 30), (30, 60));
    assert!(!one_node.contains("larger nodes"), "{one_node}");
}

/// Runs of the version before with which the slowdown ends are none of it.
#[test]
fn a_version_is_named_until_it_is_taken_back() {
    for slow in [5, 8, 20, 60] {
        let mut told = told(&[(30, "1", 100.0), (slow, "2", 200.0)]);
        let mut back = 0;
        while told.detector.open().next().is_some() {
            let (versions, sentences) = named(&told);
            assert_eq!(versions, ["1 2"], "{slow} runs, {back} as before: {sentences}");
            let after_ms = told.change().after.median_wall_ms.expect("runs");
            assert!((after_ms - 200.0).abs() < 7.0, "{slow} runs, {back} as before: {after_ms}");
            of_version(&mut told, 1, "1", 100.0);
            back += 1;
            assert!(back < 10, "{}", told.lines());
        }
        let Some(Transition::Closed(closed)) = told.transitions.last() else { panic!("{}", told.lines()) };
        assert_eq!(closed.causes[0].cause, CauseKind::ProgramVersion);
    }
}

/// One slow run of the version before is luck.
#[test]
fn one_outlier_disproves_no_version() {
    for at in [25, 29] {
        let told = told(&[(at, "1", 100.0), (1, "1", 210.0), (29 - at, "1", 100.0), (20, "2", 200.0)]);
        assert_eq!(told.change().since_query_id, id(30), "{at}");
        assert_eq!(named(&told).0, ["1 2"], "{at}");
    }
    let told =
        told(&[(30, "1", 100.0), (60, "2", 200.0), (1, "1", 210.0), (3, "1", 100.0), (20, "2", 200.0)]);
    assert_eq!(named(&told).0, ["1 2"]);
}

#[test]
fn a_version_that_came_after_the_slowdown_is_not_named() {
    for late in 2..=4 {
        let told = told(&[(30, "1", 100.0), (late, "1", 200.0), (50 - late, "2", 200.0)]);
        let (versions, sentences) = named(&told);
        assert_eq!(told.change().since_query_id, id(30), "{late} runs later");
        assert!(versions.is_empty() && !sentences.contains("version"), "{late} runs later: {sentences}");
    }
}

#[test]
fn a_version_that_ran_as_fast_as_before_is_not_named() {
    for early in 2..=3 {
        let told = told(&[(30, "1", 100.0), (early, "2", 100.0), (50, "2", 200.0)]);
        let (versions, sentences) = named(&told);
        assert_eq!(told.change().since_query_id, id(30 + early as u64), "{early} runs earlier");
        assert!(versions.is_empty() && !sentences.contains("version"), "{early} runs earlier: {sentences}");
    }
    let told = told(&[(20, "2", 100.0), (40, "1", 100.0), (20, "2", 200.0)]);
    assert!(named(&told).0.is_empty(), "it ran before");
}

#[test]
fn slow_runs_of_the_version_before_disprove_the_new_one() {
    let late = told(&[(30, "1", 100.0), (10, "1", 200.0), (100, "2", 200.0)]);
    assert!(named(&late).0.is_empty());
    assert_eq!(late.change().since_query_id, id(30));
    let mut mixed = told(&[(30, "1", 100.0)]);
    for n in 0..60 {
        of_version(&mut mixed, 1, if n % 12 == 3 { "1" } else { "2" }, 200.0);
    }
    assert!(named(&mixed).0.is_empty());
    // Runs of the version before that are as fast as before disprove nothing.
    let mut rolled_out = told(&[(30, "1", 100.0)]);
    for n in 0..60 {
        let (version, wall_ms) = if n % 12 == 3 { ("1", 100.0) } else { ("2", 200.0) };
        of_version(&mut rolled_out, 1, version, wall_ms);
    }
    assert_eq!(named(&rolled_out).0, ["1 2"]);
}

#[test]
fn the_version_before_is_the_one_that_most_runs_had() {
    let told = told(&[(29, "1", 100.0), (1, "3", 100.0), (20, "2", 200.0)]);
    assert_eq!(named(&told).0, ["1 2"]);
}

#[test]
fn a_version_is_said_to_have_come_at_the_same_run_only_where_it_did() {
    let of = |late: usize| {
        let mut told = told(&[(30, "1", 100.0)]);
        for n in 0..40 {
            let run = told.made(300.0, 3e6);
            let version = if n < late { "1" } else { "2" };
            told.take(RunFeatures { program_version: Some(version.into()), ..run });
        }
        named(&told).1
    };
    assert!(of(0).contains("The program's version changed at the same run, from 1 to 2"), "{}", of(0));
    assert!(!of(3).contains("version"), "{}", of(3));
}

#[test]
fn a_host_that_was_as_fast_before_is_not_named() {
    let on = |first: &str| {
        let mut told = Told::new();
        // A week on one host, since a host that never ran the query says nothing earlier.
        told.on(first, 20, 100.0).on("a", if first == "a" { 330 } else { 60 }, 100.0).on("b", 70, 200.0);
        told.change().causes.iter().any(|cause| cause.sentence.contains("runs on b"))
    };
    assert!(on("a") && !on("b"));
}

/// Two runs have the cause that the change puts down to a version only where both have their version of it.
#[test]
fn two_runs_of_one_version_are_not_told_apart_by_it() {
    let mut history = told(&[(30, "1", 100.0), (20, "2", 200.0)]);
    let causes = history.change().causes.clone();
    assert_eq!(causes[0].cause, CauseKind::ProgramVersion);
    let mut run = |version: &str, wall_ms: f64| {
        let run = made(&mut history, wall_ms);
        RunFeatures { program_version: Some(Arc::from(version)), ..run }
    };
    let (old, slow_old, new, slow_new) = (run("1", 100.0), run("1", 200.0), run("2", 100.0), run("2", 200.0));
    let tells = |base: &RunFeatures, run: &RunFeatures| {
        let account = Account::of(base, run, &causes);
        account.parts.iter().any(|part| part.cause == CauseKind::ProgramVersion)
    };
    assert!(tells(&old, &slow_new));
    assert!(!tells(&old, &slow_old) && !tells(&new, &slow_new));
}

#[test]
fn two_runs_have_the_cause_of_one_host_only_on_that_host() {
    let mut history = Told::new();
    for n in 0..90 {
        let slow = n >= 60 && n % 2 == 0;
        history.on(if n % 2 == 0 { "b" } else { "a" }, 1, if slow { 300.0 } else { 100.0 });
    }
    let causes = history.change().causes.clone();
    assert_eq!(causes[0].cause, CauseKind::Host);
    let mut run = |host: &str, wall_ms: f64| {
        let run = history.made(wall_ms, 1e6);
        RunFeatures { host: Some(Arc::from(host)), ..run }
    };
    let (base, on_a, on_b) = (run("b", 100.0), run("a", 300.0), run("b", 300.0));
    let tells = |run: &RunFeatures| {
        Account::of(&base, run, &causes).parts.iter().any(|part| part.cause == CauseKind::Host)
    };
    assert!(tells(&on_b) && !tells(&on_a));
}
