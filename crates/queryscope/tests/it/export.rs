//! `queryscope export`, against a real service.

use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use queryscope_bucket_server::{BUCKET, BucketServer, Fault};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::common::{Running, Service, command, queryscope, wait_for};

const DAY_NS: i64 = 86_400_000_000_000;
/// 2024-01-01.
const FIRST_DAY_NS: i64 = 1_704_067_200_000_000_000;

fn batch(stream: u64, runs: &[(u64, i64)]) -> Vec<u8> {
    let mut lines = vec![json!({
        "schema": "engine-telemetry/events@1", "seq": 1, "type": "process", "host": "h", "service": "etl",
        "id": format!("57000000-0000-4000-8000-{stream:012x}"), "pid": 1,
    })];
    for (at, (run, started)) in runs.iter().enumerate() {
        let id = format!("e0000000-0000-4000-8000-{run:012x}");
        lines.push(json!({
            "schema": "engine-telemetry/events@1", "seq": at + 2, "type": "query.finished", "query_id": id,
            "profile": {
                "schema": "engine-telemetry/profile@1", "query_id": id, "label": "a", "wall_ms": 5,
                "started_unix_ns": started, "plan": {"physical": [], "logical": []},
            },
        }));
    }
    lines.iter().map(|line| line.to_string() + "\n").collect::<String>().into_bytes()
}

/// The runs of a file of JSON lines.
fn runs(path: &Path) -> Vec<u64> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let id = |line: &str| {
        let row: Value = serde_json::from_str(line).expect("JSON");
        let id = row["query_id"].as_str().expect("an id").rsplit('-').next().expect("a part").to_owned();
        u64::from_str_radix(&id, 16).expect("a number")
    };
    text.lines().map(id).collect()
}

#[test]
fn days_are_files_and_an_export_goes_on_where_it_ended() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(&folder.path().join("data"));
    let of = |day: i64, second: i64| FIRST_DAY_NS + day * DAY_NS + second * 1_000_000_000;
    let sent = batch(1, &[(1, of(0, 0)), (2, of(0, 86_399)), (3, of(1, 0)), (4, of(9, 5))]);
    assert_eq!(service.post(&sent).status, 202);
    let place = folder.path().join("tables");
    let export = |more: &[&str]| {
        let mut command = command();
        command.args(["export", "--format", "json"]).arg(&place).args(more);
        command.arg("--data").arg(&service.data);
        Running::start(&mut command).wait()
    };
    let file = |day: &str| place.join(format!("runs/day={day}/runs.jsonl"));
    let out = export(&["--to", "2024-01-02"]).success();
    assert!(out.starts_with("3 files written"), "{out}");
    assert_eq!((runs(&file("2024-01-01")), runs(&file("2024-01-02"))), (vec![1, 2], vec![3]));
    assert!(!file("2024-01-10").exists() && place.join("issues/issues.jsonl").exists());

    // What is there is left as it is; what is missing is written, and days without runs are no files.
    std::fs::write(file("2024-01-01"), "kept").expect("written");
    std::fs::remove_file(file("2024-01-02")).expect("removed");
    let out = export(&["--table", "runs,nodes", "--rewrite-days", "0"]).success();
    assert!(out.contains("1 left as they are"), "{out}");
    assert_eq!(std::fs::read_to_string(file("2024-01-01")).expect("a file"), "kept");
    assert_eq!((runs(&file("2024-01-02")), runs(&file("2024-01-10"))), (vec![3], vec![4]));
    let days: Vec<_> = std::fs::read_dir(place.join("runs")).expect("a folder").collect();
    assert_eq!(days.len(), 3);
    assert!(place.join("nodes/day=2024-01-10/nodes.jsonl").exists());

    // A file that was written before its day ended may lack runs of that day.
    let before_the_end = UNIX_EPOCH + Duration::from_secs(1_704_153_599);
    let kept = std::fs::File::options().write(true).open(file("2024-01-01")).expect("a file");
    kept.set_modified(before_the_end).expect("a time");
    export(&["--table", "runs", "--rewrite-days", "0"]).success();
    assert_eq!(runs(&file("2024-01-01")), [1, 2]);
    std::fs::write(file("2024-01-01"), "kept").expect("written");

    // Days that may still change are written again.
    export(&["--table", "runs", "--rewrite-days", "36500"]).success();
    assert_eq!(runs(&file("2024-01-01")), [1, 2]);

    // Filters hold, and a mistake in one leaves no file.
    let other = folder.path().join("other");
    let ask = |filter: &str| {
        let mut command = command();
        command.args(["export", "--format", "csv", "--table", "runs", "--filter", filter]).arg(&other);
        command.arg("--data").arg(&service.data);
        Running::start(&mut command).wait()
    };
    let error = ask("wall>1").failure(1);
    assert!(error.contains("filter: at character 6"), "{error}");
    assert!(!other.join("runs/day=2024-01-01/runs.csv").exists());
    ask("00000001").success();
    let csv = std::fs::read_to_string(other.join("runs/day=2024-01-01/runs.csv")).expect("a file");
    assert_eq!(csv.lines().count(), 2, "{csv}");
}

#[test]
fn an_export_that_is_killed_goes_on_where_it_ended() {
    const DAYS: i64 = 60;
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(&folder.path().join("data"));
    let all: Vec<(u64, i64)> = (0..DAYS).map(|day| (day as u64 + 1, FIRST_DAY_NS + day * DAY_NS)).collect();
    assert_eq!(service.post(&batch(1, &all)).status, 202);
    let place = folder.path().join("tables");
    let start = || {
        let mut command = command();
        command.args(["export", "--format", "json", "--table", "runs"]).arg(&place);
        Running::start(command.arg("--data").arg(&service.data))
    };
    let days = || std::fs::read_dir(place.join("runs")).map_or(0, Iterator::count);
    let killed = start();
    wait_for("some days", || (days() >= 3).then_some(()));
    killed.signal(Signal::KILL);
    killed.wait();
    let written = days();
    assert!(written < DAYS as usize, "it was killed before its end");
    let out = start().wait().success();
    // The day that was being written may have been whole.
    let kept: usize =
        out.split(", ").nth(1).and_then(|part| part.split(' ').next()?.parse().ok()).expect("a number");
    assert!((written - 1..=written).contains(&kept), "{written} days: {out}");
    for (day, (run, started)) in all.iter().enumerate() {
        let date = chrono::DateTime::from_timestamp_nanos(*started).date_naive();
        assert_eq!(runs(&place.join(format!("runs/day={date}/runs.jsonl"))), [*run], "{day}");
    }
}

#[test]
fn a_bucket_takes_an_export_and_keeps_what_is_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(&folder.path().join("data"));
    let sent = batch(1, &[(1, FIRST_DAY_NS), (2, FIRST_DAY_NS + DAY_NS)]);
    assert_eq!(service.post(&sent).status, 202);
    let server = BucketServer::start();
    let export = |place: &str| {
        let mut command = command();
        command
            .args(["export", place, "--format", "json", "--table", "runs,nodes", "--data"])
            .arg(&service.data);
        Running::start(command.envs(server.variables())).wait()
    };
    let place = format!("s3://{BUCKET}/telemetry/tables");
    let out = export(&place).success();
    assert!(out.starts_with("4 files written") && out.contains(", 0 left as they are"), "{out}");
    let names = [
        "nodes/day=2024-01-01/nodes",
        "nodes/day=2024-01-02/nodes",
        "runs/day=2024-01-01/runs",
        "runs/day=2024-01-02/runs",
    ];
    let all = names.map(|name| format!("telemetry/tables/{name}.jsonl"));
    assert_eq!(server.names(), all);
    assert_eq!(runs(&server.bucket().join(&all[3])), [2]);
    // A second call goes on: it writes what is missing alone.
    std::fs::remove_file(server.bucket().join(&all[2])).expect("removed");
    let out = export(&place).success();
    assert!(out.starts_with("1 files written") && out.contains(", 3 left as they are"), "{out}");
    assert_eq!(runs(&server.bucket().join(&all[2])), [1]);
    // A bucket that fails leaves no part of a file, and the next call writes it.
    std::fs::remove_file(server.bucket().join(&all[3])).expect("removed");
    server.fail(Fault::NoBucket);
    let error = export(&place).failure(1);
    assert!(error.contains("runs"), "{error}");
    server.fail(None);
    assert!(!server.names().contains(&all[3]));
    export(&place).success();
    assert_eq!((server.names(), server.parts()), (all.to_vec(), 0));
}

#[test]
fn a_place_that_is_none_is_refused() {
    let error = queryscope(["export", "ftp://x/y"]).failure(2);
    assert!(error.contains("expected a folder, s3://BUCKET/PREFIX"), "{error}");
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    std::fs::write(folder.path().join("file"), "").expect("a file");
    let place = folder.path().join("file");
    let data = service.data.as_os_str();
    let error = queryscope(["export".as_ref(), place.as_os_str(), "--data".as_ref(), data]).failure(1);
    assert!(error.contains("file cannot be opened: File exists"), "{error}");
    let error = queryscope(["export", "x", "--table", "queries"]).failure(2);
    assert!(error.contains("runs, nodes, findings, issues"), "{error}");
}
