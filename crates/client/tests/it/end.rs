//! The end of a telemetry, whatever its exporter does.

use std::sync::Arc;

use queryscope_client::{Query, StartError, Telemetry};

use crate::memory::{Memory, Scan, Stuck};

/// It returns although the exporter is held until after it has: were it to wait, the test would never end.
#[test]
fn an_exporter_that_hangs_does_not_hold_up_the_end_and_all_is_counted() {
    let (stuck, hold) = Stuck::new();
    let telemetry = Telemetry::builder().exporter(stuck).start().expect("threads");
    for _ in 0..5 {
        telemetry.begin(Query::new(), Arc::new(Scan(1))).finish();
    }
    telemetry.shutdown();
    let stats = telemetry.stats();
    assert!(stats.enqueued >= 5, "a query of a slow machine has more than its end: {stats:?}");
    assert_eq!((stats.sent, stats.dropped.exit, stats.queued), (0, stats.enqueued, 0), "{stats:?}");
    drop(hold);
    telemetry.shutdown();
    assert_eq!(telemetry.stats(), stats, "what arrives after the end was counted at the end");
}

#[test]
fn an_exporter_that_hangs_costs_no_other_its_events() {
    let ((stuck, hold), memory) = (Stuck::new(), Memory::default());
    let telemetry = Telemetry::builder().exporter(stuck).exporter(memory.clone()).start().expect("threads");
    telemetry.begin(Query::new(), Arc::new(Scan(1))).finish();
    telemetry.shutdown();
    assert_eq!(memory.finished().len(), 1, "{:?}", telemetry.stats());
    drop(hold);
}

#[test]
fn the_last_handle_to_go_sends_what_waits() {
    let memory = Memory::default();
    let telemetry = Telemetry::builder().exporter(memory.clone()).start().expect("threads");
    let other = telemetry.clone();
    telemetry.begin(Query::new(), Arc::new(Scan(1))).finish();
    drop(telemetry);
    assert_eq!(other.stats().dropped.total(), 0, "it runs on");
    drop(other);
    assert_eq!(memory.finished().len(), 1);
}

#[test]
fn after_the_end_queries_run_unfollowed() {
    let memory = Memory::default();
    let telemetry = Telemetry::builder().exporter(memory.clone()).start().expect("threads");
    let running = telemetry.begin(Query::new(), Arc::new(Scan(1)));
    telemetry.shutdown();
    running.finish();
    telemetry.begin(Query::new(), Arc::new(Scan(2))).finish();
    assert_eq!((memory.finished().len(), telemetry.stats().unfollowed), (0, 1));
}

#[test]
fn nothing_starts_without_an_exporter() {
    assert!(matches!(Telemetry::builder().start(), Err(StartError::NoExporter)));
}
