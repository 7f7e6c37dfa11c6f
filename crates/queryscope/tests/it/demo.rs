//! `queryscope demo` against a service that runs.

use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::common::{Running, Service, command, queryscope, wait_within};

/// A dozen labels over two weeks, some of them every few minutes.
const HISTORY: std::ops::Range<usize> = 500..20_000;
/// Posting the history comes before the first live query.
const LIVE_WITHIN: Duration = Duration::from_mins(3);
/// An interrupted demo ends before the rest of its minute.
const ENDS_WITHIN: Duration = Duration::from_secs(30);

fn history(service: &Service) -> usize {
    let (data, url) = (&service.data, &service.url);
    let played = queryscope(["demo", "--history-only", "--data", &data.to_string_lossy()]).success();
    let own = format!("queryscope.install(\"{url}\", token=\"…\")");
    assert!(played.contains(&own), "it says how to go on: {played}");
    let queries = played
        .lines()
        .find_map(|line| line.strip_suffix(" runs of history and 0 live ones sent to project demo"));
    queries.and_then(|queries| queries.parse().ok()).unwrap_or_else(|| panic!("{played}"))
}

fn tokens(data: &Path) -> String {
    queryscope(["token", "list", "--data", &data.to_string_lossy()]).success()
}

/// How many queries the demo's project has, and how many of them did not end well.
fn demo_queries(service: &Service) -> (usize, usize) {
    let (mut all, mut failed) = (0, 0);
    loop {
        let page = service.queries(&format!("project=demo&offset={all}"));
        all += page.len();
        failed += page.iter().filter(|query| query["status"] != "finished").count();
        if page.is_empty() {
            return (all, failed);
        }
    }
}

#[test]
fn the_history_fills_the_service_and_another_one_comes_on_top() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    let first = history(&service);
    assert!(HISTORY.contains(&first), "{first} queries");
    let (all, failed) = demo_queries(&service);
    assert!(all == first && failed > 0 && failed * 5 < all, "{failed} of {all}, {first} sent");
    assert!(service.queries("project=default").is_empty());
    let second = history(&service);
    assert_eq!(demo_queries(&service).0, first + second);
    assert_eq!(tokens(folder.path()), "", "its tokens are gone");
}

/// Plays the demo until a query runs, then ends it.
fn end_by(signal: Signal) {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    let demo = Running::start(command().arg("demo").arg("--data").arg(folder.path()));
    wait_within(LIVE_WITHIN, "a live query", || {
        (!service.queries("project=demo&status=running").is_empty()).then_some(())
    });
    assert!(tokens(folder.path()).starts_with("demo-"), "it has a token of its own");
    demo.signal(signal);
    let signaled = Instant::now();
    let said = demo.wait().failure(1);
    assert!(said.contains("interrupted; what was sent stays"), "{said}");
    assert!(signaled.elapsed() < ENDS_WITHIN, "{:?}", signaled.elapsed());
    assert_eq!(tokens(folder.path()), "", "its token is gone");
    assert!(HISTORY.contains(&demo_queries(&service).0));
}

#[test]
fn live_queries_follow_and_an_interrupt_leaves_no_token() {
    end_by(Signal::INT);
}

#[test]
fn a_demo_that_is_terminated_leaves_no_token() {
    end_by(Signal::TERM);
}

#[test]
fn without_a_service_it_says_how_to_start_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().to_string_lossy();
    let never = queryscope(["demo", "--data", &data]).failure(1);
    assert!(never.contains("no data folder of queryscope: start the service once"), "{never}");
    // Killed, so that what tells where it answered is still there.
    Service::start(folder.path()).kill();
    let stopped = queryscope(["demo", "--data", &data]).failure(1);
    assert!(stopped.contains("no service runs on") && stopped.contains("queryscope serve"), "{stopped}");
    let elsewhere = queryscope(["demo", "--url", "http://127.0.0.1:1"]).failure(2);
    assert!(elsewhere.contains("--token"), "{elsewhere}");
}
