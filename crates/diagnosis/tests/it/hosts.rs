//! What is told of one host beside the others.

use queryscope_diagnosis::{CauseKind, Kind, RunFeatures, Transition};

use crate::told::{Told, id};

/// Three hosts by turns. Since run 60 the third takes three times as long, and the others so many times.
fn told(others: f64) -> Told {
    let mut told = Told::new();
    for n in 0..120 {
        let factor = match (n >= 60, n % 3 == 2) {
            (true, true) => 3.0,
            (true, false) => others,
            _ => 1.0,
        };
        told.on(["w1", "w2", "w3"][n % 3], 1, 100.0 * factor);
    }
    told
}

fn sentence(told: &Told) -> String {
    let change = told.change();
    assert_eq!(change.host.as_deref(), Some("w3"), "{:?}", change.causes);
    change.causes[0].sentence.clone()
}

#[test]
fn only_one_host_changed_where_the_others_did_not() {
    let said = sentence(&told(1.0));
    assert!(said.starts_with("Only runs on w3 changed: "), "{said}");
    let said = sentence(&told(1.2));
    assert!(said.starts_with("Runs on w3 changed most: "), "{said}");
    let said = sentence(&told(0.75));
    assert!(said.starts_with("Runs on w3 changed, and those on other hosts the other way: "), "{said}");
}

/// The number of runs since is that of the change, which grows with each run.
#[test]
fn the_sentence_counts_no_runs_that_the_change_counts() {
    let told = told(1.0);
    let said = sentence(&told);
    assert!(!said.contains(" in ") && said.contains("runs on other hosts take"), "{said}");
}

#[test]
fn one_slow_host_is_named() {
    let mut told = Told::new();
    for n in 0..90 {
        let slow = n >= 60 && n % 2 == 0;
        let run = told.made(if slow { 300.0 } else { 100.0 }, 1e6);
        let host = if n % 2 == 0 { "worker-2" } else { "worker-1" };
        told.take(RunFeatures { host: Some(host.into()), ..run });
    }
    let change = told.change();
    assert_eq!(change.host.as_deref(), Some("worker-2"));
    let first = &change.causes[0];
    assert_eq!((first.cause, change.since_query_id.clone()), (CauseKind::Host, id(60)));
    assert_eq!(first.dimension.as_ref().and_then(|dimension| dimension.after.as_deref()), Some("worker-2"));
    assert!(first.share > 0.9 && first.sentence.starts_with("Only runs on worker-2 changed"), "{first:?}");
}

#[test]
fn a_run_on_a_host_that_did_not_change_is_as_the_others_there() {
    let mut told = Told::new();
    for n in 0..90 {
        let slow = n >= 60 && n % 2 == 0;
        told.on(if n % 2 == 0 { "worker-2" } else { "worker-1" }, 1, if slow { 300.0 } else { 100.0 });
    }
    assert_eq!(told.change().host.as_deref(), Some("worker-2"));
    let walls = |runs: Vec<&RunFeatures>| {
        let ms = runs.iter().map(|run| run.wall_ns / 1_000_000);
        (runs.len(), ms.clone().min().unwrap_or_default(), ms.max().unwrap_or_default())
    };
    for host in [Some("worker-1"), Some("worker-3"), None] {
        let (count, _, most) = walls(told.detector.current(None, host));
        assert_eq!((count, most < 110), (75, true), "{host:?}: {most}");
        assert_eq!(walls(told.detector.usual(None, host)).0, 75);
    }
    let (count, least, _) = walls(told.detector.current(None, Some("worker-2")));
    assert_eq!((count, least > 280), (15, true), "{least}");
    assert!(walls(told.detector.usual(None, Some("worker-2"))).2 < 110);
}

#[test]
fn a_host_that_never_ran_it_is_no_change() {
    let mut told = Told::new();
    told.on("worker-1", 150, 100.0);
    // Hosts may take turns of some days.
    told.on("worker-2", 96, 180.0);
    assert_eq!(told.lines(), "");
    told.on("worker-1", 30, 100.0).on("worker-2", 30, 180.0);
    assert_eq!(told.lines(), "");
}

#[test]
fn a_move_to_a_slower_host_is_told_where_hosts_take_no_turns() {
    let mut told = Told::new();
    // 48 runs a day: one host for eight days.
    told.on("worker-1", 8 * 48, 100.0).on("worker-2", 50, 180.0);
    assert_eq!(told.lines(), "");
    told.on("worker-2", 15, 180.0);
    assert!(told.lines().starts_with("opened Slower since 384: "), "{}", told.lines());
}

#[test]
fn a_slow_run_on_new_hosts_is_one_where_hosts_are_alike() {
    let mut told = Told::new();
    for pod in 0..8 {
        told.on(&format!("pod-{pod}"), 12, 100.0);
    }
    told.on("pod-8", 12, 180.0);
    assert_eq!(told.open(), [(Kind::Slower, 12)]);
}

/// Jobs of a cluster have a host name of their own for each run.
#[test]
fn a_slowdown_is_told_where_each_run_has_a_host_of_its_own() {
    let mut told = Told::new();
    for pod in 0..60 {
        told.on(&format!("etl-{pod}"), 1, 100.0);
    }
    assert_eq!(told.lines(), "");
    for pod in 60..68 {
        told.on(&format!("etl-{pod}"), 1, 180.0);
    }
    assert_eq!(told.open(), [(Kind::Slower, 8)]);
    assert!(
        told.change().causes.iter().all(|cause| cause.cause != CauseKind::Host),
        "{:?}",
        told.change().causes
    );
}

#[test]
fn three_slow_runs_of_one_host_between_usual_ones_are_enough() {
    let mut told = Told::new();
    for n in 0..300 {
        told.on(if n % 2 == 0 { "worker-1" } else { "worker-2" }, 1, 100.0);
    }
    for _ in 0..2 {
        told.on("worker-1", 1, 200.0).on("worker-2", 1, 100.0);
    }
    assert_eq!(told.open(), []);
    told.on("worker-1", 1, 200.0);
    assert_eq!(told.open(), [(Kind::Slower, 3)]);
    assert_eq!(told.change().causes[0].cause, CauseKind::Host);
}

#[test]
fn the_one_host_of_a_query_is_no_cause() {
    let mut told = Told::new();
    told.runs(40, 200.0).runs(20, 500.0);
    for at in 0..60 {
        told.runs(1, if at % 3 == 0 { 500.0 } else { 200.0 });
    }
    for transition in &told.transitions {
        let (Transition::Opened(change) | Transition::Updated(change) | Transition::Closed(change)) =
            transition;
        assert_eq!(change.host, None, "{}", told.lines());
    }
}
