//! Features of real profiles: a Polars sender's captures, and TPC-H on DataFusion.

use std::io::Read;
use std::path::PathBuf;

use flate2::read::MultiGzDecoder;
use queryscope_diagnosis::{Context, Matching, RunFeatures, Status};
use queryscope_insights::Outlines;
use queryscope_protocol::{Event, EventKind, Profile, QueryId};
use uuid::Uuid;

pub(crate) fn inflate(file: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    let mut text = String::new();
    MultiGzDecoder::new(&*std::fs::read(&path).expect(file)).read_to_string(&mut text).expect("gzip");
    text
}

pub(crate) fn profiles(text: &str) -> Vec<Profile<'_>> {
    let events = text.lines().map(|line| Event::read(line).expect("an event"));
    events.filter_map(|event| event.profile().expect("valid")).collect()
}

fn features(profile: &Profile<'_>) -> RunFeatures {
    let context = Context { host: Some("worker-1".into()), ..Context::default() };
    RunFeatures::from_profile(QueryId::new(Uuid::nil()), 7, profile, &context, &mut Outlines::default())
}

#[test]
fn a_run_of_polars() {
    let text = inflate("testdata/captures/001.jsonl.gz");
    let run = features(&profiles(&text)[0]);
    assert_eq!((run.wall_ns, run.cpu_ns, run.planning_ns), (372_724_200, Some(558_146_300), Some(9_436_400)));
    assert_eq!(
        (run.threads_available, run.waiting_ns, run.rows_out),
        (Some(2), Some(37_458_378), Some(8_059))
    );
    assert_eq!(run.engine_version.as_deref(), Some("polars 2.1.0"));
    assert_eq!(
        run.plan.nodes.iter().map(|node| &*node.kind).collect::<Vec<_>>(),
        ["MultiScan", "InMemorySink"]
    );
    assert_eq!(run.nodes[0].rows_out.get(), Some(8_060));
    assert!(run.plan.nodes[0].predicate.is_some());
    assert_eq!(run.status, Status::Finished);
}

#[test]
fn another_join_algorithm_is_another_physical_plan_of_the_same_query() {
    let text = inflate("crates/insights/tests/data/pairs.jsonl.gz");
    let runs: Vec<RunFeatures> = profiles(&text).iter().map(features).collect();
    let (hash, merge) = (&runs[0], &runs[1]);
    assert_eq!(hash.logical, merge.logical);
    assert_ne!(hash.physical(), merge.physical());
    let differences = Matching::new(&hash.plan, &merge.plan).differences(&hash.plan, &merge.plan);
    let first = &differences[0].text;
    assert!(first.starts_with("HashJoinExec became SortMergeJoinExec"), "{first}");
    assert!(
        differences.iter().any(|difference| difference.text == "one more SortExec was added"),
        "{differences:?}"
    );
    // Query 18, the same plan over more data.
    assert_eq!(runs[2].physical(), runs[3].physical());
}

/// Features of nodes are rounded to 11 binary digits, so their sums are within 0.05 %.
#[test]
fn features_and_summaries_have_the_same_bytes() {
    let query = r#"{"schema":"x-telemetry/events@1","seq":2,"type":"query.finished","query_id":"01a1faa8-1bd9-77b2-97ab-860dd7026506","profile":{"schema":"x-telemetry/profile@1","query_id":"01a1faa8-1bd9-77b2-97ab-860dd7026506","wall_ms":1,"query_metrics":{"bytes_read":7,"spilled_bytes":8,"peak_mem_used":9},"plan":{"physical":[{"id":1,"kind":"k","inputs":[],"metrics":{"spilled_bytes":0}}],"logical":[]}}}"#;
    let files = ["tpch", "udf", "pairs"].map(|file| format!("crates/insights/tests/data/{file}.jsonl.gz"));
    let texts = files.iter().map(String::as_str).chain(["testdata/captures/001.jsonl.gz"]).map(inflate);
    let (mut known, mut compared) = ([0; 3], 0);
    for text in texts.chain([query.to_owned()]) {
        for line in text.lines() {
            let event = Event::read(line).expect("an event");
            let EventKind::Finished(_, summary) = &event.kind else { continue };
            let run = features(&event.profile().expect("valid").expect("a profile"));
            let of_run = [run.bytes_read, run.spilled_bytes, run.peak_memory_bytes];
            let of_summary = [summary.bytes_read, summary.spilled_bytes, summary.peak_memory_bytes];
            for (place, (features, summary)) in of_run.into_iter().zip(of_summary).enumerate() {
                assert_eq!(features.is_some(), summary.is_some(), "{place}: {line}");
                let (Some(features), Some(summary)) = (features, summary) else { continue };
                assert!(
                    (features as f64 - summary as f64).abs() <= 0.000_5 * summary as f64,
                    "{place}: {line}"
                );
                known[place] += 1;
            }
            compared += 1;
        }
    }
    assert!(compared > 25 && known.iter().all(|known| *known > 0), "{compared}, {known:?}");
}

/// Bytes of a run: the measured figure of `docs/internals/diagnosis.md`.
#[test]
fn a_run_is_a_few_hundred_bytes() {
    let text = inflate("crates/insights/tests/data/tpch.jsonl.gz");
    let runs: Vec<RunFeatures> = profiles(&text).iter().map(features).collect();
    let nodes: usize = runs.iter().map(|run| run.nodes.len()).sum();
    let bytes: usize = runs.iter().map(|run| run.pack().len()).sum();
    let plans: usize = runs.iter().map(|run| run.plan.pack().len()).sum();
    assert_eq!((runs.len(), nodes), (22, 418));
    assert_eq!((bytes / runs.len(), plans / runs.len()), (328, 1_165), "bytes of a run, and of a plan");
    for run in &runs {
        assert_eq!(RunFeatures::unpack(&run.pack(), &run.plan).as_ref(), Ok(run));
    }
}
