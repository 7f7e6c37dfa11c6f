use std::time::Duration;

use queryscope_protocol::QueryId;

use super::*;
use crate::demo::history::labels::{LABELS, SLOWER};

fn run(wall_ms: f64) -> Run {
    let label = LABELS.iter().find(|label| label.name == SLOWER).expect("the label");
    let (plan, _, failed) = label.story_at(Duration::ZERO);
    let query_id: QueryId = "01a1faa8-1bd9-77b2-97ab-860dd7026506".parse().expect("an id");
    Run { label, plan, query_id, started_unix_ns: 0, wall_ms, volume: 1.0, done: 1.0, failed }
}

#[test]
fn a_short_run_tells_its_end_alone_and_a_long_one_a_bounded_number_of_samples() {
    assert_eq!(course(&run(900.0)), [Told::Finished(900.0)]);
    assert_eq!(
        course(&run(2_500.0)),
        [Told::Started(1_000.0), Told::Sample(1_000.0), Told::Sample(2_000.0), Told::Finished(2_500.0)]
    );
    assert_eq!(course(&run(600_000.0)).len(), 2 + 19);
}

#[test]
fn a_node_never_did_more_than_what_it_reads_and_all_end_with_the_run() {
    let run = run(90_000.0);
    for percent in 0..=100 {
        let passed = f64::from(percent) / 100.0;
        for (position, node) in run.plan.nodes.iter().enumerate() {
            for input in node.inputs {
                assert!(
                    done(&run, position, passed) <= done(&run, *input, passed),
                    "{position} at {percent} %"
                );
            }
        }
    }
    for position in 0..run.plan.nodes.len() {
        assert!(done(&run, position, 0.0) < 1e-9 && done(&run, position, 1.0) > 1.0 - 1e-9, "{position}");
    }
}

#[test]
fn the_process_uses_ever_more_and_never_more_than_its_host() {
    let run = run(90_000.0);
    let used: Vec<Sample<'_>> = (1..=20).map(|at| usage(&run, f64::from(at) * 4_500.0)).collect();
    assert!(used.is_sorted_by_key(|sample| sample.process_cpu_ns));
    for sample in &used {
        assert!(sample.process_cpu_ns < sample.host_cpu_ns && sample.process_cpu_ns.is_some());
        assert!(sample.process_memory_bytes < sample.host_memory_bytes);
        assert!(sample.host_memory_bytes < sample.host_memory_total_bytes);
    }
}

#[test]
fn a_run_that_failed_has_read_and_has_given_no_result() {
    let run = Run { failed: Some("out of memory"), ..run(90_000.0) };
    let failed = profile::of(&run).expect("a profile");
    let rows = |node: &queryscope_protocol::Node<'_>| {
        let counters = node.metrics.as_ref()?;
        counters.metrics.iter().find(|(name, _)| *name == "rows_sent").map(|(_, rows)| rows)
    };
    // The nodes stand from the result to the scans.
    let [result, .., scan] = &failed.plan.physical[..] else { panic!("{:?}", failed.plan) };
    assert!(rows(scan) > Some(0) && rows(result).is_none_or(|rows| rows == 0), "{scan:?} {result:?}");
    assert!(failed.result_rows.is_none() && failed.cpu_ms < Some(profile::cpu_ms(&run)));
}
