use std::io::Read;
use std::path::Path;

use flate2::read::MultiGzDecoder;
use queryscope_protocol::StreamId;
use uuid::Uuid;

use crate::exporter::{Answer, Batch, Delivery, Exporter, StartError, Stream};

use super::*;

const PROCESS: &str = r#"{"type":"process","seq":1}"#;

fn stream(forked: bool) -> Stream {
    Stream { id: StreamId::new(Uuid::nil()), pid: 77, forked }
}

fn open(exporter: &dyn Exporter) -> Box<dyn Delivery> {
    exporter.open(&stream(false)).expect("a file")
}

fn deliver(delivery: &mut dyn Delivery, events: &[&str]) {
    let events: Vec<&[u8]> = events.iter().map(|event| event.as_bytes()).collect();
    let batch = Batch { process: PROCESS.as_bytes(), events: &events, dropped: 0 };
    assert_eq!(delivery.deliver(&batch, None), Answer::Delivered);
}

fn text(path: &Path) -> String {
    let bytes = std::fs::read(path).expect("a file");
    let mut text = String::new();
    if path.extension().is_some_and(|extension| extension == "gz") {
        MultiGzDecoder::new(&*bytes).read_to_string(&mut text).expect("whole members");
    } else {
        text = String::from_utf8(bytes).expect("UTF-8");
    }
    text
}

fn finished(name: &str) -> String {
    format!(r#"{{"seq":3,"type":"query.finished","query_id":"q","profile":{{"label": "{name}" }}}}"#)
}

#[test]
fn events_are_lines_a_batch_after_the_other() {
    for name in ["events.jsonl", "events.jsonl.gz"] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(name);
        let mut delivery = open(&EventsFile::new(&path));
        deliver(&mut *delivery, &["a", "b"]);
        drop(delivery);
        deliver(&mut *open(&EventsFile::new(&path)), &["c"]);
        assert_eq!(text(&path), format!("{PROCESS}\na\nb\n{PROCESS}\nc\n"), "{name}");
    }
}

#[test]
fn a_piece_that_a_crash_cut_off_is_removed() {
    for (name, second) in
        [("events.jsonl", "a line that is cut"), ("events.jsonl.gz", "a member that is cut")]
    {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(name);
        let mut delivery = open(&EventsFile::new(&path));
        deliver(&mut *delivery, &["a"]);
        deliver(&mut *delivery, &[second]);
        let bytes = std::fs::read(&path).expect("a file");
        for cut in [1, 5, 12] {
            std::fs::write(&path, &bytes[..bytes.len() - cut]).expect("written");
            deliver(&mut *open(&EventsFile::new(&path)), &["c"]);
            let text = text(&path);
            let kept: Vec<&str> = text.lines().filter(|line| *line != PROCESS).collect();
            assert_eq!(kept, ["a", "c"], "{name} less {cut} bytes");
        }
    }
}

#[test]
fn a_file_that_is_no_gzip_at_all_is_begun_anew() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("events.jsonl.gz");
    std::fs::write(&path, "plain").expect("written");
    deliver(&mut *open(&EventsFile::new(&path)), &["a"]);
    assert_eq!(text(&path), format!("{PROCESS}\na\n"));
}

#[test]
fn profiles_are_a_line_a_query_as_they_were_sent() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("profiles.jsonl");
    let mut delivery = open(&ProfilesFile::new(&path));
    let started = r#"{"seq":2,"type":"query.started","query_id":"q","profile":{"label":"no"}}"#;
    let progress = r#"{"seq":2,"type":"query.progress","query_id":"q","elapsed_ms":1,"nodes":{}}"#;
    deliver(&mut *delivery, &[started, progress, &finished("a")]);
    deliver(&mut *delivery, &[progress]);
    deliver(&mut *delivery, &[&finished("b"), &finished("c")]);
    assert_eq!(
        text(&path),
        "{\"label\": \"a\" }\n{\"label\": \"b\" }\n{\"label\": \"c\" }\n",
        "their own bytes"
    );
}

#[test]
fn a_full_file_is_put_aside_and_the_oldest_goes() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("profiles.jsonl");
    let mut delivery = open(&ProfilesFile::new(&path).rotate(40, 3));
    for name in ["a", "b", "c", "d", "e", "f", "g", "h", "i"] {
        deliver(&mut *delivery, &[&finished(name)]);
    }
    let line = |name: &str| format!("{{\"label\": \"{name}\" }}\n");
    assert_eq!(text(&path), line("i"));
    for (number, lines) in [(1, ["g", "h"]), (2, ["e", "f"]), (3, ["c", "d"])] {
        let aside = folder.path().join(format!("profiles.{number}.jsonl"));
        assert_eq!(text(&aside), lines.map(line).concat());
    }
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 4);
}

/// As a program that rotates logs does, or somebody who clears a folder.
#[test]
fn a_file_that_was_moved_away_is_begun_anew_when_it_is_full() {
    for kept in [0, 2] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("profiles.jsonl");
        let mut delivery = open(&ProfilesFile::new(&path).rotate(40, kept));
        deliver(&mut *delivery, &[&finished("a")]);
        std::fs::rename(&path, folder.path().join("elsewhere")).expect("moved");
        for name in ["b", "c", "d"] {
            deliver(&mut *delivery, &[&finished(name)]);
        }
        assert_eq!(text(&path), "{\"label\": \"c\" }\n{\"label\": \"d\" }\n", "{kept} kept");
    }
}

#[test]
fn a_forked_child_writes_beside_its_parent() {
    let folder = tempfile::tempdir().expect("a folder");
    let exporter = EventsFile::new(folder.path().join("events.jsonl.gz"));
    let mut child = exporter.open(&stream(true)).expect("a file");
    deliver(&mut *child, &["a"]);
    assert_eq!(text(&folder.path().join("events.77.jsonl.gz")), format!("{PROCESS}\na\n"));
}

#[test]
fn a_file_that_can_not_be_opened_is_said_at_the_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("none").join("events.jsonl");
    let error = EventsFile::new(&path).open(&stream(false)).err().expect("no folder");
    assert!(matches!(&error, StartError::File { path: at, .. } if *at == path), "{error}");
}

/// `/dev/full` takes no byte.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_tried_again() {
    let mut delivery = open(&EventsFile::new("/dev/full"));
    let batch = Batch { process: PROCESS.as_bytes(), events: &[b"a"], dropped: 0 };
    assert!(matches!(delivery.deliver(&batch, None), Answer::Later { after: None, .. }));
}
