//! Issues of late runs and of new findings.

use queryscope_issues::{
    Action, Condition, Kind, Moved, Observed, SeenRun, SeenSignal, Signal, State, Version, observe, problems,
};

use crate::history::{History, QUERY, SECOND, run};

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
        program_version: None,
        call_site: None,
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
            program_version: None,
            call_site: None,
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
fn a_mute_that_ended_while_a_finding_was_away_is_over() {
    // It comes back with runs of the same finding, or with another one.
    for back in ["spilling", "skew"] {
        let mut history = History::default();
        warned(&mut history, 1..=3, "spilling", Some((1, "spilling")));
        let until = Condition::Time(history.now + 2 * SECOND);
        history.act(Action::Mute(until)).expect("open");
        warned(&mut history, 4..=8, "", None);
        assert_eq!(history.state(), State::Resolved);
        history.now += 10 * SECOND;
        let new = (back == "skew").then_some((9, "skew"));
        warned(&mut history, 9..=13, back, new);
        assert_eq!(history.state(), State::Regressed, "{back}");
        assert_eq!(history.issue.expect("an issue").mute, None);
    }
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

/// What a late run of this version of the program does.
fn of_program(severity: f64, version: &str) -> Signal {
    let Signal::Lasts { since_unix_ns, good_unix_ns, environment, host, wall_ms, detail, findings, .. } =
        lasts(severity, "1.0")
    else {
        unreachable!("it lasts")
    };
    Signal::Lasts {
        since_unix_ns,
        good_unix_ns,
        environment,
        host,
        engine_version: None,
        program_version: Some(version.into()),
        call_site: Some("/srv/orders.py".into()),
        severity,
        wall_ms,
        detail,
        findings,
    }
}

#[test]
fn an_issue_of_a_run_knows_its_program_and_file_and_what_is_news() {
    let mut history = History::default();
    signal(&mut history, "a", of_program(2.0, "7.1"));
    let issue = history.issue.clone().expect("an issue");
    assert_eq!(
        (issue.program_version.as_deref(), issue.call_site.as_deref()),
        (Some("7.1"), Some("/srv/orders.py"))
    );
    assert_eq!([2.0, 2.4, 2.5].map(|severity| issue.is_news(severity)), [false, false, true]);
    history.act(Action::Mute(Condition::TimesWorse(1.1))).expect("open");
    let muted = history.issue.clone().expect("an issue");
    assert_eq!([2.1, 2.25].map(|severity| muted.is_news(severity)), [false, true], "the mute waits for less");
    history.act(Action::Mute(Condition::Other(Version::Program))).expect("its runs name one");
    signal(&mut history, "a", of_program(2.6, "7.1"));
    assert_eq!(history.state(), State::Muted);
    signal(&mut history, "b", of_program(2.0, "7.2"));
    assert_eq!(history.state(), State::Open);
    let reasons = history.reasons();
    assert_eq!(reasons.last(), Some(&"a run of another version of the program started"));
}
