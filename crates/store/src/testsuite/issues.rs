//! Issues of queries.

use std::sync::Arc;

use queryscope_issues::limits::NOTES_MAX;
use queryscope_issues::{
    Action, Condition, Kind, Note, Observed, Outcome, Person, Refusal, SeenChange, SeenRun, SeenSignal,
    Signal, State,
};

use super::batch::batch;
use super::evaluation::{HOLDER, TTL, found, key, started};
use super::subject::{ALL, Subject, Subjects};
use crate::commits::Heard;
use crate::diagnosis::{Evaluation, QueryKey};
use crate::filter::Is;
use crate::issues::{
    IssueCount, IssueMoved, IssuePlace, IssueRecord, IssueStep, IssuesRequest, NoteAdded, ObservedQuery,
};

fn seen_change(kind: Kind, since: i64, wall_ms_a_day: f64) -> SeenChange {
    SeenChange {
        good_unix_ns: Some(since - 1),
        id: format!("{}-{since}", kind.name()),
        kind,
        since_unix_ns: since,
        since_query_id: format!("{since:04}"),
        environment: Some("prod".into()),
        host: None,
        usual_wall_ms: Some(100.0),
        severity: 2.5,
        wall_ms_a_day,
    }
}

fn seen_run(number: i64, wall_ms: f64) -> SeenRun {
    SeenRun {
        started_unix_ns: number,
        id: format!("{number:04}"),
        wall_ms,
        outcome: Outcome::Finished,
        environment: Some("prod".into()),
        host: None,
        engine_version: Some("1.0".into()),
        program_version: None,
        call_site: None,
        findings: Vec::new(),
    }
}

fn observed(key: &QueryKey, unix_ns: i64, runs: Vec<SeenRun>, open: Vec<SeenChange>) -> ObservedQuery {
    ObservedQuery { key: key.clone(), seen: vec![Observed { unix_ns, runs, open, ..Observed::default() }] }
}

async fn record(s: &Subject, issues: Vec<ObservedQuery>) {
    assert!(s.store.evaluation_lease(HOLDER, TTL).await.expect("a store"));
    let evaluation = Evaluation { holder: HOLDER.into(), issues, ..Evaluation::default() };
    assert!(s.store.record_evaluation(evaluation).await.expect("a store"));
}

/// Opens the issue of a query that a run brings; gives back its id.
pub(super) async fn open(s: &Subject, key: &QueryKey, kind: Kind, run: i64, wall_ms_a_day: f64) -> String {
    let change = seen_change(kind, run, wall_ms_a_day);
    record(s, vec![observed(key, 1_000 + run, vec![seen_run(run, 250.0)], vec![change])]).await;
    format!("issue-{}-{run:04}", kind.name().replace('_', "-"))
}

async fn find(s: &Subject, id: &str) -> IssueRecord {
    s.store.issue(id).await.expect("a store").expect("an issue")
}

pub(super) async fn act(s: &Subject, id: &str, action: Action) -> IssueMoved {
    let person = Person { by: Some("Ada ä".into()), comment: Some("why".into()) };
    s.store.move_issue(id, IssueStep::Act(action, person), 5_000).await.expect("a store")
}

/// Its states, in the order it had them.
fn states(record: &IssueRecord) -> Vec<&'static str> {
    record.transitions.iter().map(|moved| moved.to.name()).collect()
}

pub(super) async fn is_sound(s: &Subject) {
    assert_eq!(s.store.verify().await.expect("judged"), [""; 0]);
}

pub(super) fn an_evaluation_moves_issues_with_what_it_saw(subjects: &Subjects) {
    subjects.one(async |s| {
        let a = key("a");
        let evaluation = Evaluation {
            holder: "somebody else".into(),
            issues: vec![observed(&a, 1, vec![], vec![seen_change(Kind::Slower, 5, 9e4)])],
            ..Evaluation::default()
        };
        assert!(s.store.evaluation_lease(HOLDER, TTL).await.expect("a store"));
        if s.is_shared() {
            assert!(!s.store.record_evaluation(evaluation).await.expect("a store"));
            assert_eq!(
                s.store.issues(IssuesRequest { limit: 9, ..IssuesRequest::default() }).await.expect("read"),
                []
            );
        }
        let slower = open(s, &a, Kind::Slower, 5, 90_000.4).await;
        let opened = find(s, &slower).await;
        assert_eq!((opened.issue.label.as_str(), opened.issue.service.as_deref()), ("a", None));
        assert_eq!(
            (opened.issue.wall_ms_a_day, opened.issue.engine_version.as_deref()),
            (90_000.0, Some("1.0"))
        );
        assert_eq!((states(&opened), opened.notes.len()), (vec!["open"], 0));
        // Figures move without a transition.
        let change = seen_change(Kind::Slower, 5, 95_000.0);
        record(s, vec![observed(&a, 1_006, vec![seen_run(6, 300.0)], vec![change])]).await;
        let grown = find(s, &slower).await;
        assert_eq!((grown.issue.wall_ms_a_day, &grown.transitions), (95_000.0, &opened.transitions));
        // Another kind, and another query, are other issues.
        let both = vec![seen_change(Kind::Slower, 5, 95_000.0), seen_change(Kind::Failing, 7, 0.0)];
        let other = QueryKey { service: Some("etl".into()), ..key("a") };
        let of_other =
            observed(&other, 1_007, vec![seen_run(8, 1.0)], vec![seen_change(Kind::DataGrew, 8, 2e3)]);
        record(s, vec![observed(&a, 1_007, vec![seen_run(7, 300.0)], both), of_other]).await;
        let counts = s.store.issue_counts().await.expect("a store");
        let mut counts: Vec<(Kind, State, u64)> =
            counts.iter().map(|&IssueCount { kind, state, count }| (kind, state, count)).collect();
        counts.sort_unstable();
        assert_eq!(counts, [Kind::Slower, Kind::Failing, Kind::DataGrew].map(|kind| (kind, State::Open, 1)));
        // It is resolved, and comes back as the same.
        let calm = (10..15).map(|number| seen_run(number, 100.0)).collect();
        record(s, vec![observed(&a, 2_000, calm, vec![])]).await;
        s.reopen().await;
        let back = seen_change(Kind::Slower, 20, 95_000.0);
        record(s, vec![observed(&a, 3_000, vec![seen_run(20, 400.0)], vec![back])]).await;
        let back = find(s, &slower).await;
        assert_eq!(states(&back), ["open", "resolved", "regressed"]);
        assert_eq!((back.issue.change.as_deref(), back.issue.moved_unix_ns), (Some("slower-20"), 3_000));
        // One evaluation sees a change begin and end, and another begin.
        let passed = key("passed");
        let part = |numbers: std::ops::Range<i64>, wall_ms, open: Option<i64>| Observed {
            unix_ns: 4_000,
            runs: numbers.map(|number| seen_run(number, wall_ms)).collect(),
            open: open.map(|since| seen_change(Kind::Slower, since, 95_000.0)).into_iter().collect(),
            signals: Vec::new(),
        };
        let seen = vec![
            part(30..32, 100.0, None),
            part(32..37, 300.0, Some(32)),
            part(37..43, 100.0, None),
            part(43..46, 300.0, Some(43)),
        ];
        record(s, vec![ObservedQuery { key: passed, seen }]).await;
        let passed = find(s, "issue-slower-0032").await;
        assert_eq!(states(&passed), ["open", "resolved", "regressed"]);
        let numbers: Vec<u64> = passed.transitions.iter().map(|moved| moved.number).collect();
        assert_eq!((numbers, passed.issue.change.as_deref()), (vec![1, 2, 3], Some("slower-43")));
        is_sound(s).await;
    });
}

/// What a late run does, as an evaluation saw it.
fn late(key: &QueryKey, unix_ns: i64, run: &str, now: Signal) -> ObservedQuery {
    let signals = vec![SeenSignal { kind: Kind::Late, run: run.into(), now }];
    ObservedQuery { key: key.clone(), seen: vec![Observed { unix_ns, signals, ..Observed::default() }] }
}

fn lasts(severity: f64) -> Signal {
    Signal::Lasts {
        since_unix_ns: Some(1),
        good_unix_ns: None,
        environment: Some("prod".into()),
        host: Some("h".into()),
        engine_version: Some("1.0".into()),
        program_version: None,
        call_site: None,
        severity,
        wall_ms: 70_000.4,
        detail: "the run has run for 94 s".into(),
        findings: Vec::new(),
    }
}

pub(super) fn a_late_run_is_an_issue_until_it_ends(subjects: &Subjects) {
    subjects.one(async |s| {
        let key = key("a");
        record(s, vec![late(&key, 1, "00-a1", lasts(2.5))]).await;
        // Another collector saw the same.
        record(s, vec![late(&key, 2, "00-a1", lasts(2.5))]).await;
        let id = "issue-late-00a1";
        let IssueRecord { issue, transitions, .. } = find(s, id).await;
        assert_eq!((issue.change, issue.run.as_deref()), (None, Some("00-a1")));
        assert_eq!((issue.kind, issue.wall_ms_a_day, issue.transitions), (Kind::Late, 70_000.0, 1));
        assert_eq!(
            (transitions[0].change.as_deref(), &transitions[0].reason),
            (None, &issue.detail.expect("a text"))
        );
        // An evaluation of ended runs says nothing of it.
        record(s, vec![observed(&key, 3, vec![seen_run(1, 100.0)], Vec::new())]).await;
        record(s, vec![late(&key, 4, "00-a2", Signal::Over("another".into()))]).await;
        assert_eq!(find(s, id).await.issue.state, State::Open);
        record(s, vec![late(&key, 5, "00-a1", Signal::Over("the run finished after 99.0 s".into()))]).await;
        record(s, vec![late(&key, 6, "00-a1", lasts(9.0))]).await;
        record(s, vec![late(&key, 7, "00-a3", lasts(3.0))]).await;
        let back = find(s, id).await;
        assert_eq!(states(&back), ["open", "resolved", "regressed"]);
        assert_eq!(back.issue.run.as_deref(), Some("00-a3"));
        let request = IssuesRequest { kind: Some(Kind::Late), limit: 9, ..IssuesRequest::default() };
        let listed = s.store.issues(request).await.expect("a store");
        assert_eq!(listed, [back.issue]);
        is_sound(s).await;
    });
}

pub(super) fn people_move_issues(subjects: &Subjects) {
    subjects.one(async |s| {
        let id = open(s, &key("a"), Kind::Slower, 5, 9e4).await;
        for none in ["", "issue", "issue-slower-\0"] {
            assert_eq!(act(s, none, Action::Acknowledge).await, IssueMoved::Unknown);
            assert_eq!(s.store.issue(none).await.expect("a store"), None);
        }
        let IssueMoved::Moved(issue) = act(s, &id, Action::Acknowledge).await else { panic!("refused") };
        assert_eq!(find(s, &id).await.issue, *issue);
        let before = find(s, &id).await;
        let refused = act(s, &id, Action::Acknowledge).await;
        assert_eq!(refused, IssueMoved::Refused(Refusal::Already(State::Acknowledged)));
        assert_eq!(find(s, &id).await, before);
        act(s, &id, Action::Mute(Condition::TimesWorse(1.5))).await;
        act(s, &id, Action::Resolve).await;
        s.reopen().await;
        let IssueMoved::Moved(issue) = act(s, &id, Action::Reopen).await else { panic!("refused") };
        let whole = find(s, &id).await;
        assert_eq!(whole.issue, *issue);
        assert_eq!(states(&whole), ["open", "acknowledged", "muted", "resolved", "open"]);
        let last = &whole.transitions[4];
        assert_eq!(
            (last.by.as_deref(), last.comment.as_deref(), last.unix_ns),
            (Some("Ada ä"), Some("why"), 5_000)
        );
        is_sound(s).await;
    });
}

async fn ids(s: &Subject, request: IssuesRequest) -> String {
    let request = IssuesRequest { limit: if request.limit == 0 { ALL } else { request.limit }, ..request };
    let page = s.store.issues(request).await.expect("a store");
    page.iter().map(|issue| issue.label.as_str()).collect::<Vec<_>>().join(" ")
}

pub(super) fn the_most_at_stake_comes_first(subjects: &Subjects) {
    subjects.one(async |s| {
        assert_eq!(ids(s, IssuesRequest::default()).await, "");
        for (run, (label, cost)) in [("c", 5e3), ("b", 5e3), ("a", 7e3), ("d", 1e3)].into_iter().enumerate() {
            open(s, &key(label), Kind::Slower, 9 - run as i64, cost).await;
        }
        assert_eq!(ids(s, IssuesRequest::default()).await, "a b c d", "then by id");
        for limit in 1..=5 {
            let (mut joined, mut after) = (Vec::new(), None);
            loop {
                let request = IssuesRequest { after, limit, ..IssuesRequest::default() };
                let page = s.store.issues(request).await.expect("a store");
                assert!(page.len() <= limit);
                after = page.last().map(IssuePlace::of);
                if after.is_none() {
                    break;
                }
                joined.extend(page.into_iter().map(|issue| issue.label));
                assert!(joined.len() <= 4, "it does not end");
            }
            assert_eq!(joined.join(" "), "a b c d");
        }
    });
}

pub(super) fn each_filter_of_issues(subjects: &Subjects) {
    subjects.one(async |s| {
        let of = |project: &str, service: Option<&str>, label: &str| QueryKey {
            project: project.into(),
            service: service.map(Into::into),
            label: label.into(),
        };
        for (at, (key, kind)) in [
            (of("default", None, "a"), Kind::Slower),
            (of("p", None, "b"), Kind::Slower),
            (of("default", Some("etl"), "c"), Kind::Slower),
            (of("default", None, "d"), Kind::Failing),
            (of("default", None, "e"), Kind::DataGrew),
        ]
        .into_iter()
        .enumerate()
        {
            open(s, &key, kind, at as i64, 9_000.0 - at as f64).await;
        }
        act(s, "issue-slower-0001", Action::Resolve).await;
        act(s, "issue-failing-0003", Action::Acknowledge).await;
        let text = |text: &str| Some(text.to_owned());
        let value = |text: &str| Some(Is::Value(text.into()));
        let all = IssuesRequest::default;
        for (request, expected) in [
            (all(), "a b c d e"),
            (IssuesRequest { project: text("p"), ..all() }, "b"),
            (IssuesRequest { project: text("nobody"), ..all() }, ""),
            (IssuesRequest { service: value("etl"), ..all() }, "c"),
            (IssuesRequest { service: value("nobody"), ..all() }, ""),
            (IssuesRequest { service: Some(Is::Absent), ..all() }, "a b d e"),
            (IssuesRequest { label: text("d"), ..all() }, "d"),
            (IssuesRequest { label: text("D\0"), ..all() }, ""),
            (IssuesRequest { kind: Some(Kind::Failing), ..all() }, "d"),
            (IssuesRequest { states: vec![State::Open], ..all() }, "a c e"),
            (IssuesRequest { states: vec![State::Resolved, State::Acknowledged], ..all() }, "b d"),
            (IssuesRequest { states: vec![State::Muted], ..all() }, ""),
            (IssuesRequest { states: vec![State::Open], project: text("default"), limit: 2, ..all() }, "a c"),
            (
                IssuesRequest {
                    after: Some(IssuePlace { wall_ms_a_day: 9_000.0, id: "\0".into() }),
                    label: text("nobody"),
                    ..all()
                },
                "",
            ),
        ] {
            let asked = format!("{request:?}");
            assert_eq!(ids(s, request).await, expected, "{asked}");
        }
    });
}

pub(super) fn mutes_whose_time_is_over(subjects: &Subjects) {
    subjects.one(async |s| {
        let mut muted = Vec::new();
        for (at, until) in [9_000, 8_000, 7_000].into_iter().enumerate() {
            let id = open(s, &key(&at.to_string()), Kind::Slower, at as i64, 9e4).await;
            act(s, &id, Action::Mute(Condition::Time(until))).await;
            muted.push(id);
        }
        let due = async |unix_ns, limit| s.store.mutes_due(unix_ns, limit).await.expect("a store");
        assert_eq!(due(6_999, 9).await, [""; 0]);
        assert_eq!(due(8_000, 9).await, [muted[2].as_str(), &muted[1]]);
        assert_eq!(due(i64::MAX, 1).await, [muted[2].as_str()]);
        let end = async |id: &str, unix_ns| {
            s.store.move_issue(id, IssueStep::EndMute, unix_ns).await.expect("a store")
        };
        assert_eq!(end(&muted[2], 6_999).await, IssueMoved::Unchanged);
        assert!(
            matches!(end(&muted[2], 7_000).await, IssueMoved::Moved(issue) if issue.state == State::Open)
        );
        assert_eq!(end(&muted[2], 7_000).await, IssueMoved::Unchanged);
        assert_eq!(due(8_000, 9).await, [muted[1].as_str()]);
        act(s, &muted[1], Action::Resolve).await;
        assert_eq!(due(8_000, 9).await, [""; 0], "it is muted no longer");
        is_sound(s).await;
    });
}

pub(super) fn notes_are_kept_in_their_order(subjects: &Subjects) {
    subjects.one(async |s| {
        let id = open(s, &key("a"), Kind::Slower, 5, 9e4).await;
        let note = |unix_ns: i64, by: Option<&str>, text: &str| Note {
            unix_ns,
            by: by.map(Into::into),
            text: text.into(),
        };
        let notes = [note(9, None, "eins\nzwei ä"), note(3, Some("Ada"), "x"), note(3, Some("Ada"), "x")];
        for note in &notes {
            assert_eq!(s.store.note_issue(&id, note.clone()).await.expect("a store"), NoteAdded::Added);
        }
        s.reopen().await;
        assert_eq!(find(s, &id).await.notes, notes);
        for none in ["issue", "\0"] {
            assert_eq!(
                s.store.note_issue(none, notes[0].clone()).await.expect("a store"),
                NoteAdded::Unknown
            );
        }
        let mut full = find(s, &id).await;
        full.issue.id = "issue-full".into();
        full.issue.label = "full".into();
        full.notes = (0..NOTES_MAX as i64).map(|at| note(at, None, "x")).collect();
        assert_eq!(s.store.adopt_issues(vec![full]).await.expect("a store"), 1);
        let added = s.store.note_issue("issue-full", notes[0].clone()).await;
        assert_eq!(added.expect("a store"), NoteAdded::Full);
    });
}

pub(super) fn moves_are_told(subjects: &Subjects) {
    subjects.one(async |s| {
        open(s, &key("before"), Kind::Slower, 1, 9e4).await;
        let mut commits = s.store.commits();
        let id = open(s, &key("a"), Kind::Slower, 5, 9e4).await;
        let mut next = async || match commits.next().await {
            Some(Heard::Issues(issues)) => {
                issues.iter().map(|issue| (issue.id.clone(), issue.state)).collect::<Vec<_>>()
            }
            other => panic!("not told: {other:?}"),
        };
        assert_eq!(next().await, [(id.clone(), State::Open)]);
        // Neither figures nor a refusal nor a note are a move.
        let change = seen_change(Kind::Slower, 5, 8e4);
        record(s, vec![observed(&key("a"), 1_006, vec![seen_run(6, 300.0)], vec![change])]).await;
        act(s, &id, Action::Reopen).await;
        let note = Note { unix_ns: 1, by: None, text: "x".into() };
        s.store.note_issue(&id, note).await.expect("a store");
        act(s, &id, Action::Resolve).await;
        assert_eq!(next().await, [(id.clone(), State::Resolved)]);
        s.commit(batch(1).progress(1, [2])).await;
        assert!(matches!(commits.next().await, Some(Heard::Changes(_))), "nothing else was told");
    });
}

pub(super) fn moves_at_once_lose_nothing(subjects: &Subjects) {
    subjects.one(async |s| {
        let id: Arc<str> = open(s, &key("a"), Kind::Slower, 5, 9e4).await.into();
        let people = (0..8).map(|person| {
            let (store, id) = (Arc::clone(&s.store), Arc::clone(&id));
            tokio::spawn(async move {
                let mut moved = 0;
                for step in 0..6 {
                    let actions = [Action::Acknowledge, Action::Resolve, Action::Reopen];
                    let action = IssueStep::Act(actions[(person + step) % 3], Person::default());
                    let answer = store.move_issue(&id, action, 6_000).await.expect("a store");
                    moved += u64::from(matches!(answer, IssueMoved::Moved(_)));
                }
                moved
            })
        });
        let people: Vec<_> = people.collect();
        // The service meanwhile sees runs.
        for number in 6..12 {
            let change = seen_change(Kind::Slower, 5, 9e4);
            record(s, vec![observed(&key("a"), 7_000, vec![seen_run(number, 100.0)], vec![change])]).await;
        }
        let mut moved = 1;
        for person in people {
            moved += person.await.expect("no panic");
        }
        let whole = find(s, &id).await;
        let by_service =
            whole.transitions.iter().filter(|moved| moved.by.is_none() && moved.from.is_some()).count();
        assert!(by_service as u64 >= moved - 1);
        assert_eq!(whole.issue.transitions, whole.transitions.len() as u64);
        assert_eq!(queryscope_issues::problems(&whole.issue, &whole.transitions), [""; 0]);
        assert!(whole.transitions.len() as u64 >= moved);
    });
}

pub(super) fn issues_go_with_the_last_run_of_their_query(subjects: &Subjects) {
    subjects.one(async |s| {
        s.commit(batch(1).finished(1, 2, started("a", 100)).finished(2, 3, started("a", 900))).await;
        super::evaluation::record(s, vec![], vec![found("a", vec![])]).await;
        let id = open(s, &key("a"), Kind::Slower, 5, 9e4).await;
        s.store.note_issue(&id, Note { unix_ns: 1, by: None, text: "x".into() }).await.expect("a store");
        s.store.delete_before(500, ALL).await.expect("a store");
        assert_eq!(find(s, &id).await.notes.len(), 1, "a run is left");
        // What was found of the query may be found anew; what people did may not be lost with it.
        assert!(s.store.evaluation_lease(HOLDER, TTL).await.expect("a store"));
        assert!(s.store.forget_evaluation(HOLDER, &key("a")).await.expect("a store"));
        assert_eq!(states(&find(s, &id).await), ["open"]);
        s.store.delete_before(1_000, ALL).await.expect("a store");
        assert_eq!(s.store.issue(&id).await.expect("a store"), None);
        is_sound(s).await;
    });
}

pub(super) fn issues_that_were_resolved_long_ago_go(subjects: &Subjects) {
    subjects.one(async |s| {
        s.commit(batch(1).finished(1, 2, started("a", 100_000)).finished(2, 3, started("b", 100_000))).await;
        let resolved = open(s, &key("a"), Kind::Slower, 5, 9e4).await;
        let open = open(s, &key("b"), Kind::Slower, 6, 9e4).await;
        act(s, &resolved, Action::Resolve).await;
        s.store.delete_before(5_000, ALL).await.expect("a store");
        assert_eq!(ids(s, IssuesRequest::default()).await, "a b");
        s.store.delete_before(5_001, ALL).await.expect("a store");
        assert_eq!(ids(s, IssuesRequest::default()).await, "b");
        assert_eq!(states(&find(s, &open).await), ["open"]);
        is_sound(s).await;
    });
}

pub(super) fn issues_are_taken_over_once(subjects: &Subjects) {
    subjects.one(async |s| {
        let id = open(s, &key("a"), Kind::Slower, 5, 9e4).await;
        act(s, &id, Action::Acknowledge).await;
        let here = find(s, &id).await;
        let elsewhere = |id: &str, label: &str| {
            let mut record = here.clone();
            (record.issue.id, record.issue.label) = (id.into(), label.into());
            record.notes = vec![Note { unix_ns: 1, by: None, text: id.into() }];
            record
        };
        let records = vec![elsewhere("issue-1", "new"), elsewhere("issue-2", "a"), elsewhere(&id, "other")];
        assert_eq!(s.store.adopt_issues(records.clone()).await.expect("a store"), 1);
        assert_eq!(s.store.adopt_issues(records.clone()).await.expect("a store"), 0);
        let all = s.store.issue_records(None, ALL).await.expect("a store");
        assert_eq!(all, [records[0].clone(), here.clone()]);
        let page = async |after: Option<&str>, limit| {
            let page = s.store.issue_records(after.map(Into::into), limit).await.expect("a store");
            page.into_iter().map(|record| record.issue.id).collect::<Vec<_>>()
        };
        assert_eq!(page(None, 1).await, ["issue-1"]);
        assert_eq!(page(Some("issue-1"), 9).await, [id.as_str()]);
        assert_eq!(page(Some(&id), 9).await, [""; 0]);
        // It goes on where it was.
        act(s, "issue-1", Action::Resolve).await;
        assert_eq!(states(&find(s, "issue-1").await), ["open", "acknowledged", "resolved"]);
        is_sound(s).await;
    });
}
