//! Damaged issues: what lists find is written anew, and an issue without its history is deleted and opens anew.

use std::path::Path;

use rusqlite::Connection;
use serde_json::{Value, json};

use super::check;
use crate::common::database::Databases;
use crate::common::{Service, copy, queryscope, wait_for};
use crate::evaluated::{batches, post, undisturbed};
use crate::shared::collector;

/// The number of the issue that a person acknowledged.
const ISSUE: &str = "(SELECT issue FROM issue_note)";
const LISTS: &str = "lists find another than it is";
const WRITTEN: &str = "repaired: 1 issues were found by lists as others than they are";
const DELETED: &str =
    "repaired: 1 issues were damaged; they are deleted, and open anew where their change lasts";

/// Acknowledges the issue of the query that got slower once, and writes a note to it; its id.
pub(crate) fn acknowledge(service: &Service) -> String {
    let open = service.get("/api/issues?label=orders/weekly").json();
    let [issue] = &open["issues"].as_array().expect("a list")[..] else { panic!("{open}") };
    let id = issue["id"].as_str().expect("an id").to_owned();
    for (action, body) in [("acknowledge", json!({"by": "Ada"})), ("note", json!({"text": "the new join"}))] {
        let answer = service.client().ask(&format!("/api/issues/{id}/{action}"), &body).expect("an answer");
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    id
}

fn detail(service: &Service, id: &str) -> Value {
    let answer = service.get(&format!("/api/issues/{id}"));
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

/// Makes a folder with issues, one of which is acknowledged and has a note; its id.
fn make(data: &Path) -> String {
    undisturbed(data, &batches(60));
    let service = Service::start(data);
    let id = acknowledge(&service);
    service.stop();
    id
}

fn sql(data: &Path, sql: &str) {
    let db = Connection::open(data.join("queryscope.db")).expect("the database");
    db.execute_batch(&sql.replace("$ISSUE", ISSUE)).unwrap_or_else(|error| panic!("{sql}: {error}"));
    assert!(db.total_changes() > 0, "{sql} changes nothing");
}

#[test]
fn what_lists_use_is_written_anew() {
    let root = tempfile::tempdir().expect("a folder");
    let sound = root.path().join("sound");
    let id = make(&sound);
    let service = Service::start(&sound);
    let (list, whole) = (service.get("/api/issues").json(), detail(&service, &id));
    service.stop();
    assert!(check(&sound, &[]).success().ends_with(": sound\n"));
    for (at, set) in [
        "state = 'resolved'",
        "kind = 'failing'",
        "wall_ms_a_day = wall_ms_a_day + 1",
        "wall_ms_a_day = 'much'",
        "moved_unix_ns = 7",
        "muted_until_unix_ns = 7",
        "label = (SELECT id FROM term WHERE text = 'orders-etl')",
        "service = 0",
        "id = 'issue-slower-1'",
    ]
    .into_iter()
    .enumerate()
    {
        let data = root.path().join(at.to_string());
        copy(&sound, &data);
        sql(&data, &format!("UPDATE issue SET {set} WHERE number = $ISSUE"));
        let checked = check(&data, &[]);
        assert!(checked.out.contains(LISTS) && checked.out.contains(": 1 problems"), "{set}: {checked:?}");
        checked.failure(1);
        let repaired = check(&data, &["--repair"]).success();
        assert!(repaired.contains(WRITTEN), "{set}: {repaired}");
        assert!(repaired.ends_with(": sound after 1 repairs, 0 losses\n"), "{set}: {repaired}");
        assert!(check(&data, &[]).success().ends_with(": sound\n"), "{set}");
        let service = Service::start(&data);
        assert_eq!((service.get("/api/issues").json(), detail(&service, &id)), (list.clone(), whole.clone()));
        service.stop();
    }
}

#[test]
fn an_issue_without_its_history_is_deleted_and_opens_anew() {
    let root = tempfile::tempdir().expect("a folder");
    let sound = root.path().join("sound");
    let id = make(&sound);
    let of = "WHERE issue = $ISSUE AND number =";
    for (at, (damage, says)) in [
        (format!("DELETE FROM issue_transition {of} 1"), "its transition 1 is not there"),
        (format!("DELETE FROM issue_transition {of} 2"), "it made 2 transitions, 1 are there"),
        (
            format!("UPDATE issue_transition SET from_state = 'muted' {of} 2"),
            "its transition 2 begins with another state than the one before ended with",
        ),
        (
            format!("UPDATE issue_transition SET to_state = 'resolved' {of} 2"),
            "it is acknowledged, its last transition says otherwise",
        ),
        (format!("UPDATE issue_transition SET actor = 'nobody' {of} 2"), "its history cannot be read"),
        ("UPDATE issue SET body = 'none' WHERE number = $ISSUE".into(), "it cannot be read"),
        ("UPDATE issue SET body = '{}' WHERE number = $ISSUE".into(), "it cannot be read"),
        ("UPDATE issue SET body = X'00' WHERE number = $ISSUE".into(), "it cannot be read"),
        // Another has its place.
        (
            "INSERT INTO issue SELECT 99, 'other', 1, 2, 3, kind, state, wall_ms_a_day, moved_unix_ns, NULL, body
             FROM issue WHERE number = $ISSUE;
             INSERT INTO issue_transition SELECT 99, number, unix_ns, from_state, to_state, actor, by_name, reason,
                 comment, change FROM issue_transition WHERE issue = $ISSUE"
                .into(),
            LISTS,
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let data = root.path().join(at.to_string());
        copy(&sound, &data);
        sql(&data, &damage);
        let checked = check(&data, &[]);
        assert!(checked.out.contains(says) && checked.out.contains(": 1 problems"), "{damage}: {checked:?}");
        checked.failure(1);
        let repaired = check(&data, &["--repair"]).success();
        assert!(repaired.contains(DELETED), "{damage}: {repaired}");
        assert!(repaired.ends_with(": sound after 1 repairs, 0 losses\n"), "{damage}: {repaired}");
        assert!(check(&data, &[]).success().ends_with(": sound\n"), "{damage}");
        let service = Service::start(&data);
        let open = wait_for("the issue", || {
            let list = service.get("/api/issues?label=orders/weekly").json();
            list["issues"].as_array().expect("a list").first().cloned()
        });
        assert_eq!(open["id"], id.as_str());
        let whole = detail(&service, &id);
        let expected = if says == LISTS { ("acknowledged", 2, 1) } else { ("open", 1, 0) };
        let count = |of: &str| whole[of].as_array().expect("a list").len();
        let (transitions, notes) = (count("transitions"), count("notes"));
        let state = whole["issue"]["state"].as_str().expect("a state");
        assert_eq!((state, transitions, notes), expected, "{damage}: {whole}");
        service.stop();
        assert!(check(&data, &[]).success().ends_with(": sound\n"), "{damage}");
    }
}

#[test]
fn rows_of_no_issue_are_deleted() {
    let root = tempfile::tempdir().expect("a folder");
    let sound = root.path().join("sound");
    let id = make(&sound);
    for (table, what) in [("issue_note", "notes"), ("issue_transition", "transitions")] {
        let data = root.path().join(table);
        copy(&sound, &data);
        let rest = if table == "issue_note" {
            "number, unix_ns, by_name, text"
        } else {
            "number, unix_ns, from_state, to_state, actor, by_name, reason, comment, change"
        };
        sql(&data, &format!("INSERT INTO {table} SELECT 999, {rest} FROM {table} WHERE issue = $ISSUE"));
        let checked = check(&data, &[]);
        let says = format!("row of {table} 999: its issue is not there");
        assert!(checked.out.contains(&says) && checked.out.contains(": 1 problems"), "{checked:?}");
        let repaired = check(&data, &["--repair"]).success();
        assert!(repaired.contains(&format!(" {what} were of no issue")), "{repaired}");
        assert!(check(&data, &[]).success().ends_with(": sound\n"));
        let service = Service::start(&data);
        assert_eq!(detail(&service, &id)["issue"]["state"], "acknowledged");
        service.stop();
    }
}

#[test]
fn damaged_issues_of_a_database_are_named() {
    let root = tempfile::tempdir().expect("a folder");
    let databases = Databases::start();
    let database = databases.make("sound");
    let service = collector(root.path(), 0, &database.address());
    post(&service, &batches(60));
    wait_for("the evaluation", || (database.count("SELECT count(*) FROM pending_run") == 0).then_some(()));
    let id = acknowledge(&service);
    service.stop();
    let recordings = root.path().join("recordings");
    let check = |address: &str| {
        queryscope(["check", "--database", address, "--recordings", &recordings.to_string_lossy()])
    };
    assert!(check(&database.address()).success().ends_with(": sound\n"));
    let issue = format!("issue {id}: ");
    for (at, (damage, says)) in [
        ("UPDATE issue SET state = 'resolved' WHERE number = $ISSUE", format!("{issue}{LISTS}")),
        ("UPDATE issue SET wall_ms_a_day = 1 WHERE number = $ISSUE", format!("{issue}{LISTS}")),
        ("UPDATE issue SET body = '{}' WHERE number = $ISSUE", format!("{issue}it cannot be read")),
        (
            "DELETE FROM issue_transition WHERE issue = $ISSUE AND number = 1",
            format!("{issue}its transition 1 is not there"),
        ),
        ("UPDATE issue_note SET issue = 999", "row of issue_note 999: its issue is not there".into()),
    ]
    .into_iter()
    .enumerate()
    {
        let copy = database.copy(&format!("case_{at}"));
        copy.sql(&damage.replace("$ISSUE", ISSUE));
        let checked = check(&copy.address());
        assert!(checked.out.contains(&says) && checked.out.contains(": 1 problems"), "{damage}: {checked:?}");
        checked.failure(1);
    }
}
