//! Features of real profiles: a Polars sender's captures, and TPC-H on DataFusion.

use std::io::Read;
use std::path::PathBuf;

use flate2::read::MultiGzDecoder;
use queryscope_diagnosis::{Context, Matching, RunFeatures, Status};
use queryscope_insights::Outlines;
use queryscope_protocol::{Event, Profile, QueryId};
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
    assert!(differences.iter().any(|difference| difference.text == "SortExec was added"), "{differences:?}");
    // Query 18, the same plan over more data.
    assert_eq!(runs[2].physical(), runs[3].physical());
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
