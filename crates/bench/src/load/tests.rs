use super::*;
use crate::stub::{Script, Stub, accepted, answer};

const SHORT: Duration = Duration::from_millis(300);
/// For runs that end because their requests are used up.
const LONG: Duration = Duration::from_secs(20);

fn run(script: Script, pool: usize, duration: Duration, pace: Pace) -> Result<(Account, usize)> {
    let stub = Stub::start(script);
    let request =
        || Request { bytes: stub.target.post_events(b"body"), decoded_bytes: 100, events: 3, queries: 1 };
    let requests = || (0..pool).map(|_| request()).collect();
    let pool = (0..4).map(|_| Ready { address: stub.target.address, requests: requests() }).collect();
    let account = single_threaded()?
        .block_on(async { Ok::<_, anyhow::Error>(Fleet::open(pool).await?.run(duration, pace).await) })?;
    Ok((account, stub.requests()))
}

#[test]
fn a_closed_run_accounts_for_every_request() {
    let (account, requests) = run(|_| Some(accepted(3, 0)), 50_000, SHORT, Pace::Closed).expect("a run");
    assert_eq!(account.faults(), Vec::<String>::new());
    assert_eq!(account.requests as usize + 4 * WARM_UP, requests);
    assert_eq!(account.decoded_bytes, account.requests * 100);
    assert_eq!((account.accepted, account.queries), (account.requests * 3, account.requests));
    assert_eq!(account.statuses, BTreeMap::from([(202, account.requests)]));
    assert!(account.seconds >= SHORT.as_secs_f64() && !account.used_up, "{account:?}");
    assert!(account.latency.p50_ms >= 0.2, "{:?}", account.latency);
}

#[test]
fn a_closed_run_ends_when_its_requests_are_used_up() {
    let (account, requests) = run(|_| Some(accepted(3, 0)), 5, LONG, Pace::Closed).expect("a run");
    assert_eq!((account.requests, requests, account.used_up), (12, 20, true));
}

#[test]
fn an_open_run_keeps_its_rate() {
    let (account, _) = run(|_| Some(accepted(3, 0)), 1_000, SHORT, Pace::Open(500.0)).expect("a run");
    assert_eq!(account.faults(), Vec::<String>::new());
    assert_eq!(account.requests, 150);
    assert!(account.latency.p50_ms >= account.lateness.p50_ms, "{account:?}");
}

#[test]
fn an_open_run_counts_waiting_from_the_scheduled_time() {
    // 4 connections at 5 ms each take at most 800 requests a second: at 2,000 the queue only grows.
    let slow = |number| {
        std::thread::sleep(Duration::from_millis(if number < 8 { 0 } else { 5 }));
        Some(accepted(3, 0))
    };
    let (account, _) = run(slow, 1_000, SHORT, Pace::Open(2_000.0)).expect("a run");
    assert_eq!((account.requests, account.unsent), (600, 0));
    assert!(account.latency.max_ms > 200.0 && account.lateness.max_ms > 200.0, "{account:?}");
}

#[test]
fn refusals_and_breaks_are_faults() {
    let refuse = |number| match number {
        n if n < 8 => Some(accepted(3, 0)),
        n if n % 10 == 0 => Some(answer("503 Busy", "{}")),
        n if n % 10 == 5 => None,
        _ => Some(accepted(3, 0)),
    };
    let (account, requests) = run(refuse, 50, LONG, Pace::Closed).expect("a run");
    assert_eq!(account.requests + account.broken, requests as u64 - 8);
    assert_eq!((account.statuses[&503], account.broken), (19, 19));
    let faults = account.faults().join("; ");
    assert!(faults.contains("19 answers of status 503; 19 requests without an answer"), "{faults}");
}

#[test]
fn duplicates_and_missing_events_are_faults() {
    let (account, _) =
        run(|n| Some(accepted(3 - u64::from(n == 9), u64::from(n == 9))), 5, LONG, Pace::Closed)
            .expect("a run");
    assert_eq!(account.duplicates, 1);
    assert!(
        account.faults()[0].contains("1 events the service took for duplicates"),
        "{:?}",
        account.faults()
    );
}

#[test]
fn a_service_that_refuses_is_not_measured() {
    let error = run(|_| Some(answer("401 Unauthorized", "{}")), 5, LONG, Pace::Closed).expect_err("refused");
    assert!(error.to_string().contains("status 401"), "{error}");
}

#[test]
fn events_that_were_not_taken_are_a_fault() {
    let (account, _) =
        run(|n| Some(accepted(if n < 8 { 3 } else { 2 }, 0)), 5, LONG, Pace::Closed).expect("a run");
    assert_eq!(account.faults(), ["36 events sent, 24 accepted"]);
}
