//! Issues over runs, and over whatever people do meanwhile.

use proptest::prelude::*;
use queryscope_issues::{
    Action, Actor, Condition, Issue, Kind, Moved, Observed, Outcome, Person, Refusal, SeenChange, SeenRun,
    SeenSignal, Signal, State, Transition, Version, observe, problems,
};

const QUERY: (&str, Option<&str>, &str) = ("default", Some("etl"), "orders/daily");
const SECOND: i64 = 1_000_000_000;

/// A run that starts at a second of its number.
fn run(number: i64, wall_ms: f64) -> SeenRun {
    SeenRun {
        started_unix_ns: number * SECOND,
        id: format!("run-{number:06}"),
        wall_ms,
        outcome: Outcome::Finished,
        environment: None,
        host: None,
        engine_version: Some("1.0".into()),
        program_version: None,
        call_site: None,
        findings: Vec::new(),
    }
}

/// A change of runs of 100 ms to some factor of it, from a run on.
fn change(since: i64, factor: f64) -> SeenChange {
    SeenChange {
        good_unix_ns: None,
        id: format!("slower-{since}"),
        kind: Kind::Slower,
        since_unix_ns: since * SECOND,
        since_query_id: format!("aa-{since}"),
        environment: None,
        host: None,
        usual_wall_ms: Some(100.0),
        severity: factor,
        wall_ms_a_day: 50_000.0,
    }
}

/// An issue with everything it went through.
#[derive(Debug, Default)]
struct History {
    issue: Option<Issue>,
    transitions: Vec<Transition>,
    /// The number of the last run.
    last: i64,
    now: i64,
}

impl History {
    /// Runs end while a change lasts, or none does.
    fn runs(&mut self, walls_ms: &[f64], open: Option<SeenChange>) -> &mut Self {
        let first = self.last + 1;
        self.last += walls_ms.len() as i64;
        let runs = walls_ms.iter().zip(first..).map(|(wall_ms, number)| run(number, *wall_ms)).collect();
        self.see(runs, open)
    }

    fn see(&mut self, runs: Vec<SeenRun>, open: Option<SeenChange>) -> &mut Self {
        self.now += SECOND;
        let seen =
            Observed { unix_ns: self.now, runs, open: open.into_iter().collect(), ..Observed::default() };
        if let Some(Moved { issue, transitions }) = observe(QUERY, Kind::Slower, self.issue.clone(), &seen) {
            self.issue = Some(issue);
            self.transitions.extend(transitions);
        }
        self
    }

    fn act(&mut self, action: Action) -> Result<(), Refusal> {
        self.now += SECOND;
        let person = Person { by: Some("Ada".into()), comment: None };
        let transition = self.issue.as_mut().expect("an issue").act(action, person, self.now)?;
        self.transitions.push(transition);
        Ok(())
    }

    fn state(&self) -> State {
        self.issue.as_ref().expect("an issue").state
    }

    fn reasons(&self) -> Vec<&str> {
        self.transitions.iter().map(|transition| transition.reason.as_str()).collect()
    }
}

/// Brings an issue into a state.
type Bring = fn(&mut History);

/// A query that became three times as slow at its eleventh run.
fn slow() -> History {
    let mut history = History::default();
    history.runs(&[100.0; 10], None).runs(&[300.0; 3], Some(change(11, 3.0)));
    assert_eq!(history.state(), State::Open);
    history
}

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

/// What a late run does.
fn signal(history: &mut History, run: &str, now: Signal) {
    history.now += SECOND;
    let signals = vec![SeenSignal { kind: Kind::Late, run: run.into(), now }];
    let seen = Observed { unix_ns: history.now, signals, ..Observed::default() };
    if let Some(Moved { issue, transitions }) = observe(QUERY, Kind::Late, history.issue.clone(), &seen) {
        history.issue = Some(issue);
        history.transitions.extend(transitions);
    }
}

fn lasts(severity: f64, version: &str) -> Signal {
    Signal::Lasts {
        since_unix_ns: Some(1),
        good_unix_ns: None,
        environment: None,
        host: None,
        engine_version: Some(version.into()),
        severity,
        wall_ms: 10_000.0,
        detail: "the run has run for long".into(),
        findings: Vec::new(),
    }
}

#[test]
fn a_late_run_is_an_issue_until_it_ends() {
    let mut history = History::default();
    signal(&mut history, "a", Signal::Over("it ended".into()));
    assert!(history.issue.is_none(), "what was no issue is none when it ends");
    signal(&mut history, "a", lasts(2.0, "1.0"));
    signal(&mut history, "a", lasts(2.6, "1.0"));
    assert_eq!(history.issue.as_ref().map(|issue| issue.severity), Some(2.6));
    // Another run takes its place while it is open: the same issue, and no news.
    signal(&mut history, "b", lasts(2.0, "1.0"));
    signal(&mut history, "a", Signal::Over("it ended".into()));
    assert_eq!(history.state(), State::Open);
    history.act(Action::Resolve).expect("open");
    signal(&mut history, "b", lasts(4.0, "1.0"));
    assert_eq!(history.state(), State::Resolved, "a person called this run over");
    signal(&mut history, "c", lasts(2.0, "1.0"));
    assert_eq!(history.state(), State::Regressed);
    signal(&mut history, "c", Signal::Over("it ended".into()));
    let reasons =
        ["the run has run for long", "resolved", "it is back: the run has run for long", "it ended"];
    assert_eq!(history.reasons(), reasons);
    assert_eq!(problems(history.issue.as_ref().expect("an issue"), &history.transitions), [""; 0]);
}

/// What an evaluation of runs with these findings does, where those of a signal are new by then.
fn warned(
    history: &mut History,
    numbers: impl IntoIterator<Item = i64>,
    findings: &str,
    new: Option<(i64, &str)>,
) {
    history.now += SECOND;
    let rules = |text: &str| text.split_whitespace().map(ToOwned::to_owned).collect::<Vec<_>>();
    let runs = numbers.into_iter().map(|number| SeenRun { findings: rules(findings), ..run(number, 1.0) });
    let signals = new.into_iter().map(|(since, new)| {
        let Signal::Lasts { environment, host, engine_version, good_unix_ns, wall_ms, .. } =
            lasts(1.0, "1.0")
        else {
            unreachable!("it lasts")
        };
        let (since_unix_ns, findings) = (Some(since * SECOND), rules(new));
        let (severity, detail) = (findings.len() as f64, format!("runs warn of {new}"));
        let now = Signal::Lasts {
            environment,
            host,
            engine_version,
            since_unix_ns,
            good_unix_ns,
            severity,
            wall_ms,
            detail,
            findings,
        };
        SeenSignal { kind: Kind::NewFinding, run: format!("run-{since}"), now }
    });
    let (runs, signals) = (runs.collect(), signals.collect());
    let seen = Observed { unix_ns: history.now, runs, signals, ..Observed::default() };
    if let Some(Moved { issue, transitions }) = observe(QUERY, Kind::NewFinding, history.issue.clone(), &seen)
    {
        history.issue = Some(issue);
        history.transitions.extend(transitions);
    }
}

#[test]
fn a_new_finding_is_an_issue_until_runs_are_without_it() {
    let mut history = History::default();
    warned(&mut history, 1..=3, "spilling", None);
    assert!(history.issue.is_none(), "it is not new");
    warned(&mut history, 4..=6, "spilling", Some((4, "spilling")));
    // The next evaluations see the same.
    warned(&mut history, 7..=8, "spilling", Some((4, "spilling")));
    assert_eq!(history.transitions.len(), 1);
    warned(&mut history, 9..=12, "", None);
    warned(&mut history, 13..=13, "spilling", None);
    warned(&mut history, 14..=17, "skew", None);
    assert_eq!(history.state(), State::Open, "four in a row without it");
    warned(&mut history, 18..=18, "", None);
    assert_eq!(history.state(), State::Resolved);
    // What it is about comes back, and so does the issue.
    warned(&mut history, 19..=22, "spilling", None);
    assert_eq!(history.state(), State::Resolved, "four in a row");
    warned(&mut history, 23..=23, "spilling", None);
    assert_eq!(history.state(), State::Regressed);
    let reasons = [
        "runs warn of spilling",
        "the last 5 runs do not warn of spilling",
        "it is back: the last 5 runs warn of spilling",
    ];
    assert_eq!(history.reasons(), reasons);
    assert_eq!(problems(history.issue.as_ref().expect("an issue"), &history.transitions), [""; 0]);
}

#[test]
fn who_acknowledged_a_finding_is_told_of_another() {
    let mut history = History::default();
    warned(&mut history, 1..=3, "spilling", Some((1, "spilling")));
    history.act(Action::Acknowledge).expect("open");
    warned(&mut history, 4..=4, "spilling", Some((1, "spilling")));
    assert_eq!(history.state(), State::Acknowledged);
    warned(&mut history, 5..=7, "spilling skew", Some((5, "skew")));
    let issue = history.issue.clone().expect("an issue");
    assert_eq!(
        (issue.state, &issue.findings[..]),
        (State::Open, &["skew".to_owned(), "spilling".into()][..])
    );
    assert_eq!((issue.severity, issue.findings_in_words().as_str()), (2.0, "skew and spilling"));
    assert_eq!(history.reasons()[2], "there are others: runs warn of skew");
    // With a third there are 1.5 times as many.
    history.act(Action::Mute(Condition::TimesWorse(1.5))).expect("open");
    warned(&mut history, 8..=10, "spilling skew", Some((1, "spilling")));
    assert_eq!(history.state(), State::Muted);
    warned(&mut history, 11..=13, "spilling skew slow", Some((11, "slow")));
    assert_eq!(history.state(), State::Open);
    // Called over by a person: the same runs are no news, another finding is.
    history.act(Action::Resolve).expect("open");
    warned(&mut history, 14..=14, "slow", Some((11, "slow")));
    assert_eq!(history.state(), State::Resolved);
    warned(&mut history, 15..=17, "other", Some((15, "other")));
    let issue = history.issue.clone().expect("an issue");
    assert_eq!((issue.state, &issue.findings[..]), (State::Regressed, &["other".to_owned()][..]));
    assert_eq!(problems(&issue, &history.transitions), [""; 0]);
}

#[test]
fn a_mute_of_late_runs_ends_as_it_says() {
    let mut history = History::default();
    signal(&mut history, "a", lasts(2.0, "1.0"));
    history.act(Action::Mute(Condition::TimesWorse(2.0))).expect("open");
    signal(&mut history, "a", lasts(3.9, "1.0"));
    assert_eq!(history.state(), State::Muted);
    signal(&mut history, "a", lasts(4.0, "1.0"));
    assert_eq!(history.state(), State::Open);
    history.act(Action::Mute(Condition::Other(Version::Engine))).expect("open");
    signal(&mut history, "a", Signal::Over("it ended".into()));
    signal(&mut history, "b", lasts(2.0, "1.0"));
    assert_eq!(history.state(), State::Muted, "a mute outlives a resolution");
    signal(&mut history, "c", lasts(2.0, "1.1"));
    assert_eq!(history.state(), State::Open);
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
