//! When a mute ends, and which mutes are refused.

use queryscope_issues::{Action, Condition, Kind, Refusal, SeenRun, State, Version};

use crate::history::{History, SECOND, change, run, slow};

#[test]
fn a_mute_ends_with_its_time() {
    let mut history = slow();
    let until = history.now + 10 * SECOND;
    history.act(Action::Mute(Condition::Time(until))).expect("allowed");
    let issue = history.issue.as_mut().expect("one");
    assert_eq!((issue.muted_until_unix_ns(), issue.end_mute(until - 1)), (Some(until), None));
    let transition = issue.end_mute(until).expect("due");
    assert_eq!((transition.to, issue.mute.clone(), issue.end_mute(until)), (State::Open, None, None));
}

#[test]
fn a_mute_ends_when_it_is_as_much_worse() {
    let mut history = slow();
    history.act(Action::Mute(Condition::TimesWorse(2.0))).expect("allowed");
    history.runs(&[500.0; 2], Some(change(11, 5.0)));
    assert_eq!(history.state(), State::Muted);
    history.runs(&[600.0; 2], Some(change(11, 6.0)));
    assert_eq!(history.state(), State::Open);
    assert_eq!(
        history.reasons()[1..],
        ["muted until it is 2 times worse", "it is as much worse as its mute allows"]
    );
}

#[test]
fn a_mute_ends_with_another_version() {
    let mut history = slow();
    assert_eq!(
        history.act(Action::Mute(Condition::Other(Version::Program))).map_err(|error| error.to_string()),
        Err("until_other: no run of the query has named a version of the program".into())
    );
    history.act(Action::Mute(Condition::Other(Version::Engine))).expect("allowed");
    let unnamed = |number| SeenRun { engine_version: None, ..run(number, 300.0) };
    history.see(vec![unnamed(50), run(51, 300.0)], Some(change(11, 3.0)));
    assert_eq!(history.state(), State::Muted);
    let other = SeenRun { engine_version: Some("1.1".into()), ..run(52, 300.0) };
    history.see(vec![other], Some(change(11, 3.0)));
    assert_eq!(history.state(), State::Open);
    assert_eq!(history.reasons()[2], "a run of another version of the engine ended");
}

#[test]
fn a_mute_outlives_a_resolution_by_the_service() {
    let mut history = slow();
    history.act(Action::Mute(Condition::TimesWorse(10.0))).expect("allowed");
    history.runs(&[100.0; 5], None);
    assert_eq!(history.state(), State::Resolved);
    history.runs(&[300.0; 3], Some(change(19, 3.0)));
    assert_eq!(history.state(), State::Muted);
    history.act(Action::Resolve).expect("allowed");
    history.runs(&[300.0; 3], Some(change(22, 3.0)));
    assert_eq!(history.state(), State::Regressed, "a person said that it is over");
}

#[test]
fn a_mute_that_ends_at_once_or_never_is_refused() {
    let mut history = slow();
    let now = history.now;
    assert_eq!(history.act(Action::Mute(Condition::Time(now))), Err(Refusal::Past));
    for times in [1.0, 0.0, -2.0, 1_001.0, f64::NAN, f64::INFINITY] {
        assert_eq!(history.act(Action::Mute(Condition::TimesWorse(times))), Err(Refusal::Factor), "{times}");
    }
}

#[test]
fn a_mute_until_more_than_all_runs_fail_is_refused() {
    let mut history = slow();
    let mute = |history: &mut History, rate: f64, times: f64| {
        let issue = history.issue.as_mut().expect("one");
        (issue.kind, issue.severity) = (Kind::Failing, rate);
        history.act(Action::Mute(Condition::TimesWorse(times))).map_err(|refusal| refusal.to_string())
    };
    let refused = |says: &str| Err(format!("times_worse: {says}"));
    assert_eq!(
        mute(&mut history, 0.6, 2.0),
        refused("of a rate of failures of 60 % at most 1.66 is possible")
    );
    for rate in [0.996, 1.0] {
        let says = format!("a rate of failures of {} % cannot become so much worse", rate * 100.0);
        assert_eq!(mute(&mut history, rate, 1.01), refused(&says));
    }
    assert_eq!(history.state(), State::Open);
    for (rate, times) in [(0.6, 1.66), (0.5, 2.0), (1.0 / 3.0, 3.0)] {
        assert_eq!(mute(&mut history, rate, times), Ok(()), "{rate}");
    }
    let issue = history.issue.as_mut().expect("one");
    issue.kind = Kind::Slower;
    issue.severity = 3.0;
    history.act(Action::Mute(Condition::TimesWorse(900.0))).expect("times have no end");
}
