//! `queryscope import`, with and without a service.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use queryscope_protocol::{Batch, EventKind};
use queryscope_store::{Packer, unpack};
use uuid::Uuid;

use crate::check::folder::Folder;
use crate::common::events::{Stream, captures};
use crate::common::{Ended, Service, queryscope};

fn import(data: &Path, files: &[PathBuf]) -> Ended {
    let command = ["import".into(), "--data".into(), data.to_owned()];
    queryscope(command.iter().chain(files))
}

/// Judges the folder, which must be sound and hold all of these files.
fn check(data: &Path, files: &[PathBuf]) {
    let mut args: Vec<PathBuf> = vec!["check".into(), "--data".into(), data.to_owned()];
    for file in files {
        args.extend(["--acknowledged".into(), file.clone()]);
    }
    let checked = queryscope(&args).success();
    assert!(checked.ends_with(": sound\n"), "{checked}");
}

/// How many events the captures hold, each once, and how many queries.
fn captured() -> (usize, usize) {
    let (mut events, mut queries) = (BTreeSet::new(), BTreeSet::new());
    for file in captures() {
        let text = unpack(&fs::read(file).expect("a capture")).expect("gzip");
        let batch = Batch::open(&text).expect("a batch");
        for event in batch.events {
            let event = event.expect("an event");
            events.insert((batch.process.id, event.seq));
            queries.extend(event.kind.query_id());
            assert!(!matches!(event.kind, EventKind::Process(_)));
        }
    }
    (events.len(), queries.len())
}

#[test]
fn all_captures_are_imported_once_without_a_service() {
    let folder = tempfile::tempdir().expect("a folder");
    let (events, queries) = captured();
    let files = captures();
    let first = import(folder.path(), &files).success();
    assert_eq!(first, format!("{events} events stored, 0 had been stored before\n"));
    let again = import(folder.path(), &files).success();
    assert_eq!(again, format!("0 events stored, {events} had been stored before\n"));
    check(folder.path(), &files);
    let service = Service::start(folder.path());
    assert_eq!(service.queries("project=default").len(), queries);
}

#[test]
fn all_captures_are_imported_once_while_the_service_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    let (events, queries) = captured();
    let files = captures();
    let command = |file: &PathBuf| ["import".into(), file.clone(), "--project".into(), "old".into()];
    let data = ["--data".into(), folder.path().to_owned()];
    let first = queryscope(command(&files[0]).iter().chain(&data).chain(&files[1..])).success();
    assert_eq!(first, format!("{events} events stored, 0 had been stored before\n"));
    let again = queryscope(command(&files[0]).iter().chain(&data).chain(&files[1..])).success();
    assert_eq!(again, format!("0 events stored, {events} had been stored before\n"));
    assert_eq!(service.queries("project=old").len(), queries);
    check(folder.path(), &files);
    let data = folder.path().to_string_lossy();
    assert_eq!(queryscope(["token", "list", "--data", &data]).success(), "", "its token is gone");
}

/// Of runs that are of a file: one has an end, of the other nobody knows whether it still runs.
fn old_runs(path: &Path) -> Vec<PathBuf> {
    let mut stream = Stream::new();
    let (ended, open) = (Uuid::now_v7(), Uuid::now_v7());
    let events = [
        stream.started(ended, "ended"),
        stream.started(open, "open"),
        stream.progress(open),
        stream.finished(ended, "ended"),
    ];
    fs::write(path, stream.batch(&events)).expect("written");
    vec![path.to_owned()]
}

fn states(service: &Service) -> BTreeSet<(String, String)> {
    let text = |run: &serde_json::Value, field: &str| run[field].as_str().expect("a text").to_owned();
    service.queries("").iter().map(|run| (text(run, "label"), text(run, "status"))).collect()
}

#[test]
fn an_imported_run_without_an_end_does_not_run() {
    let expected = [("ended", "finished"), ("open", "unfinished")];
    let expected = BTreeSet::from(expected.map(|(label, status)| (label.to_owned(), status.to_owned())));
    let folder = tempfile::tempdir().expect("a folder");
    let (closed, open) = (folder.path().join("closed"), folder.path().join("open"));
    import(&closed, &old_runs(&folder.path().join("1.jsonl"))).success();
    assert_eq!(states(&Service::start(&closed)), expected, "a start hears of all that run");
    let service = Service::start(&open);
    import(&open, &old_runs(&folder.path().join("2.jsonl"))).success();
    assert_eq!(states(&service), expected);
}

#[test]
fn a_plain_file_is_the_same_as_its_gzip() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let (gzip, plain) = (captures().swap_remove(12), folder.path().join("plain.jsonl"));
    fs::write(&plain, unpack(&fs::read(&gzip).expect("a capture")).expect("gzip")).expect("written");
    let first = import(&data, std::slice::from_ref(&plain)).success();
    let stored = first.strip_suffix(" events stored, 0 had been stored before\n").expect("all new");
    let again = import(&data, std::slice::from_ref(&gzip)).success();
    assert_eq!(again, format!("0 events stored, {stored} had been stored before\n"));
    check(&data, &[plain, gzip]);
}

#[test]
fn a_recording_of_the_service_can_be_imported_elsewhere() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(&folder.path().join("from"));
    let (query, mut stream) = (Uuid::now_v7(), Stream::new());
    let events = [stream.started(query, "slow"), stream.finished(query, "slow")];
    service.post(&stream.batch(&events)).counts();
    let recording = folder.path().join("recording.jsonl.gz");
    fs::write(&recording, service.get(&format!("/api/queries/{query}/recording")).body).expect("written");
    let to = folder.path().join("to");
    assert_eq!(
        import(&to, std::slice::from_ref(&recording)).success(),
        "2 events stored, 0 had been stored before\n"
    );
    check(&to, &[recording]);
}

#[test]
fn a_pack_of_the_service_can_be_imported_elsewhere() {
    let folder = tempfile::tempdir().expect("a folder");
    let packed = Folder::packed(folder.path());
    let to = folder.path().join("to");
    assert_eq!(import(&to, &[packed.pack()]).success(), "3 events stored, 0 had been stored before\n");
    check(&to, &[packed.pack()]);
    let damaged = folder.path().join("damaged.zip");
    let mut bytes = fs::read(packed.pack()).expect("a pack");
    bytes[100] ^= 1;
    fs::write(&damaged, bytes).expect("written");
    let refused = import(&to, &[damaged]).failure(1);
    assert!(refused.contains("it is no pack of recordings, or is damaged: "), "{refused}");
}

#[test]
fn a_last_line_that_is_cut_off_is_left_out_and_said_to_be() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut stream = Stream::new();
    let events = [stream.finished(Uuid::now_v7(), "whole"), stream.finished(Uuid::now_v7(), "cut")];
    let mut text = stream.batch(&events);
    text.truncate(text.len() - 10);
    let file = folder.path().join("cut.jsonl");
    fs::write(&file, &text).expect("written");
    let data = folder.path().join("data");
    let ended = import(&data, std::slice::from_ref(&file));
    assert!(ended.err.contains(&format!("{}: the last line is cut off", file.display())), "{ended:?}");
    assert_eq!(ended.success(), "1 events stored, 0 had been stored before\n");
    check(&data, &[file]);
}

/// Imports a good file, one with a bad line in the middle, and one after it.
fn import_a_bad_line(folder: &Path, data: &Path) {
    let file = |name: &str, stream: &Stream, events: &[String]| {
        let path = folder.join(name);
        fs::write(&path, stream.batch(events)).expect("written");
        path
    };
    let (mut good, mut bad, mut after) = (Stream::new(), Stream::new(), Stream::new());
    let good_events = [good.finished(Uuid::now_v7(), "good")];
    let bad_events = [
        bad.finished(Uuid::now_v7(), "before"),
        bad.process(),
        bad.event("query.progress", r#""query_id":"01a1faa8","elapsed_ms":1,"nodes":{}"#),
        bad.finished(Uuid::now_v7(), "behind"),
    ];
    let after_events = [after.finished(Uuid::now_v7(), "after")];
    let files = [
        file("good.jsonl", &good, &good_events),
        file("bad.jsonl", &bad, &bad_events),
        file("after.jsonl", &after, &after_events),
    ];
    let ended = import(data, &files);
    let says = [files[1].to_string_lossy().into_owned(), "line 4: query_id".into(), "01a1faa8".into()];
    assert!(says.iter().all(|part| ended.err.contains(part)), "{}", ended.err);
    assert!(ended.err.contains("what comes before it is stored"), "{}", ended.err);
    assert_eq!(ended.out, "2 events stored, 0 had been stored before\n");
    ended.failure(1);
    let before = file("before.jsonl", &bad, &bad_events[..1]);
    check(data, &[files[0].clone(), before]);
}

#[test]
fn a_bad_line_is_named_and_what_comes_before_it_is_stored() {
    let folder = tempfile::tempdir().expect("a folder");
    import_a_bad_line(folder.path(), &folder.path().join("data"));
}

#[test]
fn a_bad_line_is_named_while_the_service_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(&folder.path().join("data"));
    import_a_bad_line(folder.path(), &service.data);
    assert_eq!(service.queries("").len(), 2);
}

#[test]
fn a_file_that_is_not_there_or_holds_no_events_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let none = folder.path().join("none.jsonl");
    let missing = import(&data, std::slice::from_ref(&none)).failure(1);
    assert!(missing.contains(&format!("{} cannot be opened", none.display())), "{missing}");
    let other = folder.path().join("other.txt");
    fs::write(&other, "hello\n").expect("written");
    let foreign = import(&data, std::slice::from_ref(&other)).failure(1);
    assert!(
        foreign.contains("other.txt") && foreign.contains("line 1: expected a process event"),
        "{foreign}"
    );
    check(&data, &[]);
}

#[test]
fn a_file_that_is_no_whole_events_file_is_named_with_line_and_cause() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let mut stream = Stream::new();
    let events: Vec<String> = (0..200).map(|_| stream.finished(Uuid::now_v7(), "x")).collect();
    let plain = stream.batch(&events);
    let whole = Packer::new().pack(plain.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()));
    let json = Packer::new().pack([&b"[1, 2]"[..]]);
    let text = Packer::new().pack([&b"hello"[..]]);
    let binary = Packer::new().pack([&b"\xff\xfe"[..]]);
    let garbage = [&whole[..], b"hello, which is no member of a gzip file"].concat();
    let cases: [(&str, &[u8], &str); 11] = [
        ("hello.jsonl.gz", b"hello", "it is not gzip, as its name says"),
        ("plain.jsonl.gz", &plain, "it is not gzip, as its name says"),
        ("empty.jsonl.gz", b"", "it is empty"),
        ("empty.jsonl", b"", "it is empty"),
        ("cut.jsonl.gz", &whole[..whole.len() / 2], ": its gzip ends before its end: the file is cut off"),
        ("head.jsonl.gz", &whole[..6], "line 1: its gzip ends before its end: the file is cut off"),
        ("text.jsonl.gz", &text, "line 1: expected a process event"),
        ("json.jsonl.gz", &json, "line 1: expected a process event"),
        ("binary.jsonl.gz", &binary, "line 1 is not UTF-8"),
        ("garbage.jsonl.gz", &garbage, "line 202: its gzip is damaged"),
        ("hello.jsonl", b"hello", "line 1: expected a process event"),
    ];
    for (name, content, says) in cases {
        let path = folder.path().join(name);
        fs::write(&path, content).expect("written");
        let refused = import(&data, std::slice::from_ref(&path));
        assert!(refused.err.contains(name) && refused.err.contains(says), "{name}: {refused:?}");
        refused.failure(1);
    }
    // Whether a file is gzip shows in its content, and what came before the damage is stored.
    let (odd, cut) = (folder.path().join("odd.jsonl"), folder.path().join("cut.jsonl.gz"));
    fs::write(&odd, &whole).expect("written");
    let said = import(&data, &[odd]).success();
    assert_eq!(said, "0 events stored, 200 had been stored before\n", "the damaged ones came first");
    let said = import(&folder.path().join("other"), &[cut]);
    assert!(said.out.ends_with(" events stored, 0 had been stored before\n"), "{said:?}");
    assert!(!said.out.starts_with("0 events"), "what is whole of it: {said:?}");
    check(&data, &[]);
}
