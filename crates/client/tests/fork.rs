//! A process that forks while its telemetry runs. It is the only test of its binary: a fork copies no thread but
//! the one that forks.
#![cfg(unix)]

mod common;

use std::collections::BTreeSet;
use std::path::Path;

use queryscope_client::protocol::{Event, EventKind};
use queryscope_client::{EventsFile, Telemetry, install};

use common::run_query;

/// The process a file is of, its stream, and the labels of its queries.
fn read(path: &Path) -> (Option<u64>, String, BTreeSet<String>) {
    let text = std::fs::read_to_string(path).expect("a file");
    let (mut pid, mut streams, mut labels) = (None, BTreeSet::new(), BTreeSet::new());
    for line in text.lines() {
        match Event::read(line).expect("an event").kind {
            EventKind::Process(process) => {
                pid = process.pid;
                streams.insert(process.id.to_string());
            }
            EventKind::Finished(_, profile) => {
                labels.insert(profile.label.expect("a label").to_string());
            }
            // A machine that is slow enough has a query run for a second.
            _ => {}
        }
    }
    assert_eq!(streams.len(), 1, "one stream a file");
    (pid, streams.pop_first().unwrap_or_default(), labels)
}

#[test]
fn a_forked_child_is_a_stream_of_its_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("events.jsonl");
    let telemetry = Telemetry::builder().exporter(EventsFile::new(&path)).start().expect("threads");
    let installed = install(telemetry).expect("nothing is installed");
    run_query("before");

    let child = match fork::fork().expect("a process") {
        fork::Fork::Child => {
            run_query("child");
            drop(installed);
            std::process::exit(0);
        }
        fork::Fork::Parent(pid) => pid,
    };
    fork::waitpid(child).expect("the child ends");
    run_query("after");
    drop(installed);

    let labels = |labels: &[&str]| labels.iter().map(|label| (*label).to_owned()).collect::<BTreeSet<_>>();
    let (pid, stream, queries) = read(&path);
    assert_eq!((pid, queries), (Some(std::process::id().into()), labels(&["after", "before"])));
    let (pid, other_stream, queries) = read(&folder.path().join(format!("events.{child}.jsonl")));
    assert_eq!((pid, queries), (u64::try_from(child).ok(), labels(&["child"])));
    assert_ne!(stream, other_stream);
}
