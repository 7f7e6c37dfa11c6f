//! The formats against the traffic of a real sender: what it sent is valid by the schemas and accepted by the
//! readers; what is damaged is refused by both.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use jsonschema::{Registry, Validator};
use queryscope_protocol::vocabulary::counters::BYTES_READ;
use queryscope_protocol::{
    Batch, BatchWriter, Event, EventKind, Process, Profile, ProfileSummary, QueryId, Sample, Seq,
};
use serde_json::{Value, json};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn schema(name: &str) -> Value {
    let path = root().join("schemas").join(name);
    serde_json::from_reader(File::open(&path).expect("a schema")).expect("JSON")
}

/// Validates events; the documents refer to each other by name and nothing is fetched.
fn validator() -> Validator {
    let profile = schema("profile-v1.json");
    let registry = Registry::new()
        .add("urn:queryscope:schema:profile-v1", &profile)
        .and_then(jsonschema::RegistryBuilder::prepare)
        .expect("a registry");
    let events = schema("events-v1.json");
    jsonschema::options().with_registry(&registry).offline().build(&events).expect("a schema")
}

fn captures() -> BTreeMap<PathBuf, Vec<u8>> {
    let dir = root().join("testdata/captures").read_dir().expect("captures");
    let paths = dir.map(|entry| entry.expect("an entry").path());
    let batches: BTreeMap<_, _> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "gz"))
        .map(|path| {
            let mut batch = Vec::new();
            MultiGzDecoder::new(File::open(&path).expect("a file")).read_to_end(&mut batch).expect("gzip");
            (path, batch)
        })
        .collect();
    assert!(batches.len() >= 100, "{} captures", batches.len());
    batches
}

#[test]
fn every_captured_event_is_valid() {
    let validator = validator();
    for (path, batch) in captures() {
        for line in str::from_utf8(&batch).expect("UTF-8").lines() {
            let event: Value = serde_json::from_str(line).expect("JSON");
            let errors: Vec<_> = validator.iter_errors(&event).map(|e| e.to_string()).collect();
            assert!(errors.is_empty(), "{path:?}: {errors:?}");
        }
    }
}

#[test]
fn every_captured_batch_is_read_whole() {
    let mut seen = BTreeMap::<&str, usize>::new();
    for (path, batch) in &captures() {
        let batch = Batch::open(batch).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        for event in batch.events {
            let event = event.unwrap_or_else(|error| panic!("{path:?}: {error}"));
            assert_eq!(event.engine.as_deref(), Some("polars"));
            let profile = event.profile().unwrap_or_else(|error| panic!("{path:?}: {error}"));
            let sample = event.sample().unwrap_or_else(|error| panic!("{path:?}: {error}"));
            let value: Value = serde_json::from_str(event.line).expect("JSON");
            match &event.kind {
                EventKind::Started(id, summary) | EventKind::Finished(id, summary) => {
                    let profile = profile.expect("a profile");
                    assert_eq!(id.to_string(), *profile.query_id);
                    agree(summary, &profile);
                    complete(&value["profile"], &profile);
                }
                EventKind::Progress(_, elapsed_ms) => {
                    let sample = sample.expect("a sample");
                    assert_eq!(Some(sample.elapsed_ms), Some(*elapsed_ms));
                    assert_eq!(
                        Some(sample.nodes.len()),
                        value["nodes"].as_object().map(serde_json::Map::len)
                    );
                }
                EventKind::Process(_) | EventKind::Other(_) => panic!("{path:?}: {}", event.line),
            }
            *seen.entry(kind(&event)).or_default() += 1;
        }
    }
    assert_eq!(seen.keys().copied().collect::<Vec<_>>(), ["finished", "progress", "started"]);
}

fn kind(event: &Event<'_>) -> &'static str {
    match event.kind {
        EventKind::Started(..) => "started",
        EventKind::Progress(..) => "progress",
        EventKind::Finished(..) => "finished",
        _ => "other",
    }
}

/// A summary shows what the whole profile says.
fn agree(summary: &ProfileSummary<'_>, profile: &Profile<'_>) {
    assert_eq!((&summary.label, &summary.fingerprint), (&profile.label, &profile.fingerprint));
    assert_eq!((&summary.failed, summary.started_unix_ns), (&profile.failed, profile.started_unix_ns));
    assert_eq!((Some(summary.wall_ms), summary.cpu_ms), (Some(profile.wall_ms), profile.cpu_ms));
    assert_eq!(summary.result_rows, profile.result_rows);
    let nodes = profile.plan.physical.iter().filter_map(|node| node.metrics.as_ref());
    let read: Vec<i64> = nodes.filter_map(|all| Some(BYTES_READ.value_in(all)? as i64)).collect();
    assert_eq!(summary.bytes_read, (!read.is_empty()).then(|| read.iter().sum()));
    // The sender of the captures sends neither.
    assert_eq!((summary.spilled_bytes, summary.peak_memory_bytes), (None, None));
    let warnings = profile.findings().iter().filter(|finding| &*finding.level == "warn");
    let rules: Vec<&str> = warnings.map(|finding| &*finding.rule).collect();
    assert_eq!(summary.warnings().collect::<Vec<_>>(), rules);
}

/// Nothing of what was sent is lost by reading and writing: this sender uses no member the format does not name.
fn complete(sent: &Value, profile: &Profile<'_>) {
    let written = serde_json::to_value(profile).expect("JSON");
    assert_eq!(&written, sent);
}

/// A damaged event: what is done to which of the samples below, by JSON pointer.
struct Damage {
    of: &'static str,
    at: &'static str,
    /// The value put there; `None` takes the member away.
    put: Option<Value>,
}

fn missing(of: &'static str, at: &'static str) -> Damage {
    Damage { of, at, put: None }
}

fn wrong(of: &'static str, at: &'static str, put: Value) -> Damage {
    Damage { of, at, put: Some(put) }
}

#[test]
fn schema_and_reader_refuse_the_same_damage() {
    let damages = [
        missing("process", "/schema"),
        wrong("process", "/schema", json!("polars-telemetry/events@2")),
        wrong("process", "/schema", json!("Polars-telemetry/events@1")),
        wrong("process", "/schema", json!(1)),
        missing("process", "/seq"),
        wrong("process", "/seq", json!(0)),
        wrong("process", "/seq", json!(-1)),
        wrong("process", "/seq", json!("1")),
        wrong("process", "/seq", json!(1.5)),
        wrong("process", "/seq", json!(9_223_372_036_854_775_808_u64)),
        missing("process", "/type"),
        wrong("process", "/type", json!(null)),
        missing("process", "/id"),
        wrong("process", "/id", json!("7")),
        wrong("process", "/id", json!("210de94cdce344f09cd32604c74dbeea")),
        missing("process", "/host"),
        wrong("process", "/host", json!(null)),
        wrong("process", "/service", json!(1)),
        wrong("process", "/environment", json!({})),
        wrong("process", "/pid", json!("30542")),
        wrong("process", "/started_unix_ns", json!("1")),
        missing("query.progress", "/query_id"),
        wrong("query.progress", "/query_id", json!("7")),
        missing("query.progress", "/elapsed_ms"),
        wrong("query.progress", "/elapsed_ms", json!(-1)),
        wrong("query.progress", "/elapsed_ms", json!("1")),
        missing("query.progress", "/nodes"),
        wrong("query.progress", "/nodes", json!([])),
        wrong("query.progress", "/nodes/x", json!({})),
        wrong("query.progress", "/nodes/1", json!([])),
        wrong("query.progress", "/nodes/1", json!({"rows_sent": -1})),
        wrong("query.progress", "/nodes/1", json!({"done": 1})),
        wrong("query.progress", "/nodes/1", json!({"custom": null})),
        wrong("query.progress", "/elapsed_ms", json!(315_360_000_001_u64)),
        wrong("query.progress", "/nodes/1", json!({"custom": [{"key": "k", "value": 1}]})),
        missing("query.started", "/query_id"),
        missing("query.started", "/profile"),
        wrong("query.started", "/profile", json!([])),
        missing("query.started", "/profile/plan/logical"),
        missing("query.finished", "/query_id"),
        missing("query.finished", "/profile"),
        missing("query.finished", "/profile/schema"),
        wrong("query.finished", "/profile/schema", json!("polars-telemetry/events@1")),
        missing("query.finished", "/profile/query_id"),
        wrong("query.finished", "/profile/query_id", json!(7)),
        missing("query.finished", "/profile/wall_ms"),
        wrong("query.finished", "/profile/wall_ms", json!(-0.5)),
        wrong("query.finished", "/profile/wall_ms", json!(null)),
        wrong("query.finished", "/profile/wall_ms", json!(1e308)),
        wrong("query.finished", "/profile/cpu_ms", json!(315_360_000_001_u64)),
        wrong("query.finished", "/profile/engine_version", json!(7)),
        wrong("query.finished", "/profile/cpu_ms", json!(-1)),
        wrong("query.finished", "/profile/planning_ms", json!("1")),
        wrong("query.finished", "/profile/telemetry_ms", json!([])),
        wrong("query.finished", "/profile/label", json!(1)),
        wrong("query.finished", "/profile/fingerprint", json!(1)),
        wrong("query.finished", "/profile/started_unix_ns", json!(0.5)),
        wrong("query.finished", "/profile/result_rows", json!("5")),
        wrong("query.finished", "/profile/failed", json!(true)),
        wrong("query.finished", "/profile/redacted", json!("strings")),
        wrong("query.finished", "/profile/redacted", json!([1])),
        wrong("query.finished", "/profile/diagnostics", json!([])),
        wrong("query.finished", "/profile/query_metrics", json!({"num_threads": -2})),
        wrong("query.finished", "/profile/call_site", json!("main")),
        missing("query.finished", "/profile/call_site/filepath"),
        missing("query.finished", "/profile/call_site/lineno"),
        missing("query.finished", "/profile/call_site/function"),
        missing("query.finished", "/profile/plan"),
        missing("query.finished", "/profile/plan/physical"),
        wrong("query.finished", "/profile/plan/physical", json!({})),
        wrong("query.finished", "/profile/plan/physical/0", json!(1)),
        missing("query.finished", "/profile/plan/physical/0/id"),
        wrong("query.finished", "/profile/plan/physical/0/id", json!(-1)),
        missing("query.finished", "/profile/plan/physical/0/kind"),
        wrong("query.finished", "/profile/plan/physical/0/role", json!(3)),
        missing("query.finished", "/profile/plan/physical/0/inputs"),
        wrong("query.finished", "/profile/plan/physical/0/inputs", json!([-1])),
        wrong("query.finished", "/profile/plan/physical/0/properties", json!([])),
        wrong("query.finished", "/profile/plan/physical/0/metrics", json!([])),
        wrong("query.finished", "/profile/plan/physical/0/metrics/rows_sent", json!(-1)),
        wrong("query.finished", "/profile/plan/physical/0/metrics/new_counter", json!("1")),
        wrong("query.finished", "/profile/plan/physical/0/metrics/done", json!("true")),
        wrong("query.finished", "/profile/plan/logical/0/inputs", json!(null)),
        missing("query.finished", "/profile/insights/schema"),
        missing("query.finished", "/profile/insights/findings"),
        wrong("query.finished", "/profile/insights/findings", json!({})),
        missing("query.finished", "/profile/insights/findings/0/rule"),
        missing("query.finished", "/profile/insights/findings/0/kind"),
        missing("query.finished", "/profile/insights/findings/0/level"),
        missing("query.finished", "/profile/insights/findings/0/node_id"),
        wrong("query.finished", "/profile/insights/findings/0/node_id", json!("1")),
        wrong("query.finished", "/profile/insights/findings/0/cpu_share", json!("1")),
        missing("query.finished", "/profile/insights/findings/0/title"),
        wrong("query.finished", "/profile/insights/findings/0/evidence", json!({})),
        missing("query.finished", "/profile/insights/findings/0/evidence/0/name"),
        missing("query.finished", "/profile/insights/findings/0/evidence/0/value"),
        wrong("query.finished", "/profile/insights/findings/0/evidence/0/value", json!([])),
        wrong("query.finished", "/profile/trace_id", json!("4BF92F3577B34DA6A3CE929D0E0E4736")),
        wrong("query.finished", "/profile/span_id", json!("00f067aa0ba902")),
    ];
    let validator = validator();
    let samples = samples();
    for event in samples.values() {
        assert!(validator.is_valid(event) && accepted(event), "{event}");
    }
    for Damage { of, at, put } in damages {
        let event = damaged(&samples[of], at, put.clone());
        assert_ne!(event, samples[of], "{of} {at}");
        assert!(!validator.is_valid(&event), "the schema accepts {of} {at} {put:?}");
        assert!(!accepted(&event), "the reader accepts {of} {at} {put:?}");
    }
}

#[test]
fn schema_and_reader_accept_what_they_do_not_know() {
    let validator = validator();
    let samples = samples();
    for Damage { of, at, put } in [
        wrong("process", "/labels", json!({"team": "a"})),
        wrong("process", "/type", json!("gc.pause")),
        wrong("query.progress", "/type", json!("query.note")),
        wrong("query.progress", "/threads", json!([1])),
        wrong("query.progress", "/nodes/18446744073709551615", json!({"counter_of_tomorrow": 1})),
        missing("query.finished", "/profile/label"),
        missing("query.finished", "/profile/insights"),
        wrong("query.finished", "/profile/cost", json!({"eur": 0.1})),
        wrong("query.finished", "/profile/plan/stages", json!([])),
        wrong("query.finished", "/profile/plan/physical/0/role", json!("time_travel")),
        wrong("query.finished", "/profile/plan/physical/0/metrics/counter_of_tomorrow", json!(1)),
        wrong("query.finished", "/profile/insights/findings/0/level", json!("shout")),
        wrong("query.finished", "/profile/insights/findings/0/node_id", json!(null)),
        wrong("query.finished", "/profile/call_site/column", json!(7)),
    ] {
        let event = damaged(&samples[of], at, put);
        assert_ne!(event, samples[of], "{of} {at}");
        assert!(validator.is_valid(&event), "the schema refuses {of} {at}");
        assert!(accepted(&event), "the reader refuses {of} {at}");
    }
}

#[test]
fn what_is_written_is_valid() {
    let validator = validator();
    let samples = samples();
    let finished = samples["query.finished"].to_string();
    let profile = Event::read(&finished).expect("read").profile().expect("whole").expect("a profile");
    let progress = samples["query.progress"].to_string();
    let sample: Sample<'_> = Event::read(&progress).expect("read").sample().expect("whole").expect("one");
    for engine in [None, Some("polars")] {
        let process = Process {
            id: "210de94c-dce3-44f0-9cd3-2604c74dbeea".parse().expect("a UUID"),
            service: None,
            environment: Some("prod".into()),
            program_version: Some("1.4.2".into()),
            host: "h".into(),
            pid: None,
            started_unix_ns: None,
        };
        let mut writer = BatchWriter::new(engine, &process).expect("a brand");
        let query: QueryId = profile.query_id.parse().expect("a UUID");
        let seq = |number| Seq::new(number).expect("a seq");
        let profile = Profile { engine: engine.map(Into::into), ..profile.clone() };
        writer.started(seq(2), query, &profile).expect("written");
        writer.progress(seq(3), query, &sample).expect("written");
        writer.finished(seq(4), query, &profile).expect("written");
        let batch = writer.into_bytes();
        assert_eq!(Batch::open(&batch).expect("a batch").events.filter_map(Result::ok).count(), 3);
        for line in str::from_utf8(&batch).expect("UTF-8").lines() {
            let event: Value = serde_json::from_str(line).expect("JSON");
            let errors: Vec<_> = validator.iter_errors(&event).map(|e| e.to_string()).collect();
            assert!(errors.is_empty(), "{line}: {errors:?}");
        }
    }
}

/// A captured event of each type; the finished one has findings, counters and a call site.
fn samples() -> BTreeMap<String, Value> {
    let mut samples = BTreeMap::new();
    for batch in captures().values() {
        for line in str::from_utf8(batch).expect("UTF-8").lines() {
            let event: Value = serde_json::from_str(line).expect("JSON");
            let kind = event["type"].as_str().expect("a type").to_owned();
            let rich = event.pointer("/profile/insights/findings/0/evidence/0").is_some()
                && event.pointer("/profile/call_site/lineno").is_some();
            if kind != "query.finished" || rich {
                samples.entry(kind).or_insert(event);
            }
        }
    }
    assert_eq!(samples.len(), 4);
    samples
}

/// Whether the event is accepted; what is accepted can be read as a whole.
fn accepted(event: &Value) -> bool {
    let line = event.to_string();
    let read = Event::read(&line);
    if let Ok(event) = &read {
        assert!(event.profile().is_ok() && event.sample().is_ok(), "{line}");
    }
    read.is_ok()
}

fn damaged(event: &Value, at: &str, put: Option<Value>) -> Value {
    let mut event = event.clone();
    let (parent, name) = at.rsplit_once('/').expect("a pointer");
    match (event.pointer_mut(parent).unwrap_or_else(|| panic!("nothing at {parent}")), put) {
        (Value::Object(members), Some(value)) => {
            members.insert(name.to_owned(), value);
        }
        (Value::Object(members), None) => {
            members.remove(name);
        }
        (Value::Array(items), Some(value)) => {
            items[name.parse::<usize>().expect("an index")] = value;
        }
        (parent, _) => panic!("{at} is in {parent}"),
    }
    event
}
