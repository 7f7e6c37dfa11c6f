//! Issues over runs, and over whatever people do meanwhile.

use proptest::prelude::*;
use queryscope_issues::{
    Action, Actor, Condition, Issue, Kind, Observed, Outcome, Person, SeenChange, SeenRun, State, Version,
    observe, problems,
};

use crate::history::{History, QUERY, SECOND, change, run, slow};

/// Brings an issue into a state.
type Bring = fn(&mut History);

#[test]
fn an_issue_opens_with_a_confirmed_change_and_not_below_the_floor() {
    let mut history = History::default();
    history.runs(&[100.0; 10], None);
    assert_eq!(history.issue, None);
    let little = SeenChange { wall_ms_a_day: 999.0, ..change(11, 3.0) };
    history.runs(&[300.0; 3], Some(little.clone()));
    assert_eq!(history.issue, None, "too little is at stake");
    history.runs(&[300.0], Some(SeenChange { wall_ms_a_day: 1_000.4, ..little }));
    let issue = history.issue.as_ref().expect("an issue");
    assert_eq!(
        (issue.id.as_str(), issue.state, issue.wall_ms_a_day),
        ("issue-slower-aa11", State::Open, 1_000.0)
    );
    assert_eq!(history.reasons(), ["the change slower-11 was confirmed"]);
    assert_eq!(history.transitions[0].actor, Actor::Service);
}

#[test]
fn failures_have_no_floor() {
    let failing = SeenChange { kind: Kind::Failing, wall_ms_a_day: 0.0, ..change(3, 0.9) };
    let seen = Observed { unix_ns: 1, runs: vec![], open: vec![failing], ..Observed::default() };
    let moved = observe(QUERY, Kind::Failing, None, &seen).expect("an issue");
    let failed = |number| SeenRun { outcome: Outcome::Failed, ..run(number, 1.0) };
    let after = |issue: &Issue, runs| {
        let seen = Observed { unix_ns: 2, runs, open: vec![], ..Observed::default() };
        observe(QUERY, Kind::Failing, Some(issue.clone()), &seen).expect("runs").issue
    };
    let runs = |failed_at: Option<i64>| {
        let one = |number| if Some(number) == failed_at { failed(number) } else { run(number, 1.0) };
        (1..=4).map(one).collect::<Vec<_>>()
    };
    let issue = after(&moved.issue, runs(Some(2)));
    assert_eq!((issue.state, issue.calm_runs), (State::Open, 2));
    let issue = after(&issue, (5..=7).map(|number| run(number, 1.0)).collect());
    assert_eq!(issue.state, State::Resolved);
}

#[test]
fn five_runs_within_a_tenth_of_before_resolve_it() {
    let mut history = slow();
    history.runs(&[100.0, 105.0, 110.0, 90.0], None);
    assert_eq!((history.state(), history.issue.as_ref().expect("one").calm_runs), (State::Open, 4));
    history.runs(&[99.0], None);
    assert_eq!(history.state(), State::Resolved);
    assert_eq!(history.reasons()[1], "the last 5 runs took at most 10 % longer than before");
}

#[test]
fn runs_of_another_environment_name_no_version() {
    let mut history = slow();
    let staged = |number| SeenRun {
        environment: Some("staging".into()),
        program_version: Some("0.9".into()),
        call_site: Some("staging.py".into()),
        ..run(number, 100.0)
    };
    let named = |number| SeenRun { program_version: Some("1.1".into()), ..run(number, 300.0) };
    history.see(vec![named(50), staged(51)], Some(change(11, 3.0)));
    let issue = history.issue.as_ref().expect("one");
    assert_eq!((issue.program_version.as_deref(), issue.call_site.as_deref()), (Some("1.1"), None));
}

#[test]
fn of_several_environments_the_one_with_the_most_at_stake_counts() {
    let of = |environment: &str, number, wall_ms_a_day| SeenChange {
        environment: Some(environment.to_owned()),
        wall_ms_a_day,
        ..change(number, 3.0)
    };
    let (prod, dev) = (of("prod", 5, 9_000.0), of("dev", 3, 2_000.0));
    let seen = |number, open: &[&SeenChange]| Observed {
        unix_ns: number,
        runs: vec![SeenRun { environment: open[0].environment.clone(), ..run(number, 300.0) }],
        open: open.iter().map(|&change| change.clone()).collect(),
        ..Observed::default()
    };
    let move_on = |known, seen| observe(QUERY, Kind::Slower, known, &seen).expect("it moves");
    let moved = move_on(None, seen(9, &[&dev, &prod]));
    assert_eq!(moved.issue.environment.as_deref(), Some("prod"));
    let moved = move_on(Some(moved.issue), seen(10, &[&dev]));
    assert_eq!((moved.issue.environment.as_deref(), moved.transitions.len()), (Some("dev"), 0));
    // A person says that it is over: what began later brings it back, however little it is.
    let mut issue = moved.issue;
    issue.act(Action::Resolve, Person::default(), 11).expect("resolved");
    let later = of("prod", 11, 1_500.0);
    let moved = move_on(Some(issue), seen(14, &[&dev, &later]));
    assert_eq!((moved.issue.state, moved.issue.change), (State::Regressed, Some(later.id)));
}

#[test]
fn runs_of_another_environment_or_host_hide_none_that_started_before_them() {
    let is_prod = |run: SeenRun| SeenRun { environment: Some("prod".into()), host: Some("a".into()), ..run };
    let elsewhere = [
        |run: SeenRun| SeenRun { environment: Some("dev".into()), host: Some("a".into()), ..run },
        |run: SeenRun| SeenRun { environment: Some("prod".into()), host: Some("b".into()), ..run },
    ];
    for elsewhere in elsewhere {
        let mut history = History::default();
        let slow = SeenChange { environment: Some("prod".into()), host: Some("a".into()), ..change(2, 3.0) };
        history.see((1..=5).map(|number| is_prod(run(number, 300.0))).collect(), Some(slow));
        // Runs of the other are short: they start later than the one that ends last.
        for number in 6..=10 {
            history.see(vec![elsewhere(run(number + 100, 1.0)), is_prod(run(number, 100.0))], None);
        }
        assert_eq!(history.state(), State::Resolved);
        assert_eq!(history.reasons()[1], "the last 5 runs took at most 10 % longer than before");
    }
}

#[test]
fn what_ends_after_a_resolution_is_of_no_issue() {
    let mut history = slow();
    history.runs(&[&[100.0; 5][..], &[300.0; 6]].concat(), None);
    assert_eq!(history.state(), State::Resolved);
    // The next change began after it was resolved, and was confirmed later.
    history.runs(&[300.0], Some(change(19, 3.0)));
    assert_eq!(history.state(), State::Regressed);
    assert_eq!(
        history.reasons()[1..],
        [
            "the last 5 runs took at most 10 % longer than before",
            "it is back: the change slower-19 was confirmed"
        ]
    );
}

#[test]
fn runs_that_open_an_issue_are_counted() {
    let mut history = History::default();
    history.runs(&[100.0; 10], None).runs(&[300.0, 300.0, 300.0, 100.0, 100.0], Some(change(11, 3.0)));
    assert_eq!(history.issue.as_ref().expect("an issue").calm_runs, 2);
    history.runs(&[100.0; 3], None);
    assert_eq!(history.state(), State::Resolved);
}

#[test]
fn a_change_that_lasts_resolves_nothing() {
    let mut history = slow();
    history.runs(&[100.0; 9], Some(change(11, 3.0)));
    assert_eq!(history.state(), State::Open);
}

#[test]
fn runs_of_the_past_move_the_figures_of_its_change_alone() {
    let mut history = slow();
    let more = SeenChange { wall_ms_a_day: 90_000.0, ..change(11, 3.2) };
    history.see(vec![run(12, 330.0)], Some(more));
    let issue = history.issue.clone().expect("an issue");
    assert_eq!((issue.wall_ms_a_day, issue.severity, issue.calm_runs), (90_000.0, 3.2, 0));
    history.see(vec![run(12, 330.0)], Some(SeenChange { wall_ms_a_day: 99_000.0, ..change(5, 9.0) }));
    assert_eq!(history.issue, Some(issue));
    assert_eq!(history.transitions.len(), 1);
}

#[test]
fn one_slow_run_begins_the_count_anew() {
    let mut history = slow();
    history.runs(&[100.0; 4], Some(change(11, 3.0))).runs(&[111.0], None).runs(&[100.0; 3], None);
    assert_eq!(history.state(), State::Open);
    // Where runs scatter, five of any time after the end of the change are enough.
    history.runs(&[130.0], None);
    assert_eq!(history.state(), State::Resolved);
    assert_eq!(history.reasons()[1], "the slowdown is over, and 5 more runs ended");
}

#[test]
fn runs_that_say_nothing_are_not_counted() {
    let mut history = slow();
    let foreign = |number| SeenRun { environment: Some("test".into()), ..run(number, 100.0) };
    let cancelled = |number| SeenRun { outcome: Outcome::Cancelled, ..run(number, 1.0) };
    let failed = |number| SeenRun { outcome: Outcome::Failed, ..run(number, 1.0) };
    history.see((100..110).map(foreign).collect(), None).see((110..120).map(cancelled).collect(), None);
    history.see((120..124).map(failed).collect(), None);
    let issue = history.issue.clone().expect("an issue");
    assert_eq!((issue.state, issue.calm_runs), (State::Open, 0));
    // Nor is a run that was counted before.
    history.see((100..124).map(|number| run(number, 100.0)).collect(), None);
    assert_eq!(history.issue, Some(issue));
}

#[test]
fn a_resolved_one_that_comes_back_is_the_same() {
    let mut history = slow();
    let id = history.issue.as_ref().expect("one").id.clone();
    history.runs(&[100.0; 5], None);
    history.runs(&[250.0; 3], Some(change(19, 2.5)));
    let issue = history.issue.as_ref().expect("one");
    assert_eq!((issue.state, &issue.id, issue.change.as_deref()), (State::Regressed, &id, Some("slower-19")));
    assert_eq!(history.reasons()[2], "it is back: the change slower-19 was confirmed");
    assert_eq!(problems(issue, &history.transitions), [""; 0]);
}

#[test]
fn what_a_person_called_over_comes_back_after_five_more_bad_runs() {
    let mut history = slow();
    history.act(Action::Resolve).expect("allowed");
    history.runs(&[300.0; 4], Some(change(11, 3.0)));
    assert_eq!(history.state(), State::Resolved);
    history.runs(&[100.0, 300.0], Some(change(11, 3.0)));
    assert_eq!(history.state(), State::Regressed);
    assert_eq!(history.reasons()[2], "it is back: 5 runs since it was resolved are no better");
}

#[test]
fn runs_of_the_past_bring_nothing_back() {
    let mut history = slow();
    history.runs(&[100.0; 5], None);
    history.see((11..14).map(|number| run(number, 300.0)).collect(), Some(change(11, 3.0)));
    assert_eq!(history.state(), State::Resolved);
}

#[test]
fn every_action_in_every_state() {
    let acts =
        [Action::Acknowledge, Action::Mute(Condition::TimesWorse(2.0)), Action::Resolve, Action::Reopen];
    let states: [(&str, Bring); 5] = [
        ("open", |_| {}),
        ("acknowledged", |history| history.act(Action::Acknowledge).expect("allowed")),
        ("muted", |history| history.act(Action::Mute(Condition::TimesWorse(3.0))).expect("allowed")),
        ("resolved", |history| history.act(Action::Resolve).expect("allowed")),
        ("regressed", |history| {
            history.runs(&[100.0; 5], None).runs(&[300.0; 3], Some(change(19, 3.0)));
        }),
    ];
    let mut table = Vec::new();
    for (name, bring) in states {
        for action in acts {
            let mut history = slow();
            bring(&mut history);
            assert_eq!(history.state().name(), name);
            let before = history.issue.clone();
            match history.act(action) {
                Ok(()) => table.push(format!("{name} -> {}", history.state().name())),
                Err(refusal) => {
                    assert_eq!(history.issue, before, "a refusal changes nothing");
                    table.push(format!("{name}: {refusal}"));
                }
            }
        }
    }
    let expected = "\
open -> acknowledged
open -> muted
open -> resolved
open: the issue is open already
acknowledged: the issue is acknowledged already
acknowledged -> muted
acknowledged -> resolved
acknowledged -> open
muted -> acknowledged
muted -> muted
muted -> resolved
muted -> open
resolved: the issue is resolved: reopen it first
resolved: the issue is resolved: reopen it first
resolved: the issue is resolved already
resolved -> open
regressed -> acknowledged
regressed -> muted
regressed -> resolved
regressed: the issue is regressed already
";
    assert_eq!(table.join("\n") + "\n", expected);
}

#[test]
fn who_acknowledged_is_told_of_a_change_that_is_much_worse() {
    let mut history = slow();
    history.act(Action::Acknowledge).expect("open");
    // Figures of its change move, and a further change that is little worse is the same.
    history.runs(&[400.0; 3], Some(change(11, 6.0)));
    history.runs(&[400.0; 3], Some(change(17, 4.4)));
    assert_eq!(history.state(), State::Acknowledged);
    history.runs(&[500.0; 3], Some(change(20, 4.5)));
    assert_eq!(history.state(), State::Open);
    assert_eq!(history.reasons()[2], "it is 1.5 times as bad as when it was acknowledged");
    let issue = history.issue.as_ref().expect("one");
    assert_eq!((issue.severity, issue.change.as_deref()), (4.5, Some("slower-20")));
    assert_eq!(history.transitions[2].change.as_deref(), Some("slower-20"));
    // An open one gets worse without a word.
    history.runs(&[5_000.0; 3], Some(change(23, 50.0)));
    assert_eq!((history.state(), history.transitions.len()), (State::Open, 3));
    // What gives way to the one before is no worse.
    history.act(Action::Acknowledge).expect("open");
    history.runs(&[500.0; 3], Some(change(20, 4.5))).runs(&[5_000.0; 3], Some(change(23, 60.0)));
    assert_eq!(history.state(), State::Acknowledged);
    assert_eq!(problems(history.issue.as_ref().expect("an issue"), &history.transitions), [""; 0]);
}

#[test]
fn an_issue_comes_back_from_a_store_as_it_was() {
    let mut history = slow();
    history.act(Action::Mute(Condition::Other(Version::Engine))).expect("allowed");
    let issue = history.issue.expect("one");
    assert_eq!(Issue::from_json(&issue.to_json()).expect("an issue"), issue);
    assert!(Issue::from_json("{}").is_err());
}

/// What may happen to an issue.
#[derive(Debug, Clone)]
enum Step {
    Runs { slow: bool, count: usize, lasts: bool, anew: bool },
    Act(u8),
    EndMute,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (any::<bool>(), 0_usize..7, any::<bool>(), any::<bool>())
            .prop_map(|(slow, count, lasts, anew)| Step::Runs { slow, count, lasts, anew }),
        (0_u8..6).prop_map(Step::Act),
        Just(Step::EndMute),
    ]
}

proptest! {
    #[test]
    fn no_step_loses_history(steps in prop::collection::vec(step(), 0..60)) {
        let mut history = slow();
        let mut since = 11;
        let id = history.issue.as_ref().expect("one").id.clone();
        for step in steps {
            let before = history.transitions.clone();
            let state = history.state();
            match step {
                Step::Runs { slow, count, lasts, anew } => {
                    if anew {
                        since = history.last + 1;
                    }
                    let walls_ms = vec![if slow { 300.0 } else { 100.0 }; count];
                    history.runs(&walls_ms, lasts.then(|| change(since, 3.0)));
                }
                Step::Act(which) => {
                    let action = match which {
                        0 => Action::Acknowledge,
                        1 => Action::Resolve,
                        2 => Action::Reopen,
                        3 => Action::Mute(Condition::Time(history.now + 3 * SECOND)),
                        4 => Action::Mute(Condition::TimesWorse(2.0)),
                        _ => Action::Mute(Condition::Other(Version::Engine)),
                    };
                    let known = history.issue.clone();
                    if history.act(action).is_err() {
                        prop_assert_eq!(&history.issue, &known);
                    }
                }
                Step::EndMute => {
                    let now = history.now;
                    let ended = history.issue.as_mut().and_then(|issue| issue.end_mute(now));
                    history.transitions.extend(ended);
                }
            }
            let issue = history.issue.as_ref().expect("one");
            prop_assert_eq!(&issue.id, &id);
            prop_assert!(history.transitions.starts_with(&before));
            prop_assert_eq!(problems(issue, &history.transitions), Vec::<String>::new());
            if history.transitions.len() == before.len() {
                prop_assert_eq!(issue.state, state);
            }
            prop_assert_eq!(&Issue::from_json(&issue.to_json()).expect("an issue"), issue);
        }
    }
}
