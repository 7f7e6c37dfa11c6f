//! Queries of many threads, from their begin to the exporter.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use queryscope_client::protocol::{QueryId, Seq, seq_of};
use queryscope_client::{Query, Redacted, Redaction, Telemetry, thread_cpu};

use crate::memory::{Memory, Scan};

const THREADS: u64 = 4;
const QUERIES: u64 = 100;
/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

#[test]
fn every_query_is_told_of_once_and_the_counts_add_up() {
    let memory = Memory::default();
    let telemetry =
        Telemetry::builder().engine("toy", "1").exporter(memory.clone()).start().expect("threads");
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let telemetry = telemetry.clone();
            scope.spawn(move || {
                for number in 0..QUERIES {
                    let rows = thread * QUERIES + number;
                    let query = telemetry.begin(Query::new().label("many"), Arc::new(Scan(rows)));
                    match number % 3 {
                        0 => query.finish(),
                        1 => query.fail("no"),
                        _ => drop(query),
                    }
                }
            });
        }
    });
    telemetry.shutdown();
    let stats = telemetry.stats();
    assert_eq!((stats.sent, stats.queued, stats.unfollowed), (stats.enqueued, 0, 0), "{stats:?}");

    let seqs: Vec<u64> =
        memory.lines().iter().filter_map(|line| seq_of(line.as_bytes())).map(Seq::get).collect();
    assert_eq!(seqs, (2..2 + stats.sent).collect::<Vec<u64>>(), "the process event has the first");
    let finished = memory.finished();
    let ids: BTreeSet<String> = finished.iter().map(|profile| profile.query_id.to_string()).collect();
    assert_eq!(ids.len(), 400);
    let rows: BTreeSet<Option<u64>> = finished
        .iter()
        .map(|profile| {
            profile.plan.physical[0].metrics.as_ref().and_then(|counters| counters.get("rows_sent"))
        })
        .collect();
    assert_eq!(rows, (0..400).map(Some).collect());
    let failed = |text: Option<&str>| finished.iter().filter(|p| p.failed.as_deref() == text).count();
    assert_eq!((failed(None), failed(Some("no")), failed(Some("cancelled"))), (136, 132, 132));
}

/// A query whose start lies in the past has run for as long, so that nobody has to wait for that second.
#[test]
fn a_query_of_more_than_a_second_is_told_of_while_it_runs() {
    let memory = Memory::default();
    let telemetry = Telemetry::builder().exporter(memory.clone()).start().expect("threads");
    let begun = Instant::now().checked_sub(Duration::from_secs(3)).expect("the machine has run for longer");
    let query = telemetry.begin(Query::new().started(begun), Arc::new(Scan(5)));
    let looking = Instant::now();
    while !memory.lines().iter().any(|line| line.contains("query.progress")) {
        assert!(looking.elapsed() < PATIENCE, "nothing is told of it");
        std::thread::yield_now();
    }
    query.finish();
    telemetry.shutdown();
    let types: Vec<String> = memory
        .lines()
        .iter()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON")["type"].to_string())
        .collect();
    assert_eq!(types, [r#""query.started""#, r#""query.progress""#, r#""query.finished""#]);
    let finished = memory.finished();
    let [profile] = &finished[..] else { panic!("one query") };
    assert!(profile.wall_ms >= 3_000.0);
    let registered_unix_ns = profile.query_id.parse::<QueryId>().ok().and_then(QueryId::made_unix_ns);
    let before_ns =
        registered_unix_ns.expect("an id with a time") - profile.started_unix_ns.expect("a start");
    // An id's time is cut to a millisecond.
    assert!(before_ns >= 2_999_000_000, "{before_ns}");
}

/// No counter of its nodes says so: as with user code, which engines do not count.
#[test]
fn what_the_process_works_meanwhile_is_told() {
    let memory = Memory::default();
    let telemetry = Telemetry::builder().exporter(memory.clone()).start().expect("threads");
    let query = telemetry.begin(Query::new(), Arc::new(Scan(5)));
    let (looking, begin) = (Instant::now(), thread_cpu());
    while !memory.lines().iter().any(|line| line.contains(r#""process_cpu_ns":"#)) {
        assert!(looking.elapsed() < PATIENCE, "nothing is told of it");
    }
    let worked = thread_cpu().zip(begin).map(|(now, begin)| now.saturating_sub(begin)).expect("a clock");
    query.finish();
    telemetry.shutdown();
    let finished = memory.finished();
    let counters = finished[0].query_metrics.as_ref().expect("counters");
    let told = Duration::from_nanos(counters.get("process_cpu_ns").expect("the process's time"));
    // The clock is read ten times a second, and telemetry itself works a little.
    assert!(told >= worked.mul_f64(0.7), "{told:?} of {worked:?}");
    assert_eq!(counters.get("process_queries"), Some(1));
    #[cfg(target_os = "linux")]
    {
        let lines = memory.lines();
        let sample = lines.iter().find(|line| line.contains(r#""process_cpu_ns":"#)).expect("a sample");
        for told in ["process_memory_bytes", "host_cpu_ns", "host_memory_bytes", "host_memory_total_bytes"] {
            assert!(sample.contains(&format!(r#""{told}":"#)), "{told} is not in {sample}");
        }
    }
}

#[test]
fn a_query_that_had_no_plan_is_told_of() {
    let memory = Memory::default();
    let telemetry = Telemetry::builder().exporter(memory.clone()).start().expect("threads");
    let begun = Instant::now();
    std::thread::sleep(Duration::from_millis(20));
    telemetry.failed(Query::new().label("typo").started(begun), "no such table");
    telemetry.failed(Query::new().label("at once"), "no such table");
    telemetry.shutdown();
    let [typo, at_once] = &memory.finished()[..] else { panic!("two queries") };
    assert_eq!(typo.failed.as_deref(), Some("no such table"));
    assert!(typo.plan.physical.is_empty());
    let planning = typo.planning_ms.expect("since it began");
    assert!((20.0..=typo.wall_ms).contains(&planning), "{planning} of {}", typo.wall_ms);
    assert_eq!(at_once.planning_ms, None);
}

#[test]
fn each_exporter_gets_what_it_may() {
    let (all, most, least) = (Memory::default(), Memory::default(), Memory::default());
    let same = Memory::default();
    let telemetry = Telemetry::builder()
        .redaction(Redaction::none().literals())
        .exporter(all.clone())
        .exporter(same.clone())
        .exporter(Redacted::new(most.clone(), Redaction::none().labels()))
        .exporter(Redacted::new(least.clone(), Redaction::all()))
        .start()
        .expect("threads");
    telemetry.failed(Query::new().label("l"), "no table 'a'");
    telemetry.shutdown();
    let seen = |memory: &Memory| {
        let finished = memory.finished();
        let profile = finished.first().expect("one");
        (profile.label.as_deref().map(str::to_owned), profile.failed.as_deref().map(str::to_owned))
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(seen(&all), (some("l"), some("no table '?'")));
    assert_eq!(same.lines(), all.lines());
    assert_eq!(seen(&most), (None, some("no table '?'")));
    assert_eq!(seen(&least), (None, some("redacted")));
    let stats = telemetry.stats();
    assert_eq!((stats.sent, stats.dropped.total()), (stats.enqueued, 0));
}
