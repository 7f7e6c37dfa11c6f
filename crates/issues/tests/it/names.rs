//! Names that are stored, and what `check` says of a history that does not fit.

use queryscope_issues::{
    Action, Actor, Condition, Issue, Kind, Observed, Person, SeenChange, State, Transition, Version, observe,
    problems,
};

#[test]
fn every_name_is_read_as_what_wrote_it() {
    for kind in Kind::ALL {
        assert_eq!(Kind::from_name(kind.name()), Some(kind));
    }
    for state in State::ALL {
        assert_eq!(State::from_name(state.name()), Some(state));
    }
    for actor in Actor::ALL {
        assert_eq!(Actor::from_name(actor.name()), Some(actor));
        assert_eq!(serde_json::to_value(actor).expect("JSON"), actor.name());
    }
    assert_eq!((Kind::from_name("x"), State::from_name(""), Actor::from_name("x")), (None, None, None));
}

/// An issue that was just opened, and its history.
fn opened() -> (Issue, Vec<Transition>) {
    let change = SeenChange {
        good_unix_ns: None,
        id: "slower-1".into(),
        kind: Kind::Slower,
        since_unix_ns: 1,
        since_query_id: "aa-1".into(),
        environment: None,
        host: None,
        usual_wall_ms: Some(100.0),
        severity: 2.0,
        wall_ms_a_day: 50_000.0,
    };
    let seen = Observed { open: vec![change], ..Observed::default() };
    let moved = observe(("default", None, "orders"), Kind::Slower, None, &seen).expect("it opens");
    (moved.issue, moved.transitions)
}

#[test]
fn a_mute_says_what_it_waits_for() {
    let until = |condition| {
        let (mut issue, _) = opened();
        issue.engine_version = Some("1.0".into());
        issue.act(Action::Mute(condition), Person::default(), 5).expect("it is open").reason
    };
    assert_eq!(until(Condition::Time(1_795_847_646_123_456_789)), "muted until 2026-11-28T06:34:06Z");
    assert_eq!(until(Condition::TimesWorse(1.5)), "muted until it is 1.5 times worse");
    assert_eq!(
        until(Condition::Other(Version::Engine)),
        "muted until another version of the engine than 1.0"
    );
}

#[test]
fn a_history_that_does_not_fit_is_told() {
    let (issue, transitions) = opened();
    assert!(problems(&issue, &transitions).is_empty());
    assert_eq!(problems(&issue, &[]), ["it made 1 transitions, 0 are there"]);
    let renumbered = Transition { number: 2, ..transitions[0].clone() };
    assert_eq!(problems(&issue, &[renumbered]), ["its transition 1 is not there"]);
    let mut other = issue;
    other.state = State::Muted;
    assert_eq!(
        problems(&other, &transitions),
        ["it is muted, its last transition says otherwise", "it is muted until nothing"]
    );
}
