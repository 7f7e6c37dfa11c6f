//! `queryscope token`, beside a service that runs.

use std::path::Path;

use queryscope_collector::hash_token;
use uuid::Uuid;

use crate::common::events::Stream;
use crate::common::{Ended, Service, hex, queryscope, wait_for};

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
    let [[a, bi, made], [b, etl, _]] =
        [&columns[0][..], &columns[1][..]].map(|row| <[&str; 3]>::try_from(row).expect("three columns"));
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
    let empty = token(folder.path(), &["add", " "]).failure(1);
    assert!(empty.contains("the name of a token must be a text"), "{empty}");
    let folded = token(folder.path(), &["add", "x", "--project", "a\tb"]).failure(1);
    assert!(folded.contains("the project of a token must be a text"), "{folded}");
    assert_eq!(token(folder.path(), &["list"]).success().lines().count(), 1);
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
