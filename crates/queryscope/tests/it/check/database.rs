//! `queryscope check --database`: what is found of a folder is found of a database that collectors share.

use std::fs;
use std::path::{Path, PathBuf};

use uuid::Uuid;

use super::folder::Folder;
use crate::common::database::{Database, Databases};
use crate::common::{Ended, Service, queryscope};

/// The queries of a [`Folder`] in a database and a folder of recordings.
struct Shared<'s> {
    database: Database<'s>,
    recordings: PathBuf,
    folder: Folder,
}

impl<'s> Shared<'s> {
    fn make(root: &Path, databases: &'s Databases) -> Self {
        let folder = Folder::make(root);
        let database = databases.make("sound");
        let recordings = root.join("recordings");
        let [from, place] = [&folder.data, &recordings].map(|path| path.to_str().expect("a text"));
        let said =
            queryscope(["migrate", "--from", from, "--to", &database.address(), "--recordings", place])
                .success();
        assert!(
            said.starts_with(
                "6 queries, 9 events, 1 streams, 1 tokens, 0 issues moved; 0 queries were there\n"
            ),
            "{said}"
        );
        Self { database, recordings, folder }
    }

    fn check(&self, more: &[&str]) -> Ended {
        check(&self.database.address(), &self.recordings, more)
    }

    /// The pack with the recordings of the queries that were moved.
    fn pack(&self) -> PathBuf {
        let mut folders = vec![self.recordings.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "zip") {
                    return path;
                }
            }
        }
        panic!("nothing is sealed")
    }
}

fn check(database: &str, recordings: &Path, more: &[&str]) -> Ended {
    let recordings = recordings.to_string_lossy();
    let args = ["check", "--database", database, "--recordings", &recordings];
    queryscope(args.iter().chain(more))
}

#[test]
fn a_sound_database_is_sound_while_collectors_use_it_and_while_none_does() {
    let root = tempfile::tempdir().expect("a folder");
    let databases = Databases::start();
    let shared = Shared::make(root.path(), &databases);
    let acknowledged = root.path().join("acknowledged.jsonl");
    fs::write(&acknowledged, shared.folder.stream.batch(&shared.folder.events)).expect("written");
    let sound = "6 queries, 9 events, 1 streams, 9 acknowledged events: sound\n";
    let more = ["--acknowledged", &acknowledged.to_string_lossy()];
    assert_eq!(shared.check(&more).success(), sound);
    let node = root.path().join("node");
    let (address, recordings) = (shared.database.address(), shared.recordings.to_string_lossy());
    fs::create_dir(&node).expect("a folder");
    fs::write(node.join("token"), "unused").expect("a file");
    let service = Service::start_with(&node, &["--database", &address, "--recordings", &recordings]);
    assert_eq!(shared.check(&more).success(), sound);
    service.stop();
    let json = shared.check(&["--json"]).success();
    let total: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(
        (&total["level"], &total["queries"], &total["problems"]),
        (&"total".into(), &6.into(), &0.into())
    );

    let mut stream = shared.folder.stream.clone();
    let (query, other) = (shared.folder.id("$B"), shared.folder.events[0].replace("2500.25", "2500.26"));
    let lost = stream.progress(query);
    fs::write(&acknowledged, stream.batch(&[lost, other])).expect("written");
    let checked = shared.check(&more);
    for says in ["is acknowledged and not stored: {", "event 2 was acknowledged as {"] {
        assert!(
            checked.out.contains(&format!("query {query}: ")) && checked.out.contains(says),
            "{}",
            checked.out
        );
    }
    checked.failure(1);
}

#[test]
fn damage_to_a_database_is_named() {
    let cases = [
        ("DELETE FROM chunk WHERE query = $R", "query $R: it was given 1 events, 0 are stored"),
        ("DELETE FROM chunk WHERE query = $R", "query $R: it has neither chunks nor a recording"),
        (
            "UPDATE query SET events = events + 1 WHERE id = $B",
            "query $B: it was given 2 events, 1 are stored",
        ),
        (
            "UPDATE query SET events = events + 1 WHERE id = $B",
            "9 events are seen, its queries were given 10 and 0 are no query's",
        ),
        ("UPDATE running SET events = 7", "query $R: it was given 8 events, 1 are stored"),
        ("UPDATE stream SET unkept = 2", "9 events are seen, its queries were given 9 and 2 are no query's"),
        ("DELETE FROM seen", "event 2 is stored and not marked as seen"),
        ("UPDATE seen SET last = 9", "event 10 is stored and not marked as seen"),
        ("INSERT INTO seen SELECT stream, last + 1, last + 2 FROM seen", ": seen ranges touch"),
        ("INSERT INTO seen VALUES (999, 1, 2)", "row of stream 999: it has seen ranges and is not there"),
        ("INSERT INTO seen SELECT stream, 90, 80 FROM seen", ": a seen range ends before it begins"),
        ("UPDATE chunk SET last_seq = 9 WHERE query = $R", "is to hold events 8 to 9 and holds 8 to 8"),
        ("UPDATE chunk SET query = 999 WHERE query = $R", ": it belongs to no query"),
        (
            "UPDATE chunk SET gzip = set_byte(gzip, 20, get_byte(gzip, 20) # 16) WHERE query = $R",
            "query $R: its recording cannot be read",
        ),
        (
            "INSERT INTO chunk SELECT id + 1000, query, first_seq, last_seq, gzip FROM chunk WHERE query = $R",
            "query $R: event 8 is stored twice, in chunks ",
        ),
        (
            "UPDATE query SET sealed_day = sealed_day + 1 WHERE id = $B",
            "query $B: its recording cannot be read",
        ),
        ("UPDATE query SET status = 2 WHERE id = $A", "query $A: status is failed, its events say finished"),
        (
            "UPDATE query SET wall_ms = 1 WHERE id = $A",
            "query $A: wall_ms is Some(1.0), its events say Some(2500.25)",
        ),
        ("UPDATE query SET status = 9 WHERE id = $B", "query $B: its row cannot be read: "),
        ("UPDATE query SET label = 999 WHERE id = $B", "query $B: its row cannot be read: "),
        (
            "UPDATE query SET project = host WHERE id = $B",
            "query $B: it is of another project than its stream",
        ),
        ("UPDATE stream SET project = 999", ": its project has no name"),
        ("DELETE FROM running", "query $R: it runs and is not marked as running"),
        (
            "INSERT INTO running SELECT id, 0, 0 FROM query WHERE id = $D",
            "query $D: it is marked as running and is not",
        ),
        (
            "DELETE FROM running; DELETE FROM chunk; DELETE FROM query WHERE id = $R",
            "9 events are seen, its queries were given 8",
        ),
        ("DELETE FROM stream", "query $D: it belongs to no stream"),
    ];
    let root = tempfile::tempdir().expect("a folder");
    let databases = Databases::start();
    let shared = Shared::make(root.path(), &databases);
    for (at, (damage, says)) in cases.iter().enumerate() {
        let copy = shared.database.copy(&format!("case_{at}"));
        let folder = &shared.folder;
        let row = |id: Uuid| format!("(SELECT id FROM query WHERE query_id = '{id}')");
        copy.sql(&folder.fill_in(damage, row));
        let checked = check(&copy.address(), &shared.recordings, &[]);
        let says = folder.fill_in(says, |id| id.to_string());
        assert_eq!(checked.status.code(), Some(1), "{damage}: {checked:?}");
        assert!(checked.out.contains(&says), "{damage}: no {says:?} in {checked:?}");
        assert!(
            !checked.out.contains(": sound") && !checked.err.contains("panicked"),
            "{damage}: {checked:?}"
        );
    }
}

#[test]
fn damage_to_a_recording_of_a_database_is_named() {
    let root = tempfile::tempdir().expect("a folder");
    let databases = Databases::start();
    let shared = Shared::make(root.path(), &databases);
    let path = shared.pack();
    let sound = fs::read(&path).expect("a pack");
    let unreadable = format!("query {}: its recording cannot be read: ", shared.folder.id("$B"));
    for (cut, says) in [(0, &*unreadable), (20, &unreadable), (sound.len() - 1, ".zip: it is damaged: ")] {
        fs::write(&path, &sound[..cut]).expect("written");
        let checked = shared.check(&[]);
        assert!(checked.out.contains(says), "{cut}: {}", checked.out);
        checked.failure(1);
    }
    fs::remove_file(&path).expect("removed");
    let checked = shared.check(&[]);
    assert!(checked.out.contains(&unreadable), "{}", checked.out);
    checked.failure(1);
    // Nobody's, as those are that were replaced.
    fs::write(&path, &sound).expect("written");
    fs::copy(&path, path.with_file_name("000000000000beef.zip")).expect("copied");
    fs::write(path.with_file_name(format!("{}-0000000000000001.jsonl.gz", shared.folder.id("$B"))), "")
        .expect("written");
    let said = shared.check(&[]).success();
    assert!(said.contains("its query points to another file") && said.ends_with(": sound\n"), "{said}");
    assert!(said.contains("beef.zip: no query points to it"), "{said}");
}

#[test]
fn what_can_not_be_judged_is_said_to_be_so() {
    let root = tempfile::tempdir().expect("a folder");
    let databases = Databases::start();
    let empty = databases.make("nothing");
    let refused = check(&empty.address(), root.path(), &[]).failure(2);
    assert!(refused.contains("the database holds nothing of queryscope"), "{refused}");
    assert_eq!(
        empty.count("SELECT count(*) FROM pg_tables WHERE schemaname = 'nothing'"),
        0,
        "nothing is made"
    );
    let refused = check("postgres://queryscope@127.0.0.1:9/postgres", root.path(), &[]).failure(2);
    assert!(refused.contains("the database cannot be opened: "), "{refused}");
    let none = root.path().join("none");
    let data = none.to_string_lossy();
    let refused = queryscope(["check", "--database", &empty.address(), "--data", &data]).failure(2);
    assert!(refused.contains("name where the recordings of its queries are with --recordings"), "{refused}");
}

#[test]
fn of_a_database_a_repair_takes_out_copies_that_are_wrong_and_nothing_else() {
    let root = tempfile::tempdir().expect("a folder");
    let databases = Databases::start();
    let shared = Shared::make(root.path(), &databases);
    // Of no query, where there are some.
    shared.database.sql(
        "INSERT INTO segment (first, last, mark, origins, plans, row, origin, plan, engine_versions, program_versions,
             status, started_unix_ns, wall_ms, cpu, result_rows, bytes_read, spilled_bytes, peak_memory_bytes, warnings,
             cancelled)
         VALUES (0, 7, gen_random_uuid(), '', '', '', '', '', '', '', '', '', '', '', '', '', '', '', '', '')",
    );
    let says = "problem: copy of queries from row 0: it does not say what their rows say\n";
    let checked = shared.check(&[]);
    assert!(checked.out.contains(says), "{checked:?}");
    checked.failure(1);
    let repaired = shared.check(&["--repair"]).success();
    assert!(
        repaired.contains("repaired: 1 copies of runs differed from their rows\n")
            && repaired.ends_with(": sound after 1 repairs, 0 losses\n"),
        "{repaired}"
    );
    assert!(shared.check(&[]).success().ends_with(": sound\n"));
    shared.database.sql("UPDATE running SET events = 7");
    let checked = shared.check(&["--repair"]);
    assert!(
        !checked.out.contains("repaired: ") && checked.out.contains("it was given 8 events"),
        "{checked:?}"
    );
    checked.failure(1);
}
