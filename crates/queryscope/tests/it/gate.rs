//! `queryscope gate`: events files and services compared, in every format.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::common::events::captures;
use crate::common::{Ended, Service, queryscope};

const STREAM: &str = "210de94c-dce3-44f0-9cd3-2604c74dbeea";
const FAILED: i32 = 4;

/// The end of a query of a test: what its scan reads, and how many rows.
fn ended(number: u32, test: &str, predicate: Option<&str>, rows: u64, wall_ms: f64) -> Value {
    let id = format!("01a1faa8-1bd9-77b2-97ab-{number:012x}");
    json!({
        "schema": "polars-telemetry/events@1", "seq": number + 1, "type": "query.finished", "query_id": id,
        "profile": {
            "schema": "polars-telemetry/profile@1", "query_id": id, "wall_ms": wall_ms, "label": test,
            "started_unix_ns": 1_790_000_000_000_000_000_u64 + u64::from(number),
            "call_site": {"filepath": "/src/app/orders.py", "lineno": 42, "function": "daily"},
            "plan": {"logical": [], "physical": [{
                "id": 1, "kind": "MultiScan", "role": "scan", "inputs": [],
                "properties": {"table": "/data/orders.parquet", "projection": ["a"], "predicate": predicate},
                "metrics": {"rows_out": rows, "busy_ns": (wall_ms * 1e6) as u64},
            }]},
        },
    })
}

fn lines(events: &[Value]) -> String {
    let process = json!({"schema": "polars-telemetry/events@1", "seq": 1, "type": "process", "id": STREAM, "host": "h",
        "service": "tests"});
    let all = std::iter::once(&process).chain(events);
    all.map(|event| format!("{event}\n")).collect()
}

fn write(folder: &Path, name: &str, events: &[Value]) -> PathBuf {
    let (path, text) = (folder.join(name), lines(events));
    if name.ends_with(".gz") {
        let mut packed = GzEncoder::new(fs::File::create(&path).expect("a file"), Compression::fast());
        packed.write_all(text.as_bytes()).and_then(|()| packed.try_finish()).expect("written");
    } else {
        fs::write(&path, text).expect("written");
    }
    path
}

fn gate(base: &Path, head: &Path, more: &[&str]) -> Ended {
    let mut args: Vec<&str> = vec!["gate", "--root", "/src", "--base"];
    args.extend([base.to_str().expect("a text"), "--head", head.to_str().expect("a text")]);
    args.extend(more);
    queryscope(args)
}

/// A suite, and the same with a predicate that is lost, a query that is new, and other times in another order.
fn suites(folder: &Path) -> (PathBuf, PathBuf) {
    let filtered = Some("col(\"day\") == 3");
    let base = [
        ended(1, "t.py::a", filtered, 10, 5.0),
        ended(2, "t.py::b", None, 10, 7.0),
        ended(3, "t.py::b", None, 200, 1.0),
    ];
    let head = [
        ended(4, "t.py::b", None, 200, 900.0),
        ended(5, "t.py::b", None, 10, 80.0),
        ended(6, "t.py::a|<@x>`", None, 10, 5.0),
        ended(7, "t.py::a", None, 300, 5.0),
    ];
    (write(folder, "base.jsonl.gz", &base), write(folder, "head.jsonl", &head))
}

#[test]
fn what_got_worse_fails_the_gate_in_every_format() {
    let folder = tempfile::tempdir().expect("a folder");
    let (base, head) = suites(folder.path());
    let told = gate(&base, &head, &[]);
    assert_eq!(told.status.code(), Some(FAILED), "{told:?}");
    assert_eq!(
        told.out,
        "FAILS  t.py::a  (polars, app/orders.py:42 in daily)\n\
         \x20 fails   predicate   the predicate on day no longer reaches the scan of orders.parquet\n\
         \x20 fails   rows        the scan of orders.parquet reads 300 rows instead of 10 (30x)\n\
         \n\
         new  t.py::a|<@x>`  (polars, app/orders.py:42 in daily)\n\
         \x20 other   new         the base does not run it\n\
         \n\
         2 unchanged, 1 changed, 1 new, 0 removed.\n\
         The gate fails: 1 of 4 queries is worse.\n"
    );

    let report: Value = serde_json::from_str(&gate(&base, &head, &["--format", "json"]).out).expect("JSON");
    assert_eq!((&report["schema"], &report["fails"]), (&json!("queryscope/gate@1"), &json!(true)));
    assert_eq!((&report["unchanged"], &report["base"]["queries"]), (&json!(2), &json!(3)));
    let site = json!({"file": "app/orders.py", "line": 42, "function": "daily"});
    assert_eq!(report["queries"][0]["call_site"], site);

    let comment = gate(&base, &head, &["--format", "markdown"]).out;
    assert!(
        comment.starts_with("<!-- queryscope gate -->\n### The gate fails: 1 of 4 queries is worse."),
        "{comment}"
    );
    assert!(!comment.contains("<@x>") && !comment.contains("a|<"), "{comment}");

    let sarif: Value = serde_json::from_str(&gate(&base, &head, &["--format", "sarif"]).out).expect("JSON");
    let run = &sarif["runs"][0];
    let levels: Vec<_> =
        run["results"].as_array().expect("a list").iter().map(|each| &each["level"]).collect();
    assert_eq!(levels, ["error", "error", "note"]);
    let place = &run["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"], json!({"uri": "app/orders.py", "uriBaseId": "%SRCROOT%"}));
    assert_eq!(place["region"]["startLine"], 42);
    for result in run["results"].as_array().expect("a list") {
        let rule = result["ruleIndex"].as_u64().expect("a number") as usize;
        assert_eq!(run["tool"]["driver"]["rules"][rule]["id"], result["ruleId"], "{result}");
    }
}

#[test]
fn what_fails_can_be_chosen() {
    let folder = tempfile::tempdir().expect("a folder");
    let (base, head) = suites(folder.path());
    gate(&base, &head, &["--fail-on", "none"]).success();
    gate(&base, &head, &["--fail-on", "bytes,spill"]).success();
    let accepted = gate(&base, &head, &["--accept", "t.py::*"]).success();
    assert!(accepted.starts_with("accepted  t.py::a  "), "{accepted}");
    gate(&base, &head, &["--fail-on", "new", "--accept", "t.py::a"]).failure(FAILED);
    gate(&head, &base, &[]).success();
    gate(&head, &base, &["--fail-on", "removed"]).failure(FAILED);
    let wrong = gate(&base, &head, &["--fail-on", "wall"]).failure(2);
    assert!(wrong.contains("possible values: predicate, projection,"), "{wrong}");
}

#[test]
fn a_suite_does_not_differ_from_itself() {
    let folder = tempfile::tempdir().expect("a folder");
    for file in captures() {
        let name = file.file_name().expect("a name");
        fs::copy(&file, folder.path().join(Path::new(name).with_extension("jsonl.gz"))).expect("copied");
    }
    let told = gate(folder.path(), folder.path(), &["--fail-on", "new,removed,plan,repeats,rows,finding"]);
    assert!(told.success().contains(" unchanged, 0 changed, 0 new, 0 removed."));
}

#[test]
fn a_service_is_compared_with_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let (base, head) = suites(folder.path());
    let data = folder.path().join("data");
    let service = Service::start(&data);
    for file in [&base, &head] {
        queryscope([Path::new("import"), Path::new("--data"), &data, file]).success();
    }
    let url = format!("{}?service=tests&until=1790000000000000003", service.url);
    gate(Path::new(&url), &base, &[]).success();
    let told = gate(Path::new(&url), &head, &[]);
    assert_eq!(told.status.code(), Some(FAILED), "{told:?}");
    let wrong = gate(Path::new(&format!("{}?state=x", service.url)), &base, &[]).failure(1);
    assert!(wrong.contains("an address takes the filters project, service,"), "{wrong}");
    let none = gate(Path::new(&format!("{}?service=none", service.url)), &base, &[]).failure(3);
    assert_eq!(none, "error: --base holds no query that has ended\n");
}

#[test]
fn what_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let (base, _) = suites(folder.path());
    let text = folder.path().join("text.jsonl");
    fs::write(&text, "hello\n").expect("written");
    let wrong = gate(&base, &text, &[]).failure(1);
    assert!(
        wrong.starts_with("error: --head: ") && wrong.contains("text.jsonl: line 1: expected"),
        "{wrong}"
    );
    let empty = folder.path().join("empty");
    fs::create_dir(&empty).expect("a folder");
    let wrong = gate(&base, &empty, &[]).failure(1);
    assert!(wrong.contains("holds no file that ends in .jsonl, .jsonl.gz"), "{wrong}");
}
