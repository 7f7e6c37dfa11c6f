//! `serve --keep-days`.

use std::fs;
use std::path::{Path, PathBuf};

use queryscope_collector::{Clock, SystemClock};
use queryscope_store::unpack;
use uuid::Uuid;

use crate::common::events::{Stream, captures};
use crate::common::{Service, below, queryscope, wait_for};

const DAY_NS: i64 = 86_400_000_000_000;
/// Well beyond the day that is kept, and beyond the day after it for which empty folders stay.
const OLD_DAYS: i64 = 5;

/// The captures as one file, as if sent some days ago.
fn old_captures(folder: &Path) -> PathBuf {
    const MEMBER: &str = "\"started_unix_ns\":";
    let text: Vec<u8> = captures()
        .iter()
        .flat_map(|file| unpack(&fs::read(file).expect("a capture")).expect("gzip"))
        .collect();
    let text = String::from_utf8(text).expect("UTF-8");
    let started = (SystemClock::new().unix_ns() - OLD_DAYS * DAY_NS).to_string();
    let mut parts = text.split(MEMBER);
    let mut moved = parts.next().expect("a first part").to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_digit());
        moved.extend([MEMBER, &started, rest]);
    }
    let path = folder.join("old.jsonl");
    fs::write(&path, moved).expect("written");
    path
}

#[test]
fn old_queries_go_with_their_recordings_and_do_not_come_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let old = old_captures(folder.path());
    let import = || {
        let [data, old] = [&data, &old].map(|path| path.to_string_lossy());
        queryscope(["import", "--data", &data, &old]).success()
    };
    let events = import();
    let events = events.strip_suffix(" events stored, 0 had been stored before\n").expect("all new");

    let service = Service::start_with(&data, &["--silent-after", "200ms"]);
    let (query, mut stream) = (Uuid::now_v7(), Stream::new());
    let new = [stream.finished(query, "new")];
    service.post(&stream.batch(&new)).counts();
    wait_for("every query to end", || service.queries("status=running").is_empty().then_some(()));
    service.wait_until_sealed();
    service.stop();

    let service = Service::start_with(&data, &["--keep-days", "1"]);
    wait_for("the old ones to go", || (service.queries("").len() == 1).then_some(()));
    // What is left: one recording in its year, month and day.
    wait_for("their folders to go", || (below(&data.join("recordings")) == (1, 3)).then_some(()));
    assert_eq!(service.recording(query).expect("kept"), [stream.process(), new[0].clone()]);
    assert_eq!(import(), format!("0 events stored, {events} had been stored before\n"));
    assert_eq!(service.queries("").len(), 1);
    service.stop();
    let checked = queryscope(["check", "--data", &data.to_string_lossy()]).success();
    assert!(checked.starts_with("1 queries, 1 events") && checked.ends_with(": sound\n"), "{checked}");
}
