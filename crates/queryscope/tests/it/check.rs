//! `queryscope check`: every kind of damage is found and named.

mod database;
mod evaluation;
pub(crate) mod folder;
pub(crate) mod issues;
mod packs;
pub(crate) mod people;
mod repair;

use std::fs;
use std::path::Path;

use folder::Folder;
use libdeflater::{CompressionLvl, Compressor};
use queryscope_store::unpack;
use uuid::Uuid;

use crate::common::events::Stream;
use crate::common::{Ended, Service, hex, queryscope};

fn check(data: &Path, more: &[&str]) -> Ended {
    let data = data.to_string_lossy();
    queryscope(["check", "--data", &data].iter().chain(more))
}

/// Packs text as one member.
fn gzip(text: &[u8]) -> Vec<u8> {
    let mut compressor = Compressor::new(CompressionLvl::default());
    let mut member = vec![0; compressor.gzip_compress_bound(text.len())];
    let bytes = compressor.gzip_compress(text, &mut member).expect("large enough");
    member.truncate(bytes);
    member
}

/// Does damage to copies of a sound folder, one after the other, and asserts what the checker says of each.
fn find(cases: &[(&str, &str)], damage: impl Fn(&Folder, &str)) {
    let root = tempfile::tempdir().expect("a folder");
    let sound = Folder::make(root.path());
    for (at, (how, says)) in cases.iter().enumerate() {
        let copy = sound.copy(&root.path().join(at.to_string()));
        damage(&copy, how);
        let checked = check(&copy.data, &[]);
        let says = copy.fill_in(says, |id| id.to_string());
        assert_eq!(checked.status.code(), Some(1), "{how}: {checked:?}");
        assert!(checked.out.contains(&says), "{how}: no {says:?} in {checked:?}");
        assert!(!checked.out.contains(": sound") && !checked.err.contains("panicked"), "{how}: {checked:?}");
    }
}

#[test]
fn a_sound_folder_is_sound_while_the_service_runs_and_while_it_does_not() {
    let root = tempfile::tempdir().expect("a folder");
    let folder = Folder::make(root.path());
    let sound = "6 queries, 9 events, 1 streams, 0 acknowledged events: sound\n";
    assert_eq!(check(&folder.data, &[]).success(), sound);
    let service = Service::start(&folder.data);
    assert_eq!(check(&folder.data, &[]).success(), sound);
    service.stop();
    assert_eq!(check(&folder.data, &[]).success(), sound);
    let nothing = check(&root.path().join("nothing"), &[]).failure(2);
    assert!(nothing.contains("nothing is no data folder of queryscope"), "{nothing}");
}

#[test]
fn every_changed_field_of_a_summary_is_named() {
    let other = "(SELECT max(id) FROM term)";
    let cases = [
        ("label = null", r#"query $A: label is None, its events say Some("slow")"#),
        ("fingerprint = null", "query $A: fingerprint is None, its events say Some("),
        ("service = null", r#"query $A: service is None, its events say Some("tests")"#),
        (&format!("environment = {other}"), "query $A: environment is Some("),
        (&format!("host = {other}"), "query $A: host is "),
        (&format!("engine = {other}"), "query $A: engine is Some("),
        ("status = 2", "query $A: status is failed, its events say finished"),
        ("status = 3", "query $A: status is unfinished, its events say finished"),
        ("known = 1", "query $A: known is Started, its events say Finished"),
        ("started_unix_ns = started_unix_ns + 1", "query $A: started_unix_ns is "),
        ("wall_ms = wall_ms + 0.5", "query $A: wall_ms is Some(2500.75), its events say Some(2500.25)"),
        ("cpu_ms = null", "query $A: cpu_ms is None, its events say Some(40.0)"),
        ("result_rows = 4", "query $A: result_rows is Some(4), its events say Some(3)"),
        ("bytes_read = 4", "query $A: bytes_read is Some(4), its events say Some(1024)"),
        ("spilled_bytes = 4", "query $A: spilled_bytes is Some(4), its events say Some(0)"),
        ("peak_memory_bytes = 4", "query $A: peak_memory_bytes is Some(4), its events say Some(4096)"),
        (&format!("failed = {other}"), "query $A: failed is Some("),
        ("warnings = 1", "query $A: warnings is 1, its events say 0"),
        (
            "rules = (SELECT id FROM term WHERE text = '[\"skew\"]')",
            r#"query $A: rules is ["skew"], its events say []"#,
        ),
    ];
    find(&cases, |folder, set| {
        let term = r#"INSERT INTO term (text) VALUES ('["skew"]')"#;
        folder.sql(&format!("{term}; UPDATE query SET {set} WHERE id = $A"));
    });
    // A query that has not ended may run or be unfinished, and nothing else.
    let open = [
        ("status = 1", "query $U: status is finished, its events say running"),
        ("status = 2", "query $U: status is failed, its events say running"),
        ("label = null", r#"query $U: label is None, its events say Some("slow")"#),
    ];
    find(&open, |folder, set| folder.sql(&format!("UPDATE query SET {set} WHERE id = $U")));
}

#[test]
fn damage_to_what_the_store_keeps_is_named() {
    let cases = [
        (
            "DELETE FROM chunk WHERE query = $D",
            "query $D: it has ended and has neither chunks nor a recording",
        ),
        ("DELETE FROM chunk WHERE query = $D", "query $D: it has no events"),
        // A sample in the middle of a query that goes on: its account alone tells.
        ("DELETE FROM chunk WHERE query = $A", "query $A: it was given 3 events, 2 are stored"),
        ("DELETE FROM chunk WHERE query = $R", "query $R: it was given 1 events, 0 are stored"),
        ("UPDATE running SET events = 7", "query $R: it was given 8 events, 1 are stored"),
        (
            "DELETE FROM chunk WHERE query = $R; DELETE FROM running; DELETE FROM query WHERE id = $R",
            "9 events are seen, its queries were given 8 and 0 are no query's",
        ),
        ("UPDATE stream SET unkept = 2", "9 events are seen, its queries were given 9 and 2 are no query's"),
        ("UPDATE query SET status = 9 WHERE id = $B", "query $B: its row cannot be read: "),
        ("UPDATE query SET rules = host WHERE id = $B", "query $B: its row cannot be read: "),
        ("UPDATE query SET label = 999 WHERE id = $B", "query $B: its row cannot be read: "),
        ("UPDATE query SET query_id = X'00' WHERE id = $B", "row of query 1: its id is no UUID"),
        ("UPDATE stream SET project = 999", ": its project has no name"),
        ("UPDATE chunk SET last_seq = 9 WHERE query = $D", "is to hold events 7 to 9 and holds 7 to 7"),
        (
            "DELETE FROM chunk WHERE id = (SELECT max(id) FROM chunk WHERE query = $C)",
            "query $C: known is Finished, its events say Started",
        ),
        ("UPDATE chunk SET query = $D WHERE query = $R", "query $D: event 8 is of another query"),
        ("UPDATE chunk SET query = 999 WHERE query = $R", ": it belongs to no query"),
        (
            "INSERT INTO chunk (query, first_seq, last_seq, gzip)
             SELECT query, first_seq, last_seq, gzip FROM chunk WHERE query = $D",
            "query $D: event 7 is stored twice, in chunks ",
        ),
        (
            "INSERT INTO chunk (query, first_seq, last_seq, gzip)
             SELECT $D, first_seq, last_seq, gzip FROM chunk WHERE query = $R",
            "event 8 is stored twice: its stream ",
        ),
        (
            "UPDATE query SET sealed_day = sealed_day + 1 WHERE id = $B",
            "query $B: its recording cannot be read",
        ),
        ("UPDATE seen SET last = 9", "event 10 is stored and not marked as seen"),
        ("DELETE FROM seen", "event 2 is stored and not marked as seen"),
        ("INSERT INTO seen SELECT stream, last + 1, last + 2 FROM seen", "touch"),
        ("INSERT INTO seen VALUES (999, 1, 2)", "row of stream 999: it has seen ranges and is not there"),
        ("INSERT INTO seen SELECT stream, 90, 80 FROM seen", ": a seen range ends before it begins"),
        ("DELETE FROM running", "query $R: it runs and is not marked as running"),
        (
            "INSERT INTO running (query, heard_unix_ms) VALUES ($D, 0)",
            "query $D: it is marked as running and is not",
        ),
        ("DELETE FROM stream", "query $D: it belongs to no stream"),
        (
            "UPDATE query SET project = host WHERE id = $B",
            "query $B: it is of another project than its stream",
        ),
    ];
    find(&cases, Folder::sql);
}

#[test]
fn a_flipped_byte_in_a_chunk_is_found() {
    let cases = ["0", "25", "length(gzip) / 2", "length(gzip) - 6", "length(gzip) - 1"];
    let cases = cases.map(|at| (at, "query $D: its recording cannot be read"));
    find(&cases, |folder, at| {
        let gzip: Vec<u8> = folder.one("SELECT gzip FROM chunk WHERE query = $D");
        let at: usize = folder.one(&format!("SELECT {at} FROM chunk WHERE query = $D"));
        let mut flipped = gzip;
        flipped[at] ^= 0x10;
        let hex = hex(&flipped);
        folder.sql(&format!("UPDATE chunk SET gzip = X'{hex}' WHERE query = $D"));
    });
}

#[test]
fn what_a_reader_gets_is_compared_with_what_is_stored() {
    // Each chunk is sound for itself. Joined, the line that has no end runs on into that of the next.
    let says = "query $C: its recording reads as 2 lines that are not what is stored";
    find(&[("without its last line feed", says)], |folder, _| {
        let first = "(SELECT min(id) FROM chunk WHERE query = $C)";
        let chunk: Vec<u8> = folder.one(&format!("SELECT gzip FROM chunk WHERE id = {first}"));
        let text = unpack(&chunk).expect("sound");
        let hex = hex(&gzip(text.strip_suffix(b"\n").expect("a line")));
        folder.sql(&format!("UPDATE chunk SET gzip = X'{hex}' WHERE id = {first}"));
    });
}

#[test]
fn answers_over_many_are_compared_with_the_queries() {
    // A text that is there twice makes two groups of one: each query by itself is as its events say.
    let cases = [
        (
            "label = (SELECT max(id) FROM term WHERE text = 'slow')",
            r#"groups by label: "slow" is answered as "#,
        ),
        (
            "service = (SELECT max(id) FROM term WHERE text = 'tests')",
            r#"facet service: Some("tests") is answered as "#,
        ),
    ];
    find(&cases, |folder, set| {
        folder.sql(&format!(
            "CREATE TABLE other (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
             INSERT INTO other SELECT id, text FROM term;
             INSERT INTO other (text) SELECT text FROM term WHERE text IN ('slow', 'tests');
             DROP TABLE term;
             ALTER TABLE other RENAME TO term;
             UPDATE query SET {set} WHERE id = $A"
        ));
    });
}

#[test]
fn damage_to_a_recording_is_named() {
    let unreadable = "query $B: its recording cannot be read: ";
    let cases = [
        ("deleted", unreadable),
        ("flipped", unreadable),
        ("cut off", unreadable),
        ("emptied", unreadable),
        ("of another query", "query $B: event 3 is of another query"),
    ];
    find(&cases, |folder, how| {
        let path = folder.recording("$B");
        let mut bytes = fs::read(&path).expect("a recording");
        match how {
            "deleted" => return fs::remove_file(path).expect("deleted"),
            "flipped" => {
                let middle = bytes.len() / 2;
                bytes[middle] ^= 0x10;
            }
            "cut off" => bytes.truncate(bytes.len() - 1),
            "emptied" => bytes.clear(),
            _ => bytes = fs::read(folder.recording("$A")).expect("a recording"),
        }
        fs::write(path, bytes).expect("written");
    });
}

#[test]
fn a_recording_that_reads_otherwise_than_it_is_stored_is_named() {
    // Each piece is sound; put together, an event of the second would follow the last of the first in one line.
    let cases = [("without its last line feed", "query $A: its recording cannot be read: ")];
    find(&cases, |folder, _| {
        let path = folder.recording("$A");
        let text = unpack(&fs::read(&path).expect("a recording")).expect("sound");
        let text = text.strip_suffix(b"\n").expect("lines");
        fs::write(path, gzip(text)).expect("written");
    });
}

#[test]
fn a_page_of_the_database_that_is_lost_is_found() {
    let root = tempfile::tempdir().expect("a folder");
    let folder = Folder::make(root.path());
    let path = folder.data.join("queryscope.db");
    let mut bytes = fs::read(&path).expect("the database");
    let page: usize = folder.one("SELECT rootpage FROM sqlite_schema WHERE name = 'chunk'");
    bytes[(page - 1) * 4096..page * 4096].fill(0);
    fs::write(&path, bytes).expect("written");
    let checked = check(&folder.data, &[]);
    assert!(
        checked.out.contains("queryscope.db could not be opened: database disk image is malformed"),
        "{checked:?}"
    );
    assert!(checked.out.ends_with(": only a backup helps\n"), "{checked:?}");
    checked.failure(1);
}

#[test]
fn an_acknowledged_event_that_is_missing_is_named() {
    let root = tempfile::tempdir().expect("a folder");
    let folder = Folder::make(root.path());
    let path = root.path().join("acknowledged.jsonl");
    let acknowledged = |events: &[String]| {
        fs::write(&path, folder.stream.batch(events)).expect("written");
        check(&folder.data, &["--acknowledged", &path.to_string_lossy()])
    };
    let stored = acknowledged(&folder.events).success();
    assert_eq!(stored, "6 queries, 9 events, 1 streams, 9 acknowledged events: sound\n");

    let mut stream: Stream = folder.stream.clone();
    let (known, unknown) = (folder.id("$A"), Uuid::now_v7());
    let of_no_query = stream.event("process.note", r#""text":"x""#);
    for (event, says) in [
        (of_no_query, format!("stream {}: event 11 is acknowledged and not seen", stream.id)),
        (stream.progress(known), format!("query {known}: event 12 is acknowledged and not stored: {{")),
        (stream.progress(unknown), format!("query {unknown}: event 13 is acknowledged and not stored: {{")),
        (folder.events[3].replace("2500.25", "2500.26"), "event 5 was acknowledged as {".into()),
    ] {
        let checked = acknowledged(&[folder.events[0].clone(), event]);
        assert_eq!(checked.status.code(), Some(1), "{checked:?}");
        assert!(checked.out.contains(&says) && checked.out.contains(": 1 problems"), "{}", checked.out);
    }
    folder.sql("DELETE FROM chunk WHERE query = $A");
    let lost = acknowledged(&folder.events);
    assert!(
        lost.out.contains(&format!("query {known}: event 10 is acknowledged and not stored: {{")),
        "{}",
        lost.out
    );
    lost.failure(1);
}

#[test]
fn one_row_that_can_not_be_read_does_not_end_the_check() {
    let root = tempfile::tempdir().expect("a folder");
    let folder = Folder::make(root.path());
    folder.sql("UPDATE query SET status = 9 WHERE id = $B; UPDATE query SET wall_ms = 1.5 WHERE id = $D");
    let checked = check(&folder.data, &[]);
    for (name, says) in [("$B", "its row cannot be read"), ("$D", "wall_ms is Some(1.5)")] {
        assert!(checked.out.contains(&format!("query {}: {says}", folder.id(name))), "{}", checked.out);
    }
    assert!(
        checked.out.ends_with("5 queries, 8 events, 1 streams, 0 acknowledged events: 2 problems\n"),
        "{}",
        checked.out
    );
}

#[test]
fn what_no_query_points_to_is_noted_and_is_no_damage() {
    let root = tempfile::tempdir().expect("a folder");
    let folder = Folder::make(root.path());
    let recording = folder.recording("$B");
    let day = recording.parent().expect("a folder");
    for name in
        [format!("{}.jsonl.gz", Uuid::nil()), format!("{}.jsonl.gz#1", Uuid::nil()), "notes.txt".into()]
    {
        fs::copy(&recording, day.join(name)).expect("copied");
    }
    fs::create_dir(day.join("other")).expect("a folder");
    fs::copy(&recording, day.join("other").join(recording.file_name().expect("a name"))).expect("copied");
    let said = check(&folder.data, &[]).success();
    let notes = said.lines().filter_map(|line| line.strip_prefix("note: file ")?.split_once(": "));
    let mut notes: Vec<&str> = notes.map(|(_, note)| note).collect();
    notes.sort_unstable();
    let expected = [
        "it is no recording",
        "it was not written to its end",
        "its query points to another file",
        "the store has no such query",
    ];
    assert_eq!(notes, expected, "{said}");
}

#[test]
fn events_that_retention_took_are_not_missed() {
    let root = tempfile::tempdir().expect("a folder");
    let folder = Folder::make(root.path());
    let path = root.path().join("acknowledged.jsonl");
    fs::write(&path, folder.stream.batch(&folder.events)).expect("written");
    let arguments = ["--acknowledged", &path.to_string_lossy()];
    // As retention deletes: what the query was given is no query's from then on.
    folder.sql(
        "UPDATE stream SET unkept = 1; DELETE FROM chunk WHERE query = $D; DELETE FROM pending_run WHERE query = $D;
         DELETE FROM query WHERE id = $D",
    );
    let said = check(&folder.data, &arguments).success();
    assert!(said.ends_with("9 acknowledged events (1 deleted since): sound\n"), "{said}");
    // Of another event nothing is known.
    folder.sql("DELETE FROM chunk WHERE query = $R; DELETE FROM running; DELETE FROM query WHERE id = $R");
    let checked = check(&folder.data, &arguments);
    let says = format!("query {}: event 8 is acknowledged and not stored: {{", folder.id("$R"));
    assert!(checked.out.contains(&says), "{}", checked.out);
    // What was of no query from the beginning is counted with them, and excuses nothing.
    let of_no_query = folder.stream.clone().event("process.note", r#""text":"x""#);
    fs::write(&path, folder.stream.batch(&[&folder.events[..], &[of_no_query]].concat())).expect("written");
    folder.sql("UPDATE stream SET unkept = 2; UPDATE seen SET last = 11");
    let checked = check(&folder.data, &arguments);
    assert!(checked.out.contains(&says), "{}", checked.out);
}

#[test]
fn findings_can_be_read_by_a_program() {
    let root = tempfile::tempdir().expect("a folder");
    let folder = Folder::make(root.path());
    folder.sql("UPDATE query SET warnings = 1 WHERE id = $A");
    let checked = check(&folder.data, &["--json"]);
    let lines: Vec<serde_json::Value> =
        checked.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let id = folder.id("$A").to_string();
    let text = "warnings is 1, its events say 0";
    let problem = serde_json::json!({ "level": "problem", "about": "query", "id": id, "text": text });
    assert_eq!(lines[0], problem);
    assert_eq!((lines.len(), &lines[1]["level"], &lines[1]["problems"]), (2, &"total".into(), &1.into()));
    checked.failure(1);
}
