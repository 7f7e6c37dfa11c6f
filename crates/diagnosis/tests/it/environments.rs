//! Queries that run in several environments.

use queryscope_diagnosis::{Change, Detector, Kind, RunFeatures, Saved, State, Status};

use crate::told::Told;

#[test]
fn runs_of_another_environment_are_another_series() {
    let mut told = Told::new();
    told.runs(40, 100.0);
    for _ in 0..20 {
        let run = told.made(300.0, 1e6);
        told.take(RunFeatures { environment: Some("dev".into()), ..run });
    }
    assert_eq!(told.open(), []);
}

/// Runs of two environments in turns: those in `prod` take 100 ms, those in `dev` 10 ms, each some times as long.
fn in_turns(told: &mut Told, count: usize, (prod, dev): (f64, f64)) {
    for _ in 0..count {
        for (environment, wall_ms) in [("prod", 100.0 * prod), ("dev", 10.0 * dev)] {
            let run = told.made(wall_ms, 1e6);
            told.take(RunFeatures { environment: Some(environment.into()), ..run });
        }
    }
}

fn in_environment<'t>(told: &'t Told, environment: &str) -> Vec<&'t Change> {
    told.detector.open().filter(|change| change.environment.as_deref() == Some(environment)).collect()
}

#[test]
fn environments_that_change_have_a_change_each() {
    let mut told = Told::new();
    in_turns(&mut told, 40, (1.0, 1.0));
    in_turns(&mut told, 8, (3.0, 1.0));
    in_turns(&mut told, 8, (3.0, 3.0));
    for (environment, usual_ms) in [("prod", 100.0), ("dev", 10.0)] {
        let [change] = in_environment(&told, environment)[..] else { panic!("{}", told.lines()) };
        assert_eq!((change.kind, change.state), (Kind::Slower, State::Open));
        assert!((change.before.median_wall_ms.expect("runs") / usual_ms - 1.0).abs() < 0.05, "{change:?}");
        assert!((2.8..3.2).contains(&change.factor.expect("medians")), "{change:?}");
        assert!(change.cost.extra_wall_ms > 0.0, "{:?}", change.cost);
    }
    // One is over, the other lasts, also after a restart.
    in_turns(&mut told, 10, (1.0, 3.0));
    let saved: Saved =
        serde_json::from_str(&serde_json::to_string(&told.detector.save()).expect("JSON")).expect("JSON");
    told.detector =
        Detector::restore(saved, told.detector.runs().cloned().collect::<Vec<_>>()).expect("restored");
    assert_eq!(in_environment(&told, "prod").len(), 0, "{}", told.lines());
    let [change] = in_environment(&told, "dev")[..] else { panic!("{}", told.lines()) };
    assert_eq!((change.state, change.cost.runs), (State::Open, 18));
    // What is over in the one does not hide what begins in the other.
    in_turns(&mut told, 10, (1.0, 1.0));
    assert_eq!(told.open(), [], "{}", told.lines());
}

#[test]
fn failures_of_environments_are_told_apart() {
    let mut told = Told::new();
    in_turns(&mut told, 40, (1.0, 1.0));
    for n in 0..20 {
        let run = told.made(100.0, 1e6);
        let environment = if n % 2 == 0 { "prod" } else { "dev" };
        let environment = Some(environment.into());
        told.take(RunFeatures { status: Status::Failed, environment, ..run });
    }
    for environment in ["prod", "dev"] {
        let [change] = in_environment(&told, environment)[..] else { panic!("{}", told.lines()) };
        assert_eq!((change.kind, change.after.failed), (Kind::Failing, 10));
    }
}

#[test]
fn more_environments_than_are_kept_change_nothing() {
    let mut told = Told::new();
    for environment in 0..20 {
        for n in 0..20 {
            let run = told.made(if n < 10 { 100.0 } else { 300.0 }, 1e6);
            told.take(RunFeatures { environment: Some(format!("env-{environment}").into()), ..run });
        }
    }
    assert_eq!(told.open().len(), 16, "{}", told.lines());
}
