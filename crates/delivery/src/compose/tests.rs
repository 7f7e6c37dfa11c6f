use queryscope_issues::{Actor, Issue, Kind, Notice, State, Transition};
use serde_json::{Value, json};

use super::*;
use crate::secret::Secrets;

const FILE: &str = r#"
base_url = "https://q.example.com"
[receivers.hook]
type = "webhook"
url = "https://hooks.example.com"
[receivers.slack]
type = "slack"
url = "https://hooks.slack.com/x"
[receivers.pager]
type = "alertmanager"
url = "https://am.example.com"
[[routes]]
name = "hook"
receiver = "hook"
[[routes]]
name = "slack"
receiver = "slack"
[[routes]]
name = "pager"
receiver = "pager"
kinds = ["slower"]
[[routes]]
name = "hook again"
receiver = "hook"
kinds = ["slower", "data_grew"]
[[owners]]
label = "orders/**"
owner = "orders"
"#;

fn config() -> Config {
    Config::parse(FILE, Secrets::Read).expect("a file")
}

/// An issue of a label with some members.
#[expect(clippy::needless_pass_by_value, reason = "a literal is what it is given")]
pub(crate) fn issue(label: &str, members: Value) -> Issue {
    let mut all = json!({
        "id": format!("issue-slower-{label}"), "project": "default", "service": "etl", "label": label,
        "kind": "slower", "state": "open", "opened_unix_ns": 1, "moved_unix_ns": 2, "transitions": 1,
        "wall_ms_a_day": 1000.0, "severity": 2.34, "calm_runs": 0, "engine_version": "2.1.0",
    });
    for (name, value) in members.as_object().expect("members") {
        all[name] = value.clone();
    }
    serde_json::from_value(all).expect("an issue")
}

/// The notice of its last transition, by the service.
pub(crate) fn notice(label: &str, from: Option<State>, members: Value) -> Notice {
    let issue = issue(label, members);
    let (to, number) = (issue.state, issue.transitions);
    let (by, comment, change) = (None, None, None);
    let reason = "why".to_owned();
    let actor = Actor::Service;
    Notice {
        issue,
        transition: Transition { number, unix_ns: 2, from, to, actor, by, reason, comment, change },
    }
}

fn caused(causes: &[(&str, &str)]) -> Account {
    let causes = causes.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Account { causes, ..Account::default() }
}

fn opened(label: &str, causes: &[(&str, &str)]) -> (Notice, Account) {
    (notice(label, None, json!({})), caused(causes))
}

fn groups(made: &[Made]) -> Vec<Group> {
    Group::all(&made.iter().map(|made| made.message.clone()).collect::<Vec<_>>())
}

fn made(notices: &[(Notice, Account)], groups: &[Group]) -> Vec<Made> {
    compose(&config(), notices, groups, 9)
}

/// What a route gets: ids, whether they join, and sentences.
fn of_route<'m>(made: &'m [Made], route: &str) -> Vec<(&'m str, bool, &'m str)> {
    let of = made.iter().filter(|made| made.message.route == route);
    of.map(|made| (made.message.id.as_str(), made.joins, made.message.sentence.as_str())).collect()
}

#[test]
fn issues_of_one_cause_are_one_message() {
    let version = [("engine_version", "2.1.0"), ("host", "etl-3")];
    let notices: Vec<_> = ["a", "b", "c"].map(|label| opened(label, &version)).into();
    let made = made(&notices, &[]);
    let sentence = "3 queries slower since engine 2.1.0 on etl-3";
    for route in ["hook", "slack"] {
        assert_eq!(of_route(&made, route), [("issue-slower-a.1", false, sentence)]);
    }
    // Alertmanager groups by its own rules.
    assert_eq!(of_route(&made, "pager").len(), 3);
    assert_eq!(of_route(&made, "hook again").len(), 0, "a receiver is told once");
    let message = &made[0].message;
    assert_eq!((message.count, message.members.len()), (3, 3));
    assert_eq!(message.link.as_deref(), Some("https://q.example.com/"));
    assert_eq!(message.members[0].sentence, "a takes 2.3 times as long since engine 2.1.0 on etl-3");
    assert_eq!(Message::from_json(&message.to_json()).expect("a message"), *message);
}

#[test]
fn those_of_other_causes_are_messages_of_their_own() {
    let notices = [
        opened("a", &[("host", "etl-3")]),
        opened("b", &[("host", "etl-4")]),
        opened("c", &[("host", "etl-3")]),
        (notice("d", None, json!({"service": null})), caused(&[("deploy", "2.0")])),
        (notice("e", None, json!({"project": "p"})), caused(&[("host", "etl-3")])),
        (notice("f", Some(State::Open), json!({"state": "resolved"})), caused(&[("host", "etl-3")])),
    ];
    // The versions of their engine are no shared fact here.
    let notices = notices.map(|(mut notice, account)| {
        notice.issue.engine_version = None;
        (notice, account)
    });
    let made = made(&notices, &[]);
    let ids: Vec<&str> = of_route(&made, "slack").iter().map(|(id, ..)| *id).collect();
    assert_eq!(
        ids,
        ["issue-slower-a.1", "issue-slower-b.1", "issue-slower-d.1", "issue-slower-e.1", "issue-slower-f.1"]
    );
}

#[test]
fn issues_of_several_services_are_one_message_where_their_cause_is_one() {
    let of = |label: &str, service: Option<&str>, causes: &[(&str, &str)]| {
        (notice(label, None, json!({"service": service})), caused(causes))
    };
    let engine = [("engine_version", "polars 2.1.0"), ("host", "etl-3")];
    let found =
        made(&[of("a", Some("etl"), &engine), of("b", None, &engine), of("c", Some("web"), &engine)], &[]);
    let sentence = "3 queries slower since polars 2.1.0 on etl-3";
    assert_eq!(of_route(&found, "slack"), [("issue-slower-a.1", false, sentence)]);
    // One of another service joins later.
    let later = made(&[of("d", Some("app"), &engine)], &groups(&found));
    assert!(of_route(&later, "slack")[0].1);
    // A version of a program, a deploy, and a version of the engine that all runs have are no common cause.
    for name in ["deploy", "program_version"] {
        let found = made(&[of("a", Some("etl"), &[(name, "7")]), of("b", Some("web"), &[(name, "7")])], &[]);
        assert_eq!(of_route(&found, "slack").len(), 2, "{name}");
        let later = made(&[of("c", Some("app"), &[(name, "7")])], &groups(&found));
        assert!(!of_route(&later, "slack")[0].1, "{name}");
    }
}

#[test]
fn what_merely_runs_with_a_version_hides_no_cause() {
    let version = [("engine_version", "2.1.0")];
    // The runs of all have that version; x got slower for another reason.
    let found = made(&[opened("x", &[]), opened("a", &version), opened("b", &version)], &[]);
    let told: Vec<(&str, &str)> =
        of_route(&found, "slack").iter().map(|(id, _, sentence)| (*id, *sentence)).collect();
    assert_eq!(
        told,
        [
            ("issue-slower-a.1", "2 queries slower since engine 2.1.0"),
            ("issue-slower-x.1", "x takes 2.3 times as long"),
        ]
    );
    // Another of the same cause is no news.
    assert!(of_route(&made(&[opened("c", &version)], &groups(&found)), "slack")[0].1);
}

#[test]
fn the_end_of_a_mute_is_told_as_such() {
    let members = json!({"state": "open", "transitions": 3, "engine_version": null});
    let mut again = notice("a", Some(State::Muted), members);
    again.transition.reason = "the time of its mute is over".into();
    let found = made(&[(again, caused(&[]))], &[]);
    let sentence = "a takes 2.3 times as long; it was muted: the time of its mute is over";
    assert_eq!(of_route(&found, "slack"), [("issue-slower-a.3", false, sentence)]);
}

#[test]
fn of_a_late_run_is_told_what_became_of_it() {
    let members = json!({"kind": "late", "state": "resolved", "transitions": 2});
    let mut silent = notice("a", Some(State::Open), members);
    silent.transition.reason = "the late run is not heard of any more: nobody knows whether it ended".into();
    let found = made(&[(silent, caused(&[]))], &[]);
    let sentence = "a: the late run is not heard of any more: nobody knows whether it ended";
    assert_eq!(of_route(&found, "slack"), [("issue-slower-a.2", false, sentence)]);
}

#[test]
fn all_must_share_a_fact() {
    let pairs: [&[(&str, &str)]; 3] =
        [&[("host", "x")], &[("host", "x"), ("deploy", "t")], &[("deploy", "t")]];
    let mut notices: Vec<_> =
        ["a", "b", "c"].into_iter().zip(pairs).map(|(l, causes)| opened(l, causes)).collect();
    for (notice, _) in &mut notices {
        notice.issue.engine_version = None;
    }
    let found = made(&notices, &[]);
    let ids: Vec<&str> = of_route(&found, "hook").iter().map(|(id, ..)| *id).collect();
    assert_eq!(ids, ["issue-slower-a.1", "issue-slower-c.1"], "c shares nothing with a");
}

#[test]
fn what_comes_later_joins_by_a_cause_alone() {
    let version = [("engine_version", "2.1.0")];
    let first = made(&[opened("a", &version)], &[]);
    let groups = groups(&first);
    assert_eq!(groups.len(), 3, "one for each route");
    let later = made(&[opened("b", &version), opened("c", &[])], &groups);
    // People were told; programs are told of each.
    let of_slack = of_route(&later, "slack");
    assert_eq!(of_slack[0], ("issue-slower-b.1", true, "b takes 2.3 times as long since engine 2.1.0"));
    assert_eq!(of_slack[1], ("issue-slower-c.1", false, "c takes 2.3 times as long"));
    let joined = later.iter().find(|made| made.message.id == "issue-slower-b.1").expect("b");
    assert_eq!((joined.message.group.as_str(), joined.joins), ("issue-slower-a.1", false), "a webhook");
    // What is over, or is moved by a person, is no member of an alarm.
    let over = notice("a", Some(State::Open), json!({"state": "resolved", "transitions": 2}));
    let over = made(&[(over, caused(&version))], &groups);
    assert_eq!(of_route(&over, "slack"), [("issue-slower-a.2", false, "a: the slowdown is over: why")]);
}

#[test]
fn what_is_over_is_told_at_once_and_not_as_news_of_its_cause() {
    let over = |label: &str| {
        let members = json!({"state": "resolved", "transitions": 2});
        (notice(label, Some(State::Open), members), caused(&[("deploy", "2.0"), ("host", "etl-3")]))
    };
    let found = made(&[over("a"), over("b")], &[]);
    let sentence = "2 queries that got worse since deploy 2.0 on etl-3 are as before";
    assert_eq!(of_route(&found, "slack"), [("issue-slower-a.2", false, sentence)]);
}

#[test]
fn the_same_issue_again_is_news() {
    let version = [("engine_version", "2.1.0")];
    let twice = [
        opened("a", &version),
        (
            notice("a", Some(State::Resolved), json!({"state": "regressed", "transitions": 3})),
            caused(&version),
        ),
    ];
    let found = made(&twice, &[]);
    let sentences: Vec<&str> = of_route(&found, "slack").iter().map(|(.., sentence)| *sentence).collect();
    let one = "a takes 2.3 times as long since engine 2.1.0";
    assert_eq!(sentences, [one, "a takes 2.3 times as long again since engine 2.1.0"]);
}

#[test]
fn what_came_back_or_is_over_is_told_though_its_cause_was() {
    let host = [("host", "etl-3")];
    let groups = groups(&made(&[opened("a", &host), opened("b", &host)], &[]));
    for (state, members) in [
        (Some(State::Resolved), json!({"state": "regressed", "transitions": 3})),
        (Some(State::Muted), json!({"state": "open", "transitions": 4})),
        (Some(State::Open), json!({"state": "resolved", "transitions": 2})),
    ] {
        let again = made(&[(notice("a", state, members), caused(&host))], &groups);
        assert!(of_route(&again, "slack").iter().all(|(_, joins, _)| !joins), "{again:?}");
    }
    // Also beside a new one that joins the group.
    let back = notice("a", Some(State::Resolved), json!({"state": "regressed", "transitions": 3}));
    let both = made(&[opened("c", &host), (back, caused(&host))], &groups);
    let told: Vec<(&str, bool)> =
        of_route(&both, "slack").iter().map(|(id, joins, _)| (*id, *joins)).collect();
    assert_eq!(told, [("issue-slower-c.1", true), ("issue-slower-a.3", false)]);
}

#[test]
fn a_group_ends_an_hour_after_its_first_message() {
    let host = [("host", "etl-3")];
    let first = made(&[opened("a", &host)], &[]);
    let later = made(&[opened("b", &host)], &groups(&first));
    assert!(of_route(&later, "slack")[0].1);
    // Of the last hour is what joined alone.
    assert!(groups(&later).iter().all(|group| group.key.route == "pager"), "its alerts are groups of one");
}

#[test]
fn that_late_runs_are_on_one_host_is_no_cause() {
    let late = |label: &str| {
        let members =
            json!({"kind": "late", "detail": "it is late", "host": "etl-3", "engine_version": null});
        (notice(label, None, members), Account::default())
    };
    let first = made(&[late("a"), late("b")], &[]);
    assert_eq!(of_route(&first, "slack"), [("issue-slower-a.1", false, "2 queries late on etl-3")]);
    let later = made(&[late("c")], &groups(&first));
    assert_eq!(of_route(&later, "slack"), [("issue-slower-c.1", false, "c is late on etl-3: it is late")]);
}

#[test]
fn a_message_counts_what_it_is_about() {
    let host = [("host", "etl-3")];
    let mut failing = opened("a", &host);
    (failing.0.issue.kind, failing.0.issue.id) = (Kind::Failing, "issue-failing-a".into());
    let of_one = made(&[opened("a", &host), failing], &[]);
    assert_eq!(of_one[0].message.sentence, "2 issues: 1 slower, 1 failing on etl-3");
    let ended = |label: &str| {
        let members = json!({"kind": "late", "state": "resolved", "transitions": 2, "host": "etl-3"});
        (notice(label, Some(State::Open), members), caused(&[]))
    };
    // Their runs may have failed.
    let over = made(&[ended("a"), ended("b")], &[]);
    assert_eq!(over[0].message.sentence, "2 issues on etl-3 were resolved");
}

#[test]
fn what_is_over_lists_no_causes() {
    let over = notice("a", Some(State::Open), json!({"state": "resolved", "transitions": 2}));
    let account = Account { sentences: vec!["Sort takes 3.0x as long".into()], ..Account::default() };
    let over = made(&[(over, account)], &[]);
    assert_eq!(over[0].message.members[0].account, Vec::<String>::new());
}

#[test]
fn people_are_not_told_what_people_do() {
    let mut moved = notice("a", Some(State::Open), json!({"state": "acknowledged"}));
    (moved.transition.actor, moved.transition.by) = (Actor::Person, Some("Ada".into()));
    let found = made(&[(moved, Account::default())], &[]);
    let sentence = "a: the slowdown is acknowledged by Ada: why";
    assert_eq!(of_route(&found, "hook"), [("issue-slower-a.1", false, sentence)]);
    assert_eq!((of_route(&found, "slack").len(), of_route(&found, "pager").len()), (0, 1));
}

#[test]
fn what_people_do_is_said_once() {
    for (from, to, reason, comment, sentence) in [
        ("open", "acknowledged", "acknowledged", None, "is acknowledged by Ada"),
        (
            "open",
            "acknowledged",
            "acknowledged",
            Some("the new\n join"),
            "is acknowledged by Ada: the new join",
        ),
        ("open", "resolved", "resolved", None, "is resolved by Ada"),
        ("resolved", "open", "reopened", None, "is open again by Ada"),
        (
            "open",
            "muted",
            "muted until it is 3 times worse",
            Some("known"),
            "is muted by Ada until it is 3 times worse: known",
        ),
    ] {
        let mut moved = notice("a", State::from_name(from), json!({"state": to}));
        (moved.transition.actor, moved.transition.by) = (Actor::Person, Some("Ada".into()));
        (moved.transition.reason, moved.transition.comment) = (reason.into(), comment.map(Into::into));
        let found = made(&[(moved, Account::default())], &[]);
        let sentence = format!("a: the slowdown {sentence}");
        assert_eq!(of_route(&found, "hook"), [("issue-slower-a.1", false, sentence.as_str())]);
    }
}

#[test]
fn what_is_worse_than_was_acknowledged_is_told() {
    let mut worse = notice("a", Some(State::Acknowledged), json!({"transitions": 3}));
    worse.transition.reason = "it is 1.5 times as bad as when it was acknowledged".into();
    let groups = groups(&made(&[opened("a", &[("host", "etl-3")])], &[]));
    let found = made(&[(worse, Account::default())], &groups);
    let sentence = "a takes 2.3 times as long; it is 1.5 times as bad as when it was acknowledged";
    assert_eq!(of_route(&found, "slack"), [("issue-slower-a.3", false, sentence)]);
}

#[test]
fn that_it_is_over_is_said_once() {
    let mut over = notice("a", Some(State::Open), json!({"state": "resolved", "transitions": 2}));
    over.transition.reason = "the slowdown is over, and 5 more runs ended".into();
    let found = made(&[(over, Account::default())], &[]);
    let sentence = "a: the slowdown is over, and 5 more runs ended";
    assert_eq!(of_route(&found, "slack"), [("issue-slower-a.2", false, sentence)]);
}

#[test]
fn growth_is_told_where_a_route_names_it() {
    let grew = (
        notice("a", None, json!({"kind": "data_grew"})),
        Account { wall_ms: Some((1_500.0, 3_510.0)), ..Account::default() },
    );
    let found = made(&[grew], &[]);
    assert_eq!(found.len(), 1);
    let sentence = "a takes 2.3 times as long (3.5 s instead of 1.5 s), as its data grew";
    assert_eq!(of_route(&found, "hook again"), [("issue-slower-a.1", false, sentence)]);
}

#[test]
fn other_kinds_say_their_detail() {
    let late =
        json!({"kind": "late", "detail": "it has run for 5 min", "host": "etl-3", "engine_version": null});
    let failing = json!({"kind": "failing", "severity": 0.346, "engine_version": null});
    let found = made(
        &[(notice("a", None, late), Account::default()), (notice("b", None, failing), Account::default())],
        &[],
    );
    let sentences: Vec<&str> = of_route(&found, "hook").iter().map(|(.., sentence)| *sentence).collect();
    assert_eq!(sentences, ["a is late on etl-3: it has run for 5 min", "b: 35 % of its runs fail"]);
    let missing = json!({
        "kind": "missing", "detail": "no run for 3 h", "engine_version": null, "transitions": 2,
        "state": "resolved",
    });
    let back = made(&[(notice("c", Some(State::Open), missing), Account::default())], &[]);
    assert_eq!(of_route(&back, "hook"), [("issue-slower-c.2", false, "c: the absence is over: why")]);
    let finding = json!({
        "kind": "new_finding", "detail": "the last 3 runs warn of it", "findings": ["skew", "tiny_batches"],
    });
    let warned = made(&[(notice("d", None, finding), caused(&[("host", "h")]))], &[]);
    let sentence = "d warns of skew and tiny batches on h: the last 3 runs warn of it";
    assert_eq!(of_route(&warned, "hook"), [("issue-slower-d.1", false, sentence)]);
    let kinds = made(
        &[
            opened("a", &[("host", "h")]),
            (notice("b", None, json!({"kind": "failing"})), caused(&[("host", "h")])),
        ],
        &[],
    );
    assert_eq!(kinds[0].message.sentence, "2 queries: 1 slower, 1 failing on h");
}

#[test]
fn a_message_to_a_program_holds_a_hundred_members() {
    let many: Vec<_> = (0..250).map(|n| opened(&format!("{n:03}"), &[("host", "h")])).collect();
    let found = made(&many, &[]);
    let of = |route: &'static str| {
        found.iter().filter(move |made| made.message.route == route).map(|made| &made.message)
    };
    let hook: Vec<(u64, usize)> = of("hook").map(|message| (message.count, message.members.len())).collect();
    assert_eq!(hook, [(100, 100), (100, 100), (50, 50)]);
    assert!(of("hook").all(|message| message.group == "issue-slower-000.1"));
    let slack: Vec<_> = of("slack").map(|message| (message.count, message.members.len())).collect();
    assert_eq!(slack, [(250, 100)]);
    assert_eq!(config().owner_of(&issue("orders/x", json!({"kind": Kind::Late}))), Some("orders"));
}
