//! Messages to real receivers.

mod alertmanager;
mod http;
mod mail;

use std::time::{Duration, SystemTime};

use queryscope_delivery::{Account, Config, Message, Secrets, compose};
use queryscope_issues::Notice;
use serde_json::{Value, json};

/// Now: a receiver compares times with its own clock.
#[expect(clippy::disallowed_methods, reason = "the receivers are programs with clocks of their own")]
fn now() -> SystemTime {
    SystemTime::now()
}

fn unix_ns(time: SystemTime) -> i64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).expect("after 1970");
    i64::try_from(since.as_nanos()).expect("before 2262")
}

fn config(text: &str) -> Config {
    Config::parse(text, Secrets::Read).unwrap_or_else(|problems| panic!("{problems:?}"))
}

/// The notice of an issue that opened a minute ago, and is now in a state.
fn notice(label: &str, state: &str, number: u64) -> Notice {
    let opened = unix_ns(now() - Duration::from_mins(1));
    let issue = json!({
        "id": format!("issue-slower-{label}"), "project": "default", "service": "etl", "label": label,
        "kind": "slower", "state": state, "opened_unix_ns": opened, "moved_unix_ns": unix_ns(now()),
        "transitions": number, "wall_ms_a_day": 1000.0, "severity": 2.34, "calm_runs": 0, "host": "etl-3",
    });
    let from: Value = if number == 1 { Value::Null } else { json!("open") };
    let transition = json!({
        "number": number, "unix_ns": unix_ns(now()), "from": from, "to": state, "actor": "service", "reason": "why",
    });
    serde_json::from_value(json!({"issue": issue, "transition": transition})).expect("a notice")
}

/// The message of the first route for a notice.
fn message(config: &Config, notice: Notice) -> Message {
    let account = Account { sentences: vec!["more rows: ä < b".into()], ..Account::default() };
    compose(config, &[(notice, account)], &[], unix_ns(now())).remove(0).message
}
