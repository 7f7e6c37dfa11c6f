//! What the log shows of requests and background jobs.

use crate::common::events::Stream;
use crate::common::{Service, command};

/// What a service with a level of the log wrote of two requests.
fn logged(level: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start_as(command().env("QUERYSCOPE_LOG", level), folder.path(), &[]);
    assert_eq!(service.post(&Stream::new().batch(&[])).status, 202);
    assert_eq!(service.get("/api/queries/none").status, 404);
    service.terminate();
    service.wait().err
}

#[test]
fn each_request_is_a_span_with_its_status_and_latency() {
    let log = logged("queryscope_collector=debug");
    let line = |span: &str, status: &str| {
        let answered = |line: &&str| line.contains(span) && line.contains(status);
        let line = log.lines().find(answered).unwrap_or_else(|| panic!("no {span} {status} in\n{log}"));
        assert!(line.contains("answered") && line.contains("latency_ms="), "{line}");
    };
    line("request{method=POST route=\"/v1/events\"}", "status=202");
    line("request{method=GET route=\"/api/queries/{id}\"}", "status=404");
}

#[test]
fn spans_are_not_logged_unless_they_were_asked_for() {
    let log = logged("info");
    assert!(!log.contains("request{") && !log.contains("job{"), "{log}");
}
