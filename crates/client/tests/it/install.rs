//! The one telemetry of a process. All of it is one test, since it is one process.

use std::sync::Arc;

use queryscope_client::{Query, Telemetry, install, installed, uninstall};

use crate::memory::{Memory, Scan};

#[test]
fn one_telemetry_is_installed_at_a_time() {
    let start = |memory: &Memory| Telemetry::builder().exporter(memory.clone()).start().expect("threads");
    let run = || installed().expect("installed").begin(Query::new(), Arc::new(Scan(1))).finish();
    let (first, second, third) = (Memory::default(), Memory::default(), Memory::default());
    assert!(installed().is_none());

    let guard = install(start(&first)).expect("nothing is installed");
    assert!(install(start(&second)).is_err());
    run();
    uninstall();
    assert_eq!((first.finished().len(), installed().is_none()), (1, true), "sent before it returned");

    let other = install(start(&third)).expect("nothing is installed");
    drop(guard);
    run();
    drop(other);
    assert_eq!(
        (third.finished().len(), installed().is_none()),
        (1, true),
        "a guard is of its own telemetry alone"
    );
    uninstall();
}
