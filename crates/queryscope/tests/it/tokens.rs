//! `queryscope token`, beside a service that runs.

use std::path::Path;
use std::time::Duration;

use queryscope_collector::hash_token;
use uuid::Uuid;

use crate::common::events::Stream;
use crate::common::{Ended, Running, Service, hex, queryscope, wait_for};

fn token(data: &Path, args: &[&str]) -> Ended {
    queryscope(["token"].iter().chain(args).copied().chain(["--data", &data.to_string_lossy()]))
}

/// Waits until a token is answered with this status.
fn wait_for_status(service: &Service, token: &str, status: u16) {
    let batch = Stream::new().batch(&[]);
    wait_for("a token to be taken over", || (service.post_as(token, &batch).status == status).then_some(()));
}

#[test]
fn a_token_works_soon_after_it_is_added_and_no_more_soon_after_it_is_revoked() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    let made = token(folder.path(), &["add", "nightly", "--project", "etl"]).success();
    let secret = made.trim_end();
    assert!(secret.starts_with("qs_") && !secret.contains(char::is_whitespace), "{made:?}");
    wait_for_status(&service, secret, 202);

    let mut stream = Stream::new();
    let event = stream.finished(Uuid::now_v7(), "load");
    assert_eq!(service.post_as(secret, &stream.batch(&[event])).counts(), (1, 0));
    assert_eq!(service.queries("project=etl")[0]["label"], "load");
    assert!(service.queries("project=default").is_empty());

    assert_eq!(token(folder.path(), &["revoke", "nightly"]).success(), "");
    wait_for_status(&service, secret, 401);
    assert_eq!(service.queries("project=etl").len(), 1, "what it sent stays");
}

#[test]
fn the_list_has_names_projects_and_times_and_no_secrets() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    let secrets: Vec<String> = [["add", "b", "--project", "etl"], ["add", "a", "--project", "bi"]]
        .map(|args| token(folder.path(), &args).success().trim_end().to_owned())
        .into();
    let list = token(folder.path(), &["list"]).success();
    let columns: Vec<Vec<&str>> = list.lines().map(|line| line.split('\t').collect()).collect();
    let [[a, bi, made, ..], [b, etl, _, scope, expires, used]] =
        [&columns[0][..], &columns[1][..]].map(|row| <[&str; 6]>::try_from(row).expect("six columns"));
    assert_eq!((scope, expires, used), ("ingest", "-", "-"));
    assert_eq!((a, bi, b, etl, columns.len()), ("a", "bi", "b", "etl", 2));
    assert!(made.len() == 20 && made.starts_with("20") && made.ends_with('Z'), "{made}");
    for secret in &secrets {
        let hash = hex(&hash_token(secret));
        assert!(!list.contains(secret.trim_start_matches("qs_")) && !list.contains(&hash[..16]), "{list}");
    }
    service.stop();
    let database = std::fs::read(folder.path().join("queryscope.db")).expect("the database");
    let holds = |text: &[u8]| database.windows(text.len()).any(|window| window == text);
    assert!(secrets.iter().all(|secret| !holds(secret.as_bytes())), "a token is stored as its hash alone");
    assert!(secrets.iter().all(|secret| holds(&hash_token(secret))));
}

#[test]
fn a_name_is_taken_once_and_a_name_that_is_not_there_is_said_to_be_so() {
    let folder = tempfile::tempdir().expect("a folder");
    token(folder.path(), &["add", "ci"]).success();
    let taken = token(folder.path(), &["add", "ci"]).failure(1);
    assert!(taken.contains("there is a token \"ci\" already: revoke it first"), "{taken}");
    let unknown = token(folder.path(), &["revoke", "cd"]).failure(1);
    assert!(unknown.contains("there is no token \"cd\": queryscope token list shows all"), "{unknown}");
    assert_eq!(token(folder.path(), &["list"]).success().lines().count(), 1);
}

#[test]
fn names_of_tokens_and_projects_are_letters_digits_and_a_few_marks() {
    let folder = tempfile::tempdir().expect("a folder");
    let long = "x".repeat(65);
    let says = "expected 1 to 64 letters, digits, '.', '_' or '-', not beginning with '.'";
    for wrong in ["", " ", "a\tb", "a b", "../../x", ".hidden", "a/b", "ä", "a\u{202e}b", &long] {
        let add = [&["add", wrong][..], &["add", "x", "--project", wrong]];
        for refused in add.map(|args| token(folder.path(), args)) {
            assert!(refused.err.contains(says), "{wrong:?}: {refused:?}");
            refused.failure(2);
        }
        let file = folder.path().join("none.jsonl");
        let data = folder.path().to_string_lossy();
        let refused = queryscope(["import", "--data", &data, "--project", wrong, &file.to_string_lossy()]);
        assert!(refused.err.contains(says), "{wrong:?}: {refused:?}");
        refused.failure(2);
    }
    let longest = &long[1..];
    token(folder.path(), &["add", longest, "--project", "Team-1_a.b"]).success();
    let list = token(folder.path(), &["list"]).success();
    assert!(list.starts_with(&format!("{longest}\tTeam-1_a.b\t")), "{list}");
}

#[test]
fn a_name_from_before_there_was_a_rule_is_listed_works_and_can_be_revoked() {
    let folder = tempfile::tempdir().expect("a folder");
    token(folder.path(), &["add", "now"]).success();
    let db = rusqlite::Connection::open(folder.path().join("queryscope.db")).expect("the database");
    let insert =
        "INSERT INTO token (name, project, hash, created_unix_ms) VALUES ('my old token', '../../x', ?1, 0)";
    db.execute(insert, [&hash_token("old")[..]]).expect("inserted");
    drop(db);
    let service = Service::start(folder.path());
    assert!(token(folder.path(), &["list"]).success().contains("my old token\t../../x\t"));
    let mut stream = Stream::new();
    let event = stream.finished(Uuid::now_v7(), "load");
    assert_eq!(service.post_as("old", &stream.batch(&[event])).counts(), (1, 0));
    assert_eq!(service.queries("project=../../x").len(), 1);
    token(folder.path(), &["revoke", "my old token"]).success();
}

/// Serves with one variable set, which must be refused before anything is made.
fn refuse(name: &str, value: &str) -> Ended {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let mut command = crate::common::command();
    command.current_dir(folder.path()).env(name, value).arg("serve");
    if name != "QUERYSCOPE_DATA" {
        command.arg("--data").arg(&data);
    }
    if name != "QUERYSCOPE_BIND" {
        command.args(["--bind", "127.0.0.1:0"]);
    }
    let refused = Running::start(&mut command).wait_long(Duration::from_secs(20));
    assert!(!data.exists(), "{name}: nothing is made");
    refused
}

#[test]
fn a_token_that_no_sender_can_have_is_refused_at_the_start() {
    let no_text = "a token is of visible ASCII characters without spaces";
    for (value, says) in [
        ("", "error: the token is empty: give one, or leave QUERYSCOPE_TOKEN unset"),
        (" \t", "error: the token is empty"),
        ("secret text", no_text),
        ("sécrét", no_text),
    ] {
        let refused = refuse("QUERYSCOPE_TOKEN", value).failure(1);
        assert!(refused.contains(says), "{value:?}: {refused}");
        assert!(!refused.contains("secret text") && !refused.contains("sécrét"), "it is a secret: {refused}");
    }
    let flags = ["serve", "--bind", "127.0.0.1:0", "--data", "/nonexistent/queryscope", "--token", ""];
    let refused = queryscope(flags).failure(1);
    assert!(refused.contains("the token is empty"), "{refused}");
    let mut demo = crate::common::command();
    demo.args(["demo", "--url", "http://127.0.0.1:9", "--history-only"]).env("TELEMETRY_TOKEN", "");
    let refused = Running::start(&mut demo).wait().failure(1);
    assert!(refused.contains("the token is empty: give one, or leave TELEMETRY_TOKEN unset"), "{refused}");
}

#[test]
fn a_setting_that_is_empty_is_refused() {
    for (name, flag) in [
        ("DATABASE", "--database"),
        ("RECORDINGS", "--recordings"),
        ("BIND", "--bind"),
        ("INGEST_BIND", "--ingest-bind"),
        ("DATA", "--data"),
        ("ALLOWED_HOST", "--allowed-host"),
        ("SILENT_AFTER", "--silent-after"),
        ("KEEP_DAYS", "--keep-days"),
    ] {
        let refused = refuse(&format!("QUERYSCOPE_{name}"), "").failure(2);
        assert!(refused.contains(flag), "{name}: {refused}");
    }
    // An empty level is the one that is documented.
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = crate::common::command();
    let service = Service::start_as(command.env("QUERYSCOPE_LOG", ""), folder.path(), &[]);
    service.terminate();
    let ended = service.wait();
    assert!(ended.err.contains("INFO") && ended.err.contains("stopping"), "{ended:?}");
}

#[test]
fn a_token_given_on_the_command_line_takes_the_place_of_the_kept_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    let kept = service.token.clone();
    service.stop();
    let service = Service::start_with(folder.path(), &["--token", "given-by-hand"]);
    assert!(!service.out().contains("given-by-hand"), "{}", service.out());
    let batch = Stream::new().batch(&[]);
    assert_eq!(service.post_as("given-by-hand", &batch).status, 202);
    assert_eq!(service.post_as(&kept, &batch).status, 401);
}
