//! What a collector tells of senders.

use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};

use crate::access::{ask, restricted, session};
use crate::app::{OTHER_TOKEN, TOKEN, TestApp, post, with_header};
use crate::events::{
    NOW_NS, SECOND_NS, batch, done, finished, gzip, process, process_with, progress, started, stream,
};
use crate::faulty::Fault;

const AGENT: &str = "queryscope-client/0.1.0";

/// A request with headers that tell of its sender.
fn telling(body: impl Into<Body>, headers: &[(&'static str, &str)]) -> Request<Body> {
    headers.iter().fold(post(body), |request, (name, value)| with_header(request, name, value))
}

async fn listed(app: &TestApp, params: &str) -> Value {
    let answer = app.get(&format!("/api/senders?{params}")).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

async fn only(app: &TestApp) -> Value {
    let listed = listed(app, "").await;
    assert_eq!((&listed["known"], listed["senders"].as_array().map(Vec::len)), (&json!(1), Some(1)));
    listed["senders"][0].clone()
}

/// A sender's members with these names.
fn some(sender: &Value, names: &[&str]) -> Value {
    names.iter().map(|name| sender[name].clone()).collect()
}

#[tokio::test]
async fn a_sender_is_told_with_what_it_sent_and_what_was_refused() {
    let app = TestApp::new().await;
    assert_eq!(listed(&app, "").await, json!({"since_unix_ns": NOW_NS, "known": 0, "senders": []}));
    app.clock.advance(Duration::from_secs(2));
    let body = batch(1, [done(2, 1), done(3, 2)]);
    let headers = [("user-agent", AGENT), ("queryscope-dropped", "0")];
    assert_eq!(app.send(telling(body, &headers)).await.status, 202);
    app.clock.advance(Duration::from_secs(1));
    let body = batch(1, [done(3, 2), done(4, 3), done(4, 3)]);
    assert_eq!(app.send(telling(body, &[("queryscope-dropped", "17")])).await.status, 202);
    app.clock.advance(Duration::from_secs(1));
    assert_eq!(app.post(batch(1, ["no event"])).await.status, 400);
    let first = NOW_NS + 2 * SECOND_NS;
    let expected = json!({
        "project": "default", "stream_id": stream(1), "service": "orders-etl", "environment": "prod",
        "program_version": null, "host": "worker-1", "agent": AGENT,
        "first_unix_ns": first, "last_unix_ns": first + 2 * SECOND_NS,
        "batches": 2, "events": 3, "duplicates": 2, "refused": 1,
        "last_refusal": {
            "unix_ns": first + 2 * SECOND_NS, "status": 400,
            "reason": "line 2: the line is not JSON at column 1",
        },
        "dropped": 17, "clock_behind_ms": 499,
    });
    assert_eq!(only(&app).await, expected);
    assert_eq!(app.metric("queryscope_events_dropped_by_senders_total").await, 17);
    // Another start knows nothing of it.
    let app = app.restarted().await;
    assert_eq!(listed(&app, "").await["known"], 0);
}

#[tokio::test]
async fn a_refusal_counts_for_its_process_where_that_is_told() {
    let too_large = || vec![b'x'; (8 << 20) + 1];
    let named = stream(1);
    for (request, status, identity) in [
        // By the first line, whatever the headers say.
        (telling(batch(1, ["no"]), &[("queryscope-stream", &stream(2))]), 400, json!([named, "worker-1"])),
        (telling(gzip(batch(1, ["no"])), &[("content-encoding", "gzip")]), 400, json!([named, "worker-1"])),
        // By the header, where the body was not read or has no process.
        (telling(too_large(), &[("queryscope-stream", &named)]), 413, json!([named, null])),
        (telling("no", &[("queryscope-stream", &named)]), 400, json!([named, null])),
        (
            telling("no", &[("content-encoding", "br"), ("queryscope-stream", &named)]),
            415,
            json!([named, null]),
        ),
        // Else it is told by its User-Agent alone.
        (telling(too_large(), &[("user-agent", AGENT)]), 413, json!([null, null])),
        (telling("no", &[("queryscope-stream", "x"), ("queryscope-dropped", "5")]), 400, json!([null, null])),
    ] {
        let app = TestApp::new().await;
        let told = format!("{:?}", request.headers());
        assert_eq!(app.send(request).await.status, status, "{told}");
        let sender = only(&app).await;
        assert_eq!(some(&sender, &["stream_id", "host"]), identity, "{told}");
        assert_eq!(some(&sender, &["batches", "refused", "dropped"]), json!([0, 1, null]), "{told}");
        assert_eq!(sender["last_refusal"]["status"], status, "{told}");
    }
}

#[tokio::test]
async fn what_a_process_is_follows_with_its_first_sound_batch() {
    let app = TestApp::new().await;
    let headers = [("queryscope-stream", &*stream(1)), ("queryscope-dropped", "2")];
    app.faults.set(Fault::Unavailable);
    assert_eq!(app.send(telling("no", &headers)).await.status, 400);
    assert_eq!(app.send(telling(batch(1, [done(2, 1)]), &headers)).await.status, 503);
    let sender = only(&app).await;
    assert_eq!(some(&sender, &["host", "batches", "refused", "dropped"]), json!(["worker-1", 0, 2, 2]));
    assert_eq!(sender["last_refusal"]["reason"], "storing or reading failed, try again");
    app.faults.set(Fault::None);
    assert_eq!(app.send(telling(batch(1, [done(2, 1)]), &headers)).await.status, 202);
    assert_eq!(some(&only(&app).await, &["events", "refused"]), json!([1, 2]));
}

#[tokio::test]
async fn headers_that_are_not_valid_refuse_no_batch() {
    for value in ["", "-1", "1.5", "1000000000000000", "\u{e4}", "x"] {
        let app = TestApp::new().await;
        let headers = [("queryscope-dropped", value), ("queryscope-stream", value)];
        assert_eq!(app.send(telling(batch(1, [done(2, 1)]), &headers)).await.status, 202, "{value}");
        assert_eq!(some(&only(&app).await, &["stream_id", "dropped"]), json!([stream(1), null]), "{value}");
    }
}

#[tokio::test]
async fn a_clock_is_judged_by_the_newest_moment_of_the_batches() {
    let app = TestApp::new().await;
    let behind = async || only(&app).await["clock_behind_ms"].clone();
    app.store(batch(1, [progress(2, 1)])).await;
    assert_eq!(behind().await, json!(null), "a sample tells no time");
    // The run started 10 s ago and has taken 1.5 s; the other ended by a clock that is 2 s ahead.
    let ago = json!({"started_unix_ns": NOW_NS - 10 * SECOND_NS, "wall_ms": 1500.0});
    app.store(batch(1, [started(3, 1, ago)])).await;
    assert_eq!(behind().await, json!(8500));
    let ahead = json!({"started_unix_ns": NOW_NS, "wall_ms": 2000.0, "failed": null});
    app.store(batch(1, [finished(4, 2, ahead), done(5, 3)])).await;
    assert_eq!(behind().await, json!(-2000));
    for seq in 6..14 {
        app.store(batch(1, [done(seq, seq)])).await;
    }
    assert_eq!(behind().await, json!(-1500), "the last eight count");
}

#[tokio::test]
async fn senders_stand_by_their_last_request_and_up_to_a_limit() {
    let app = TestApp::new().await;
    for n in [1, 2, 3, 1] {
        assert_eq!(app.post(process(n)).await.status, 202);
    }
    let two = listed(&app, "limit=2").await;
    assert_eq!(two["known"], 3);
    let ids: Vec<_> =
        two["senders"].as_array().expect("senders").iter().map(|one| &one["stream_id"]).collect();
    assert_eq!(ids, [&json!(stream(1)), &json!(stream(3))]);
    for wrong in ["limit=0", "limit=1001", "limit=x", "limit=1&limit=1", "project=a&project=b"] {
        assert_eq!(app.get(&format!("/api/senders?{wrong}")).await.status, 400, "{wrong}");
    }
}

#[tokio::test]
async fn a_project_hears_of_its_own_senders() {
    let (app, ..) = restricted().await;
    let secret = process_with(5, json!({"host": "secret-host"}));
    assert_eq!(app.post_as(TOKEN, secret).await.status, 202);
    assert_eq!(app.post_as(OTHER_TOKEN, process(6)).await.status, 202);
    // A stream of another project, and a wrong token.
    assert_eq!(app.post_as(OTHER_TOKEN, batch(5, [done(9, 9)])).await.status, 403);
    assert_eq!(app.post_as("wrong", batch(5, [done(9, 9)])).await.status, 401);
    let hosts = async |who: char, params: &str| {
        let answer = ask(&app, &session(who), "GET", &format!("/api/senders?{params}")).await.json();
        let senders = answer["senders"].as_array().expect("senders").iter();
        senders.map(|one| json!([one["project"], one["host"], one["refused"]])).collect::<Value>()
    };
    let (own, stolen) = (json!(["etl", "worker-1", 0]), json!(["etl", "worker-1", 1]));
    let secret = json!(["default", "secret-host", 0]);
    assert_eq!(hosts('a', "").await, json!([stolen, own]));
    assert_eq!(hosts('d', "").await, json!([secret]));
    assert_eq!(hosts('0', "").await, json!([stolen, own, secret]));
    assert_eq!(hosts('0', "project=default").await, json!([secret]));
    assert_eq!(ask(&app, &session('a'), "GET", "/api/senders?project=default").await.status, 404);
}
