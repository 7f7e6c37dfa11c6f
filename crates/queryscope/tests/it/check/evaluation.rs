//! What evaluations found, damaged: it is computed anew from the runs, and what differs is named.

use std::path::Path;

use queryscope_collector::{Clock, SystemClock};
use rusqlite::Connection;

use super::check;
use crate::common::database::Databases;
use crate::common::{Service, copy, queryscope, wait_for};
use crate::evaluated::{batches, batches_from, post, undisturbed, until_evaluated};
use crate::shared::collector;

/// Damage in SQL of either store, and what is said of it. `$REPLACE` replaces text in the state.
const CASES: [(&str, &str); 8] = [
    ("UPDATE evaluated_query SET saved = $REPLACE('\"next_refresh\":', '\"next_refresh\":9')", "its state: "),
    (
        // 3980276084 is the number of the environment `prod`.
        "UPDATE evaluated_query SET saved = $REPLACE('3980276084,[1', '3980276084,[2')",
        "its state: settled_in.0.1.0 is 2",
    ),
    (
        "UPDATE evaluated_query SET saved = $REPLACE('{\"layers\"', '{\"lawyers\"')",
        "its state cannot be read",
    ),
    ("DELETE FROM query_change WHERE state = 'open'", "open change slower-"),
    ("DELETE FROM query_change WHERE state = 'recovered'", " is not there"),
    (
        "UPDATE query_change SET state = 'recovered' WHERE state = 'open'",
        " is recovered, its query's state has it as open",
    ),
    ("UPDATE query_change SET wall_ms_a_day = wall_ms_a_day + 1", ": wall_ms_a_day is "),
    (
        "INSERT INTO query_change ($COLUMNS, id) SELECT $COLUMNS, 'slower-made-up' FROM query_change
         WHERE state = 'recovered'",
        "change slower-made-up was never found",
    ),
];

const COLUMNS: &str =
    "project, service, label, environment, host, kind, state, since_unix_ns, confirmed_unix_ns,
    recovered_unix_ns, wall_ms_a_day, body";

/// Writes a damage in the words of a store.
fn in_words(damage: &str, replace: impl Fn(&str) -> String) -> String {
    let damage = damage.replace("$COLUMNS", COLUMNS);
    match damage.split_once("$REPLACE(") {
        Some((before, rest)) => format!("{before}{}", replace(rest.trim_end_matches(')'))),
        None => damage,
    }
}

fn sql(data: &Path, sql: &str) {
    let db = Connection::open(data.join("queryscope.db")).expect("the database");
    let changed = db.execute(sql, []).unwrap_or_else(|error| panic!("{sql}: {error}"));
    assert!(changed > 0, "{sql} changes nothing");
}

/// Changes one byte of the features of a run.
fn flip(data: &Path, place: usize) {
    let db = Connection::open(data.join("queryscope.db")).expect("the database");
    let one = "SELECT query_id, features FROM evaluated_run ORDER BY started_unix_ns DESC LIMIT 1 OFFSET 7";
    let (id, mut features): (Vec<u8>, Vec<u8>) =
        db.query_row(one, [], |row| Ok((row.get(0)?, row.get(1)?))).expect("a run");
    features[place] ^= 1;
    db.execute("UPDATE evaluated_run SET features = ?1 WHERE query_id = ?2", (features, id))
        .expect("written");
}

#[test]
fn what_evaluations_found_is_what_the_runs_say() {
    let root = tempfile::tempdir().expect("a folder");
    let sound = root.path().join("sound");
    undisturbed(&sound, &batches(60));
    assert!(check(&sound, &[]).success().ends_with(": sound\n"));
    for (at, (damage, says)) in CASES.iter().enumerate() {
        let data = root.path().join(at.to_string());
        copy(&sound, &data);
        let replace = |words: &str| format!("CAST(replace(CAST(saved AS TEXT), {words}) AS BLOB)");
        sql(&data, &in_words(damage, replace));
        let checked = check(&data, &[]);
        assert_eq!(checked.status.code(), Some(1), "{damage}: {checked:?}");
        assert!(checked.out.contains(says), "{damage}: no {says:?} in {checked:?}");
        assert!(checked.out.contains(": `check --repair` has it evaluated anew"), "{checked:?}");
    }
    for place in [0, 3, 30, 40] {
        let data = root.path().join(format!("byte-{place}"));
        copy(&sound, &data);
        flip(&data, place);
        let checked = check(&data, &[]);
        assert_eq!(checked.status.code(), Some(1), "{place}: {checked:?}");
        assert!(
            checked.out.contains("its features are not those that its event makes"),
            "{place}: {checked:?}"
        );
    }
}

#[test]
fn a_repair_has_a_query_evaluated_anew() {
    let root = tempfile::tempdir().expect("a folder");
    let data = root.path().join("data");
    let found = undisturbed(&data, &batches(60));
    flip(&data, 30);
    sql(&data, "DELETE FROM query_change WHERE state = 'recovered'");
    let repaired = check(&data, &["--repair"]).success();
    assert!(repaired.contains("the next service that runs evaluates it anew from its runs"), "{repaired}");
    let service = Service::start(&data);
    wait_for("the changes", || (service.get("/api/changes?limit=1000").json() == found).then_some(()));
    service.stop();
    assert!(check(&data, &[]).success().ends_with(": sound\n"));
}

#[test]
fn late_runs_and_restarts_are_no_damage() {
    let root = tempfile::tempdir().expect("a folder");
    let data = root.path().join("data");
    let mut batches = batches(200);
    // Late by three to forty runs of a label.
    for at in (0..300).step_by(9) {
        batches[at..at + 6 + at % 75].rotate_left(1);
    }
    for piece in batches.chunks(151) {
        let service = Service::start(&data);
        post(&service, piece);
        until_evaluated(&data);
        service.stop();
        assert!(check(&data, &[]).success().ends_with(": sound\n"));
    }
    sql(
        &data,
        "UPDATE evaluated_query
         SET saved = CAST(replace(CAST(saved AS TEXT), '\"version\":\"', '\"version\":\"0') AS BLOB)",
    );
    assert!(check(&data, &[]).success().ends_with(": sound\n"), "another version is not judged");
}

#[test]
fn what_retention_deletes_is_no_damage() {
    const HOUR_NS: i64 = 3_600_000_000_000;
    let root = tempfile::tempdir().expect("a folder");
    let data = root.path().join("data");
    let begun = SystemClock::new().unix_ns() - 60 * HOUR_NS;
    let batches = batches_from(begun, 110);
    undisturbed(&data, &batches);
    let service = Service::start_with(&data, &["--keep-days", "1"]);
    wait_for("the old ones to go", || (service.queries("").len() < 120).then_some(()));
    assert!(check(&data, &[]).success().ends_with(": sound\n"));
    post(&service, &batches_from(begun + 56 * HOUR_NS, 4));
    until_evaluated(&data);
    service.stop();
    assert!(check(&data, &[]).success().ends_with(": sound\n"));
}

#[test]
fn the_same_is_found_of_a_database() {
    let root = tempfile::tempdir().expect("a folder");
    let databases = Databases::start();
    let database = databases.make("sound");
    let service = collector(root.path(), 0, &database.address());
    post(&service, &batches(60));
    wait_for("the evaluation", || (database.count("SELECT count(*) FROM pending_run") == 0).then_some(()));
    service.stop();
    let recordings = root.path().join("recordings");
    let check = |address: &str, more: &[&str]| {
        let args = ["check", "--database", address, "--recordings", &recordings.to_string_lossy()];
        queryscope(args.iter().chain(more))
    };
    assert!(check(&database.address(), &[]).success().ends_with(": sound\n"));
    let features = "UPDATE evaluated_run SET features = set_byte(features, 30, get_byte(features, 30) # 1)";
    let by_features = (features, "its features are not those that its event makes");
    for (at, (damage, says)) in CASES.iter().chain([&by_features]).enumerate() {
        let copy = database.copy(&format!("case_{at}"));
        let replace =
            |words: &str| format!("convert_to(replace(convert_from(saved, 'UTF8'), {words}), 'UTF8')");
        let damage = in_words(damage, replace);
        copy.sql(&damage);
        let checked = check(&copy.address(), &[]);
        assert_eq!(checked.status.code(), Some(1), "{damage}: {checked:?}");
        assert!(checked.out.contains(says), "{damage}: no {says:?} in {checked:?}");
    }
    database.sql("DELETE FROM query_change WHERE state = 'open'");
    let repaired = check(&database.address(), &["--repair"]).success();
    assert!(repaired.contains("the next service that runs evaluates it anew from its runs"), "{repaired}");
    let service = collector(root.path(), 0, &database.address());
    wait_for("the changes", || {
        (database.count("SELECT count(*) FROM query_change WHERE state = 'open'") == 2).then_some(())
    });
    service.stop();
    assert!(check(&database.address(), &[]).success().ends_with(": sound\n"));
}
