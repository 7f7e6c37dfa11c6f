//! A process that exits by itself while its telemetry is installed: what waits is sent.
//!
//! The test runs its own binary once more, in which [`child`] exits.

#![expect(clippy::disallowed_methods, reason = "real time passes in these tests")]

mod common;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use flate2::read::MultiGzDecoder;
use queryscope_client::protocol::{Event, EventKind};
use queryscope_client::{EventsFile, Exporter, HttpExporter, Telemetry, install};

use common::run_query;

/// What the child does; the test is another one without it.
const PART: &str = "QUERYSCOPE_TEST_EXIT";
/// Where it sends to.
const TARGET: &str = "QUERYSCOPE_TEST_EXIT_TARGET";

fn start(exporter: impl Exporter) {
    let telemetry = Telemetry::builder().exporter(exporter).start().expect("threads");
    std::mem::forget(install(telemetry).expect("nothing is installed"));
}

#[test]
fn child() {
    let Ok(part) = std::env::var(PART) else { return };
    let target = std::env::var(TARGET).expect("a target");
    match part.as_str() {
        "http" => {
            start(HttpExporter::new(target).token("t"));
            run_query("short");
            std::process::exit(3);
        }
        "fork" => {
            start(EventsFile::new(target));
            run_query("parent");
            let labels = [Some("child"), None];
            let children = labels.map(|label| match fork::fork().expect("a process") {
                fork::Fork::Child => {
                    label.into_iter().for_each(run_query);
                    std::process::exit(0);
                }
                fork::Fork::Parent(pid) => pid,
            });
            for child in children {
                fork::waitpid(child).expect("the child ends");
            }
            std::process::exit(3);
        }
        other => panic!("{other}"),
    }
}

/// Runs the child; how long it took.
fn run(part: &str, target: &str) -> Duration {
    let begin = Instant::now();
    let mut command = Command::new(std::env::current_exe().expect("a binary"));
    let command = command.args(["child", "--exact", "--test-threads=1"]).env(PART, part).env(TARGET, target);
    let output = command.output().expect("a process");
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    begin.elapsed()
}

/// The labels of the queries that have finished.
fn labels(text: &str) -> Vec<String> {
    let finished = text.lines().filter_map(|line| match Event::read(line).expect("an event").kind {
        EventKind::Finished(_, profile) => Some(profile.label.expect("a label").to_string()),
        _ => None,
    });
    finished.collect()
}

#[test]
fn what_waits_is_sent_when_the_process_exits() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let server = std::thread::spawn(move || answer_late(&listener.accept().expect("a connection").0));
    run("http", &url);
    assert_eq!(labels(&server.join().expect("a request")), ["short"]);
}

/// Reads one request, and answers it after a while, in which a process that does not wait is gone.
fn answer_late(mut connection: &TcpStream) -> String {
    let mut request = Vec::new();
    let (head, length) = loop {
        let mut bytes = [0; 4096];
        let read = connection.read(&mut bytes).expect("a request");
        request.extend_from_slice(&bytes[..read]);
        let Some(head) = request.windows(4).position(|end| end == b"\r\n\r\n") else { continue };
        let text = String::from_utf8_lossy(&request[..head]).to_lowercase();
        let length = text.lines().find_map(|line| line.strip_prefix("content-length: "));
        break (head + 4, length.expect("a length").parse::<usize>().expect("a number"));
    };
    while request.len() < head + length {
        let mut bytes = [0; 4096];
        let read = connection.read(&mut bytes).expect("a body");
        assert!(read > 0, "the body ended early");
        request.extend_from_slice(&bytes[..read]);
    }
    std::thread::sleep(Duration::from_millis(300));
    let answer = "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n";
    connection.write_all(answer.as_bytes()).expect("the process waits for the answer");
    let mut text = String::new();
    MultiGzDecoder::new(&request[head..]).read_to_string(&mut text).expect("gzip");
    text
}

#[cfg(unix)]
#[test]
fn forked_processes_send_what_is_theirs_when_they_exit() {
    let folder = tempfile::tempdir().expect("a folder");
    run("fork", folder.path().join("events.jsonl").to_str().expect("UTF-8"));
    let files =
        |folder: &Path| folder.read_dir().expect("a folder").map(|entry| entry.expect("a file").path());
    let mut files: Vec<PathBuf> = files(folder.path()).collect();
    files.sort();
    let found: Vec<_> =
        files.iter().map(|path| labels(&std::fs::read_to_string(path).expect("text"))).collect();
    let mut found: Vec<Vec<String>> = found;
    found.sort();
    assert_eq!(found, [["child"], ["parent"]], "{files:?}");
}
