//! Regressions of real engines that `tests/regressions` made: 20 usual runs and 5 slow ones, as their profiles
//! were; query 17 of the example `tpch`, 6 runs and 5 over twice the data; and a query of DuckDB over one file of five,
//! 14 runs, and 10 over all of them.

use queryscope_diagnosis::{Cause, Change, Context, Detector, RunFeatures, Workspace};
use queryscope_insights::Outlines;
use queryscope_protocol::{Profile, QueryId};
use uuid::Uuid;

use crate::profiles::{inflate, profiles};

/// What is said of the change that is open after all runs of a label: every cause, and what is harmless.
fn told(label: &str) -> String {
    told_with_reads(label, 1)
}

/// The same, where scans of the slow runs wait so many times as long.
fn told_with_reads(label: &str, factor: u64) -> String {
    let text = inflate("crates/diagnosis/tests/fixtures/regressions.jsonl.gz");
    let (mut detector, mut workspace) = (Detector::default(), Workspace::default());
    let runs = profiles(&text);
    for (n, profile) in runs.iter().filter(|profile| profile.label.as_deref() == Some(label)).enumerate() {
        let mut run = features(profile);
        if n >= 20 {
            run.waiting_ns = run.waiting_ns.map(|ns| ns * factor);
            for node in &mut run.nodes {
                node.waiting_ns = node.waiting_ns.get().map(|ns| ns * factor).into();
            }
        }
        detector.observe(run, &mut workspace);
    }
    let Some(change) = detector.open().next() else { return "nothing".to_owned() };
    [causes(change), change.harmless.clone()].concat().join("\n")
}

/// A line for each cause of a change.
fn causes(change: &Change) -> Vec<String> {
    let line = |cause: &Cause| format!("{:?} {:.0} %: {}", cause.cause, 100.0 * cause.share, cause.sentence);
    change.causes.iter().map(line).collect()
}

fn features(profile: &Profile<'_>) -> RunFeatures {
    let context = Context { host: Some("vm".into()), ..Context::default() };
    let started = profile.started_unix_ns.expect("a start");
    let id = QueryId::new(Uuid::parse_str(&profile.query_id).expect("an id"));
    RunFeatures::from_profile(id, started, profile, &context, &mut Outlines::default())
}

#[test]
fn a_join_that_builds_from_its_other_side() {
    assert_eq!(
        told("datafusion-join-side"),
        "PlanChange 96 %: The plan changed and works more: HashJoinExec: its inputs changed places; \
         RepartitionExec was added (2 times)\n\
         SlowerPerRow 4 %: DataSourceExec of events.parquet takes 1.8x as long for each row"
    );
}

#[test]
fn a_slow_disk_makes_a_scan_wait() {
    // No longer than the run took, though two partitions waited beside each other.
    let told = told("datafusion-slow-disk");
    assert_eq!(
        told.lines().next(),
        Some(
            "Waiting 99 %: DataSourceExec of events.parquet waits for data for 671 ms instead of 88.5 ms, \
             for the same 9.95 MiB"
        )
    );
}

#[test]
fn a_busy_host_starves_the_nodes_and_the_reads() {
    // Reads of the same bytes take longer by as much as the work of the nodes: nobody waits for the disk.
    assert_eq!(
        told("datafusion-busy-host"),
        "StarvedCpu 100 %: The nodes together take 3.0x as long for the same work, as on a slower or shared processor"
    );
}

/// The other way round: the machine becomes free as a version comes. Nothing shows that the version is why.
#[test]
fn a_host_that_becomes_free_frees_the_nodes_whatever_version_comes() {
    let text = inflate("crates/diagnosis/tests/fixtures/regressions.jsonl.gz");
    let runs: Vec<RunFeatures> = profiles(&text)
        .iter()
        .filter(|profile| profile.label.as_deref() == Some("datafusion-busy-host"))
        .map(features)
        .collect();
    let (usual, starved) = runs.split_at(20);
    let (mut detector, mut workspace) = (Detector::default(), Workspace::default());
    let order = starved.iter().cycle().take(15).map(|run| (run, "1.0.0"));
    for (n, (run, version)) in order.chain(usual.iter().map(|run| (run, "1.1.0"))).enumerate() {
        let id = QueryId::new(Uuid::from_u128(1 + n as u128));
        let (started_unix_ns, program_version) = (n as i64 * 60_000_000_000, Some(version.into()));
        detector.observe(
            RunFeatures { query_id: id, started_unix_ns, program_version, ..run.clone() },
            &mut workspace,
        );
    }
    let change = detector.open().next().expect("a change");
    assert_eq!(
        causes(change),
        [
            "StarvedCpu 100 %: The nodes together take 0.3x as long for the same work, as on a faster processor, or \
             one shared less. The program's version changed at the same run, from 1.0.0 to 1.1.0: whether that is \
             why, is not known"
        ]
    );
}

#[test]
fn reads_that_take_longer_than_a_busy_host_makes_them_wait_for_that_part() {
    assert_eq!(
        told_with_reads("datafusion-busy-host", 2),
        "StarvedCpu 68 %: The nodes together take 3.0x as long for the same work, as on a slower or shared processor\n\
         Waiting 32 %: DataSourceExec of events.parquet waits for data for 141 ms instead of 16.6 ms, \
         for the same 3.44 MiB"
    );
}

#[test]
fn more_rows_that_no_longer_fit_a_cache_are_no_slower_processor() {
    // 3.4 times as long over twice the rows: one aggregation takes 2.5 times as long for a row.
    assert_eq!(
        told("datafusion-more-data"),
        "MoreRows 51 %: DataSourceExec of lineitem.parquet reads 2.0x the rows (2.40 M instead of 1.20 M)\n\
         SlowerPerRow 33 %: AggregateExec takes 2.5x as long for each row, of which it has 2.0x as many\n\
         Waiting 10 %: DataSourceExec of lineitem.parquet waits for data for 160 ms instead of 32.8 ms\n\
         Unexplained 7 %: Where 14.6 ms went is not known"
    );
}

#[test]
fn a_version_that_reads_more_files_is_followed_by_its_time_and_blamed_for_no_node() {
    let text = inflate("crates/diagnosis/tests/fixtures/regressions.jsonl.gz");
    let (mut detector, mut workspace) = (Detector::default(), Workspace::default());
    let runs = profiles(&text);
    let of_label = runs.iter().filter(|profile| profile.label.as_deref() == Some("duckdb-more-files"));
    for (n, profile) in of_label.enumerate() {
        let version = if n < 14 { "1.0.0" } else { "1.1.0" };
        let run = RunFeatures { program_version: Some(version.into()), ..features(profile) };
        // The rows of the file, not again those that common table expressions give of it.
        assert_eq!(run.rows_read, Some(if n < 14 { 999_936 } else { 5_001_216 }));
        detector.observe(run, &mut workspace);
    }
    let change = detector.open().next().expect("a change");
    // The first two runs of the new process took 949 and 799 ms, all others about 510.
    assert!((5.8..6.1).contains(&change.factor.expect("known")), "{change:?}");
    assert_eq!((change.after.runs, change.cost.runs), (10, 10));
    assert_eq!(
        causes(change),
        [
            "MoreRows 83 %: TABLE_SCAN of sales gives 5.0x the rows (5.00 M instead of 1.00 M). The program's version \
             changed at the same run, from 1.0.0 to 1.1.0: whether that is why, is not known",
            "SlowerPerRow 10 %: HASH_GROUP_BY takes 1.4x as long for each row, of which it has 5.0x as many",
            "SlowerPerRow 6 %: CTE takes 1.3x as long for each row, of which it has 4.8x as many",
            "Unexplained 2 %: Where 7.01 ms went is not known",
        ]
    );
}
