//! What cannot be moved, and how that is said.

use std::fs;
use std::path::Path;

use uuid::Uuid;

use super::Target;
use crate::check::folder::Folder;
use crate::common::database::Databases;
use crate::common::events::Stream;
use crate::common::{Service, hex, queryscope};

/// Stores a batch in a folder.
fn import(root: &Path, data: &Path, project: &str, batch: &[u8]) {
    let file = root.join("batch.jsonl");
    fs::write(&file, batch).expect("written");
    let [data, file] = [data, &file].map(|path| path.to_str().expect("a text"));
    queryscope(["import", "--data", data, "--project", project, file]).success();
}

#[test]
fn a_folder_or_a_database_that_can_not_be_used_is_named() {
    let root = tempfile::tempdir().expect("a folder");
    let data = root.path().join("data");
    import(root.path(), &data, "default", &Stream::new().batch(&[]));
    let databases = Databases::start();
    let target = Target::make(root.path(), &databases, "moved");
    let refuse = |from: &Path, to: &str, place: &Path| {
        let [from, place] = [from, place].map(|path| path.to_str().expect("a text"));
        queryscope(["migrate", "--from", from, "--to", to, "--recordings", place]).failure(1)
    };
    let (address, place) = (target.database.address(), target.recordings.clone());
    for (from, to, place, says) in [
        (root.path().join("none"), address.as_str(), &place, "none is no data folder of queryscope"),
        (data.clone(), "http://127.0.0.1:1", &place, "no address of a PostgreSQL database"),
        (
            data.clone(),
            "postgres://queryscope@127.0.0.1:9/postgres",
            &place,
            "the database cannot be opened: ",
        ),
        (data.clone(), address.as_str(), &data.join("recordings"), "name another place with --recordings"),
    ] {
        let refused = refuse(&from, to, place);
        assert!(refused.contains(says), "no {says:?} in {refused}");
    }
    let service = Service::start(&data);
    let refused = refuse(&data, &address, &place);
    assert!(refused.contains("data is in use by a service: stop it first"), "{refused}");
    service.stop();
    let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'moved'";
    assert_eq!(target.database.count(tables), 0, "nothing was begun");
    target.migrate(&data).success();
    target.database.sql("UPDATE queryscope_format SET version = 99, usable_from = 99");
    let refused = refuse(&data, &address, &place);
    assert!(
        refused.contains("the database has format 99") && refused.contains("use a newer queryscope"),
        "{refused}"
    );
}

#[test]
fn a_damaged_folder_is_moved_up_to_the_damage_and_on_once_it_is_mended() {
    let root = tempfile::tempdir().expect("a folder");
    let sound = Folder::make(root.path());
    let databases = Databases::start();
    let mend = "queryscope check --repair";
    for (at, (damage, says)) in [
        ("DELETE FROM running", "query $R: it runs and is not marked as running: mend it"),
        ("UPDATE stream SET unkept = 2", "9 events are seen, its queries were given 9"),
        ("DELETE FROM chunk WHERE query = $A", "query $A: it is damaged in the folder"),
        ("UPDATE query SET label = null WHERE id = $A", "its row is not what its events make of it"),
        ("UPDATE query SET status = 9 WHERE id = $B", "query $B: it is damaged in the folder"),
        ("recording", "query $B: it is damaged in the folder"),
        ("chunk", "query $D: it is damaged in the folder"),
    ]
    .into_iter()
    .enumerate()
    {
        let folder = sound.copy(&root.path().join(at.to_string()));
        match damage {
            "recording" => {
                let path = folder.recording("$B");
                let bytes = fs::read(&path).expect("a recording");
                fs::write(path, &bytes[..bytes.len() - 1]).expect("written");
            }
            "chunk" => {
                let mut gzip: Vec<u8> = folder.one("SELECT gzip FROM chunk WHERE query = $D");
                let middle = gzip.len() / 2;
                gzip[middle] ^= 1;
                folder.sql(&format!("UPDATE chunk SET gzip = X'{}' WHERE query = $D", hex(&gzip)));
            }
            sql => folder.sql(sql),
        }
        let target = Target::make(root.path(), &databases, &format!("case_{at}"));
        let refused = target.migrate(&folder.data).failure(1);
        let says = folder.fill_in(says, |id| id.to_string());
        assert!(refused.contains(&says) && refused.contains(mend), "{damage}: no {says:?} in {refused}");
        assert!(refused.contains("the move is not complete: run it again to go on"), "{damage}: {refused}");
        let data = folder.data.to_str().expect("a text");
        queryscope(["check", "--repair", "--data", data]);
        target.migrate(&folder.data).success();
        target.check(&[]);
    }
}

#[test]
fn something_else_under_the_same_id_is_named_and_left() {
    let root = tempfile::tempdir().expect("a folder");
    let databases = Databases::start();
    let (query, other) = (Uuid::now_v7(), Uuid::now_v7());
    let mut stream = Stream::new();
    let events = [stream.started(query, "x"), stream.finished(query, "x")];
    let [ours, theirs] = ["ours", "theirs"].map(|name| root.path().join(name));
    import(root.path(), &ours, "default", &stream.batch(&events));
    let mut foreign = Stream::new();
    let of_foreign = foreign.finished(query, "x");
    let foreign_query = foreign.batch(&[of_foreign]);
    let mut again = Stream { seq: 1, ..stream.clone() };
    let of_another = [again.started(other, "x")];
    let with_other_bytes = [events[0].replace("1000.5", "1000.6")];
    let cases: [(&str, &[u8], &str); 4] = [
        ("default", &foreign_query, "belongs to another stream"),
        ("etl", &stream.batch(&events), "belongs to another project"),
        ("default", &stream.batch(&of_another), "event 2 is in the database as another"),
        ("default", &stream.batch(&with_other_bytes), "event 2 is in the database as another"),
    ];
    for (at, (project, there, says)) in cases.into_iter().enumerate() {
        let _ = fs::remove_dir_all(&theirs);
        import(root.path(), &theirs, project, there);
        let target = Target::make(root.path(), &databases, &format!("case_{at}"));
        target.migrate(&theirs).success();
        let before = target.database.sql("SELECT string_agg(query_id::text, ' ') FROM query");
        let refused = target.migrate(&ours).failure(1);
        assert!(refused.contains(says), "no {says:?} in {refused}");
        assert!(
            target.database.sql("SELECT string_agg(query_id::text, ' ') FROM query").starts_with(&before)
        );
        target.check(&[]);
    }
}

#[test]
fn a_token_of_another_is_not_taken_for_the_same() {
    let root = tempfile::tempdir().expect("a folder");
    let [data, databases] = [root.path().join("data"), root.path().join("x")];
    drop(databases);
    let databases = Databases::start();
    let target = Target::make(root.path(), &databases, "moved");
    let address = target.database.address();
    let folder = data.to_str().expect("a text");
    queryscope(["token", "add", "ci", "--data", folder]).success();
    queryscope(["token", "add", "ci", "--database", &address]).success();
    let refused = target.migrate(&data).failure(1);
    assert!(refused.contains("the database has another token \"ci\": revoke it there"), "{refused}");
    queryscope(["token", "revoke", "ci", "--database", &address]).success();
    assert!(target.migrate(&data).success().contains(" 1 tokens, 0 issues moved"));
    assert!(queryscope(["token", "list", "--database", &address]).success().starts_with("ci\tdefault\t"));
}
