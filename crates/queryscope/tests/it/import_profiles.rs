//! `queryscope import` of profiles files.

use std::fs;
use std::path::{Path, PathBuf};

use queryscope_store::Packer;
use serde_json::Value;
use uuid::Uuid;

use crate::common::events::Stream;
use crate::common::{Ended, Service, queryscope};

fn import(data: &Path, files: &[&Path]) -> Ended {
    let command: [&Path; 3] = ["import".as_ref(), "--data".as_ref(), data];
    queryscope(command.iter().chain(files))
}

fn written(folder: &Path, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, content).expect("written");
    path
}

/// The profile in a `query.finished` event, as the client's `ProfilesFile` writes it.
fn profile_of(event: &str) -> String {
    let at = event.find(r#""profile":"#).expect("a profile") + r#""profile":"#.len();
    event[at..event.len() - 1].to_owned()
}

fn profile(query: Uuid, label: &str) -> String {
    profile_of(&Stream::new().finished(query, label))
}

fn sound(data: &Path) {
    let checked = queryscope(["check".as_ref(), "--data".as_ref(), data.as_os_str()]).success();
    assert!(checked.ends_with(": sound\n"), "{checked}");
}

/// Imports three profiles from a plain file and from its gzip, twice, and two of them with one more.
fn import_thrice(folder: &Path, data: &Path) {
    let profiles: Vec<String> = (0..4).map(|n| profile(Uuid::now_v7(), &format!("label {n}"))).collect();
    let plain = written(folder, "profiles.jsonl", profiles[..3].join("\n") + "\n");
    let gzip = Packer::new().pack(profiles[..3].iter().map(String::as_bytes));
    let gzip = written(folder, "profiles.jsonl.gz", gzip);
    let grown = written(folder, "grown.jsonl", profiles[1..].join("\n"));
    for (file, says) in [
        (&plain, "3 events stored, 0 had"),
        (&plain, "0 events stored, 3 had"),
        (&gzip, "0 events stored, 3 had"),
    ] {
        assert_eq!(import(data, &[file]).success(), format!("{says} been stored before\n"));
    }
    assert_eq!(import(data, &[&grown]).success(), "1 events stored, 2 had been stored before\n");
}

fn assert_imported(service: &Service) {
    let queries = service.queries("");
    assert_eq!(queries.len(), 4);
    for query in &queries {
        let ended = (&query["status"], &query["wall_ms"], &query["result_rows"]);
        assert_eq!(ended, (&Value::from("finished"), &Value::from(2500.25), &Value::from(3)), "{query}");
        assert_eq!((&query["service"], &query["host"]), (&Value::Null, &Value::from("unknown")), "{query}");
        let recording =
            service.get(&format!("/api/queries/{}/recording", query["query_id"].as_str().expect("an id")));
        assert_eq!(recording.status, 200);
    }
}

#[test]
fn profiles_are_imported_once_without_a_service() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    import_thrice(folder.path(), &data);
    sound(&data);
    assert_imported(&Service::start(&data));
}

#[test]
fn profiles_are_imported_once_while_the_service_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(&folder.path().join("data"));
    import_thrice(folder.path(), &service.data);
    assert_imported(&service);
    sound(&service.data);
}

/// Stores a query as events, then its profile beside that of another.
fn import_what_was_sent(folder: &Path, data: &Path) {
    let (query, mut stream) = (Uuid::now_v7(), Stream::new());
    let events = [stream.started(query, "sent"), stream.finished(query, "sent")];
    let file = written(folder, "events.jsonl", stream.batch(&events));
    import(data, &[&file]).success();
    let profiles = [profile_of(&events[1]), profile(Uuid::now_v7(), "other")].join("\n");
    let file = written(folder, "profiles.jsonl", profiles);
    assert_eq!(import(data, &[&file]).success(), "1 events stored, 1 had been stored before\n");
    sound(data);
}

#[test]
fn a_query_that_was_sent_as_events_is_left_as_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    import_what_was_sent(folder.path(), &folder.path().join("data"));
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(&folder.path().join("data"));
    import_what_was_sent(folder.path(), &service.data);
    assert_eq!(service.queries("label=sent")[0]["host"], "h", "its process is known");
}

#[test]
fn a_profile_of_another_engine_keeps_its_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let foreign = profile(Uuid::now_v7(), "x").replace("engine-telemetry", "polars-telemetry");
    import(&data, &[&written(folder.path(), "profiles.jsonl", foreign)]).success();
    assert_eq!(Service::start(&data).queries("")[0]["engine"], "polars");
}

#[test]
fn a_line_that_is_no_profile_is_named_and_what_comes_before_it_is_stored() {
    let folder = tempfile::tempdir().expect("a folder");
    let good = || profile(Uuid::now_v7(), "good");
    let bad = |from: &str, to: &str| {
        let good = good();
        assert!(good.contains(from), "{good}");
        good.replace(from, to)
    };
    let event = Stream::new().finished(Uuid::now_v7(), "an event");
    let cases = [
        (bad(r#""wall_ms":2500.25"#, r#""wall_ms":-1"#), "line 2: profile.wall_ms"),
        (bad(r#","plan":{"physical":[],"logical":[]}"#, ""), "line 2: profile.plan is missing"),
        (bad("profile@1", "profile@2"), "line 2: unknown format \"engine-telemetry/profile@2\""),
        (event, "line 2: unknown format \"engine-telemetry/events@1\""),
        (bad(r#""query_id""#, r#""id""#), "line 2: its query_id is missing"),
        ("hello".into(), "line 2: it is not a profile as a JSON object, from column 1 on"),
    ];
    for (number, (line, says)) in cases.into_iter().enumerate() {
        let data = folder.path().join(format!("data-{number}"));
        let file = written(folder.path(), "bad.jsonl", [good(), line, good()].join("\n"));
        let refused = import(&data, &[&file]);
        assert_eq!(refused.out, "1 events stored, 0 had been stored before\n", "{says}");
        let err = refused.failure(1);
        assert!(
            err.contains("bad.jsonl (what comes before it is stored): ") && err.contains(says),
            "{says}: {err}"
        );
    }
}

#[test]
fn a_last_profile_that_is_cut_off_is_left_out_and_said_to_be() {
    let folder = tempfile::tempdir().expect("a folder");
    let (data, one) = (folder.path().join("data"), profile(Uuid::now_v7(), "whole"));
    let file = written(folder.path(), "cut.jsonl", format!("{one}\n{}", &one[..one.len() - 9]));
    let ended = import(&data, &[&file]);
    assert!(ended.err.contains("cut.jsonl: the last line is cut off"), "{ended:?}");
    assert_eq!(ended.success(), "1 events stored, 0 had been stored before\n");
}
