//! A full disk is told as a full disk, and as over when it is.

use std::fs;
use std::time::Duration;

use queryscope_torture::Mounted;
use uuid::Uuid;

use crate::common::events::Stream;
use crate::common::{Service, wait_for};

#[test]
fn a_full_disk_is_said_to_be_full_until_it_is_not() {
    if !Mounted::is_allowed() {
        eprintln!("SKIPPED: mounting a small file system takes root");
        return;
    }
    let root = tempfile::tempdir().expect("a folder");
    let disk = Mounted::new(root.path().join("disk")).expect("mounted");
    let data = disk.0.join("data");
    let service = Service::start(&data);
    let batch = || {
        let mut stream = Stream::new();
        let event = stream.finished(Uuid::now_v7(), &format!("a label {}", "x".repeat(300)));
        stream.batch(&[event])
    };
    service.post(&batch()).counts();
    let ballast = disk.fill(0).expect("filled");
    let refused = wait_for("a batch to be refused", || {
        let answer = service.post(&batch());
        (answer.status != 202).then_some(answer)
    });
    assert_eq!(refused.status, 503);
    assert!(refused.json()["error"].as_str().expect("a reason").contains("the disk is full"), "{refused:?}");
    let full = "the disk is full, batches are refused";
    assert_eq!(service.reason("").as_deref(), Some(full), "at once");
    // Also when recordings are due, and while nobody sends.
    for _ in 0..40 {
        std::thread::sleep(Duration::from_millis(100));
        let reasons = service.reasons();
        assert_eq!(reasons[0], full, "{reasons:?}");
        for reason in reasons {
            assert!(!reason.contains("meanwhile") && !reason.contains("reached"), "untrue: {reason}");
        }
    }
    fs::remove_file(ballast).expect("deleted");
    // Nobody sends: it finds out by itself.
    wait_for("health to be ready again", || service.reason("").is_none().then_some(()));
    service.post(&batch()).counts();
    service.wait_until_sealed();
    assert_eq!(service.reasons(), [""; 0]);
    service.stop();
}
